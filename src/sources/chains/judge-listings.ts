// Judges mirrored listings by the log of their chain, with the rule for own orders. A listing is dormant while its seller cannot deliver. A
// fill, a cancel or a raised counter on the chain ends it.
// The evidence is read from the primary database, before the transaction that writes the states to the indexer. If the position of the
// projection has moved meanwhile, or a listing was written, nothing is written and the step is repeated.
// The evidence may contain log entries that the projection has not written yet. When the projection reaches such an entry, the listing
// already has the right state.

import { findLastSeq } from '../../market/chain-log/queries/chain-events.ts';
import type { Chain, Chains } from '../../platform/core/chains.ts';
import type { Clock } from '../../platform/core/clock.ts';
import type { Database, Queryable } from '../../platform/database/port.ts';
import type { Follow } from '../../market/follows/queries/follows.ts';
import { listFollows } from '../../market/follows/queries/follows.ts';
import type { JudgedListing } from '../../market/index/listing-judgement.ts';
import { deriveListingState, isSameListingState } from '../../market/index/listing-judgement.ts';
import { changeIndex } from '../../market/index/change-index.ts';
import type { ListingChange } from '../../market/index/queries/judged-listings.ts';
import {
  listListingsToJudge,
  listPendingListings,
  updateDormantListings,
  updateListingStates,
} from '../../market/index/queries/judged-listings.ts';
import type { CollectionAsset } from '../../market/index/queries/figures.ts';
import { listEvidence } from '../../market/orders/queries/order-evidence.ts';
import { isEndedByCounter } from '../../market/orders/status.ts';
import type { JudgedCollection } from './queries/judged-collections.ts';
import {
  deleteJudgedCollection,
  listJudgedCollections,
  upsertJudgedCollections,
} from './queries/judged-collections.ts';
import type { ProjectedPosition } from './queries/projection.ts';
import { findProjectedPosition, updateProjectedPosition } from './queries/projection.ts';

export type JudgeContext = {
  main: Database;
  indexer: Database;
  chain: Chain;
  chains: Chains;
  clock: Clock;
  /** True for a chain in FROZEN_CHAINS: the listings of the chain are not judged. */
  isFrozen?: boolean;
};

/** The most listings that one step judges, and whose evidence one statement reads. */
const BATCH_SIZE = 500;

/**
 * A collection joins when its listings begin to be judged, and leaves when they are no longer judged. Does the first of these steps that is
 * due: store which collections join or leave; judge listings that were inserted or changed; make the dormant listings of a leaving collection
 * visible; judge the stored listings of a joining collection. Returns the ids of the collections whose listings may have changed, or null when
 * no step is due.
 */
export async function judgeNext(context: JudgeContext): Promise<Set<string> | null> {
  const { main, indexer, chain } = context;
  const from = await findProjectedPosition(indexer, chain.id);
  const collections = await listJudgedCollections(indexer, chain.id);
  const follows = context.isFrozen === true ? [] : await listFollows(main, chain.id);
  const transitions = toTransitions(follows, collections, await findLastSeq(main, chain.id));
  if (transitions.length > 0) return writeStep(context, from, { collections: transitions, listings: [] });
  const pending = await listPendingListings(indexer, chain.id, BATCH_SIZE);
  if (pending.length > 0) return writeStep(context, from, { collections: [], listings: pending });
  const leaving = collections.find(({ state }) => state === 'leaving');
  if (leaving) return listAgain(context, from, leaving);
  for (const collection of collections.filter(({ state }) => state === 'joining')) {
    const done = await judgeStored(context, from, collection);
    if (done) return done;
  }
  return null;
}

/** The collections whose stored state no longer agrees with their follow, each with its new state. */
function toTransitions(
  follows: readonly Follow[],
  collections: readonly JudgedCollection[],
  lastSeq: number,
): JudgedCollection[] {
  const stored = new Map(collections.map((collection) => [collection.collectionId, collection]));
  const joined = new Map(follows.filter((follow) => follow.joined).map((follow) => [follow.collectionId, follow]));
  const joining = [...joined.values()].flatMap(({ collectionId, createdAt }): JudgedCollection[] => {
    const known = stored.get(collectionId);
    const isJudged = known && known.state !== 'leaving' && known.followedAt === createdAt;
    if (isJudged) return [];
    return [{ collectionId, state: 'joining', followedAt: createdAt, joinedSeq: lastSeq, after: null }];
  });
  const leaving = collections.filter(({ collectionId, state }) => state !== 'leaving' && !joined.has(collectionId));
  return [...joining, ...leaving.map((collection): JudgedCollection => ({ ...collection, state: 'leaving' }))];
}

