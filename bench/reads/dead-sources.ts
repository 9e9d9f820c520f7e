// Measures how much unavailable upstreams slow `/v1`, and how soon recovered upstreams are used again. Two real services with the same records
// get the same requests alternately. The upstreams of one service work. The upstreams of the other service refuse connections, fail or hang,
// and later recover. The servers in place of the upstreams count the requests. All periods, pauses and deadlines have production values.

import { mkdtempSync, rmSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { SocketIntake } from '../../src/intake/socket-client.ts';
import type { TcpProxy } from '../../test/support/engines/tcp-proxy.ts';
import { startTcpProxy } from '../../test/support/engines/tcp-proxy.ts';
import type { ReplayServer } from '../../test/support/replay/replay.ts';
import { startReplayServer } from '../../test/support/replay/replay.ts';
import { sendToSocket } from '../../test/support/service/service-process.ts';
import type { Server } from '../../test/support/replay/all-vendors.ts';
import { FOLLOWED, SERVERS, startVendorServers } from '../../test/support/replay/all-vendors.ts';
import { rpcRoutes } from '../../test/support/replay/rpc.ts';
import { startServer } from './hot-listings.ts';
import { cpuMs, median, say } from '../support/measure.ts';
import { listedCollection, toAsync, toChunks } from '../support/records.ts';
import { judge } from '../support/verdict.ts';

const ROUNDS = 20;
const ROUND_MS = 4_000;
/** Few callers with pauses, because the benchmark measures latency and not throughput. */
const CALLERS = 3;
const CALLER_PAUSE_MS = 4;
const ROWS = 40;
const MINUTE_MS = 60_000;
const POLL_MS = 250;
/** The share of requests whose response is usually not cached. */
const COLD_SHARE = 0.25;

/** A way in which all upstreams of a service fail. */
type Outage = { name: string; start(side: Side): Promise<unknown> };

const OUTAGES: readonly Outage[] = [
  { name: 'refusing', start: (side) => Promise.all(side.proxies.map((proxy) => proxy.refuse())) },
  { name: 'returning 500', start: async (side) => side.servers.forEach((server) => server.fail('server-error')) },
  { name: 'hanging', start: async (side) => side.proxies.forEach((proxy) => proxy.hang()) },
];

export async function benchDeadSources(): Promise<void> {
  const closers: (() => unknown)[] = [];
  const scope = { after: (close: unknown) => void closers.unshift(close as () => unknown) };
  const healthy = await startSide(scope);
  const affected = await startSide(scope);
  try {
    const firstRun = affected.counts();
    const healthySince = performance.now();
    await compareSides('healthy at both services', healthy, affected);
    sayCounts('  requests of the first run of every task', firstRun, {}, 1);
    sayCounts('  requests a minute', affected.counts(), firstRun, minutesSince(healthySince));
    for (const { name, start } of OUTAGES) {
      await start(affected);
      // Every task starts now, as if its period had ended.
      await affected.runAll();
      const outageAt = performance.now();
      const before = affected.counts();
      await compareSides(name, healthy, affected);
      sayCounts('  requests a minute', affected.counts(), before, minutesSince(outageAt));
      await measureRecovery(name, affected);
    }
  } finally {
    for (const close of closers) await close();
  }
}

async function compareSides(name: string, healthy: Side, affected: Side): Promise<void> {
  const rounds: Round[] = [];
  const [healthyBefore, affectedBefore] = [cpuMs(healthy.pid), cpuMs(affected.pid)];
  while (rounds.length < ROUNDS) rounds.push(await callBoth(healthy, affected));
  for (const temperature of ['hot', 'cold'] as const) {
    const percentileOf = (side: 0 | 1, share: number) =>
      median(rounds.map((round) => percentile(round[temperature][side], share)));
    const describe = (side: 0 | 1) =>
      `p50 ${percentileOf(side, 0.5).toFixed(2)} ms, p99 ${percentileOf(side, 0.99).toFixed(2)} ms`;
    const ratios = rounds.map(
      ({ [temperature]: [ofHealthy, ofAffected] }) => percentile(ofAffected, 0.99) / percentile(ofHealthy, 0.99),
    );
    judge({
      name: `sources ${name}, ${temperature} reads, p99 as a multiple of that with healthy sources`,
      figure: median(ratios),
      unit: '',
      rounds: ratios,
      aim: null,
      beside: `${describe(1)}; with healthy sources ${describe(0)}`,
    });
  }
  const cpu = (cpuMs(affected.pid) - affectedBefore) / (cpuMs(healthy.pid) - healthyBefore);
  say(`  CPU time of the service, divided by the CPU time of the service with healthy sources: ${cpu.toFixed(2)}`);
}

/** The durations of requests in milliseconds. First: requests to the service with healthy upstreams. Second: requests to the other service. */
type Samples = [number[], number[]];
type Round = { hot: Samples; cold: Samples };

/** Every caller sends the same request to both services, so that other load on the machine affects both. */
async function callBoth(healthy: Side, affected: Side): Promise<Round> {
  const round: Round = { hot: [[], []], cold: [[], []] };
  const until = performance.now() + ROUND_MS;
  const call = async (caller: number) => {
    for (let count = caller; performance.now() < until; count += CALLERS) {
      const isCold = (count * 7_919) % 100 < COLD_SHARE * 100;
      const target = isCold ? coldTarget() : (HOT[count % HOT.length] ?? '');
      const [ofHealthy, ofAffected] = isCold ? round.cold : round.hot;
      // Each service is called first for half of the requests.
      const order = [() => time(healthy, target, ofHealthy), () => time(affected, target, ofAffected)];
      for (const one of count % 2 === 0 ? order : order.toReversed()) {
        await one();
        await delay(CALLER_PAUSE_MS);
      }
    }
  };
  await Promise.all(Array.from({ length: CALLERS }, (_, caller) => call(caller)));
  return round;
}

async function time({ url }: Side, target: string, samples: number[]): Promise<void> {
  const startedAt = performance.now();
  const response = await fetch(url + target);
  await response.arrayBuffer();
  samples.push(performance.now() - startedAt);
  if (response.status !== 200) throw new Error(`${target} returned ${response.status}`);
}

const HOT = [
  '/v1/collections?limit=20',
  '/v1/collections/bench',
  '/v1/collections/bench/listings?limit=25',
  '/v1/collections/bench/floor',
  '/v1/collections/bench/sales?limit=25',
];
const CONTRACT = `0x${'5a'.repeat(20)}`;
let fresh = 0;

/** A target that has not been requested for some seconds. */
function coldTarget(): string {
  fresh += 1;
  if (fresh % 5 === 0) return `/v1/collections/bench/listings?limit=${1 + (fresh % 100)}`;
  return `/v1/tokens/ethereum/${CONTRACT}/${(fresh * 37) % 2_000}`;
}

function percentile(values: readonly number[], share: number): number {
  const sorted = values.toSorted((a, b) => a - b);
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? Number.NaN;
}

/** Ends the outage. Measures the time until every task works again and the chain is followed. Counts the requests of one minute. */
async function measureRecovery(outage: string, side: Side): Promise<void> {
  const before = side.counts();
  const healedAt = performance.now();
  const height = (await side.state()).block;
  await side.heal();
  let recoveryMs: number | null = null;
  while (performance.now() - healedAt < MINUTE_MS) {
    const { failing, block } = await side.state();
    if (failing.length === 0 && block > height) recoveryMs ??= performance.now() - healedAt;
    await delay(POLL_MS);
  }
  const { failing } = await side.state();
  judge({
    name: `sources ${outage}, from the recovery until all tasks work again`,
    figure: (recoveryMs ?? Number.NaN) / 1_000,
    unit: 's',
    rounds: [],
    aim: { atMost: MINUTE_MS / 1_000 },
    ...(recoveryMs === null && { beside: `still failing: ${failing.join(', ') || 'the chain'}` }),
  });
  sayCounts('  requests in the minute after the recovery', side.counts(), before, 1);
}

function minutesSince(at: number): number {
  return (performance.now() - at) / MINUTE_MS;
}

type Counts = Partial<Record<Server | 'chain', number>>;

/** Prints how many requests reached the servers. Requests that a refusing or hanging proxy stops are not counted. */
function sayCounts(what: string, after: Counts, before: Counts, minutes: number): void {
  const parts = Object.entries(after).map(
    ([server, count]) => `${server} ${((count - (before[server as Server] ?? 0)) / minutes).toFixed(0)}`,
  );
  say(`${what}: ${parts.join(', ')}`);
}

type State = { failing: string[]; block: number };

type Side = {
  url: string;
  pid: number;
  servers: readonly ReplayServer[];
  proxies: readonly TcpProxy[];
  counts(): Counts;
  /** Makes every task due now. */
  runAll(): Promise<void>;
  state(): Promise<State>;
  heal(): Promise<void>;
};

/** Starts a service with its records, its upstreams and a proxy for each upstream. Resolves after every upstream has been read. */
async function startSide(scope: { after(close: unknown): void }): Promise<Side> {
  const world = await startVendorServers(scope, { now: Date.now, rows: ROWS });
  const chain = await startReplayServer(scope, rpcRoutes({ chainId: 8_453 }));
  const replays = { ...world.replays, chain };
  const names = [...SERVERS, 'chain'] as const;
  const proxies = await Promise.all(names.map((name) => startTcpProxy(replays[name].url)));
  const addressOf = (name: (typeof names)[number]) => proxies[names.indexOf(name)]?.url ?? '';
  for (const proxy of proxies) scope.after(() => proxy.close());
  const dir = mkdtempSync(path.join(os.tmpdir(), 'mercat-bench-'));
  scope.after(() => rmSync(dir, { recursive: true, force: true }));
  const addresses = Object.fromEntries(SERVERS.map((name) => [name, addressOf(name)]));
  const service = await startServer(['working'], {
    ...world.settings(addresses),
    DATA_DIR: dir,
    PORT: '0',
    RPC_URL_BASE: addressOf('chain'),
  });
  scope.after(() => service.stop());
  const socketPath = path.join(dir, 'mercat.sock');
  const operate = async (operation: string, input: object = {}) => {
    const { status, body } = await sendToSocket(socketPath, 'POST', `/operator/v1/${operation}`, input);
    if (status !== 200) throw new Error(`${operation} returned ${status}: ${JSON.stringify(body)}`);
    return body.result;
  };
  await new SocketIntake(socketPath).import(
    toAsync(toChunks(listedCollection())),
    { format: 'ndjson' },
    () => undefined,
  );
  const readTasks = async () => (await operate('sync.read')) as { name: string; state: string; failures: number }[];
  const side: Side = {
    url: service.url,
    pid: service.pid,
    servers: Object.values(replays),
    proxies,
    counts: () => Object.fromEntries(names.map((name) => [name, replays[name].count()])),
    runAll: async () => {
      for (const { name } of await readTasks()) if (isOfSource(name)) await operate('sync.start', { name });
    },
    state: async () => {
      const { chains } = await operate('status');
      const failing = (await readTasks()).filter(({ failures }) => failures > 0).map(({ name }) => name);
      return { failing, block: (chains as { block: number | null }[])[0]?.block ?? 0 };
    },
    heal: async () => {
      for (const server of side.servers) server.heal();
      // Connections that hang continue to hang until a deadline of the service ends them.
      for (const proxy of proxies) await proxy.heal();
    },
  };
  const settle = async () => {
    do await delay(POLL_MS);
    while ((await readTasks()).some(({ name, state }) => isOfSource(name) && ['running', 'waiting'].includes(state)));
  };
  // At the start of the service its tasks run once, before any collection is followed.
  await settle();
  for (const { chain: id, address, opensea, magiceden } of FOLLOWED) {
    await operate('collections.add', { chain: id, address, opensea, magiceden });
  }
  for (const server of side.servers) server.reset();
  await side.runAll();
  await settle();
  return side;
}

/** False for the task of a chain, which never ends, and for the sweep of expired listings, which reads no upstream. */
function isOfSource(name: string): boolean {
  return !name.startsWith('chain-') && name !== 'expiry';
}
