// Computes the stored snapshot of a collection, which is served when nothing fresher is known. Each figure of the snapshot is replaced by the
// present figure, unless the present figure is unknown, incomplete or too old.

import type { Chain } from '../../platform/core/chains.ts';
import type { Collection, CollectionSnapshot } from '../../platform/core/collection.ts';
import { toKnownFloor, toListingFigures } from '../index/listing-figures.ts';
import type { Figure } from '../provenance/figure.ts';
import { toHoldingFigures } from '../provenance/holdings.ts';
import { toVolumeFigure } from '../provenance/trade.ts';
import type { SnapshotFacts } from './queries/snapshots.ts';

/** Returns the snapshot that must be stored at the time `now`. `chain` is null when the collection has no configured chain. */
export function toStoredSnapshot(
  { snapshot, tokensComplete, salesComplete }: Pick<Collection, 'snapshot' | 'tokensComplete' | 'salesComplete'>,
  facts: SnapshotFacts,
  { chain, now }: { chain: Chain | null; now: number },
): CollectionSnapshot {
  const { stats, analytics, coverage } = facts;
  const { floor } = toListingFigures({ ...facts, snapshotFloorRaw: null }, now);
  const holdings = toHoldingFigures(
    { ...facts, record: stats },
    { snapshot: { supply: null, owners: null }, tokensComplete },
    now,
  );
  const volume = toVolumeFigure(
    {
      record: analytics && {
        at: analytics.at,
        volume: { allTime: analytics.volumeAllTime, sevenDay: null, twentyFourHour: null },
        salesAllTime: analytics.salesAllTime,
      },
      volumeRaw: facts.volumeRaw,
      sales: facts.sales,
      unread: facts.unread,
      coverage,
    },
    { decimals: chain?.decimals ?? null, snapshotVolume: snapshot.volumeAllTime, salesComplete },
    now,
  );
  return {
    floorRaw: keep(floor, toKnownFloor(snapshot.floorRaw)),
    // A sum of imported sales can become smaller when an import is corrected or taken back. Stored here, it would count as stated by the record.
    volumeAllTime: keep(volume?.kind === 'imported' ? null : volume, snapshot.volumeAllTime),
    supply: keep(holdings.supply, snapshot.supply),
    owners: keep(holdings.owners, snapshot.owners),
  };
}

/**
 * If `figure` is null, the stored value stays. A figure whose value is null replaces the stored value: such a collection is known to have no
 * floor.
 */
function keep<T>(figure: Figure<T> | null, stored: T): T {
  return figure === null ? stored : figure.value;
}
