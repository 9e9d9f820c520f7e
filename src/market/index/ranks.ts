// Computes and stores the ranking keys of a collection: its all-time volume, its ask floor and its listed count. The volume and the floor
// are in the native currency of the chain. The same rules choose the values of the keys and the values that responses show. A transaction
// that changes the rows from which a key is computed also stores the new key. If the floor or the listed count changes, the transaction
// also adds the new value to the history.

import type { Chain, Chains } from '../../platform/core/chains.ts';
import type { Queryable, Statements } from '../../platform/database/port.ts';
import { toListingFigures } from './listing-figures.ts';
import { toVolumeFigure } from '../provenance/trade.ts';
import type { CollectionAsset } from './queries/figures.ts';
import { lockFigures, refreshListedAssets } from './queries/figures.ts';
import { refreshTraits } from './queries/traits.ts';
import type { RankFacts, Ranks } from './queries/ranks.ts';
import { listDueRanks, listRankFacts, updateRanks } from './queries/ranks.ts';

/** `now` in milliseconds. */
export type RefreshContext = { chains: Chains; now: number };

/**
 * Updates the figures of collections: the number of listed assets, the floor of the mirror, the figures of the traits, and the ranking
 * keys. `assets`: the assets whose listings have changed. `moved`: the tokens that may have been burned, deleted or restored. Must be
 * called after the last write of a transaction, with all collections whose figures the transaction has locked (`lockFigures`).
 */
export async function refreshFigures(
  tx: Queryable,
  {
    collectionIds,
    assets = [],
    moved = [],
  }: { collectionIds: Iterable<string>; assets?: readonly CollectionAsset[]; moved?: readonly CollectionAsset[] },
  { chains, now }: RefreshContext,
): Promise<void> {
  await refreshListedAssets(tx, assets, now);
  await refreshTraits(tx, { moved, listed: assets });
  const ids = [...new Set(collectionIds)];
  if (ids.length === 0) return;
  const facts = await listRankFacts(tx, ids);
  await updateRanks(
    tx,
    facts.map((one) => ({
      collectionId: one.collectionId,
      ...toRanks(one, { chain: chains.get(one.chain) ?? null, now }),
    })),
    now,
  );
}

/** Computes the ranking keys of at most `limit` collections whose keys are too old. Returns the number of these collections. */
export function refreshDueRanks(
  indexer: Pick<Statements, 'transaction'>,
  context: RefreshContext,
  limit: number,
): Promise<number> {
  return indexer.transaction(async (tx) => {
    const collectionIds = await listDueRanks(tx, context.now, limit);
    await lockFigures(tx, collectionIds);
    await refreshFigures(tx, { collectionIds }, context);
    return collectionIds.length;
  });
}

/**
 * `chain` is null when the collection has no configured chain. Then the unit of the floor is unknown, and the floor is null. `now` in ms.
 */
export function toRanks(facts: RankFacts, { chain, now }: { chain: Chain | null; now: number }): Ranks {
  const volume = toVolumeFigure(
    facts,
    {
      decimals: chain?.decimals ?? null,
      snapshotVolume: facts.snapshotVolume,
      salesComplete: facts.salesComplete,
    },
    now,
  );
  const { floor, listedCount: listed } = chain ? toListingFigures(facts, now) : { floor: null, listedCount: null };
  const ends = [volume, floor, listed].flatMap((figure) => figure?.validUntil ?? []);
  return {
    volume: volume?.value ?? null,
    floor: floor?.value ?? null,
    listed: listed?.value ?? null,
    validUntil: ends.length === 0 ? null : Math.min(...ends),
  };
}
