// Reads the past events of a collection that was added while its chain is followed. The blocks are read in slices. Each slice is committed
// together with the number of its last block. A collection that has been read up to the chain's cursor joins the chain's live stream.

import type { ChainCursor } from '../chain-log/queries/chain-cursors.ts';
import { findChainCursor, updateChainRevision } from '../chain-log/queries/chain-cursors.ts';
import type { Follow } from '../follows/queries/follows.ts';
import { findFollow, listFollows, updateFollowProgress } from '../follows/queries/follows.ts';
import { evaluateCollectionOrders } from '../orders/evaluate.ts';
import { applyEvents, selectRelevant, toChangedCollections } from './apply-block.ts';
import type { FollowContext, StepResult } from './follower.ts';
import { RpcFailure } from './rpc/rpc-failure.ts';
import { completeEvents } from './transaction-facts.ts';

/** The most blocks in one slice. The reader may return fewer, because an endpoint may accept fewer. */
const SLICE_BLOCKS_MAX = 50_000;

/** How many collections one step tries while the endpoints disagree about their past blocks. */
const DISPUTED_MAX = 4;

/**
 * Reads one slice for the earliest follow whose backfill is not complete. If the endpoints disagree about its blocks, tries the next follow,
 * at most DISPUTED_MAX follows in all. `more` is false when no slice was read, for example because the chain has no cursor yet.
 */
export async function backfillOnce(context: FollowContext): Promise<StepResult> {
  const { main, reader } = context;
  const cursor = await findChainCursor(main, reader.chain.id);
  if (!cursor) return { changed: new Set(), more: false };
  const behind = (await listFollows(main, reader.chain.id)).filter(
    (follow) => !follow.joined && follow.fromBlock !== null,
  );
  for (const follow of behind.toSorted((a, b) => a.createdAt - b.createdAt).slice(0, DISPUTED_MAX)) {
    try {
      return { changed: await readSlice(context, cursor, follow), more: true };
    } catch (error) {
      // The status reports the disagreement (EndpointComparison). New blocks are read meanwhile.
      if (!(error instanceof RpcFailure && error.kind === 'contradicted')) throw error;
    }
  }
  return { changed: new Set(), more: false };
}

async function readSlice(context: FollowContext, cursor: ChainCursor, follow: Follow): Promise<Set<string>> {
  const { main, reader, protocols, clock, log } = context;
  const chain = reader.chain.id;
  const { collectionId, contractAddress, readToBlock } = follow;
  const contracts = [contractAddress];
  const from = readToBlock === null ? (follow.fromBlock ?? 0) : readToBlock + 1;
  const upTo = Math.min(cursor.number, from + SLICE_BLOCKS_MAX - 1);
  const slice =
    from > upTo
      ? { to: Math.max(from - 1, upTo), events: [] }
      : await reader.events.ofRange(from, upTo, { protocols, contracts, isPast: true });
  const events = await completeEvents(reader, { events: slice.events, protocols, contracts: new Set(contracts) });
  const changed = await main.transaction(async (tx) => {
    const locked = await findChainCursor(tx, chain, 'for update');
    const found = await findFollow(tx, collectionId);
    // After a reorganisation, or when another process has read the slice, nothing is written. The next step reads again.
    const isCurrent =
      found && !found.joined && found.readToBlock === readToBlock && found.createdAt === follow.createdAt;
    if (!locked || !isCurrent || locked.reorgs !== cursor.reorgs || locked.number < cursor.number) return null;
    const relevant = await selectRelevant(tx, chain, events, new Set(contracts));
    const changes = await applyEvents(tx, chain, relevant, clock());
    const joined = slice.to >= locked.number;
    await updateFollowProgress(tx, collectionId, { readToBlock: slice.to, joined });
    if (!joined) return toChangedCollections(chain, changes);
    await updateChainRevision(tx, chain);
    await evaluateCollectionOrders(tx, collectionId, clock());
    return toChangedCollections(chain, changes).add(collectionId);
  });
  if (changed?.has(collectionId) && slice.to >= cursor.number) {
    log.info('a collection has caught up with its chain', { collectionId });
  }
  return changed ?? new Set();
}
