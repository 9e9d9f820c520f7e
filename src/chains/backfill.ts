// Brings a collection that was added at run time up to where its chain is followed: its past in slices, each committed with
// the place that it reached, until it stands where the chain stands and joins the live stream.

import { findChainCursor, updateChainRevision } from '../chain-log/queries/chain-cursors.ts';
import type { Follow } from '../follows/queries/follows.ts';
import { findFollow, listFollows, updateFollowProgress } from '../follows/queries/follows.ts';
import { evaluateCollectionOrders } from '../orders/evaluate.ts';
import type { FollowContext, Round } from './follower.ts';
import { nameDomains, toChanged } from './follower.ts';
import { applyEvents, selectRelevant } from './apply-block.ts';

/** Blocks asked for at once at most; the reader takes fewer where its endpoint does. */
const SLICE_BLOCKS_MAX = 50_000;

/** Reads one slice of the collection that has waited longest; `more` while any is still to catch up. */
export async function backfillOnce(context: FollowContext): Promise<Round> {
  const { main, reader } = context;
  const waiting = (await listFollows(main, reader.chain.id)).filter(
    (follow) => !follow.joined && follow.fromBlock !== null,
  );
  const [next] = waiting.toSorted((a, b) => a.createdAt - b.createdAt);
  if (!next) return { changed: new Set(), more: false };
  return { changed: await readSlice(context, next), more: true };
}

async function readSlice(context: FollowContext, follow: Follow): Promise<Set<string>> {
  const { main, reader, protocols, clock, log } = context;
  const chain = reader.chain.id;
  const cursor = await findChainCursor(main, chain);
  if (!cursor) return new Set();
  const { collectionId, contractAddress, readToBlock } = follow;
  const from = readToBlock === null ? (follow.fromBlock ?? 0) : readToBlock + 1;
  const contracts = [contractAddress];
  const upTo = Math.min(cursor.number, from + SLICE_BLOCKS_MAX - 1);
  const slice =
    from > upTo
      ? { to: Math.max(from - 1, upTo), events: [] }
      : await reader.eventsOfRange(from, upTo, { protocols, contracts });
  const named = await nameDomains(context, slice.events, new Set(contracts));
  const changed = await main.transaction(async (tx) => {
    const locked = await findChainCursor(tx, chain, 'for update');
    const now = await findFollow(tx, collectionId);
    // The chain was taken back to before what was just read, or somebody else has read it: the next turn reads anew.
    const isCurrent = now && !now.joined && now.readToBlock === readToBlock && now.createdAt === follow.createdAt;
    if (!locked || !isCurrent || locked.reorgs !== cursor.reorgs || locked.number < cursor.number) return null;
    const relevant = await selectRelevant(tx, chain, named, new Set(contracts));
    const step = await applyEvents(tx, chain, relevant, clock());
    const joined = slice.to >= locked.number;
    await updateFollowProgress(tx, collectionId, { readToBlock: slice.to, joined });
    if (!joined) return toChanged(chain, step);
    await updateChainRevision(tx, chain);
    await evaluateCollectionOrders(tx, collectionId, clock());
    return toChanged(chain, step).add(collectionId);
  });
  if (changed?.has(collectionId) && slice.to >= cursor.number) log.info('a collection has caught up', { collectionId });
  return changed ?? new Set();
}
