// Follows one chain: reads the blocks after its cursor, and reverts blocks that a reorganisation orphaned. Every step writes in one
// transaction that also moves the cursor, so a step may be interrupted and repeated. Nothing is kept in memory between steps.

import { insertMarketChanges } from '../../market/activity/queries/market-changes.ts';
import type { BlockHeader, ChainEvent } from '../../market/chain-log/chain-event.ts';
import type { ChainCursor } from '../../market/chain-log/queries/chain-cursors.ts';
import {
  deleteChainBlocksAfter,
  deleteOldChainBlocks,
  findAppliedAfter,
  findChainCursor,
  insertChainCursor,
  listChainBlocks,
  updateChainCursor,
  updateChainNote,
  upsertChainBlocks,
} from '../../market/chain-log/queries/chain-cursors.ts';
import { insertReorg } from '../../market/chain-log/queries/chain-events.ts';
import { deleteRereadsAfter, insertReread } from '../../market/chain-log/queries/reread-ranges.ts';
import type { Clock } from '../../platform/core/clock.ts';
import type { Log } from '../../platform/core/log.ts';
import type { Database, Queryable } from '../../platform/database/port.ts';
import { listFollows, toUnindexed, updateFollowsAfterReorg } from '../../market/follows/queries/follows.ts';
import { evaluateBidsOf } from '../../market/orders/evaluate.ts';
import type { ReadFunds } from '../../market/orders/queries/funds.ts';
import { deleteUnneededFunds, revertFundsAfter } from '../../market/orders/queries/funds.ts';
import { applyEvents, revertAfter, selectRelevant, toChangedCollections } from './apply-block.ts';
import { listMovedAccounts, markFunds, readFollowedFunds, readFunds, readMarkedFunds, storeFunds } from './funds.ts';
import type { ProtocolContracts } from './protocols/settlement-protocol.ts';
import type { ChainReader } from './rpc/chain-reader.ts';
import { LAG_MAX } from './rpc/endpoint-pool.ts';
import type { EventFilter } from './rpc/log-query.ts';
import { completeEvents } from './transaction-facts.ts';

export type FollowContext = {
  main: Database;
  reader: ChainReader;
  protocols: ProtocolContracts;
  clock: Clock;
  log: Log;
};

/** `changed`: the ids of the collections that changed. `more`: the next step should run without a pause. */
export type StepResult = { changed: Set<string>; more: boolean };

/** This many of the newest blocks are read one by one, by hash. Older blocks are read in ranges. */
const EDGE_BLOCKS = 32;
/** The most blocks in one step. The reader may return fewer, because an endpoint may accept fewer. */
const RANGE_BLOCKS_MAX = 10_000;
/** Every stored hash is kept while its block is at most this much older than the block of the cursor. */
const DENSE_MS = 60 * 60_000;
/** The hashes of this many block numbers before the cursor are also kept, whatever the age of the blocks. */
const DENSE_BLOCKS_MIN = 512;
/**
 * Of blocks that are older than DENSE_MS, one hash is kept for each interval of this many block numbers. If a reorganisation goes back that
 * far, the common ancestor that is found with these hashes can be too low by at most one interval.
 */
const SPARSE_INTERVAL = 1_024;
/**
 * The hash of a block that is older than this is deleted, unless DENSE_BLOCKS_MIN keeps it. After a reorganisation that goes back beyond
 * all stored hashes, the chain is not read any more.
 */
const SPARSE_MS = 30 * 24 * 60 * 60_000;
/** The funds of a bidder are followed until this time after the end of the last bid, which a reorganisation may take back. */
const FUNDS_KEPT_MS = 24 * 60 * 60_000;
/** Old blocks, and funds that no bid needs, are deleted when the cursor passes a multiple of this number. */
const PRUNE_INTERVAL = 256;

