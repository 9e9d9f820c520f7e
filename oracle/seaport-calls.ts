// Encodes the contract calls of the oracle, without code of the service that the oracle checks. test/oracle/seaport-calls.test.ts compares
// the encoded calls with those of viem.

import type { Hex } from './rpc.ts';

/** The parameters and the signature of a Seaport order, as a wallet sends them: integers as text or numbers. */
export type SeaportTerms = { parameters: Readonly<Record<string, unknown>>; signature: string };

/** The units that a call buys, as a fraction of the order. */
export type Fraction = { numerator: bigint; denominator: bigint };

const SELECTOR = {
  fulfillAdvancedOrder: 'e7acab24',
  matchAdvancedOrders: 'f2d12b12',
  getOrderStatus: '46423aa7',
  getCounter: 'f07ec373',
  ownerOf: '6352211e',
  balanceOf: '00fdd58e',
  isApprovedForAll: 'e985e9c5',
  getApproved: '081812fc',
} as const;

const NATIVE = 0;
const ERC20 = 1;

/** An ABI-encoded value. In a tuple, the content of a `dynamic` value follows the other values, and an offset points to this content. */
type Part = { words: string; dynamic: boolean };

/** The call with which the sender buys a fraction of an order for itself. */
export function encodeFulfilment({ parameters, signature }: SeaportTerms, fraction: Fraction): Hex {
  const order = encodeAdvanced({ parameters, signature }, fraction);
  const noResolvers = list([]);
  // The last two arguments are zero: the sender uses no conduit, and receives the tokens itself.
  return call('fulfillAdvancedOrder', tuple([order, noResolvers, word(0n), word(0n)]));
}

/** Seaport's number for the consideration of an order. */
const CONSIDERATION_SIDE = 1n;
const SET_OF_ERC721 = 4;
const ERC721 = 2;
const UNBOUNDED = 2n ** 256n - 1n;

/**
 * The call with which the sender sells a token to a bid. It matches the bid with an order of the sender, which needs no signature because the sender makes the
 * call. So the bidder pays the fees and the sender directly, and the sender needs neither money nor an allowance. `proof` is the Merkle proof for the token.
 */
export function encodeSale(
  { parameters, signature }: SeaportTerms,
  sold: { seller: string; tokenId: bigint; units: bigint; proof: readonly string[] },
  fraction: Fraction,
): Hex {
  const consideration = paymentsOf(parameters);
  const wanted = consideration.findIndex((item) => Number(item['itemType']) >= ERC721);
  const item = consideration[wanted];
  const itemType = Number(item?.['itemType']);
  const isOfSet = itemType >= SET_OF_ERC721;
  const offered = {
    itemType: isOfSet ? itemType - SET_OF_ERC721 + ERC721 : itemType,
    token: item?.['token'],
    identifierOrCriteria: sold.tokenId,
    startAmount: sold.units,
    endAmount: sold.units,
  };
  const ask = {
    offerer: sold.seller,
    zone: 0,
    offer: [offered],
    consideration: [],
    orderType: 0,
    startTime: 0,
    endTime: UNBOUNDED,
    zoneHash: 0,
    salt: 0,
    conduitKey: 0,
  };
  const resolver = tuple([
    word(0n),
    word(CONSIDERATION_SIDE),
    word(BigInt(wanted)),
    word(sold.tokenId),
    list(sold.proof.map(word)),
  ]);
  const component = (order: number, index: number) => list([tuple([word(BigInt(order)), word(BigInt(index))])]);
  const fulfilments = consideration.map((_, index) =>
    tuple([index === wanted ? component(1, 0) : component(0, 0), component(0, index)]),
  );
  const orders = [
    encodeAdvanced({ parameters, signature }, fraction),
    encodeAdvanced({ parameters: ask, signature: '0x' }, { numerator: 1n, denominator: 1n }),
  ];
  return call(
    'matchAdvancedOrders',
    tuple([list(orders), list(isOfSet ? [resolver] : []), list(fulfilments), word(sold.seller)]),
  );
}

export const encodeOrderStatus = (orderHash: string): Hex => call('getOrderStatus', word(orderHash));
export const encodeCounter = (offerer: string): Hex => call('getCounter', word(offerer));
export const encodeOwnerOf = (tokenId: bigint): Hex => call('ownerOf', word(tokenId));
export const encodeBalanceOf = (account: string, tokenId: bigint): Hex =>
  call('balanceOf', tuple([word(account), word(tokenId)]));
