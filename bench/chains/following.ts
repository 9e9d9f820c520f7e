// Measures how many events a second the follower reads and commits, for live blocks and for a backfill of a million EVM logs. Also measures
// the memory of the backfill and of the projection of its log, in a process of their own. Then measures how much longer a backfill
// takes with two endpoints, whose responses are compared, than with one endpoint, and how much longer it takes with all settlement protocols
// than with Seaport alone. Each endpoint is a separate process. The measured durations include the time that the endpoints take.

import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import type { Database, Engine } from '../../src/platform/database/port.ts';
import { findFollow } from '../../src/market/follows/queries/follows.ts';
import { backfillOnce } from '../../src/sources/chains/backfill.ts';
import type { FollowContext } from '../../src/sources/chains/follower.ts';
import { followOnce } from '../../src/sources/chains/follower.ts';
import { SEAPORT } from '../../src/sources/chains/protocols/seaport.ts';
import type { BackfillFigures } from './backfill-process.ts';
import type { Target } from '../support/databases.ts';
import { onEachEngine, onEachTarget, useTarget } from '../support/databases.ts';
import { begin, drain, FOLLOWED_ID, openFollower, openProjection } from './follower.ts';
import { compare, timeMs } from '../support/measure.ts';
import type { SyntheticChain } from './synthetic.ts';
import { startSyntheticChain } from './synthetic.ts';
import type { Figure } from '../support/verdict.ts';
import { judge } from '../support/verdict.ts';

/** Live blocks have as many transfers as fills, because each fill causes a transfer. */
const LIVE = { blocks: 3_000, fills: 20, transfers: 20 };
const BACKFILL = { blocks: 40_000, fills: 5, transfers: 20 };
/** A backfill that takes seconds. The comparisons repeat it. */
const BACKFILL_SHORT = { blocks: 4_000, fills: 1, transfers: 4 };
const ROUNDS = 5;
const PROTOCOL_ROUNDS = 9;
/** The delay that the endpoint adds to each response: no delay, and the delay of a distant endpoint. */
const LATENCIES_MS = [0, 200];
/**
 * The goals of a backfill: at least this many events a second, and at most this much memory of its process. The embedded database runs in
 * the process.
 */
const BACKFILL_AIM: Record<Engine, number> = { postgresql: 30_000, embedded: 15_000 };
const MEMORY_AIM_MIB = 600;
/** The goal of a backfill: an RPC call reads at least this many transfers on average. */
export const TRANSFERS_A_CALL = 5_000;
/** Four fills a second, each with its transfer. This is an assumption about the busiest chain, not a measurement. */
const BUSIEST_EVENTS_A_SECOND = 4 * 2;

export function benchFollowing(): Promise<void> {
  return onEachTarget(async (target) => {
    await useTarget(target, benchLive);
    await benchBackfill(target);
    await useTarget(target, async (database) => {
      for (const latencyMs of LATENCIES_MS) await benchComparison(database, latencyMs);
    });
  });
}

/** Compares a backfill of all settlement protocols with a backfill of Seaport alone. */
export function benchProtocols(): Promise<void> {
  return onEachEngine(async (database) => {
    for (const latencyMs of LATENCIES_MS) await compareProtocols(database, latencyMs);
  });
}

async function benchLive(database: Database): Promise<void> {
  await withContext(database, LIVE, async (context, project) => {
    await begin(database, 0, true);
    const ms = await timeMs(async () => {
      while ((await followOnce(context)).more) await project();
      await drain(project);
    });
    judgeRate(`following live, ${database.engine}`, { events: LIVE.blocks * (LIVE.fills + LIVE.transfers), ms });
  });
  await clear(database);
}

async function benchBackfill(target: Target): Promise<void> {
  const name = `backfill, ${target.engine}`;
  const events = BACKFILL.blocks * (BACKFILL.fills + BACKFILL.transfers);
  const chain = await startSyntheticChain(BACKFILL);
  try {
    await useTarget(target, (database) => begin(database, BACKFILL.blocks, false));
    const program = fileURLToPath(new URL('./backfill-process.ts', import.meta.url));
    const args = [program, target.engine, target.address, chain.url];
    const { stdout } = await promisify(execFile)(process.execPath, args);
    const { backfill, projection } = JSON.parse(stdout) as BackfillFigures;
    const cpu = ({ cpuMs, databaseCpuMs }: BackfillFigures['backfill']) =>
      `CPU time for 1,000 events: the process ${((cpuMs * 1_000) / events).toFixed(1)} ms, the database ${((databaseCpuMs * 1_000) / events).toFixed(1)} ms`;
    const aim = { atLeast: BACKFILL_AIM[target.engine] };
    judgeRate(name, { events, ms: backfill.ms, aim, beside: cpu(backfill) });
    // The follower requests the transaction of each fill, so each fill costs one call.
    const calls = (await chain.countCalls()) - BACKFILL.blocks * BACKFILL.fills;
    judge({
      name: `${name}, transfers for each RPC call, without the calls for the transactions of fills`,
      figure: (BACKFILL.blocks * BACKFILL.transfers) / calls,
      unit: '',
      rounds: [],
      aim: { atLeast: TRANSFERS_A_CALL },
    });
    judgeRate(`projection into the indexer, ${target.engine}`, { events, ms: projection.ms, beside: cpu(projection) });
    judge({
      name: `${name}, largest resident memory, with the projection`,
      figure: projection.peakMiB,
      unit: 'MiB',
      rounds: [],
      aim: { atMost: MEMORY_AIM_MIB },
      beside: `${backfill.peakMiB.toFixed(0)} MiB before the projection`,
    });
  } finally {
    chain.stop();
    await useTarget(target, clear);
  }
}