/** One step: stores the first cursor, reverts orphaned blocks, or reads further blocks. Throws when the chain cannot be read. */
export async function followOnce(context: FollowContext): Promise<StepResult> {
  const { main, reader } = context;
  const head = await reader.blocks.head();
  const cursor = await findChainCursor(main, reader.chain.id);
  if (!cursor) return start(context, head);
  if (await isOrphaned(context, cursor, head)) {
    // A single endpoint can serve a fork or another chain. Nothing is reverted while another endpoint continues the chain of the cursor.
    if (await reader.comparison.isStillContinued(cursor, head.number)) return { changed: new Set(), more: false };
    return revertOrphaned(context, cursor);
  }
  if (head.number <= cursor.number) {
    const bids = await readMarkedFunds(context, cursor);
    return { changed: new Set(bids?.map(({ collectionId }) => collectionId)), more: bids !== null };
  }
  return head.number - cursor.number > EDGE_BLOCKS
    ? readRange(context, cursor, head.number - EDGE_BLOCKS)
    : readEdge(context, cursor, head.number);
}

/** How many blocks before the first cursor the blocks are whose hashes are stored with it. */
const EARLIER_BLOCKS = [DENSE_BLOCKS_MIN, EDGE_BLOCKS];

/**
 * Stores the newest accepted block as the first cursor. Earlier blocks are read for each followed collection (backfill.ts). Some earlier blocks
 * are stored too: they are the common ancestors if a reorganisation orphans the first blocks.
 */
async function start({ main, reader, clock, log }: FollowContext, head: BlockHeader): Promise<StepResult> {
  const first = await findAccepted(reader, head);
  if (!first) return { changed: new Set(), more: false };
  const earlier: BlockHeader[] = [];
  for (const number of new Set(EARLIER_BLOCKS.map((blocks) => Math.max(0, first.number - blocks)))) {
    const header = await reader.blocks.header(number);
    if (header && header.number < first.number && (await reader.events.accepts(header))) earlier.push(header);
  }
  await main.transaction(async (tx) => {
    const now = clock();
    await insertChainCursor(tx, reader.chain.id, first, now);
    await upsertChainBlocks(tx, reader.chain.id, [...earlier, first], now);
  });
  log.info('following a chain from its newest block', { chain: reader.chain.id, block: first.number });
  return { changed: new Set(), more: true };
}

/** The newest block that the endpoints agree about, at most LAG_MAX blocks below `head`. Null if they agree about none of these blocks. */
async function findAccepted(reader: ChainReader, head: BlockHeader): Promise<BlockHeader | null> {
  const lowest = Math.max(0, head.number - LAG_MAX);
  for (let number = head.number; number >= lowest; number -= 1) {
    const header = number === head.number ? head : await reader.blocks.header(number);
    if (header && (await reader.events.accepts(header))) return header;
  }
  return null;
}

/**
 * Whether the block of the cursor is no longer part of the chain. A head below the cursor does not prove this: the endpoint may merely be
 * behind. Its head then has the hash that is stored for the same block number.
 */
async function isOrphaned({ main, reader }: FollowContext, cursor: ChainCursor, head: BlockHeader): Promise<boolean> {
  if (head.number > cursor.number) {
    const next = await reader.blocks.header(cursor.number + 1);
    return next !== null && next.parentHash !== cursor.hash;
  }
  if (head.number === cursor.number) return head.hash !== cursor.hash;
  const [stored] = await listChainBlocks(main, reader.chain.id, { upTo: head.number, limit: 1 });
  return stored !== undefined && stored.number === head.number && stored.hash !== head.hash;
}

