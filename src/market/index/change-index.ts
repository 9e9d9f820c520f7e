// The one way to change rows of the index. The figures of a collection are maintained and not counted: the writers of one collection wait for each other, and
// each leaves the figures that follow from its rows. These are the number of listed assets, the floor of the mirror, the figures of the traits, and the ranking
// keys by volume, floor and listed count. If the floor, the listed count or the top bid changes, the new value is added to the history. The ranking keys of windows also
// change with time. The sweep (`refreshDueRanks`) computes them.

import type { Chains } from '../../platform/core/chains.ts';
import type { Queryable, Statements } from '../../platform/database/port.ts';
import type { CollectionAsset } from './queries/figures.ts';
import { SHORT_WINDOWS, TRADE_WINDOW_MS, toShortWindows } from '../provenance/trade.ts';
import { listTradeFacts } from './queries/analytics.ts';
import { lockFigures, refreshListedAssets } from './queries/figures.ts';
import { listFloorsAt } from './queries/past-floors.ts';
import { listDueRanks, listRankFacts, updateRanks, updateWindowRanks } from './queries/ranks.ts';
import { refreshTraits } from './queries/traits.ts';
import { toRanks, toWindowRanks } from './ranks.ts';

/** `now` in milliseconds. */
export type RefreshContext = { chains: Chains; now: number };

export type IndexChange = {
  /** All collections whose rows may be written. */
  collectionIds: Iterable<string>;
  refresh: RefreshContext;
};

/** What was written. */
export type Written = {
  /** The collections whose rows were written. Default: all collections of the change. */
  collectionIds?: Iterable<string>;
  /** The assets whose listings have changed. */
  assets?: readonly CollectionAsset[];
  /** The tokens that may have been burned, deleted or restored. */
  moved?: readonly CollectionAsset[];
};

/**
 * Locks the figures of the collections until the transaction `tx` ends, runs `work`, and refreshes the figures. Must come before the first write of the
 * transaction to rows of the index. All transactions lock in the order of ids, so two of them cannot deadlock. A transaction that also writes the row of a chain
 * (`indexer.chain_cursor`) writes it before.
 */
export async function changeIndex<Result extends Written | void>(
  tx: Queryable,
  { collectionIds, refresh }: IndexChange,
  work: () => Promise<Result>,
): Promise<Result> {
  const ids = new Set(collectionIds);
  await lockFigures(tx, ids);
  const written = await work();
  await refreshFigures(tx, { collectionIds: ids, ...written }, refresh);
  return written;
}

/** Like `changeIndex`, for rows from which no figure follows: descriptions of tokens, ranks of rarity, derived hours, and rows of removed collections. */
export async function changeIndexDetails<Result>(
  tx: Queryable,
  collectionIds: Iterable<string>,
  work: () => Promise<Result>,
): Promise<Result> {
  await lockFigures(tx, collectionIds);
  return work();
}

async function refreshFigures(
  tx: Queryable,
  { collectionIds, assets = [], moved = [] }: Written & Pick<IndexChange, 'collectionIds'>,
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

/**
 * Computes the ranking keys of at most `limit` collections whose keys are too old, or that have changed since the last call. Returns the number of these
 * collections.
 */
export function refreshDueRanks(
  indexer: Pick<Statements, 'transaction'>,
  refresh: RefreshContext,
  limit: number,
): Promise<number> {
  return indexer.transaction(async (tx) => {
    const collectionIds = await listDueRanks(tx, refresh.now, limit);
    await changeIndex(tx, { collectionIds, refresh }, () => Promise.resolve());
    await refreshWindowRanks(tx, collectionIds, refresh);
    return collectionIds.length;
  });
}

async function refreshWindowRanks(
  tx: Queryable,
  collectionIds: readonly string[],
  { chains, now }: RefreshContext,
): Promise<void> {
  if (collectionIds.length === 0) return;
  const facts = await listRankFacts(tx, collectionIds);
  const trades = await listTradeFacts(tx, collectionIds, now);
  const floors = await listFloorsAt(
    tx,
    collectionIds,
    SHORT_WINDOWS.map((name) => now - TRADE_WINDOW_MS[name]),
  );
  await updateWindowRanks(
    tx,
    facts.map((one) => {
      const { collectionId } = one;
      const past = floors.get(collectionId);
      return {
        collectionId,
        ...toWindowRanks(one, {
          trade: trades.get(collectionId) ?? null,
          floors: toShortWindows((name) => past?.[SHORT_WINDOWS.indexOf(name)] ?? null),
          chain: chains.get(one.chain) ?? null,
          now,
        }),
      };
    }),
  );
}
