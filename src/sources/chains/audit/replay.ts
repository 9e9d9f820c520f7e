// `audit --replay`: applies the stored chain log to an empty database, with the same code that follows the chains. It compares the result
// with the served rows, byte for byte, and counts the maintained figures of collections again. It reads no chain, and writes only to the
// empty database.

import { setTimeout as delay } from 'node:timers/promises';
import type { ChainEvent } from '../../../market/chain-log/chain-event.ts';
import { findChainCursor } from '../../../market/chain-log/queries/chain-cursors.ts';
import { findLastSeq } from '../../../market/chain-log/queries/chain-events.ts';
import { OperatorError } from '../../../platform/core/errors.ts';
import type { Database } from '../../../platform/database/port.ts';
import { openScratch } from '../../../platform/database/scratch.ts';
import type { Sides } from '../../../platform/database/snapshot.ts';
import { readTogether } from '../../../platform/database/snapshot.ts';
import { listFollows } from '../../../market/follows/queries/follows.ts';
import { evaluateOrders } from '../../../market/orders/evaluate.ts';
import { applyEvents } from '../apply-block.ts';
import type { ChainContext } from '../context.ts';
import { projectNext } from '../projection.ts';
import { findProjectedPosition } from '../queries/projection.ts';
import type { ReplayDifference } from './queries/replay-differences.ts';
import { compareReplay } from './queries/replay-differences.ts';
import { copyServed, insertAsSigned, listCopiedEvents, listOrderIdsAfter } from './queries/replay.ts';
import { auditFigures } from './figures.ts';
import type { AuditReport, Difference } from './report.ts';
import { addToReport, createReport, DIFFERENCES_MAX } from './report.ts';

export type ReplayOptions = {
  chains: readonly string[];
  /** The chain whose figures are counted again; null for all chains. */
  figuresOf: string | null;
  /** The pause before figures that differ are counted again, in milliseconds. */
  pauseMs?: number | undefined;
  /** A database with both schemas and no rows. Default: an embedded database in a temporary directory. */
  into?: Database;
};

type CopiedChain = { chain: string; block: number };

const BATCH_SIZE = 2_000;
/** The most attempts to copy. An attempt fails while the indexer is behind the chain log. */
const ATTEMPTS_MAX = 100;
const PAUSE_MS = 200;

export async function replayLog(
  context: ChainContext,
  { chains, figuresOf, pauseMs, into }: ReplayOptions,
): Promise<AuditReport> {
  const scratch = into ?? (await openScratch());
  try {
    // The log is copied first. If copying fails, no time is spent on counting the figures.
    const copied = await copyWhenProjected(context, scratch, chains);
    const figures = await auditFigures(context, { chain: figuresOf, pauseMs });
    if (copied.length === 0 && figures.length === 0) {
      throw new OperatorError('no chain has been read yet, and there are no collections: there is no log to replay');
    }
    if (copied.length > 0) await scratch.transaction(insertAsSigned);
    const report = createReport(null);
    for (const { chain, block } of copied) {
      await replayChain(context, scratch, chain);
      const now = context.clock();
      await evaluateAllOrders(scratch, chain, now);
      const { differences, ...counts } = await compareReplay(scratch, chain, { now, limit: DIFFERENCES_MAX });
      addToReport(
        report,
        { chain, block, ...counts, collections: 0, unreadable: 0, rereads: 0, digest: null },
        differences.map(toDifference(chain)),
      );
    }
    for (const { audited, differences } of figures) addToReport(report, audited, differences);
    return report;
  } finally {
    if (!into) await scratch.close();
  }
}

function toDifference(chain: string) {
  return ({ what, subject, served, replayed }: ReplayDifference): Difference => ({
    chain,
    block: null,
    subject: `${what} ${subject}`,
    field: 'replayed',
    ours: served ?? 'nothing',
    theirs: replayed ?? 'nothing',
  });
}

/** Copies the chain log and the served rows as of one moment at which the indexer contains the complete chain log. */
async function copyWhenProjected(
  context: ChainContext,
  into: Database,
  chains: readonly string[],
): Promise<CopiedChain[]> {
  for (let attempts = 0; attempts < ATTEMPTS_MAX; attempts += 1) {
    if (attempts > 0) await delay(PAUSE_MS);
    const copied = await readTogether(context, async (sides) => {
      const projected = await listProjectedChains(sides, chains);
      if (!projected) return null;
      if (projected.length === 0) return [];
      const ids = projected.map(({ chain }) => chain);
      const follows = (await listFollows(sides.main)).filter(({ chain, joined }) => joined && ids.includes(chain));
      await copyServed(sides, into, { chains: ids, collectionIds: follows.map((follow) => follow.collectionId) });
      return projected;
    });
    if (copied) return copied;
  }
  throw new OperatorError('the indexer is behind the log of the chains: replay again when the workers have caught up');
}

/** The chains that have been read. Null while the log of one of them is not completely in the indexer. */
async function listProjectedChains(sides: Sides, chains: readonly string[]): Promise<CopiedChain[] | null> {
  const projected: CopiedChain[] = [];
  for (const chain of chains) {
    const cursor = await findChainCursor(sides.main, chain);
    if (!cursor) continue;
    if ((await findProjectedPosition(sides.indexer, chain)).seq < (await findLastSeq(sides.main, chain))) return null;
    projected.push({ chain, block: cursor.number });
  }
  return projected;
}

async function replayChain({ clock, serviceName, chains }: ChainContext, scratch: Database, id: string): Promise<void> {
  let after: ChainEvent | null = null;
  for (;;) {
    const events: ChainEvent[] = await listCopiedEvents(scratch, id, { after, limit: BATCH_SIZE });
    after = events.at(-1) ?? null;
    if (!after) break;
    await scratch.transaction((tx) => applyEvents(tx, id, events, clock()));
  }
  const chain = chains.get(id);
  if (!chain) throw new Error(`${id} is not a chain`);
  while (await projectNext({ main: scratch, indexer: scratch, chain, chains, serviceName, clock }));
}

/** Evaluates all signed orders, because an order without events may have expired. */
async function evaluateAllOrders(scratch: Database, chain: string, now: number): Promise<void> {
  let after = '';
  for (;;) {
    const orderIds = await listOrderIdsAfter(scratch, chain, { after, limit: BATCH_SIZE });
    const last = orderIds.at(-1);
    if (last === undefined) return;
    await scratch.transaction((tx) => evaluateOrders(tx, orderIds, now));
    after = last;
  }
}
