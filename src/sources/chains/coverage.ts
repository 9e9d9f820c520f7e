// Stores in the indexer which collections a chain covers, and up to which time. A chain covers the collections in its live stream, up to
// the time of the last block whose events are in the indexer.

import { findChainCursor } from '../../market/chain-log/queries/chain-cursors.ts';
import type { ChainCursor } from '../../market/chain-log/queries/chain-cursors.ts';
import { listFollows } from '../../market/follows/queries/follows.ts';
import {
  deleteCoverage,
  findChainCoverage,
  insertChainCovered,
  listChainCovered,
  updateChainCoverage,
} from '../../market/index/queries/coverage.ts';
import { MAX_AGE_MS } from '../../market/provenance/figure.ts';
import { changeIndex } from '../../market/index/change-index.ts';
import type { ProjectionContext } from './projection.ts';
import { projectNext } from './projection.ts';

type CoverageContext = Pick<ProjectionContext, 'main' | 'indexer' | 'chain' | 'chains' | 'clock'>;

/** The stored time is updated only when it differs from the cursor by at least this much, so that not every block writes a row. */
const STEP_MS = 15_000;

/** Writes the next batch of the chain's log into the indexer. When no batch is left, updates the coverage to the time of the cursor. */
export async function projectAndCover(context: ProjectionContext): Promise<Set<string> | null> {
  // The cursor is read first. When no batch is left after that, the indexer has all events up to this cursor.
  const cursor = await findChainCursor(context.main, context.chain.id);
  const changed = await projectNext(context);
  if (changed !== null || !cursor) return changed;
  const covered = await cover(context, cursor);
  return covered.size > 0 ? covered : null;
}

/**
 * Stores the coverage up to the time of the cursor. Returns the collections whose coverage began or ended. After an outage, returns also all
 * other covered collections.
 */
async function cover(
  { main, indexer, chain, chains, clock }: CoverageContext,
  cursor: ChainCursor,
): Promise<Set<string>> {
  const { time: to, revision } = cursor;
  const stored = await findChainCoverage(indexer, chain.id);
  const isNew = stored.revision !== revision;
  if (!isNew && stored.to !== null && Math.abs(to - stored.to) < STEP_MS) return new Set();
  const isOld = (time: number | null) => time === null || clock() - time >= MAX_AGE_MS.total;
  // After an outage, the figures of the chain are no longer too old. They are served again, so the ranking keys change.
  const isYoungAgain = isOld(stored.to) && !isOld(to);
  if (!isNew && !isYoungAgain) {
    await updateChainCoverage(indexer, chain.id, { to, revision });
    return new Set();
  }
  const joined = (await listFollows(main, chain.id)).filter((follow) => follow.joined);
  const joinedIds = new Set(joined.map((follow) => follow.collectionId));
  const covered = new Set(await listChainCovered(indexer, chain.id));
  return indexer.transaction(async (tx) => {
    const added = [...joinedIds].filter((id) => !covered.has(id));
    const removed = [...covered].filter((id) => !joinedIds.has(id));
    const changed = new Set([...removed, ...added, ...(isYoungAgain ? covered : [])]);
    // The chain's row is written before the figures are locked, as in every transaction that writes both.
    await updateChainCoverage(tx, chain.id, { to, revision });
    await changeIndex(tx, { collectionIds: changed, refresh: { chains, now: clock() } }, async () => {
      await deleteCoverage(tx, { collectionIds: removed, source: chain.id });
      await insertChainCovered(tx, chain.id, { collectionIds: added, to });
    });
    return changed;
  });
}
