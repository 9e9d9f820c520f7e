// How many units of a token an order offers. The prices of an order are for one unit, and a signed order is for all of its units together.

import type { Order } from '../../../client/src/market.ts';

export type OrderUnits = { offered: bigint; isPartlyFilled: boolean };

const FILLS = new Set(['order-fulfilled', 'orders-matched']);

/** Null if the terms of the order are not published, as those of other marketplaces, or offer a token that exists only once. */
export function unitsOf({ fulfilment, evidence }: Pick<Order, 'fulfilment' | 'evidence'>): OrderUnits | null {
  const { offer } = (fulfilment?.parameters ?? {}) as { offer?: readonly { startAmount?: string }[] };
  const offered = BigInt(offer?.[0]?.startAmount ?? 1);
  // An order that can still be filled after a fill is an order that is filled in parts.
  return offered > 1n ? { offered, isPartlyFilled: evidence.some(({ kind }) => FILLS.has(kind)) } : null;
}
