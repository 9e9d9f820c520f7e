// The all-time volume of a collection in native units: from the analytics record, else the sum of its sales, else from the snapshot.

import type { CollectionVolume } from './queries/analytics.ts';
import { toNativeNumber } from '../core/amount.ts';
import type { Chain } from '../core/chains.ts';

/**
 * Null when the volume is unknown. `volume` is undefined when the collection has neither an analytics record nor a sale; `chain` is
 * null when the collection has no configured chain.
 */
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
