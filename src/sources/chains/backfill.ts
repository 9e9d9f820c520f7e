// Reads the past events of a collection that was added while its chain is followed. The blocks are read in slices. While one slice is
// stored, the next slice is read. A slice is stored in parts. One transaction stores a part and the number of its last block. A collection
// that has been read up to the chain's cursor joins the chain's live stream.

import type { ChainEvent } from '../../market/chain-log/chain-event.ts';
import type { ChainCursor } from '../../market/chain-log/queries/chain-cursors.ts';
import { findChainCursor, updateChainRevision } from '../../market/chain-log/queries/chain-cursors.ts';
import { insertReread } from '../../market/chain-log/queries/reread-ranges.ts';
import type { Follow } from '../../market/follows/queries/follows.ts';
import { findFollow, listFollows, toUnindexed, updateFollowProgress } from '../../market/follows/queries/follows.ts';
import { evaluateCollectionOrders } from '../../market/orders/evaluate.ts';
import { insertUnreadFunds } from '../../market/orders/queries/funds.ts';
import { applyEvents, selectRelevant, toChangedCollections } from './apply-block.ts';
import type { FollowContext, StepResult } from './follower.ts';
import { RpcFailure } from './rpc/rpc-failure.ts';
import { completeEvents } from './transaction-facts.ts';

/** The most blocks in one slice. The reader may return fewer, because an endpoint may accept fewer. */
const SLICE_BLOCKS_MAX = 50_000;

/** A part is stored when it has this many events and its last block is complete, so that the memory of a statement does not grow with a slice. */
const PART_EVENTS = 5_000;
/** One step reads at most this many slices. */
const STEP_SLICES_MAX = 4;
/**
 * A step that has stored slices for this long reads no further slice, so that new blocks of the chain do not wait. The time begins when the
 * first slice has been read. If it began earlier, a step with a slow first read would read no second slice.
 */
const STEP_MS = 2_000;

/** One step tries at most this many collections. It tries the next one if the endpoints disagree about past blocks. */
const DISPUTED_MAX = 4;

/**
 * Reads slices for the earliest follow whose backfill is not complete. If the endpoints disagree about its blocks, tries the next follow,
 * at most DISPUTED_MAX follows in all. `more` is false when no slice was read, for example because the chain has no cursor yet. `onStored`
 * receives the changed collections of each part after its commit, and not at the end of the step: a step takes seconds, and cached responses
 * must not be outdated for so long.
 */
export async function backfillOnce(context: FollowContext, onStored: OnStored = () => undefined): Promise<StepResult> {
  const { main, reader } = context;
  const cursor = await findChainCursor(main, reader.chain.id);
  if (!cursor) return { changed: new Set(), more: false };
  const behind = (await listFollows(main, reader.chain.id)).filter(
    (follow) => !follow.joined && follow.fromBlock !== null,
  );
  for (const follow of behind.toSorted((a, b) => a.createdAt - b.createdAt).slice(0, DISPUTED_MAX)) {
    try {
      return { changed: await readSlices(context, { cursor, follow, onStored }), more: true };
    } catch (error) {
      // The status reports the disagreement (EndpointComparison). New blocks are read meanwhile.
      if (!(error instanceof RpcFailure && error.kind === 'contradicted')) throw error;
    }
  }
  return { changed: new Set(), more: false };
}

export type OnStored = (collectionIds: ReadonlySet<string>) => void;

/** The cursor of the chain when the step began, and the follow whose past is read. */
type Backfill = { cursor: ChainCursor; follow: Follow; onStored: OnStored };

/** Events up to block `to`. `isUncompared`: they were accepted without a comparison, because no other endpoint responded. */
type Slice = { to: number; events: ChainEvent[]; isUncompared: boolean };

/**
 * Returns the ids of the changed collections. A failure after a change ends the step without an error: the change must be reported, and the
 * next step fails again if the reason persists.
 */
async function readSlices(context: FollowContext, backfill: Backfill): Promise<Set<string>> {
  const changed = new Set<string>();
  const onStored: OnStored = (collectionIds) => {
    for (const id of collectionIds) changed.add(id);
    if (collectionIds.size > 0) backfill.onStored(collectionIds);
  };
  try {
    await readAndStore(context, { ...backfill, onStored });
  } catch (error) {
    if (changed.size === 0) throw error;
  }
  return changed;
}

