// The all-time volume of a collection in native units: of an analytics record, else the sum of the sales, else of the snapshot.

import type { CollectionVolume } from './queries/analytics.ts';
import { toNativeNumber } from '../core/amount.ts';
import type { Chain } from '../core/chains.ts';

/** Null when the volume is unknown. `volume` is undefined for a collection without record and sales, `chain` null for no chain. */
export function toVolumeAllTime(
  volume: CollectionVolume | undefined,
  chain: Chain | null,
  snapshot: number | null,
): number | null {
  if (volume?.recorded !== null && volume?.recorded !== undefined) return volume.recorded;
  if (volume?.summedRaw !== null && volume?.summedRaw !== undefined && chain) {
    return toNativeNumber(volume.summedRaw, chain.decimals);
  }
  return snapshot;
}