/**
 * Judges the next listings of a collection that joins. When all its listings are judged and the indexer has the log up to `joinedSeq`, the
 * collection has joined. Returns null if all listings are judged, but the indexer does not have the log up to `joinedSeq` yet.
 */
async function judgeStored(
  context: JudgeContext,
  from: ProjectedPosition,
  collection: JudgedCollection,
): Promise<Set<string> | null> {
  const { collectionId, after, joinedSeq } = collection;
  const listings = await listListingsToJudge(context.indexer, collectionId, { after, limit: BATCH_SIZE });
  const last = listings.at(-1);
  if (!last && from.seq < joinedSeq) return null;
  const next: JudgedCollection = last
    ? { ...collection, after: { asset: last.asset, key: last.key } }
    : { ...collection, state: 'joined', after: null };
  return writeStep(context, from, { collections: [next], listings });
}

async function writeStep(
  context: JudgeContext,
  from: ProjectedPosition,
  { collections, listings }: { collections: readonly JudgedCollection[]; listings: readonly JudgedListing[] },
): Promise<Set<string>> {
  const { indexer, chain } = context;
  const changes = await judge(context, listings);
  const changed = new Set(changes.map(({ listing }) => listing.collectionId));
  const isWritten = await transactAt(indexer, async (tx) => {
    if (!(await updateProjectedPosition(tx, chain.id, { from, to: from.seq }))) return false;
    const refresh = { chains: context.chains, now: context.clock() };
    const collectionIds = changed.union(new Set(collections.map(({ collectionId }) => collectionId)));
    await changeIndex(tx, { collectionIds, refresh }, async () => {
      if (collections.length > 0) await upsertJudgedCollections(tx, chain.id, collections);
      return { collectionIds: changed, assets: await writeJudgements(tx, changes, refresh.now) };
    });
    return true;
  });
  return isWritten ? changed : new Set();
}

/**
 * Makes the next dormant listings of a leaving collection visible again. If the collection has no dormant listing, deletes its row of the
 * judged collections.
 */
async function listAgain(
  { indexer, chain, chains, clock }: JudgeContext,
  from: ProjectedPosition,
  { collectionId }: JudgedCollection,
): Promise<Set<string>> {
  const isWritten = await transactAt(indexer, async (tx) => {
    if (!(await updateProjectedPosition(tx, chain.id, { from, to: from.seq }))) return false;
    const refresh = { chains, now: clock() };
    await changeIndex(tx, { collectionIds: [collectionId], refresh }, async () => {
      const assets = await updateDormantListings(tx, collectionId, { limit: BATCH_SIZE, now: refresh.now });
      if (assets.length === 0) await deleteJudgedCollection(tx, collectionId);
      return { assets };
    });
    return true;
  });
  return new Set(isWritten ? [collectionId] : []);
}

/** Returns the derived states that differ from the stored states. */
export async function judge(
  { main, clock }: Pick<JudgeContext, 'main' | 'clock'>,
  listings: readonly JudgedListing[],
): Promise<ListingChange[]> {
  const changes: ListingChange[] = [];
  for (let start = 0; start < listings.length; start += BATCH_SIZE) {
    const batch = listings.slice(start, start + BATCH_SIZE);
    const evidence = await listEvidence(main, batch);
    const now = clock();
    for (const [index, listing] of batch.entries()) {
      const found = evidence[index];
      const to = found && deriveListingState(listing, found, now);
      if (to && !isSameListingState(listing, to)) {
        changes.push({ listing, to, isByCounter: to.status === 'cancelled' && isEndedByCounter(found) });
      }
    }
  }
  return changes;
}

/** A listing was written after it was read. */
class OutOfDate extends Error {
  override readonly name = 'OutOfDate';
}

/** Writes the states within `changeIndex`. Returns the assets of the listings. Throws OutOfDate if a listing was written after it was read. */
export async function writeJudgements(
  tx: Queryable,
  changes: readonly ListingChange[],
  now: number,
): Promise<CollectionAsset[]> {
  const written = await updateListingStates(tx, changes, now);
  if (written.length < changes.length) throw new OutOfDate();
  return written;
}

/** Returns false when `work` returned false or threw OutOfDate. */
export async function transactAt(indexer: Database, work: (tx: Queryable) => Promise<boolean>): Promise<boolean> {
  try {
    return await indexer.transaction(work);
  } catch (error) {
    if (error instanceof OutOfDate) return false;
    throw error;
  }
}
