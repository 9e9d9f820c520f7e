// Derives sales from the fills of one transaction. Two orders that were matched with each other are two fills but one sale. The price of
// a sale is the sum of its payments, including fees.

import type { OrderFulfilled, ReceivedItem, SpentItem } from '../../market/chain-log/chain-event.ts';
import type { Address, AssetId, SoldAsset } from '../../platform/core/address.ts';
import { toTokenId } from '../../platform/core/address.ts';
import { ZERO_ADDRESS } from '../../platform/core/evm.ts';
import { isTokenItem, ITEM_TYPE } from '../../platform/core/seaport.ts';
import { UNKNOWN_PRICE } from '../../market/index/queries/sale-rule.ts';

/** A sale of one token, or of several tokens of one contract at one price. */
export type FillSale = {
  fill: OrderFulfilled;
  /** The fill of the bid that was matched with the order of `fill`. Null for any other sale. */
  bid: OrderFulfilled | null;
  contract: Address;
  asset: SoldAsset;
  /** The tokens of this contract, each with its units. */
  sold: readonly { asset: AssetId; quantity: bigint }[];
  /**
   * Base units of the native currency, wrapped or not. Null when a payment is unknown or in another currency, and when the tokens are of
   * several contracts.
   */
  priceRaw: bigint | null;
  /**
   * `priceRaw` as text. If `priceRaw` is null, a text that cannot be parsed as an amount: a description of the payments, or UNKNOWN_PRICE.
   */
  price: string;
  seller: Address | null;
  buyer: Address | null;
};

export type SalesOptions = {
  /** Hashes of the orders that were matched with each other (`OrdersMatched`). */
  matched: ReadonlySet<string>;
  wrappedNative: Address | null;
};

/** A fill without a token or without a payment is not a sale. */
export function toSales(fills: readonly OrderFulfilled[], { matched, wrappedNative }: SalesOptions): FillSale[] {
  const trades = fills.flatMap((fill) => toTrade(fill, matched) ?? []);
  const { bidOf, mirrors } = pairMatched(trades);
  return trades
    .filter((trade) => !mirrors.has(trade))
    .flatMap((trade) => toFillSales(trade, bidOf.get(trade) ?? null, wrappedNative));
}

type Trade = {
  fill: OrderFulfilled;
  kind: 'ask' | 'bid';
  /**
   * Whether other orders filled this order (`matchOrders`). The recipient in the event then gets only the remainder and is no party to the
   * sale.
   */
  isMatched: boolean;
  /** The account for which the seller of a private listing has listed the tokens. Null for any other order. */
  recipient: Address | null;
  tokens: readonly SpentItem[];
  payments: readonly SpentItem[];
};

/** An ask offers tokens for payments; a bid offers a payment for tokens. Null for any other fill. */
function toTrade(fill: OrderFulfilled, matched: ReadonlySet<string>): Trade | null {
  // Seaport 1.1 emits no OrdersMatched, but reports the zero address as the recipient of a matched order.
  const isMatched = matched.has(fill.orderHash) || fill.recipient === ZERO_ADDRESS;
  const offered = fill.offer.filter(isTokenItem);
  const { delivered, received } = separateDelivered(offered, fill.consideration.filter(isTokenItem));
  if (offered.length > 0 && received.length === 0) {
    const payments = fill.consideration.filter(isPayment);
    const recipients = new Set(delivered.map(({ recipient }) => recipient));
    const [recipient = null] = recipients.size === 1 ? recipients : [];
    return payments.length > 0 ? { fill, kind: 'ask', isMatched, recipient, tokens: offered, payments } : null;
  }
  if (received.length > 0 && offered.length === 0) {
    const payments = fill.offer.filter(isPayment);
    return payments.length > 0 ? { fill, kind: 'bid', isMatched, recipient: null, tokens: received, payments } : null;
  }
  return null;
}

/**
 * Separates the tokens that an order receives from those that it only delivers: a private listing names its buyer with the offered token in its
 * consideration.
 */
function separateDelivered(
  offered: readonly SpentItem[],
  consideration: readonly ReceivedItem[],
): { delivered: ReceivedItem[]; received: ReceivedItem[] } {
  const left = offered.map(tokenKey);
  const isDelivered = (item: ReceivedItem) => {
    const at = left.indexOf(tokenKey(item));
    if (at >= 0) left.splice(at, 1);
    return at >= 0;
  };
  const { delivered = [], received = [] } = Object.groupBy(consideration, (item) =>
    isDelivered(item) ? 'delivered' : 'received',
  );
  return { delivered, received };
}

