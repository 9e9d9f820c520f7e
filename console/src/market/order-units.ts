// How many units of a token an order offers. The service states prices for one unit, but a purchase in the console buys all units that the order
// still offers. So the console must say that a price is for one unit, and how many units a purchase has.

import type { Order } from '../../../client/src/market.ts';

export type OrderUnits = { offered: bigint; isPartlyFilled: boolean };

const FILLS = new Set(['order-fulfilled', 'orders-matched']);

/** Null if the order offers a single unit, or if its terms are not published, as for orders of other marketplaces. */
export function unitsOf({ fulfilment, evidence }: Pick<Order, 'fulfilment' | 'evidence'>): OrderUnits | null {
  const { offer } = (fulfilment?.parameters ?? {}) as { offer?: readonly { startAmount?: string }[] };
  const offered = BigInt(offer?.[0]?.startAmount ?? 1);
  // The terms are published only while the order is active. So an order with terms and a fill is filled in part.
  return offered > 1n ? { offered, isPartlyFilled: evidence.some(({ kind }) => FILLS.has(kind)) } : null;
}
