// Builds Seaport orders, the typed data that a wallet signs, and the calls that fill and cancel an order.

import type { Address, Hex } from 'viem';
import { encodeFunctionData, zeroAddress, zeroHash } from 'viem';
import { formatAmount } from '../../../client/src/market.ts';
import type { TradingChain } from '../data/service-state.ts';
import { SEAPORT_ABI } from './abis.ts';
import { texts } from './texts.ts';

export type Call = { to: Address; data: Hex; value: bigint };

type Item = { itemType: number; token: Address; identifierOrCriteria: string; startAmount: string; endAmount: string };

/** The components of an order. Integers are decimal text, as in the interfaces of the service. */
export type OrderComponents = {
  offerer: Address;
  zone: Address;
  offer: readonly Item[];
  consideration: readonly (Item & { recipient: Address })[];
  orderType: number;
  startTime: string;
  endTime: string;
  zoneHash: Hex;
  salt: string;
  conduitKey: Hex;
  counter: string;
};

/** A signed order, as `GET /explore/v1/orders/{orderId}` returns it. */
export type Fulfilment = { protocolAddress: string; parameters: object; signature: string };

const NATIVE = 0;
const ERC20 = 1;
const ERC721 = 2;
const ERC1155 = 3;
const FULL_OPEN = 0;
const SALT_BYTES = 16;

/** What a seller asks for one token. Times are in seconds, amounts in base units. */
export type Ask = {
  seller: Address;
  contract: Address;
  tokenId: string;
  isErc1155: boolean;
  price: bigint;
  royalty: { recipient: Address; amount: bigint } | null;
  startTime: number;
  endTime: number;
  counter: bigint;
};

/** Builds an order that sells one ERC-721 token, or one unit of an ERC-1155 token, for the native currency. */
export function buildOrder(ask: Ask): OrderComponents {
  const payment = (recipient: Address, amount: bigint) => ({
    ...toItem(NATIVE, zeroAddress, '0', amount),
    recipient,
  });
  const { royalty } = ask;
  return {
    offerer: ask.seller,
    zone: zeroAddress,
    offer: [toItem(ask.isErc1155 ? ERC1155 : ERC721, ask.contract, ask.tokenId, 1n)],
    consideration: [payment(ask.seller, ask.price), ...(royalty ? [payment(royalty.recipient, royalty.amount)] : [])],
    orderType: FULL_OPEN,
    startTime: String(ask.startTime),
    endTime: String(ask.endTime),
    zoneHash: zeroHash,
    salt: randomSalt(),
    conduitKey: zeroHash,
    counter: String(ask.counter),
  };
}

function toItem(itemType: number, token: Address, identifierOrCriteria: string, amount: bigint): Item {
  return { itemType, token, identifierOrCriteria, startAmount: String(amount), endAmount: String(amount) };
}

function randomSalt(): string {
  const bytes = crypto.getRandomValues(new Uint8Array(SALT_BYTES));
  return String(bytes.reduce((salt, byte) => salt * 256n + BigInt(byte), 0n));
}

const ITEM_TYPE = [
  { name: 'itemType', type: 'uint8' },
  { name: 'token', type: 'address' },
  { name: 'identifierOrCriteria', type: 'uint256' },
  { name: 'startAmount', type: 'uint256' },
  { name: 'endAmount', type: 'uint256' },
];

const TYPES = {
  EIP712Domain: [
    { name: 'name', type: 'string' },
    { name: 'version', type: 'string' },
    { name: 'chainId', type: 'uint256' },
    { name: 'verifyingContract', type: 'address' },
  ],
  OrderComponents: [
    { name: 'offerer', type: 'address' },
    { name: 'zone', type: 'address' },
    { name: 'offer', type: 'OfferItem[]' },
    { name: 'consideration', type: 'ConsiderationItem[]' },
    { name: 'orderType', type: 'uint8' },
    { name: 'startTime', type: 'uint256' },
    { name: 'endTime', type: 'uint256' },
    { name: 'zoneHash', type: 'bytes32' },
    { name: 'salt', type: 'uint256' },
    { name: 'conduitKey', type: 'bytes32' },
    { name: 'counter', type: 'uint256' },
  ],
  OfferItem: ITEM_TYPE,
  ConsiderationItem: [...ITEM_TYPE, { name: 'recipient', type: 'address' }],
};