async function readAndStore(context: FollowContext, backfill: Backfill): Promise<void> {
  const { cursor, follow } = backfill;
  let readTo = follow.readToBlock;
  let slice: Slice | null = await fetchSlice(context, cursor, follow, readTo);
  const startedAt = performance.now();
  for (let slices = 1; slice !== null; slices += 1) {
    const isLast: boolean =
      slices === STEP_SLICES_MAX || slice.to >= cursor.number || performance.now() - startedAt >= STEP_MS;
    const ahead: Promise<Slice> | null = isLast ? null : fetchSlice(context, cursor, follow, slice.to);
    const stored = storeSlice(context, { ...backfill, readTo, slice });
    // Both are awaited, so that no request continues after the step.
    await Promise.allSettled([stored, ahead]);
    if (!(await stored)) return;
    readTo = slice.to;
    slice = await ahead;
  }
}

/** `readTo`: the last block that was read before; null at the start. */
async function fetchSlice(
  { reader, protocols }: FollowContext,
  cursor: ChainCursor,
  follow: Follow,
  readTo: number | null,
): Promise<Slice> {
  const { contractAddress, fromBlock } = follow;
  const contracts = [contractAddress];
  const from = readTo === null ? (fromBlock ?? 0) : readTo + 1;
  const upTo = Math.min(cursor.number, from + SLICE_BLOCKS_MAX - 1);
  if (from > upTo) return { to: Math.max(from - 1, upTo), events: [], isUncompared: false };
  const slice = { isUncompared: false };
  const onUncompared = () => {
    slice.isUncompared = true;
  };
  const filter = { protocols, contracts, unindexed: toUnindexed([follow]), isPast: true };
  const { to, last, events } = await reader.events.ofRange(from, upTo, filter, { onUncompared });
  // The endpoints may have replaced the last blocks before the follower has reverted them.
  if (to === cursor.number && last.hash !== cursor.hash) {
    throw new RpcFailure('contradicted', `block ${to} is not the block that was read before`);
  }
  const read = { events, protocols, contracts: new Set(contracts), onUncompared };
  const completed = await completeEvents(reader, read);
  return { ...slice, to, events: completed };
}

/** Returns false if a part was not stored: after a reorganisation, or when another process has stored it. The next step reads again. */
async function storeSlice(
  context: FollowContext,
  { cursor, follow, onStored, readTo, slice }: Backfill & { readTo: number | null; slice: Slice },
): Promise<boolean> {
  let storedTo = readTo;
  for (const part of toSliceParts(slice)) {
    const found = await storePart(context, { cursor, follow, readTo: storedTo, part });
    if (found === null) return false;
    onStored(found);
    storedTo = part.to;
  }
  return true;
}

/** Divides a slice into parts of complete blocks. */
export function* toSliceParts({ to, events, isUncompared }: Slice): Generator<Slice> {
  let start = 0;
  for (let end = PART_EVENTS; end < events.length; end += 1) {
    const last = events[end - 1];
    if (last === undefined || end - start < PART_EVENTS || events[end]?.blockNumber === last.blockNumber) continue;
    yield { to: last.blockNumber, events: events.slice(start, end), isUncompared };
    start = end;
  }
  yield { to, events: events.slice(start), isUncompared };
}

/** Returns the ids of the changed collections, or null if the part was not stored. */
async function storePart(
  { main, reader, clock, log }: FollowContext,
  { cursor, follow, readTo, part }: { cursor: ChainCursor; follow: Follow; readTo: number | null; part: Slice },
): Promise<Set<string> | null> {
  const chain = reader.chain.id;
  const { collectionId, contractAddress } = follow;
  const changed = await main.transaction(async (tx) => {
    const locked = await findChainCursor(tx, chain, 'for update');
    const found = await findFollow(tx, collectionId);
    const isCurrent = found && !found.joined && found.readToBlock === readTo && found.createdAt === follow.createdAt;
    if (!locked || !isCurrent || locked.reorgs !== cursor.reorgs || locked.number < cursor.number) return null;
    const relevant = await selectRelevant(tx, chain, part.events, new Set([contractAddress]));
    const changes = await applyEvents(tx, chain, relevant, clock());
    const joined = part.to >= locked.number;
    await updateFollowProgress(tx, collectionId, { readToBlock: part.to, joined });
    const from = readTo === null ? (follow.fromBlock ?? 0) : readTo + 1;
    if (part.isUncompared && from <= part.to) await insertReread(tx, chain, { from, to: part.to }, clock());
    if (!joined) return toChangedCollections(chain, changes);
    await updateChainRevision(tx, chain);
    await insertUnreadFunds(tx, collectionId, locked.number);
    await evaluateCollectionOrders(tx, collectionId, clock());
    return toChangedCollections(chain, changes).add(collectionId);
  });
  if (changed?.has(collectionId) && part.to >= cursor.number) {
    log.info('a collection has caught up with its chain', { collectionId });
  }
  return changed;
}
