// Converts orders of this service to the JSON of responses.

import { toAssetNames } from '../../platform/core/address.ts';
import type { Chain, Currency } from '../../platform/core/chains.ts';
import type { ChainEvent } from '../../market/chain-log/chain-event.ts';
import type { Explanation } from '../../market/orders/explain.ts';
import type { StoredOrder } from '../../market/orders/queries/stored-orders.ts';
import type { WireMarketItem } from '../../market/reads/http/market-item.ts';
import type { PriceContext } from '../../market/reads/http/price.ts';
import { toBidPrice } from '../../market/reads/http/price.ts';
import type { WireExplanation, WireSignedOrder } from './schemas.ts';

export type WireOrderResponse = { data: WireMarketItem; order: WireSignedOrder | null };

/** An order with its chain and its currency, which is null for the native one, wrapped or not. */
export type LocatedOrder = { order: StoredOrder; chain: Chain; currency: Currency | null };

export function toWireOrder({ order, ...unit }: LocatedOrder, prices: PriceContext): WireOrderResponse {
  const { chain } = unit;
  const { signed, seaport, expiresAt, asset } = order;
  const names =
    asset === null
      ? { contractAddress: order.contractAddress, tokenId: null, mint: null }
      : toAssetNames(chain.family, order.contractAddress, asset);
  const priceOf = (raw: bigint) => toBidPrice(prices, raw, unit);
  // The expiry task updates the stored status some time after the order has expired.
  const hasExpired = order.status === 'active' && expiresAt !== null && expiresAt <= prices.now;
  return {
    data: {
      chain: order.chain,
      ...names,
      collectionId: order.collectionId,
      price: priceOf(order.raw),
      ...(order.side === 'ask' ? { seller: order.seller, buyer: null } : { seller: null, buyer: order.seller }),
      marketplace: prices.ownCode,
      status: hasExpired ? 'expired' : order.status,
      expiresAt: toTimeOrNull(expiresAt),
      timestamp: toTime(order.createdAt),
      orderId: order.orderId,
      tx: order.tx,
    },
    order: signed &&
      seaport && {
        side: order.side,
        orderHash: signed.orderHash,
        protocolAddress: signed.protocolAddress,
        standard: signed.standard,
        quantity: signed.quantity.toString(),
        filledQuantity: order.filledQuantity.toString(),
        proceeds: order.proceeds === null ? null : priceOf(order.proceeds),
        root: order.root,
        buyerTotal: signed.buyerTotalRaw === null ? null : priceOf(signed.buyerTotalRaw),
        counter: signed.counter.toString(),
        operator: signed.operator,
        startsAt: toTime(signed.startsAt),
        dormant: hasExpired ? null : order.dormant,
        seaport,
      },
  };
}

export function toWireExplanation(
  explanation: Explanation,
  located: LocatedOrder,
  prices: PriceContext,
): WireExplanation {
  const { order, derived, cancel, readTo } = explanation;
  const wireOrder = toWireOrder(located, prices);
  return {
    order: wireOrder,
    status: derived?.status ?? wireOrder.data.status,
    dormant: derived ? derived.dormant : order.dormant,
    checks: explanation.checks,
    transitions: explanation.transitions.map((transition) => ({ ...transition, at: toTimeOrNull(transition.at) })),
    cancel: cancel && {
      cancelledBy: cancel.cancelledBy,
      signature: cancel.signature,
      createdAt: toTime(cancel.createdAt),
    },
    events: explanation.events.map(toWireEvent),
    tokenEvents: explanation.tokenEvents.map(toWireEvent),
    readTo: readTo && { blockNumber: readTo.number, blockHash: readTo.hash, blockTime: toTime(readTo.time) },
    endedAt: toTimeOrNull(derived ? derived.endedAt : order.endedAt),
  };
}

function toWireEvent(event: ChainEvent): object {
  const { kind, blockNumber, blockTime, tx, logIndex, part, ...fact } = event;
  const toText = (_name: string, value: unknown) => (typeof value === 'bigint' ? value.toString() : value);
  const details: unknown = JSON.parse(JSON.stringify(fact, toText));
  return { kind, blockNumber, blockTime: toTime(blockTime), tx, logIndex, part, details };
}

function toTime(ms: number): string {
  return new Date(ms).toISOString();
}

function toTimeOrNull(ms: number | null): string | null {
  return ms === null ? null : toTime(ms);
}
