// Measures how many events a second the follower reads and commits, for live blocks and for a backfill of a million EVM logs. Also measures
// the memory of the backfill. Two comparisons follow. The first compares the duration of a backfill with two endpoints, whose responses are
// compared, with that of a backfill with one endpoint. The second compares the duration of a backfill of all settlement protocols with that
// of a backfill of Seaport alone. Each endpoint is a separate process. The measured durations include the time that the endpoints take.

import { systemClock } from '../src/core/clock.ts';
import { insertChainCursor } from '../src/chain-log/queries/chain-cursors.ts';
import type { Database, Engine } from '../src/database/port.ts';
import { findFollow, upsertFollow } from '../src/follows/queries/follows.ts';
import type { Address } from '../src/core/address.ts';
import type { Chain } from '../src/core/chains.ts';
import { createChains } from '../src/core/chains.ts';
import { createLog } from '../src/core/log.ts';
import { ChainReader } from '../src/chains/rpc/chain-reader.ts';
import { backfillOnce } from '../src/chains/backfill.ts';
import type { FollowContext } from '../src/chains/follower.ts';
import { followOnce } from '../src/chains/follower.ts';
import { SEAPORT } from '../src/chains/protocols/seaport.ts';
import { listProtocolContracts } from '../src/chains/protocols/registry.ts';
import { projectNext } from '../src/chains/projection.ts';
import { hashOf } from './chain-node.ts';
import { onEachEngine } from './databases.ts';
import { compare, databaseCpuMs, timeMs } from './measure.ts';
import type { SyntheticChain } from './synthetic.ts';
import { COLLECTION, startSyntheticChain } from './synthetic.ts';
import { judge } from './verdict.ts';

export const CHAIN = 'ethereum';
export const FOLLOWED_ID = `${CHAIN}_${COLLECTION}`;
/** Live blocks have as many transfers as fills, because each fill causes a transfer. */
const LIVE = { blocks: 3_000, fills: 20, transfers: 20 };
const BACKFILL = { blocks: 40_000, fills: 5, transfers: 20 };
/** The backfill of the embedded engine is a tenth as long, because this engine is meant for small installations. */
const BACKFILL_EMBEDDED = { ...BACKFILL, blocks: 4_000 };
/** A backfill that takes seconds. The comparisons repeat it. */
const BACKFILL_SHORT = { blocks: 4_000, fills: 1, transfers: 4 };
const ROUNDS = 5;
const PROTOCOL_ROUNDS = 9;
/** The delay that the endpoint adds to each response: no delay, and the delay of a distant endpoint. */
const LATENCIES_MS = [0, 200];
/**
 * The goals of a backfill: at least this many events a second, and at most this much memory of this process. The embedded database runs in
 * this process.
 */
const BACKFILL_AIM: Record<Engine, number> = { postgresql: 30_000, embedded: 15_000 };
const MEMORY_AIM_MIB = 600;
/** The goal of a backfill: an RPC call reads at least this many transfers on average. */
export const TRANSFERS_A_CALL = 5_000;
/** Four fills a second, each with its transfer. This is an assumption about the busiest chain, not a measurement. */
const BUSIEST_EVENTS_A_SECOND = 4 * 2;

export function benchFollowing(): Promise<void> {
  return onEachEngine(async (database) => {
    await benchLive(database);
    await benchBackfill(database, database.engine === 'embedded' ? BACKFILL_EMBEDDED : BACKFILL);
    await clear(database);
    for (const latencyMs of LATENCIES_MS) await benchComparison(database, latencyMs);
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
    const startedAt = performance.now();
    while ((await followOnce(context)).more) await project();
    await drain(project);
    judgeRate(`following live, ${database.engine}`, LIVE, startedAt);
  });
  await clear(database);
}

