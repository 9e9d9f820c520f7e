// The calls that fill, accept and cancel a Seaport order, and what the buyer of an order pays.

import type { Address, Hex } from 'viem';
import { encodeFunctionData, zeroAddress, zeroHash } from 'viem';
import { formatAmount } from '../../../client/src/market.ts';
import type { TradingChain } from '../data/service-state.ts';
import { SEAPORT_ABI } from './abis.ts';
import { texts } from './texts.ts';

export type Call = { to: Address; data: Hex; value: bigint };

type Item = { itemType: number; token: Address; identifierOrCriteria: string; startAmount: string; endAmount: string };

/** The components of an order. Integers are decimal text, as in the interfaces of the service. */
type OrderComponents = {
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
export type Fulfilment = {
  protocolAddress: string;
  parameters: object;
  signature: string;
  criteriaProof: readonly string[] | null;
};

const ERC20 = 1;

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

/** What a bid is for, and what the seller of one unit pays as fees out of the price. */
export function termsOf({ parameters }: Fulfilment) {
  const [wanted, ...fees] = componentsOf(parameters).consideration;
  if (!wanted) throw new Error('the bid is for nothing');
  const units = BigInt(wanted.startAmount);
  const total = fees.reduce((sum, { startAmount }) => sum + BigInt(startAmount), 0n);
  return { contract: wanted.token, units, fees: total / units, currency: fees[0]?.token ?? null };
}

/** `side` of a resolver: the consideration. */
const CONSIDERATION = 1;

/** The call with which the holder of a token accepts a bid for one unit. The proof shows that the token is one of those that the bid is for. */
export function toAcceptCall(fulfilment: Fulfilment, tokenId: string): Call {
  const { counter: _, ...components } = toStruct(fulfilment.parameters);
  const parameters = { ...components, totalOriginalConsiderationItems: BigInt(components.consideration.length) };
  const signature = fulfilment.signature as Hex;
  const order = {
    parameters,
    numerator: 1n,
    denominator: termsOf(fulfilment).units,
    signature,
    extraData: '0x' as Hex,
  };
  const criteriaProof = fulfilment.criteriaProof as readonly Hex[] | null;
  const resolver = { orderIndex: 0n, side: CONSIDERATION, index: 0n, identifier: BigInt(tokenId) };
  const resolvers = criteriaProof === null ? [] : [{ ...resolver, criteriaProof }];
  const args = [order, resolvers, zeroHash, zeroAddress] as const;
  const data = encodeFunctionData({ abi: SEAPORT_ABI, functionName: 'fulfillAdvancedOrder', args });
  return { to: fulfilment.protocolAddress as Address, data, value: 0n };
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
