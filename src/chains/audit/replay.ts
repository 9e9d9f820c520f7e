// `audit --replay`: the stored log of the chains, written anew into an empty database by the very code that follows the chains,
// has to come to what is served, byte for byte. It asks no chain, and changes nothing but the database of its own.

import { setTimeout as delay } from 'node:timers/promises';
import { findLastSeq } from '../queries/audited.ts';
import { findProjectedSeq } from '../queries/projection.ts';
import { findChainCursor } from '../../chain-log/queries/chain-cursors.ts';
import type { Database } from '../../database/port.ts';
import { listFollows } from '../../follows/queries/follows.ts';
import { evaluateOrders } from '../../orders/evaluate.ts';
import { copyTold, insertAsSigned, listOrdersToJudge, listToldEvents } from '../queries/replay.ts';
import { compareReplay } from '../queries/replay-differences.ts';
import { openScratch } from '../../database/scratch.ts';
import type { Sides } from '../../database/snapshot.ts';
import { readTogether } from '../../database/snapshot.ts';
import type { ChainEvent } from '../../chain-log/chain-event.ts';
import { OperatorError } from '../../core/errors.ts';
import type { ChainContext } from '../context.ts';
import type { AuditReport, ChainAudit } from './report.ts';
import { DIFFERENCES_SHOWN_MAX } from './report.ts';
import { toMarketplace } from '../protocols/registry.ts';
import { applyEvents } from '../apply-block.ts';
import { projectNext } from '../projection.ts';

export type ReplayOptions = {
  chains: readonly string[];
  /** An empty database with both schemas. Default: an embedded one in a temporary directory. */
  into?: Database;
};

type Copied = { chain: string; block: number };

const BATCH_SIZE = 2_000;
/** Times that the copy is begun while the indexer has not been told all that the log holds. */
const COPIES_MAX = 100;
const PAUSE_MS = 200;

export async function replayLog(context: ChainContext, { chains, into }: ReplayOptions): Promise<AuditReport> {
  const scratch = into ?? (await openScratch());
  try {
    const copied = await copyAtRest(context, scratch, chains);
    await scratch.transaction(insertAsSigned);
    const report: AuditReport = {
      drift: 0,
      orders: 0,
      tokens: 0,
      unreadable: 0,
      chains: [],
      differences: [],
      seed: null,
    };
    for (const { chain, block } of copied) {
      await replayChain(context, scratch, chain);
      const now = context.clock();
      await judgeAll(scratch, chain, now);
      const found = await compareReplay(scratch, chain, { now, limit: DIFFERENCES_SHOWN_MAX });
      const audited: ChainAudit = { chain, block, ...found, unreadable: 0 };
      report.chains.push(audited);
      for (const sum of ['orders', 'tokens', 'drift'] as const) report[sum] += found[sum];
      const shown = found.differences.slice(0, DIFFERENCES_SHOWN_MAX - report.differences.length);
      report.differences.push(
        ...shown.map(({ what, subject, told, again }) => ({
          chain,
          block: null,
          subject: `${what} ${subject}`,
          field: 'replayed',
          ours: told ?? 'nothing',
          theirs: again ?? 'nothing',
        })),
      );
    }
    return report;
  } finally {
    if (!into) await scratch.close();
  }
}

/** Copies everything as it is at one moment at which the indexer had been told all that the log held. */
async function copyAtRest(context: ChainContext, into: Database, chains: readonly string[]): Promise<Copied[]> {
  for (let copies = 0; copies < COPIES_MAX; copies += 1) {
    if (copies > 0) await delay(PAUSE_MS);
    const copied = await readTogether(context, async (sides) => {
      const begun = await listBegun(sides, chains);
      if (!begun) return null;
      if (begun.length === 0) throw new OperatorError('no chain has been read yet: there is no log to be replayed');
      const wanted = begun.map(({ chain }) => chain);
      const follows = (await listFollows(sides.main)).filter(({ chain, joined }) => joined && wanted.includes(chain));
      await copyTold(sides, into, { chains: wanted, collectionIds: follows.map((follow) => follow.collectionId) });
      return begun;
    });
    if (copied) return copied;
  }
  throw new OperatorError('the indexer is behind the log of the chains: replay it when the workers have caught up');
}

/** Null while one of them is not written into the indexer yet. */
async function listBegun(sides: Sides, chains: readonly string[]): Promise<Copied[] | null> {
  const begun: Copied[] = [];
  for (const chain of chains) {
    const cursor = await findChainCursor(sides.main, chain);
    if (!cursor) continue;
    if ((await findProjectedSeq(sides.indexer, chain)) < (await findLastSeq(sides.main, chain))) return null;
    begun.push({ chain, block: cursor.number });
  }
  return begun;
}

async function replayChain(context: ChainContext, scratch: Database, chain: string): Promise<void> {
  const { clock, serviceName, chains } = context;
  let after: ChainEvent | null = null;
  for (;;) {
    const events: ChainEvent[] = await listToldEvents(scratch, chain, { after, limit: BATCH_SIZE });
    after = events.at(-1) ?? null;
    if (!after) break;
    await scratch.transaction((tx) => applyEvents(tx, chain, events, clock()));
  }
  const known = chains.get(chain);
  const wrappedNative = known ? known.wrappedNative : null;
  const databases = { main: scratch, indexer: scratch };
  const projection = { ...databases, chain, serviceName, clock, wrappedNative, attribute: toMarketplace };
  while (await projectNext(projection));
}

/** Also those that no event touched: the clock may have ended them. */
async function judgeAll(scratch: Database, chain: string, now: number): Promise<void> {
  let after = '';
  for (;;) {
    const orderIds = await listOrdersToJudge(scratch, chain, { after, limit: BATCH_SIZE });
    const last = orderIds.at(-1);
    if (last === undefined) return;
    await scratch.transaction((tx) => evaluateOrders(tx, orderIds, now));
    after = last;
  }
}