async function benchBackfill(database: Database, shape: typeof BACKFILL): Promise<void> {
  const name = `backfill, ${database.engine}`;
  const events = shape.blocks * (shape.fills + shape.transfers);
  await withContext(database, shape, async (context, project, chains) => {
    await begin(database, shape.blocks, false);
    let peak = 0;
    const [own, ofDatabase] = [process.cpuUsage(), await databaseCpuMs(database)];
    const startedAt = performance.now();
    while ((await backfillOnce(context)).more) {
      peak = Math.max(peak, process.memoryUsage().rss);
      if ((await findFollow(database, FOLLOWED_ID))?.joined) break;
    }
    const { user, system } = process.cpuUsage(own);
    const cpuOfDatabase = (await databaseCpuMs(database)) - ofDatabase;
    judgeRate(name, shape, startedAt, {
      aim: { atLeast: BACKFILL_AIM[database.engine] },
      beside: `CPU time for 1,000 events: this process ${((user + system) / events).toFixed(1)} ms, the database ${((cpuOfDatabase * 1_000) / events).toFixed(1)} ms`,
    });
    // The follower requests the transaction of each fill, so each fill costs one call.
    const calls = ((await chains[0]?.countCalls()) ?? 0) - shape.blocks * shape.fills;
    judge({
      name: `${name}, transfers for each RPC call, without the calls for the transactions of fills`,
      figure: (shape.blocks * shape.transfers) / calls,
      unit: '',
      rounds: [],
      aim: { atLeast: TRANSFERS_A_CALL },
    });
    const projectedAt = performance.now();
    await drain(project);
    judgeRate(`projection into the indexer, ${database.engine}`, shape, projectedAt);
    judge({
      name: `${name}, largest resident memory`,
      figure: peak / 2 ** 20,
      unit: 'MiB',
      rounds: [],
      aim: { atMost: MEMORY_AIM_MIB },
    });
  });
}

/** Compares a backfill with two endpoints of equal speed with a backfill with one endpoint. */
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
  { blocks, fills, transfers }: typeof LIVE,
  startedAt: number,
  { aim = null, beside }: { aim?: { atLeast: number } | null; beside?: string } = {},
): void {
  const events = blocks * (fills + transfers);
  const rate = events / ((performance.now() - startedAt) / 1_000);
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

const chains = createChains();

export function openFollower(database: Database, urls: readonly string[]): FollowContext {
  const chain = findChain();
  const log = createLog('warn');
  const reader = new ChainReader({ chain, urls, log, clock: systemClock, random: Math.random });
  const protocols = listProtocolContracts(chain, new Map());
  return { main: database, reader, protocols, clock: systemClock, log };
}

/** Returns a function that writes the next batch of the log into the indexer, and returns whether there was work. */
export function openProjection(database: Database): () => Promise<boolean> {
  const context = { main: database, indexer: database, chain: findChain(), chains, serviceName: 'mercat' };
  return async () => (await projectNext({ ...context, clock: systemClock })) !== null;
}

function findChain(): Chain {
  const chain = chains.get(CHAIN);
  if (!chain) throw new Error(`${CHAIN} is not a chain`);
  return chain;
}

export async function drain(project: () => Promise<boolean>): Promise<void> {
  while (await project());
}

/**
 * Sets the chain's cursor to block `number`. If `joined`, the collection counts as read up to this block. Otherwise it needs a backfill.
 */
export async function begin(database: Database, number: number, joined: boolean): Promise<void> {
  await insertChainCursor(database, CHAIN, { number, hash: hashOf(number), time: 0 }, 0);
  await upsertFollow(database, {
    collectionId: FOLLOWED_ID,
    chain: CHAIN,
    contractAddress: COLLECTION as Address,
    standard: 'erc721',
    fromBlock: 1,
    names: new Map(),
    createdAt: 0,
  });
  if (joined) await database.query(`update main.follow set joined = true`);
}

async function clear(database: Database): Promise<void> {
  for (const table of ['main.chain_cursor', 'main.chain_block', 'main.chain_event', 'main.holding', 'main.follow']) {
    await database.query(`truncate ${table} cascade`);
  }
  await database.query(
    `truncate indexer.sale, indexer.sale_hour, indexer.sale_total, indexer.token, indexer.chain_cursor cascade`,
  );
}