export const encodeApprovedForAll = (owner: string, operator: string): Hex =>
  call('isApprovedForAll', tuple([word(owner), word(operator)]));
export const encodeApproved = (tokenId: bigint): Hex => call('getApproved', word(tokenId));

/** The native amount that pays for the complete order at any time while the order is valid. Seaport returns the excess to the buyer. */
export function nativePriceOf(parameters: SeaportTerms['parameters']): bigint {
  return sumOf(paymentsOf(parameters).filter((item) => Number(item['itemType']) === NATIVE));
}

/** The addresses of the ERC-20 currencies in which an order is paid. */
export function currenciesOf(parameters: SeaportTerms['parameters']): string[] {
  const paid = paymentsOf(parameters).filter((item) => Number(item['itemType']) === ERC20);
  return [...new Set(paid.map((item) => String(item['token']).toLowerCase()))];
}

/** The words of a result, each as an integer. */
export function decodeWords(result: Hex): bigint[] {
  const words = result.slice(2).match(/.{64}/g) ?? [];
  return words.map((each) => BigInt(`0x${each}`));
}

/** The address in a word of a result. */
export function toAddress(value: bigint): string {
  return `0x${value.toString(16).padStart(40, '0').slice(-40)}`;
}

type Item = Readonly<Record<string, unknown>>;

const paymentsOf = (parameters: SeaportTerms['parameters']) => parameters['consideration'] as readonly Item[];

function sumOf(items: readonly Item[]): bigint {
  let sum = 0n;
  for (const { startAmount, endAmount } of items) {
    const [start, end] = [BigInt(String(startAmount)), BigInt(String(endAmount))];
    sum += start > end ? start : end;
  }
  return sum;
}

const ITEM_FIELDS = ['itemType', 'token', 'identifierOrCriteria', 'startAmount', 'endAmount'] as const;

function encodeAdvanced({ parameters, signature }: SeaportTerms, { numerator, denominator }: Fraction): Part {
  return tuple([encodeParameters(parameters), word(numerator), word(denominator), bytes(signature), bytes('0x')]);
}

function encodeParameters(parameters: SeaportTerms['parameters']): Part {
  const field = (name: string) => word(String(parameters[name]));
  const consideration = paymentsOf(parameters);
  return tuple([
    field('offerer'),
    field('zone'),
    items(parameters['offer'] as readonly Item[], ITEM_FIELDS),
    items(consideration, [...ITEM_FIELDS, 'recipient']),
    field('orderType'),
    field('startTime'),
    field('endTime'),
    field('zoneHash'),
    field('salt'),
    field('conduitKey'),
    word(BigInt(consideration.length)),
  ]);
}

function items(rows: readonly Item[], fields: readonly string[]): Part {
  const words = rows.flatMap((item) => fields.map((name) => word(String(item[name])).words));
  return { words: word(BigInt(rows.length)).words + words.join(''), dynamic: true };
}

/** An array. Its elements have one form. */
function list(parts: readonly Part[]): Part {
  return { words: word(BigInt(parts.length)).words + tuple(parts).words, dynamic: true };
}

function bytes(text: string): Part {
  const digits = text.slice(2);
  const padded = digits.padEnd(Math.ceil(digits.length / 64) * 64, '0');
  return { words: word(BigInt(digits.length / 2)).words + padded, dynamic: true };
}

/** `value`: an integer, or its text in decimal or with 0x. */
function word(value: bigint | string): Part {
  return { words: BigInt(value).toString(16).padStart(64, '0'), dynamic: false };
}

function tuple(parts: readonly Part[]): Part {
  const headBytes = parts.reduce((sum, { dynamic, words }) => sum + (dynamic ? 32 : words.length / 2), 0);
  let head = '';
  let tail = '';
  for (const { words, dynamic } of parts) {
    head += dynamic ? word(BigInt(headBytes + tail.length / 2)).words : words;
    if (dynamic) tail += words;
  }
  return { words: head + tail, dynamic: tail !== '' };
}

function call(name: keyof typeof SELECTOR, { words }: Part): Hex {
  return `0x${SELECTOR[name]}${words}`;
}