/** What the wallet signs (EIP-712), as the JSON of `eth_signTypedData_v4`. */
export function toTypedData(message: OrderComponents, { chainId, seaport }: TradingChain): string {
  const domain = { name: 'Seaport', version: seaport.version, chainId, verifyingContract: seaport.address };
  return JSON.stringify({ types: TYPES, primaryType: 'OrderComponents', domain, message });
}

/** What the buyer pays for an order: in the native currency, or in the ERC-20 token `currency`. */
export function totalOf({ parameters }: Fulfilment): { amount: bigint; currency: Address | null } {
  const { consideration } = componentsOf(parameters);
  const amount = consideration.reduce((sum, { startAmount }) => sum + BigInt(startAmount), 0n);
  const [first] = consideration;
  return { amount, currency: first?.itemType === ERC20 ? first.token : null };
}

/** Returns the amount with its currency. The amount is not rounded, because the user agrees to exactly this amount. */
export function describeAmount(raw: bigint, { currency, decimals }: TradingChain): string {
  return `${formatAmount(raw, decimals)} ${currency}`;
}

/** What the buyer of an order pays. */
export function describeTotal(fulfilment: Fulfilment, chain: TradingChain): string {
  const { amount, currency } = totalOf(fulfilment);
  return currency === null ? describeAmount(amount, chain) : texts.wrapped(describeAmount(amount, chain));
}

/**
 * The call that fills an order. The call pays the price of the complete order. If the order was already partly filled, Seaport returns the
 * surplus.
 */
export function toFillCall(fulfilment: Fulfilment): Call {
  const { counter: _, ...components } = toStruct(fulfilment.parameters);
  const { amount, currency } = totalOf(fulfilment);
  const parameters = { ...components, totalOriginalConsiderationItems: BigInt(components.consideration.length) };
  const order = { parameters, signature: fulfilment.signature as Hex };
  const data = encodeFunctionData({ abi: SEAPORT_ABI, functionName: 'fulfillOrder', args: [order, zeroHash] });
  return { to: fulfilment.protocolAddress as Address, data, value: currency === null ? amount : 0n };
}

/** The call with which the seller cancels an order on the chain, so that nobody can fill it. */
export function toCancelCall({ protocolAddress, parameters }: Fulfilment): Call {
  const components = toStruct(parameters);
  const data = encodeFunctionData({ abi: SEAPORT_ABI, functionName: 'cancel', args: [[components]] });
  return { to: protocolAddress as Address, data, value: 0n };
}

function componentsOf(parameters: object): OrderComponents {
  return parameters as OrderComponents;
}

/** The order as the ABI encodes it: its integers are `bigint` values instead of decimal text. */
function toStruct(parameters: object) {
  const { offer, consideration, startTime, endTime, salt, counter, ...rest } = componentsOf(parameters);
  return {
    ...rest,
    offer: offer.map(toAmounts),
    consideration: consideration.map((item) => ({ ...toAmounts(item), recipient: item.recipient })),
    startTime: BigInt(startTime),
    endTime: BigInt(endTime),
    salt: BigInt(salt),
    counter: BigInt(counter),
  };
}

function toAmounts({ itemType, token, identifierOrCriteria, startAmount, endAmount }: Item) {
  return {
    itemType,
    token,
    identifierOrCriteria: BigInt(identifierOrCriteria),
    startAmount: BigInt(startAmount),
    endAmount: BigInt(endAmount),
  };
}
