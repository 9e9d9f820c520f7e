// Determines by calls to a chain which signed orders can be filled at one block. If the terms of an order are known, a buyer with enough
// money fills it in an `eth_call`. Otherwise the calls read the order's status, the offerer's counter, the holder and the approvals, as far
// as the deployment, the hash and the operator are known. A bid is accepted by an account that holds every token. No events and no rules of the service are used.

import type { CallResult, Endpoint, EthCall, Hex } from './rpc.ts';
import type { Fraction } from './seaport-calls.ts';
import {
  currenciesOf,
  decodeWords,
  encodeApproved,
  encodeApprovedForAll,
  encodeBalanceOf,
  encodeCounter,
  encodeFulfilment,
  encodeOrderStatus,
  encodeOwnerOf,
  encodeSale,
  nativePriceOf,
  toAddress,
} from './seaport-calls.ts';
import type { BidVerdict, SignedBid, SignedOrder, Verdict } from './signed-order.ts';

/** The buyer of asks and the seller to bids: an account without code, so that it can receive tokens. */
const BUYER = '0x00000000000000000000000000000000000b0b0e';
/** More native currency than any order costs. */
const BUYER_BALANCE: Hex = `0x${(2n ** 160n).toString(16)}`;
/** Code that returns 1 to every call. It replaces the code of ERC-20 currencies, so that each payment of the buyer succeeds, or the code of the token of a bid. */
const ACCEPTS_ALL: Hex = '0x600160005260206000f3';
/** The selector of the error with which Seaport rejects a fraction of an order if the price of the fraction is not an integer. */
const INEXACT_FRACTION = '0xc63cf089';
/**
 * The selector of Seaport's error for an order that has expired or not started at the block. After this error the verdict is null, because
 * the service compares times with the clock and not with the block. `compare.ts` then decides by the expiry time.
 */
const INVALID_TIME = '0x21ccfeb7';
/** The names of errors by selector, for the reasons in findings. Other errors are shown as the endpoint returned them. */
const ERRORS: Readonly<Record<string, string>> = {
  '0x1a515574': 'OrderIsCancelled',
  '0x10fda3e1': 'OrderAlreadyFilled',
  '0x8baa579f': 'InvalidSignature',
  '0x815e1d64': 'InvalidSigner',
  '0x8ffff980': 'InsufficientNativeTokensSupplied',
  '0x177e802f': 'ERC721InsufficientApproval',
  '0x64283d7b': 'ERC721IncorrectOwner',
  '0x7e273289': 'ERC721NonexistentToken',
  '0x03dee4c5': 'ERC1155InsufficientBalance',
  '0xe237d922': 'ERC1155MissingApprovalForAll',
};
/** The length of a selector in hex digits, including `0x`. */
const SELECTOR_LENGTH = 10;
/** The number of calls for an order whose terms are not known. */
const CALLS_OF_FACTS = 5;

/** The verdict on each order, by the key of the order. Throws EndpointFailure. */
export async function askVerdicts(
  endpoint: Endpoint,
  orders: readonly SignedOrder[],
  block: number,
): Promise<Map<string, Verdict>> {
  const verdicts = new Map<string, Verdict>();
  const signed = orders.filter(({ terms }) => terms !== null);
  const fractions = new Map(signed.map((order) => [order, { numerator: 1n, denominator: order.units }]));
  const single = await askFulfilments(endpoint, fractions, block);
  // If the price of one unit is not an integer, one unit cannot be bought. All remaining units of the order are then bought.
  const inexact = signed.filter((order) => reasonOf(single.get(order)).startsWith(INEXACT_FRACTION));
  const complete = await askFulfilments(
    endpoint,
    new Map(inexact.map((order) => [order, { numerator: 1n, denominator: 1n }])),
    block,
  );
  for (const order of signed) verdicts.set(order.key, toVerdict(complete.get(order) ?? single.get(order)));
  const unsigned = orders.filter(({ terms }) => terms === null);
  for (const [order, verdict] of await askFacts(endpoint, unsigned, block)) verdicts.set(order.key, verdict);
  return verdicts;
}

/**
 * The verdict on each bid, by its key. One unit of a token is sold to the bid, or all units if it cannot be filled in parts. In the state of the call, the contract
 * of the token accepts every transfer, so the call fails only because of the bid or the bidder. The token of a bid for one ERC-721 token must exist. Throws
 * EndpointFailure.
 */
