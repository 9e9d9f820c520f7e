// Reads blocks again whose events are stored: blocks that were accepted from one endpoint while no other endpoint responded, and blocks about
// which an audit found wrong data. If the second read has other events, the stored events are replaced, and everything that was derived from
// them is corrected. With more than one endpoint, the second read counts only if two endpoints agree.

import type { ChainEvent, LoggedEvent } from '../../market/chain-log/chain-event.ts';
import { isLogged } from '../../market/chain-log/chain-event.ts';
import type { ChainCursor } from '../../market/chain-log/queries/chain-cursors.ts';
import { findAppliedAfter, findChainCursor, listChainBlocks } from '../../market/chain-log/queries/chain-cursors.ts';
import { insertReorg, listBlockEvents } from '../../market/chain-log/queries/chain-events.ts';
import type { RereadRange } from '../../market/chain-log/queries/reread-ranges.ts';
import { findDueReread, updateRereadDue, updateRereadRange } from '../../market/chain-log/queries/reread-ranges.ts';
import type { Address } from '../../platform/core/address.ts';
import { isTokenItem } from '../../platform/core/seaport.ts';
import type { Queryable } from '../../platform/database/port.ts';
import type { Follow } from '../../market/follows/queries/follows.ts';
import { listFollows, toUnindexed } from '../../market/follows/queries/follows.ts';
import { listFundsOf, upsertFunds } from '../../market/orders/queries/funds.ts';
import type { BlockChanges, Correction } from './apply-block.ts';
import { correctBlocks, selectRelevant, toChangedCollections } from './apply-block.ts';
import type { FollowContext, StepResult } from './follower.ts';
import { listMovedAccounts, readFollowedFunds } from './funds.ts';
import { ChainUnavailable, RpcFailure } from './rpc/rpc-failure.ts';
import { completeEvents } from './transaction-facts.ts';

/** The most blocks in one step. The reader may return fewer, because an endpoint may accept fewer. */
const RANGE_BLOCKS_MAX = 10_000;
/** The pause after an attempt that failed, because an endpoint did not respond or the endpoints disagreed. */
const PAUSE_MS = 15_000;

/** Reads the next due range again, or its first part. `more` is true if blocks were read. */
export async function rereadOnce(context: FollowContext): Promise<StepResult> {
  const { main, reader, clock } = context;
  const cursor = await findChainCursor(main, reader.chain.id);
  const range = cursor && (await findDueReread(main, reader.chain.id, clock()));
  if (!range || range.from > cursor.number) return { changed: new Set(), more: false };
  const read = await readRangeAgain(context, cursor, range);
  const changed = read && (await store(context, { cursor, range, read }));
  if (changed) return { changed, more: true };
  await updateRereadDue(main, range, clock() + PAUSE_MS);
  return { changed: new Set(), more: false };
}

/** `moved`: the accounts whose funds may have changed in the blocks. */
type Reread = { to: number; contracts: ReadonlySet<Address>; events: LoggedEvent[]; moved: Address[] };

/** Null if the blocks cannot be read now, or not compared. */
async function readRangeAgain(context: FollowContext, cursor: ChainCursor, range: RereadRange): Promise<Reread | null> {
  const { main, reader, protocols } = context;
  const follows = await listFollows(main, reader.chain.id);
  const { from } = range;
  const upTo = findUniformEnd(follows, { from, to: Math.min(range.to, cursor.number, from + RANGE_BLOCKS_MAX - 1) });
  const contracts = listStoredAt(follows, from);
  const funds = await readFollowedFunds(context);
  const filter = { protocols, contracts: [...contracts], unindexed: toUnindexed(follows), isPast: true, funds };
  let comparisons = 0;
  const onUncompared = () => {
    comparisons -= 1;
  };
  try {
    const { to, last, events } = await reader.events.ofRange(from, upTo, filter, { again: true });
    const [stored] = await listChainBlocks(main, reader.chain.id, { upTo: to, limit: 1 });
    // The follower has yet to revert these blocks.
    if (stored?.number === to && stored.hash !== last.hash) return null;
    const completed = await completeEvents(reader, { events, protocols, contracts, onUncompared });
    return comparisons < 0
      ? null
      : { to, contracts, events: completed.filter(isLogged), moved: listMovedAccounts(events) };
  } catch (error) {
    const isUnavailable = error instanceof ChainUnavailable || (error instanceof RpcFailure && error.kind !== 'closed');
    if (isUnavailable) return null;
    throw error;
  }
}

/** The followed contracts whose events at this block are stored. */
function listStoredAt(follows: readonly Follow[], block: number): Set<Address> {
  const stored = follows.filter(
    ({ fromBlock, readToBlock, joined }) =>
      fromBlock !== null && fromBlock <= block && (joined || (readToBlock !== null && readToBlock >= block)),
  );
  return new Set(stored.map(({ contractAddress }) => contractAddress));
}