async function revertOrphaned(context: FollowContext, cursor: ChainCursor): Promise<StepResult> {
  const { main, reader, clock, log } = context;
  const chain = reader.chain.id;
  const ancestor = await findCommonAncestor(context, cursor);
  if (!ancestor) {
    const note = 'a reorganisation is deeper than the stored blocks, which are of the last 30 days';
    await updateChainNote(main, chain, note);
    throw new Error(note);
  }
  const depth = cursor.number - ancestor.number;
  const changes = await main.transaction(async (tx) => {
    if (!isSameCursor(await findChainCursor(tx, chain, 'for update'), cursor)) return null;
    const now = clock();
    await insertMarketChanges(tx, 'main', [{ kind: 'reorg', at: now, chain, blockNumber: ancestor.number }]);
    const bidders = await revertFundsAfter(tx, { chain, block: ancestor.number });
    const reverted = await revertAfter(tx, chain, ancestor.number, now);
    const bids = await evaluateBidsOf(tx, chain, bidders, now);
    await insertReorg(tx, chain, {
      ancestor: ancestor.number,
      depth,
      affected: reverted.evidence,
      at: now,
      since: await findAppliedAfter(tx, chain, ancestor.number),
      collectionIds: [...toChangedCollections(chain, reverted)],
    });
    await updateFollowsAfterReorg(tx, chain, ancestor.number);
    await deleteChainBlocksAfter(tx, chain, ancestor.number);
    await deleteRereadsAfter(tx, chain, ancestor.number);
    await updateChainCursor(tx, chain, ancestor, { now, reorg: true });
    return { ...reverted, orders: [...reverted.orders, ...bids] };
  });
  if (!changes) return { changed: new Set(), more: true };
  const { events, orders } = changes;
  log.info('orphaned blocks were reverted', { chain, depth, events: events.length, orders: orders.length });
  return { changed: toChangedCollections(chain, changes), more: true };
}

/**
 * The newest stored block that is still part of the chain; null if no stored block is. All blocks below such a block are part of the chain
 * too. So the search goes down from the cursor in growing steps, and then halves the last step.
 */
async function findCommonAncestor({ main, reader }: FollowContext, cursor: ChainCursor): Promise<BlockHeader | null> {
  const stored = await listChainBlocks(main, reader.chain.id, { upTo: cursor.number - 1 });
  const findAt = async (index: number) => {
    const block = stored[index];
    const header = block ? await reader.blocks.header(block.number) : null;
    return header?.hash === block?.hash ? header : null;
  };
  let orphaned = -1;
  let ancestor: BlockHeader | null = null;
  let at = 0;
  for (let step = 1; ancestor === null && orphaned < stored.length - 1; step *= 2) {
    at = Math.min(orphaned + step, stored.length - 1);
    ancestor = await findAt(at);
    if (ancestor === null) orphaned = at;
  }
  while (ancestor !== null && at - orphaned > 1) {
    const middle = Math.floor((orphaned + at) / 2);
    const header = await findAt(middle);
    if (header === null) orphaned = middle;
    else [ancestor, at] = [header, middle];
  }
  return ancestor;
}

/**
 * Reads blocks one by one. Stops before a block that does not follow the block read before it. Also stops before a block about which the
 * endpoints do not agree yet.
 */
async function readEdge(context: FollowContext, cursor: ChainCursor, upTo: number): Promise<StepResult> {
  const { reader } = context;
  const filter = await readFilter(context);
  const blocks: BlockHeader[] = [];
  const events: ChainEvent[] = [];
  const uncompared: number[] = [];
  let parent = cursor.hash;
  for (let number = cursor.number + 1; number <= upTo; number += 1) {
    const header = await reader.blocks.header(number);
    if (header?.parentHash !== parent) break;
    const ofBlock = await reader.events.ofBlock(header, filter, () => uncompared.push(number));
    // Without a pause, the next step would compare the same block again at once.
    if (!ofBlock && blocks.length === 0) return { changed: new Set(), more: false };
    if (!ofBlock) break;
    // A spread of the events of a very full block would exceed the limit on arguments.
    for (const event of ofBlock) events.push(event);
    blocks.push(header);
    parent = header.hash;
  }
  const last = blocks.at(-1);
  const funds = last ? await readFunds(context, last, listMovedAccounts(events)) : [];
  return commit(context, cursor, { blocks, events, filter, uncompared, funds });
}