/** Measures the duration of a backfill with two endpoints of equal speed, as a multiple of the duration with one endpoint. */
async function benchComparison(database: Database, latencyMs: number): Promise<void> {
  const backfillMs = (endpoints: number) =>
    withContext(database, { ...BACKFILL_SHORT, latencyMs, endpoints }, async (context) => {
      await begin(database, BACKFILL_SHORT.blocks, false);
      const ms = await timeMs(async () => {
        while (!(await findFollow(database, FOLLOWED_ID))?.joined) await backfillOnce(context);
      });
      await clear(database);
      return ms;
    });
  const result = await compare(
    ROUNDS,
    () => backfillMs(2),
    () => backfillMs(1),
  );
  judge({
    name: `compared backfill, ${database.engine}, ${latencyMs} ms a request, time with two endpoints as a multiple of the time with one`,
    figure: result.ratio,
    unit: '',
    rounds: result.ratios,
    aim: null,
    beside: `${result.a.toFixed(0)} ms with two, ${result.b.toFixed(0)} ms with one`,
  });
}

/**
 * Compares a backfill of all settlement protocols with a backfill of Seaport alone, on the same blocks. The blocks have as many sales on
 * Blur as on Seaport. The sales on Blur are of another collection. Half of the transfers are not mints, and no sale explains them. So the
 * follower asks whether pools have sold these tokens.
 */
async function compareProtocols(database: Database, latencyMs: number): Promise<void> {
  const calls = new Map<string, string>();
  const backfillMs = (name: 'all' | 'seaport') =>
    withContext(
      database,
      { ...BACKFILL_SHORT, others: BACKFILL_SHORT.fills, moves: true, latencyMs },
      async (context, _, chains) => {
        const protocols = new Map([...context.protocols].filter(([, one]) => name === 'all' || one === SEAPORT));
        await begin(database, BACKFILL_SHORT.blocks, false);
        let ranges = 0;
        const ms = await timeMs(async () => {
          for (; !(await findFollow(database, FOLLOWED_ID))?.joined; ranges += 1)
            await backfillOnce({ ...context, protocols });
        });
        calls.set(name, `${await chains[0]?.countCalls()} calls for ${ranges} ranges`);
        await clear(database);
        return ms;
      },
    );
  const result = await compare(
    PROTOCOL_ROUNDS,
    () => backfillMs('all'),
    () => backfillMs('seaport'),
  );
  judge({
    name: `backfill of all protocols, ${database.engine}, ${latencyMs} ms a request, time as a multiple of Seaport alone`,
    figure: result.ratio,
    unit: '',
    rounds: result.ratios,
    aim: null,
    beside:
      `${result.a.toFixed(0)} ms, of Seaport alone ${result.b.toFixed(0)} ms; ` +
      `${calls.get('all')}, of Seaport alone ${calls.get('seaport')}`,
  });
}

function judgeRate(
  name: string,
  { events, ms, aim = null, beside }: { events: number; ms: number; aim?: Figure['aim']; beside?: string },
): void {
  const rate = events / (ms / 1_000);
  const times = rate / BUSIEST_EVENTS_A_SECOND;
  const compared = `${events} events, ${times.toFixed(0)} times the assumed rate of the busiest chain`;
  judge({
    name,
    figure: rate,
    unit: 'events/s',
    rounds: [],
    aim,
    beside: beside === undefined ? compared : `${compared}; ${beside}`,
  });
}

type ChainShape = Parameters<typeof startSyntheticChain>[0];

/** Starts endpoints that serve a new chain of this shape, runs `work` with a follower of the chain, and stops the endpoints. */
export async function withContext<T>(
  database: Database,
  { endpoints = 1, ...shape }: ChainShape & { endpoints?: number },
  work: (context: FollowContext, project: () => Promise<boolean>, chains: readonly SyntheticChain[]) => Promise<T>,
): Promise<T> {
  const started = await Promise.all(Array.from({ length: endpoints }, () => startSyntheticChain(shape)));
  const urls = started.map(({ url }) => url);
  const context = openFollower(database, urls);
  try {
    return await work(context, openProjection(database), started);
  } finally {
    context.reader.close();
    for (const endpoint of started) endpoint.stop();
  }
}

async function clear(database: Database): Promise<void> {
  for (const table of ['main.chain_cursor', 'main.chain_block', 'main.chain_event', 'main.holding', 'main.follow']) {
    await database.query(`truncate ${table} cascade`);
  }
  await database.query(
    `truncate indexer.sale, indexer.sale_hour, indexer.sale_total, indexer.token, indexer.chain_cursor cascade`,
  );
}
