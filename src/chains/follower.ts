// Follows one chain: reads what happened since the last step, and takes back what the chain took back. Every step is one
// transaction with the place that it reached, so that it may end anywhere and be done again. It keeps nothing in memory that
// the database does not say, and never decides what an event means.

import type { Clock } from '../core/clock.ts';
import type { ChainCursor } from '../chain-log/queries/chain-cursors.ts';
import {
  deleteChainBlocks,
  findChainCursor,
  insertChainCursor,
  listChainBlocks,
  updateChainCursor,
  updateChainNote,
  upsertChainBlocks,
} from '../chain-log/queries/chain-cursors.ts';
import { insertReorg } from '../chain-log/queries/chain-events.ts';
import type { Database } from '../database/port.ts';
import { listFollows, updateFollowsAfterReorg } from '../follows/queries/follows.ts';
import type { Address } from '../core/address.ts';
import type { BlockHeader, ChainEvent, OrderFulfilled } from '../chain-log/chain-event.ts';
import { toCollectionId } from '../core/collection.ts';
import type { Log } from '../core/log.ts';
import type { ChainReader } from './rpc/chain-reader.ts';
import type { Step } from './apply-block.ts';
import { applyEvents, rewindTo, selectRelevant } from './apply-block.ts';

export type FollowContext = {
  main: Database;
  reader: ChainReader;
  protocols: readonly Address[];
  clock: Clock;
  log: Log;
};

/** What one round did: the collections that it touched, and whether there is more to read at once. */
export type Round = { changed: Set<string>; more: boolean };

/** Blocks at the live edge that are read one by one, by their hashes; what is older is read by ranges. */
const EDGE_BLOCKS = 32;
/** Blocks read by one range at most; the reader takes fewer where its endpoint does. */
const RANGE_BLOCKS_MAX = 10_000;
/** Blocks kept to find the last one in common with. Deeper reorganisations than this stop the chain and say so. */
export const KEPT_BLOCKS = 512;

const NOTHING: Round = { changed: new Set(), more: false };

/** One round: begins a chain, takes back what is no more, or reads on. Throws when the chain cannot be read. */
export async function followOnce(context: FollowContext): Promise<Round> {
  const { main, reader } = context;
  const head = await reader.head();
  const cursor = await findChainCursor(main, reader.chain.id);
  if (!cursor) return begin(context, head);
  if (await isOrphaned(context, cursor, head)) return takeBack(context, cursor);
  if (head.number <= cursor.number) return NOTHING;
  return head.number - cursor.number > EDGE_BLOCKS
    ? readRange(context, cursor, head.number - EDGE_BLOCKS)
    : readEdge(context, cursor, head.number);
}

/** A chain begins at its head: what was before is read for each collection that is followed. */
async function begin({ main, reader, clock, log }: FollowContext, head: BlockHeader): Promise<Round> {
  await main.transaction(async (tx) => {
    await insertChainCursor(tx, reader.chain.id, head, clock());
    await upsertChainBlocks(tx, reader.chain.id, [head]);
  });
  log.info('a chain is followed from here on', { chain: reader.chain.id, block: head.number });
  return { changed: new Set(), more: true };
}

/**
 * Whether the block that was read last is no more. An endpoint that is merely behind has no block of that number, and agrees
 * with us on those that it has.
 */
async function isOrphaned({ main, reader }: FollowContext, cursor: ChainCursor, head: BlockHeader): Promise<boolean> {
  if (head.number > cursor.number) {
    const next = await reader.header(cursor.number + 1);
    return next !== null && next.parentHash !== cursor.hash;
  }
  if (head.number === cursor.number) return head.hash !== cursor.hash;
  const [kept] = await listChainBlocks(main, reader.chain.id, { upTo: head.number, limit: 1 });
  return kept !== undefined && kept.number === head.number && kept.hash !== head.hash;
}

/** Goes back to the last block in common. */
async function takeBack(context: FollowContext, cursor: ChainCursor): Promise<Round> {
  const { main, reader, clock, log } = context;
  const chain = reader.chain.id;
  const ancestor = await findAncestor(context, cursor);
  if (!ancestor) {
    const note = `the chain was reorganised deeper than the ${KEPT_BLOCKS} blocks that are kept`;
    await updateChainNote(main, chain, note);
    throw new Error(note);
  }
  const depth = cursor.number - ancestor.number;
  const step = await main.transaction(async (tx) => {
    if (!isAt(await findChainCursor(tx, chain, 'for update'), cursor)) return null;
    const now = clock();
    const undone = await rewindTo(tx, chain, ancestor.number, now);
    await insertReorg(tx, chain, { ancestor: ancestor.number, depth, at: now });
    await updateFollowsAfterReorg(tx, chain, ancestor.number);
    await deleteChainBlocks(tx, chain, { after: ancestor.number, before: 0 });
    await updateChainCursor(tx, chain, ancestor, { now, reorg: true });
    return undone;
  });
  if (!step) return { changed: new Set(), more: true };
  log.info('a reorganisation was taken back', { chain, depth, events: step.events.length, orders: step.orders.length });
  return { changed: toChanged(chain, step), more: true };
}