function tokenKey({ token, identifier, amount }: SpentItem): string {
  return `${token} ${identifier} ${amount}`;
}

function isPayment({ itemType }: SpentItem): boolean {
  return itemType === ITEM_TYPE.native || itemType === ITEM_TYPE.erc20;
}

/**
 * Pairs each matched ask with a matched bid for the same tokens. The ask becomes the sale, and the bidder becomes the buyer, who paid what the bid
 * offered. The consideration of the ask does not include the fees that the bid pays. If several asks fill one bid, or one ask fills several bids,
 * each of these bids is a sale, and the asks are not. `mirrors`: the orders that are no sale of their own.
 */
function pairMatched(trades: readonly Trade[]): { bidOf: ReadonlyMap<Trade, Trade>; mirrors: ReadonlySet<Trade> } {
  const bidOf = new Map<Trade, Trade>();
  const mirrors = new Set<Trade>();
  const bids = trades.filter((trade) => trade.kind === 'bid' && trade.isMatched);
  const asks = trades.filter((trade) => trade.kind === 'ask' && trade.isMatched);
  for (const ask of asks) {
    const bid = bids.find((candidate) => !mirrors.has(candidate) && tokensKey(candidate) === tokensKey(ask));
    if (!bid) continue;
    bidOf.set(ask, bid);
    mirrors.add(bid);
  }
  const unpaired = bids.filter((bid) => !mirrors.has(bid)).map(tokenIds);
  for (const ask of asks) {
    if (!bidOf.has(ask) && unpaired.some((ids) => tokenIds(ask).isSubsetOf(ids))) mirrors.add(ask);
  }
  return { bidOf, mirrors };
}

function tokenIds({ tokens }: Trade): Set<string> {
  return new Set(tokens.map(({ token, identifier }) => `${token} ${identifier}`));
}

function tokensKey({ tokens }: Trade): string {
  return tokens.map(tokenKey).toSorted().join(' ');
}

/** One sale for each contract whose tokens the trade moved. */
function toFillSales(trade: Trade, bid: Trade | null, wrappedNative: Address | null): FillSale[] {
  const { fill, kind, tokens } = trade;
  const counterparty = bid?.fill.offerer ?? trade.recipient ?? (trade.isMatched ? null : fill.recipient);
  const parties =
    kind === 'ask' ? { seller: fill.offerer, buyer: counterparty } : { seller: counterparty, buyer: fill.offerer };
  const filled = { fill, bid: bid?.fill ?? null };
  const contracts = new Set(tokens.map(({ token }) => token));
  const { priceRaw, price } = toFillPrice(bid ?? trade, wrappedNative);
  return [...contracts].map((contract) => {
    const sold = sumUnits(tokens.filter(({ token }) => token === contract));
    // A price for tokens of several contracts cannot be divided between the contracts.
    if (contracts.size > 1) {
      const description = `${price} for tokens of ${contracts.size} contracts`;
      return { ...filled, contract, asset: null, sold, ...parties, priceRaw: null, price: description };
    }
    const [first, ...others] = sold;
    const asset = first === undefined || others.length > 0 ? null : first.asset;
    return { ...filled, contract, asset, sold, ...parties, priceRaw, price };
  });
}

function sumUnits(tokens: readonly SpentItem[]): { asset: AssetId; quantity: bigint }[] {
  const units = new Map<AssetId, bigint>();
  for (const { identifier, amount } of tokens) {
    const asset = toTokenId(identifier);
    units.set(asset, (units.get(asset) ?? 0n) + amount);
  }
  return Array.from(units, ([asset, quantity]) => ({ asset, quantity }));
}

/** The price of a trade. A payment whose token is the contract of the protocol stands for an unknown payment (protocols/market-fill.ts). */
function toFillPrice(
  { fill, payments }: Trade,
  wrappedNative: Address | null,
): { priceRaw: bigint | null; price: string } {
  if (payments.some(({ token }) => token === fill.protocol)) return { priceRaw: null, price: UNKNOWN_PRICE };
  const sums = new Map<Address, bigint>();
  for (const { itemType, token, amount } of payments) {
    const currency = itemType === ITEM_TYPE.native || token === wrappedNative ? ZERO_ADDRESS : token;
    sums.set(currency, (sums.get(currency) ?? 0n) + amount);
  }
  const native = sums.get(ZERO_ADDRESS);
  if (native !== undefined && sums.size === 1) return { priceRaw: native, price: native.toString() };
  const amounts = [...sums].map(([token, sum]) => (token === ZERO_ADDRESS ? `${sum} native` : `${sum} of ${token}`));
  return { priceRaw: null, price: amounts.join(' and ') };
}
