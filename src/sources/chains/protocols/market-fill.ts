// Builds `order-fulfilled` events for protocols whose events report a sale directly: the token, the price, the seller and the buyer.

import type { EventPosition, OrderFulfilled, ReceivedItem, SpentItem } from '../../../market/chain-log/chain-event.ts';
import type { Address } from '../../../platform/core/address.ts';
import type { Hex } from '../../../platform/core/evm.ts';
import { ZERO_ADDRESS } from '../../../platform/core/evm.ts';
import { keccak256OfText } from '../../../platform/core/keccak.ts';
import { isTokenItem, ITEM_TYPE } from '../../../platform/core/seaport.ts';

export type SoldToken = { contract: Address; tokenId: bigint; quantity: bigint };

export type MarketSale = {
  protocol: Address;
  /** Null when the event does not contain the hash of the order. */
  orderHash: Hex | null;
  /** Whether the seller accepted a bid. Otherwise the buyer accepted a listing. */
  isBid: boolean;
  /** ZERO_ADDRESS when the event does not name the account. */
  seller: Address;
  buyer: Address;
  tokens: readonly SoldToken[];
  /** ZERO_ADDRESS for the native currency. The address of the protocol's contract means that the logs do not show the payment. */
  currency: Address;
  /** What the buyer paid, in base units. */
  price: bigint;
};

export function toFill(position: EventPosition, sale: MarketSale): OrderFulfilled {
  const { protocol, orderHash, isBid, seller, buyer, currency, price } = sale;
  const tokens = sale.tokens.map(toTokenItem);
  const itemType = currency === ZERO_ADDRESS ? ITEM_TYPE.native : ITEM_TYPE.erc20;
  const payment: SpentItem = { itemType, token: currency, identifier: 0n, amount: price };
  return {
    ...position,
    kind: 'order-fulfilled',
    protocol,
    orderHash: orderHash ?? toPositionHash(position),
    zone: ZERO_ADDRESS,
    ...(isBid
      ? { offerer: buyer, recipient: seller, offer: [payment], consideration: to(buyer, tokens) }
      : { offerer: seller, recipient: buyer, offer: tokens, consideration: to(seller, [payment]) }),
  };
}

/** Returns the fill with its payment in the currency. */
export function withCurrency(fill: OrderFulfilled, currency: Address): OrderFulfilled {
  const itemType = currency === ZERO_ADDRESS ? ITEM_TYPE.native : ITEM_TYPE.erc20;
  return withPayment(fill, (payment) => ({ ...payment, token: currency, itemType }));
}

/** Returns the fill with its payment raised by an amount that only the call data shows, such as a fee on top of the price. */
export function withFee(fill: OrderFulfilled, fee: bigint): OrderFulfilled {
  return withPayment(fill, (payment) => ({ ...payment, amount: payment.amount + fee }));
}

function withPayment(fill: OrderFulfilled, change: <T extends SpentItem>(payment: T) => T): OrderFulfilled {
  const changed = <T extends SpentItem>(items: readonly T[]) =>
    items.map((item) => (isTokenItem(item) ? item : change(item)));
  return { ...fill, offer: changed(fill.offer), consideration: changed(fill.consideration) };
}

/** The logs do not show the standard of the token, so a single unit counts as ERC-721. A wrong standard has no effect on the sale. */
function toTokenItem({ contract, tokenId, quantity }: SoldToken): SpentItem {
  const itemType = quantity === 1n ? ITEM_TYPE.erc721 : ITEM_TYPE.erc1155;
  return { itemType, token: contract, identifier: tokenId, amount: quantity };
}

function to(recipient: Address, items: readonly SpentItem[]): ReceivedItem[] {
  return items.map((item) => ({ ...item, recipient }));
}

/** A hash that no order has, and that is the same when the block is read again. */
function toPositionHash({ tx, logIndex, part }: EventPosition): Hex {
  return keccak256OfText(`${tx} ${logIndex} ${part}`);
}
