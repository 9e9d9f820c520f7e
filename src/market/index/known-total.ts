// Which stated total of a buyer is known.

import { toKnownPrice } from '../../platform/core/amount.ts';

/** The total that a listing states. Null for a total of 0 or below the ask: no buyer pays less than the seller asks, so the total is wrong. */
export function toKnownTotal(ask: bigint, total: bigint | null): bigint | null {
  return total !== null && total < ask ? null : toKnownPrice(total);
}