/** The last block up to which the events of the same contracts are stored as at the first block. */
function findUniformEnd(follows: readonly Follow[], { from, to }: { from: number; to: number }): number {
  const lasts = follows.flatMap(({ fromBlock, readToBlock, joined }) => [
    ...(fromBlock !== null && fromBlock > from ? [fromBlock - 1] : []),
    ...(!joined && readToBlock !== null && readToBlock >= from ? [readToBlock] : []),
  ]);
  return Math.min(to, ...lasts);
}

/** Returns the ids of the changed collections. Null if nothing was stored, because the chain log has changed meanwhile. */
async function store(
  { main, reader, clock, log }: FollowContext,
  { cursor, range, read }: { cursor: ChainCursor; range: RereadRange; read: Reread },
): Promise<Set<string> | null> {
  const chain = reader.chain.id;
  const blocks = { from: range.from, to: read.to };
  const changes = await main.transaction(async (tx) => {
    const locked = await findChainCursor(tx, chain, 'for update');
    if (!locked || locked.reorgs !== cursor.reorgs || locked.number < read.to) return null;
    const follows = await listFollows(tx, chain);
    if (listStoredAt(follows, range.from).symmetricDifference(read.contracts).size > 0) return null;
    if (!(await updateRereadRange(tx, range, read.to))) return null;
    // The first read may have missed that they changed.
    const marked = (await listFundsOf(tx, chain, read.moved)).map((key) => ({ ...key, funds: null }));
    await upsertFunds(tx, { chain, block: locked.number }, marked);
    const correction = await findCorrection(tx, chain, { ...read, ...blocks });
    return correction ? correct(tx, { chain, correction, cursor: locked, now: clock() }) : [];
  });
  if (!changes) return null;
  if (Array.isArray(changes)) return new Set();
  log.warn('stored blocks were wrong and have been corrected', { chain, ...blocks, orders: changes.orders.length });
  return toChangedCollections(chain, changes);
}

/** Null if the stored events of the blocks are right. */
async function findCorrection(
  tx: Queryable,
  chain: string,
  { from, to, contracts, events }: Reread & { from: number },
): Promise<Correction | null> {
  const stored = await listBlockEvents(tx, chain, { from, to });
  const found = new Set(events.map(toComparable));
  const wrong = new Set(stored.filter((event) => isOf(event, contracts) && !found.has(toComparable(event))));
  const known = new Set(stored.map(toComparable));
  const relevant = (await selectRelevant(tx, chain, events, contracts)).filter(isLogged);
  const missing = relevant.filter((event) => !known.has(toComparable(event)));
  const blocks = new Set([...wrong, ...missing].map(({ blockNumber }) => blockNumber));
  if (blocks.size === 0) return null;
  const before = stored.filter(({ blockNumber }) => blocks.has(blockNumber));
  const after = [
    ...before.filter((event) => !wrong.has(event)),
    ...missing.filter((event) => blocks.has(event.blockNumber)),
  ];
  return { blocks: [...blocks].sort((a, b) => a - b), before, after: after.sort(byPosition) };
}

/** Whether the events of these contracts include the event. Fills and cancels of other collections are also in the chain log. */
function isOf(event: ChainEvent, contracts: ReadonlySet<Address>): boolean {
  if ('contract' in event) return contracts.has(event.contract);
  if (event.kind !== 'order-fulfilled') return true;
  return [...event.offer, ...event.consideration].some((item) => isTokenItem(item) && contracts.has(item.token));
}

async function correct(
  tx: Queryable,
  { chain, correction, cursor, now }: { chain: string; correction: Correction; cursor: ChainCursor; now: number },
): Promise<BlockChanges> {
  const { blocks, before, after } = correction;
  const [first = 0] = blocks;
  const [stored] = await listChainBlocks(tx, chain, { upTo: first, limit: 1 });
  // Of older blocks it is not known when they were applied.
  const since = stored?.number === first ? await findAppliedAfter(tx, chain, first - 1) : null;
  return correctBlocks(tx, chain, correction, {
    now,
    insertEntry: (affected) =>
      insertReorg(tx, chain, {
        ancestor: cursor.number,
        depth: 0,
        affected,
        at: now,
        since,
        collectionIds: [...toChangedCollections(chain, { events: [...before, ...after], orders: [] })],
        corrected: blocks,
      }),
  });
}

/** Two events are equal exactly if their texts are equal. */
function toComparable(event: ChainEvent): string {
  return JSON.stringify(event, (_, value: unknown) => {
    if (typeof value === 'bigint') return value.toString();
    if (typeof value !== 'object' || value === null || Array.isArray(value)) return value;
    return Object.fromEntries(Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1)));
  });
}

function byPosition(a: ChainEvent, b: ChainEvent): number {
  return a.blockNumber - b.blockNumber || a.logIndex - b.logIndex || a.part - b.part;
}
