// What Seaport's fills say about sales. One transaction at a time, because fills by `matchOrders` come as mirrored pairs that
// are one sale together. A price is the sum of the payment items, fees included.

import type { Address } from '../core/address.ts';
import type { OrderFulfilled, SpentItem } from '../chain-log/chain-event.ts';
import { ZERO_ADDRESS } from '../core/evm.ts';
import { isTokenItem, ITEM_TYPE } from '../core/seaport.ts';

/** A sale of one token, or (`tokenId` null) of several tokens of one contract at one price. */
export type FillSale = {
  fill: OrderFulfilled;
  contract: Address;
  tokenId: bigint | null;
  /** Base units of the native currency, wrapped or not; null where the price is not one amount of it. */
  priceRaw: bigint | null;
  /** The price in words, for those that are no native amount: kept, and never taken for one. */
  price: string;
  seller: Address | null;
  buyer: Address | null;
};

export type SalesOptions = {
  /** Hashes of the orders that were matched with each other (`OrdersMatched`). */
  matched: ReadonlySet<string>;
  wrappedNative: Address | null;
};

/** The sales of the fills of one transaction. Fills without a token or without a payment are none. */
export function toSales(fills: readonly OrderFulfilled[], { matched, wrappedNative }: SalesOptions): FillSale[] {
  const sides = fills.flatMap((fill) => toSide(fill, matched) ?? []);
  const mirrored = pairMirrors(sides);
  return sides
    .filter((side) => !mirrored.dropped.has(side))
    .flatMap((side) => toFillSales(side, mirrored.counterparts.get(side) ?? null, wrappedNative));
}

type Side = {
  fill: OrderFulfilled;
  kind: 'ask' | 'bid';
  /** Filled by other orders: the recipient of the event is whoever takes what is left over, and says nothing. */
  isMatched: boolean;
  tokens: readonly SpentItem[];
  payments: readonly SpentItem[];
};

/** An ask offers tokens for payments; a bid offers a payment and takes the tokens. */
function toSide(fill: OrderFulfilled, matched: ReadonlySet<string>): Side | null {
  // Seaport 1.1 has no event for it, but names nobody as the recipient.
  const isMatched = matched.has(fill.orderHash) || fill.recipient === ZERO_ADDRESS;
  const offered = fill.offer.filter(isTokenItem);
  const taken = fill.consideration.filter(isTokenItem);
  if (offered.length > 0 && taken.length === 0) {
    const payments = fill.consideration.filter(isPayment);
    return payments.length > 0 ? { fill, kind: 'ask', isMatched, tokens: offered, payments } : null;
  }
  if (taken.length > 0 && offered.length === 0) {
    const payments = fill.offer.filter(isPayment);
    return payments.length > 0 ? { fill, kind: 'bid', isMatched, tokens: taken, payments } : null;
  }
  return null;
}

function isPayment({ itemType }: SpentItem): boolean {
  return itemType === ITEM_TYPE.native || itemType === ITEM_TYPE.erc20;
}

/** Pairs the asks and bids of `matchOrders` that moved the same tokens: the ask is the sale, its buyer the bidder. */
function pairMirrors(sides: readonly Side[]): { dropped: Set<Side>; counterparts: Map<Side, Side> } {
  const dropped = new Set<Side>();
  const counterparts = new Map<Side, Side>();
  const bids = sides.filter((side) => side.kind === 'bid' && side.isMatched);
  for (const ask of sides.filter((side) => side.kind === 'ask' && side.isMatched)) {
    const bid = bids.find((candidate) => !dropped.has(candidate) && keyOf(candidate) === keyOf(ask));
    if (!bid) continue;
    dropped.add(bid);
    counterparts.set(ask, bid);
  }
  return { dropped, counterparts };
}

function keyOf({ tokens }: Side): string {
  return tokens
    .map(({ token, identifier, amount }) => `${token} ${identifier} ${amount}`)
    .toSorted()
    .join(' ');
}

function toFillSales(side: Side, counterpart: Side | null, wrappedNative: Address | null): FillSale[] {
  const { fill, kind, tokens, payments } = side;
  const other = counterpart?.fill.offerer ?? (side.isMatched ? null : fill.recipient);
  const parties = kind === 'ask' ? { seller: fill.offerer, buyer: other } : { seller: other, buyer: fill.offerer };
  const contracts = new Set(tokens.map(({ token }) => token));
  const { priceRaw, price } = toFillPrice(payments, wrappedNative);
  return [...contracts].map((contract) => {
    const identifiers = new Set(tokens.filter(({ token }) => token === contract).map(({ identifier }) => identifier));
    const [only = null] = identifiers.size === 1 && contracts.size === 1 ? identifiers : [];
    const sale = { fill, contract, tokenId: only, ...parties };
    // A price for tokens of several contracts is the price of none of them.
    return contracts.size === 1
      ? { ...sale, priceRaw, price }
      : { ...sale, priceRaw: null, price: `${price} for tokens of ${contracts.size} contracts` };
  });
}

function toFillPrice(
  payments: readonly SpentItem[],
  wrappedNative: Address | null,
): { priceRaw: bigint | null; price: string } {
  const sums = new Map<Address, bigint>();
  for (const { itemType, token, amount } of payments) {
    const currency = itemType === ITEM_TYPE.native || token === wrappedNative ? ZERO_ADDRESS : token;
    sums.set(currency, (sums.get(currency) ?? 0n) + amount);
  }
  const native = sums.get(ZERO_ADDRESS);
  if (native !== undefined && sums.size === 1) return { priceRaw: native, price: native.toString() };
  const words = [...sums].map(([token, sum]) => (token === ZERO_ADDRESS ? `${sum} native` : `${sum} of ${token}`));
  return { priceRaw: null, price: words.join(' and ') };
}