export async function askBidVerdicts(
  endpoint: Endpoint,
  bids: readonly SignedBid[],
  block: number,
): Promise<Map<string, BidVerdict>> {
  const sales = await endpoint.callAll(bids.map(toSale), block);
  const statuses = await endpoint.callAll(
    bids.map(({ protocol, key }) => ({ to: protocol, data: encodeOrderStatus(key) })),
    block,
  );
  const single = bids.filter(({ standard, tokenId }) => standard === 'erc721' && tokenId !== null);
  const tokens = single.map(({ contract, sold }) => ({ contract, tokenId: sold.tokenId }));
  const owners = await askOwners(endpoint, tokens, block);
  const burned = new Set(single.filter((_, index) => owners[index] === null));
  return new Map(
    bids.map((bid, index) => {
      const verdict = burned.has(bid)
        ? { fillable: false, reason: 'the token does not exist' }
        : toSaleVerdict(sales[index]);
      return [bid.key, { ...verdict, filled: filledUnits(bid, statuses[index]) }];
    }),
  );
}

function toSale({ protocol, terms, contract, units, sold }: SignedBid): EthCall {
  const isPartial = Number(terms.parameters['orderType']) % 2 === 1;
  const fraction = { numerator: 1n, denominator: isPartial ? units : 1n };
  const sale = { seller: BUYER, tokenId: sold.tokenId, units: isPartial ? 1n : units, proof: sold.proof };
  return {
    from: BUYER,
    to: protocol,
    data: encodeSale(terms, sale, fraction),
    overrides: { [contract]: { code: ACCEPTS_ALL } },
  };
}

/** The result of `matchAdvancedOrders` is the list of transfers that were made. */
function toSaleVerdict(result: CallResult | undefined): Verdict {
  if (result && 'result' in result) return { fillable: true, reason: 'the sale succeeds' };
  if (reasonOf(result).startsWith(INVALID_TIME))
    return { fillable: null, reason: 'not valid at the time of the block' };
  return { fillable: false, reason: `the sale reverts: ${nameOf(reasonOf(result))}` };
}

function filledUnits({ units }: SignedBid, result: CallResult | undefined): bigint | null {
  if (!result || !('result' in result)) return null;
  const [, , filled = 0n, size = 0n] = decodeWords(result.result);
  return size === 0n ? 0n : (units * filled) / size;
}

/** The owner of each ERC-721 token. Null for a token without an owner. Throws EndpointFailure. */
export async function askOwners(
  endpoint: Endpoint,
  tokens: readonly { contract: string; tokenId: bigint }[],
  block: number,
): Promise<(string | null)[]> {
  const calls = tokens.map(({ contract, tokenId }) => ({ to: contract, data: encodeOwnerOf(tokenId) }));
  return (await endpoint.callAll(calls, block)).map(toOwner);
}

/** For each holding, the number of units of the ERC-1155 token that the account has. Throws EndpointFailure. */
export async function askBalances(
  endpoint: Endpoint,
  holdings: readonly { contract: string; tokenId: bigint; account: string }[],
  block: number,
): Promise<bigint[]> {
  const calls = holdings.map(({ contract, tokenId, account }) => ({
    to: contract,
    data: encodeBalanceOf(account, tokenId),
  }));
  return (await endpoint.callAll(calls, block)).map((each) => wordOf(each) ?? 0n);
}

async function askFulfilments(
  endpoint: Endpoint,
  fractions: ReadonlyMap<SignedOrder, Fraction>,
  block: number,
): Promise<Map<SignedOrder, CallResult>> {
  const orders = [...fractions.keys()];
  const calls = [...fractions].map(([order, fraction]) => toFulfilment(order, fraction));
  const results = await endpoint.callAll(calls, block);
  return new Map(orders.flatMap((order, index) => (results[index] ? [[order, results[index]]] : [])));
}

function toFulfilment({ protocol, terms }: SignedOrder, fraction: Fraction): EthCall {
  if (!terms || protocol === null) throw new Error('the terms of the order are not known');
  const accepting = currenciesOf(terms.parameters).map((currency) => [currency, { code: ACCEPTS_ALL }]);
  return {
    from: BUYER,
    to: protocol,
    data: encodeFulfilment(terms, fraction),
    value: nativePriceOf(terms.parameters),
    overrides: { [BUYER]: { balance: BUYER_BALANCE }, ...Object.fromEntries(accepting) },
  };
}