/** The state of the blocks of a range may not be kept any more, so moved funds are marked, and read when the newest blocks are. */
async function readRange(context: FollowContext, cursor: ChainCursor, upTo: number): Promise<StepResult> {
  const { reader } = context;
  const filter = await readFilter(context);
  const last = Math.min(upTo, cursor.number + RANGE_BLOCKS_MAX);
  const uncompared: number[] = [];
  const range = await reader.events.ofRange(cursor.number + 1, last, filter, {
    onUncompared: () => uncompared.push(cursor.number + 1),
  });
  if (uncompared.length > 0) uncompared.push(range.to);
  // With `RPC_COMPARE=new`, nothing in a range was compared so far. At least its last block is compared here.
  if (!(await reader.events.accepts(range.last))) return { changed: new Set(), more: false };
  const funds = await markFunds(context, listMovedAccounts(range.events));
  return commit(context, cursor, { blocks: [range.last], events: range.events, filter, uncompared, funds });
}

async function readFilter(context: FollowContext): Promise<EventFilter> {
  const { main, reader, protocols } = context;
  const joined = (await listFollows(main, reader.chain.id)).filter((follow) => follow.joined);
  const contracts = joined.map((follow) => follow.contractAddress);
  return { protocols, contracts, unindexed: toUnindexed(joined), funds: await readFollowedFunds(context) };
}

/** `uncompared`: the first and the last block, among others, that were accepted without a comparison because no other endpoint responded. */
type ReadBlocks = {
  blocks: readonly BlockHeader[];
  events: readonly ChainEvent[];
  filter: EventFilter;
  uncompared: readonly number[];
  funds: readonly ReadFunds[];
};

/**
 * Writes the blocks and events. If the cursor or the set of followed contracts has changed since the blocks were read, nothing is written,
 * and the next step reads again.
 */
async function commit(
  context: FollowContext,
  cursor: ChainCursor,
  { blocks, events, filter, uncompared, funds }: ReadBlocks,
): Promise<StepResult> {
  const { main, reader, protocols, clock } = context;
  const chain = reader.chain.id;
  const last = blocks.at(-1);
  if (!last) return { changed: new Set(), more: true };
  const contracts = new Set(filter.contracts);
  const toReadAgain = [...uncompared];
  const onUncompared = () => toReadAgain.push(cursor.number + 1, last.number);
  const completed = await completeEvents(reader, { events, protocols, contracts, onUncompared });
  const changes = await main.transaction(async (tx) => {
    if (!isSameCursor(await findChainCursor(tx, chain, 'for update'), cursor)) return null;
    const now = clock();
    const relevant = await selectRelevant(tx, chain, completed, contracts);
    // The funds are those after the blocks, so they are stored before the events of the blocks are applied to the orders.
    const stored = { from: cursor.number, block: last.number, read: funds, followed: filter.funds ?? null };
    const bidders = await storeFunds(tx, reader.chain, stored);
    const applied = await applyEvents(tx, chain, relevant, now);
    const bids = await evaluateBidsOf(tx, chain, bidders, now);
    await upsertChainBlocks(tx, chain, blocks, now);
    await pruneBlocks(tx, chain, { from: cursor, to: last });
    if (toReadAgain.length > 0) {
      await insertReread(tx, chain, { from: Math.min(...toReadAgain), to: Math.max(...toReadAgain) }, now);
    }
    await updateChainCursor(tx, chain, last, { now });
    return { ...applied, orders: [...applied.orders, ...bids] };
  });
  return { changed: changes ? toChangedCollections(chain, changes) : new Set(), more: true };
}

async function pruneBlocks(
  tx: Queryable,
  chain: string,
  { from, to }: { from: { number: number }; to: BlockHeader },
): Promise<void> {
  if (Math.floor(from.number / PRUNE_INTERVAL) === Math.floor(to.number / PRUNE_INTERVAL)) return;
  await deleteOldChainBlocks(tx, chain, {
    number: to.number - DENSE_BLOCKS_MIN,
    denseSince: to.time - DENSE_MS,
    since: to.time - SPARSE_MS,
    interval: SPARSE_INTERVAL,
  });
  await deleteUnneededFunds(tx, chain, to.time - FUNDS_KEPT_MS);
}

function isSameCursor(found: ChainCursor | null, expected: ChainCursor): boolean {
  return (
    found !== null &&
    found.number === expected.number &&
    found.hash === expected.hash &&
    found.revision === expected.revision
  );
}
