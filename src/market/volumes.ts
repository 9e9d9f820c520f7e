// All-time volume as one number of native units: what a record tells, else the sum of the sales, else the stored snapshot.

import type { CollectionVolume } from './queries/stats.ts';
import { toNativeNumber } from '../core/amount.ts';
import type { Chain } from '../core/chains.ts';

/** Native units, or null when nothing is known. A record that tells other windows but not this one leaves it unknown. */
export function toVolumeAllTime(
  known: CollectionVolume | undefined,
  chain: Chain | null,
  snapshot: number | null,
): number | null {
  if (known?.recorded !== null && known?.recorded !== undefined) return known.recorded;
  if (known?.summedRaw !== null && known?.summedRaw !== undefined && chain) {
    return toNativeNumber(known.summedRaw, chain.decimals);
  }
  return snapshot;
}