async function findAncestor({ main, reader }: FollowContext, cursor: ChainCursor): Promise<BlockHeader | null> {
  const kept = await listChainBlocks(main, reader.chain.id, { upTo: cursor.number - 1, limit: KEPT_BLOCKS });
  for (const block of kept) {
    const header = await reader.header(block.number);
    if (header?.hash === block.hash) return header;
  }
  return null;
}

/** Reads blocks one by one, as far as each is the child of the one before. */
async function readEdge(context: FollowContext, cursor: ChainCursor, upTo: number): Promise<Round> {
  const { reader } = context;
  const filter = await readFilter(context);
  const blocks: BlockHeader[] = [];
  const events: ChainEvent[] = [];
  let parent = cursor.hash;
  for (let number = cursor.number + 1; number <= upTo; number += 1) {
    const header = await reader.header(number);
    if (header?.parentHash !== parent) break;
    events.push(...(await reader.eventsOfBlock(header, filter)));
    blocks.push(header);
    parent = header.hash;
  }
  return commit(context, cursor, { blocks, events, filter });
}

async function readRange(context: FollowContext, cursor: ChainCursor, upTo: number): Promise<Round> {
  const { reader } = context;
  const filter = await readFilter(context);
  const last = Math.min(upTo, cursor.number + RANGE_BLOCKS_MAX);
  const { to, events } = await reader.eventsOfRange(cursor.number + 1, last, filter);
  const header = await reader.header(to);
  if (!header) return NOTHING;
  return commit(context, cursor, { blocks: [header], events, filter });
}

type Filter = { protocols: readonly Address[]; contracts: readonly Address[] };

async function readFilter({ main, reader, protocols }: FollowContext): Promise<Filter> {
  const follows = await listFollows(main, reader.chain.id);
  return { protocols, contracts: follows.filter(({ joined }) => joined).map((follow) => follow.contractAddress) };
}

/** Writes a step, unless somebody else moved the chain or changed what is followed in the meantime. */
async function commit(
  context: FollowContext,
  cursor: ChainCursor,
  { blocks, events, filter }: { blocks: readonly BlockHeader[]; events: readonly ChainEvent[]; filter: Filter },
): Promise<Round> {
  const { main, reader, clock } = context;
  const chain = reader.chain.id;
  const last = blocks.at(-1);
  if (!last) return { changed: new Set(), more: true };
  const contracts = new Set(filter.contracts);
  const named = await nameDomains(context, events, contracts);
  const step = await main.transaction(async (tx) => {
    if (!isAt(await findChainCursor(tx, chain, 'for update'), cursor)) return null;
    const now = clock();
    const done = await applyEvents(tx, chain, await selectRelevant(tx, chain, named, contracts), now);
    await upsertChainBlocks(tx, chain, blocks);
    await deleteChainBlocks(tx, chain, { after: last.number, before: last.number - KEPT_BLOCKS });
    await updateChainCursor(tx, chain, last, { now });
    return done;
  });
  return { changed: step ? toChanged(chain, step) : new Set(), more: true };
}

/** Fills of followed tokens, with the bytes by which marketplaces sign them. */
export async function nameDomains(
  { reader }: Pick<FollowContext, 'reader'>,
  events: readonly ChainEvent[],
  contracts: ReadonlySet<Address>,
): Promise<ChainEvent[]> {
  const isWanted = (event: ChainEvent): event is OrderFulfilled =>
    event.kind === 'order-fulfilled' &&
    [...event.offer, ...event.consideration].some(({ token }) => contracts.has(token));
  const txs = [...new Set(events.filter(isWanted).map((event) => event.tx))];
  if (txs.length === 0) return [...events];
  const tails = await reader.callDataTails(txs);
  return events.map((event) => {
    const domain = isWanted(event) ? tails.get(event.tx) : undefined;
    return domain === undefined ? event : { ...event, domain };
  });
}

function isAt(found: ChainCursor | null, expected: ChainCursor): boolean {
  return (
    found !== null &&
    found.number === expected.number &&
    found.hash === expected.hash &&
    found.revision === expected.revision
  );
}

export function toChanged(chain: string, { events, orders }: Step): Set<string> {
  const changed = new Set(orders.map((order) => order.collectionId));
  for (const event of events) if ('contract' in event) changed.add(toCollectionId(chain, event.contract));
  return changed;
}
