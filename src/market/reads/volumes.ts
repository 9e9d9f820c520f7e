// Computes the all-time volume of a collection in native units. The list of collections shows this volume. Collections on
// several chains may have the same address: a request for this address gets the collection with the largest volume.

import type { Chain } from '../../platform/core/chains.ts';
import type { TradeContext, VolumeFacts } from '../provenance/trade.ts';
import { toVolumeFigure } from '../provenance/trade.ts';

const NO_FACTS: VolumeFacts = { record: null, volumeRaw: 0n, sales: 0, unread: 0, coverage: [] };

/** Null when the volume is unknown. `chain` is null when the collection has no configured chain. */
export function toVolumeAllTime(
  facts: VolumeFacts | undefined,
  { chain, ...stated }: { chain: Chain | null } & Pick<TradeContext, 'snapshotVolume' | 'salesComplete'>,
  now: number,
): number | null {
  const context = { decimals: chain?.decimals ?? null, ...stated };
  return toVolumeFigure(facts ?? NO_FACTS, context, now)?.value ?? null;
}