function toVerdict(result: CallResult | undefined): Verdict {
  if (result && 'result' in result) {
    return decodeWords(result.result)[0] === 1n
      ? { fillable: true, reason: 'the fulfilment succeeds' }
      : { fillable: null, reason: 'Seaport returned no success' };
  }
  if (reasonOf(result).startsWith(INVALID_TIME))
    return { fillable: null, reason: 'not valid at the time of the block' };
  return { fillable: false, reason: `the fulfilment reverts: ${nameOf(reasonOf(result))}` };
}

function nameOf(reverted: string): string {
  return ERRORS[reverted.slice(0, SELECTOR_LENGTH)] ?? reverted;
}

function reasonOf(result: CallResult | undefined): string {
  return result && 'reverted' in result ? result.reverted : '';
}

async function askFacts(
  endpoint: Endpoint,
  orders: readonly SignedOrder[],
  block: number,
): Promise<[SignedOrder, Verdict][]> {
  const results = await endpoint.callAll(
    orders.flatMap((order) => toFactCalls(order)),
    block,
  );
  return orders.map((order, index) => [
    order,
    judgeFacts(order, results.slice(index * CALLS_OF_FACTS, (index + 1) * CALLS_OF_FACTS)),
  ]);
}

function toFactCalls({ protocol, contract, tokenId, seller, hash, operator, standard }: SignedOrder): EthCall[] {
  const isSingle = standard === 'erc721';
  // If the deployment is not known, an account without code is called. It returns nothing, so status and counter stay unknown.
  const seaport = protocol ?? BUYER;
  return [
    { to: seaport, data: encodeOrderStatus(hash ?? '0x0') },
    { to: seaport, data: encodeCounter(seller) },
    { to: contract, data: isSingle ? encodeOwnerOf(tokenId) : encodeBalanceOf(seller, tokenId) },
    { to: contract, data: encodeApprovedForAll(seller, operator ?? BUYER) },
    // For an ERC-1155 contract this call reverts, because ERC-1155 has no approval for a single token.
    { to: contract, data: encodeApproved(tokenId) },
  ];
}

/** The verdict that follows from the facts. `fillable` is null if no fact excludes a fill, but a fact is not known. */
function judgeFacts(order: SignedOrder, facts: readonly CallResult[]): Verdict {
  const [statusResult, counterResult, holderResult, allResult, approvedResult] = facts;
  const status =
    order.hash !== null && statusResult && 'result' in statusResult ? decodeWords(statusResult.result) : [];
  const [, cancelled, filled = 0n, size = 0n] = status;
  if (cancelled === 1n) return { fillable: false, reason: 'getOrderStatus: cancelled' };
  if (size > 0n && filled >= size) return { fillable: false, reason: 'getOrderStatus: filled' };
  const counter = wordOf(counterResult);
  if (order.counter !== null && counter !== null && counter !== order.counter)
    return { fillable: false, reason: `getCounter: ${counter}, the order has ${order.counter}` };
  const holds =
    order.standard === 'erc721' ? toOwner(holderResult) === order.seller : (wordOf(holderResult) ?? 0n) > 0n;
  if (!holds) return { fillable: false, reason: 'the seller does not hold the token' };
  if (order.operator === null || order.counter === null || status.length === 0)
    return { fillable: null, reason: 'the status, the operator or the counter of the order is not known' };
  const isApproved = wordOf(allResult) === 1n || addressOf(approvedResult) === order.operator;
  return isApproved
    ? { fillable: true, reason: 'status, counter, holder and approval allow the fill' }
    : { fillable: false, reason: 'the operator of the order is not approved' };
}

function toOwner(result: CallResult | undefined): string | null {
  const owner = addressOf(result);
  return owner === null || BigInt(owner) === 0n ? null : owner;
}

function addressOf(result: CallResult | undefined): string | null {
  const value = wordOf(result);
  return value === null ? null : toAddress(value);
}

function wordOf(result: CallResult | undefined): bigint | null {
  return result && 'result' in result ? (decodeWords(result.result)[0] ?? null) : null;
}
