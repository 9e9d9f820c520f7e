// Measures how much unavailable sources slow down `/v1`, and how soon they are used again. Two real services with the same records are
// called alternately: the sources of one work, those of the other refuse connections, fail or hang. Then the sources recover, and their
// servers count the requests. All periods, pauses and deadlines are those of the service.

import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { SocketIntake } from '../src/intake/socket-client.ts';
import type { TcpProxy } from '../test/support/engines/tcp-proxy.ts';
import { startTcpProxy } from '../test/support/engines/tcp-proxy.ts';
import type { ReplayServer } from '../test/support/replay/replay.ts';
import { startReplayServer } from '../test/support/replay/replay.ts';
import { sendToSocket } from '../test/support/service/service-process.ts';
import type { Server } from '../test/support/replay/all-vendors.ts';
import { FOLLOWED, SERVERS, startVendorServers } from '../test/support/replay/all-vendors.ts';
import { rpcRoutes } from '../test/support/replay/rpc.ts';
import { startServer } from './hot-listings.ts';
import { median, say, spread } from './measure.ts';
import { listedCollection, toChunks } from './records.ts';

const ROUNDS = 20;
const ROUND_MS = 4_000;
/** Few callers, which pause after each response: the benchmark measures latency, not throughput. */
const CALLERS = 3;
const CALLER_PAUSE_MS = 4;
const TICK_MS = 10;
const ROWS = 40;
const MINUTE_MS = 60_000;
const LOOK_MS = 250;
/** The share of requests whose response is rarely in a cache. */
const COLD_SHARE = 0.25;

type Death = { name: string; kill(side: Side): Promise<unknown> };

const DEATHS: readonly Death[] = [
  { name: 'refusing', kill: (side) => Promise.all(side.proxies.map((proxy) => proxy.refuse())) },
  { name: 'answering 500', kill: async (side) => side.servers.forEach((server) => server.fail('server-error')) },
  { name: 'hanging', kill: async (side) => side.proxies.forEach((proxy) => proxy.hang()) },
];

export async function benchDeadSources(): Promise<void> {
  const closers: (() => unknown)[] = [];
  const scope = { after: (close: unknown) => void closers.unshift(close as () => unknown) };
  const healthy = await startSide(scope);
  const mortal = await startSide(scope);
  try {
    const firstRun = mortal.counts();
    const healthySince = performance.now();
    await compareSides('healthy as well', healthy, mortal);
    sayCounts('  asked by the first run of every task', firstRun, {}, 1);
    sayCounts('  asked a minute', mortal.counts(), firstRun, minutesSince(healthySince));
    for (const { name, kill } of DEATHS) {
      await kill(mortal);
      // All tasks run at once, as if all periods had ended.
      await mortal.runAll();
      const diedAt = performance.now();
      const before = mortal.counts();
      await compareSides(name, healthy, mortal);
      sayCounts('  asked a minute', mortal.counts(), before, minutesSince(diedAt));
      await measureReturn(mortal);
    }
  } finally {
    for (const close of closers) await close();
  }
}

async function compareSides(name: string, healthy: Side, mortal: Side): Promise<void> {
  const rounds: Round[] = [];
  const [healthyBefore, mortalBefore] = [readCpuMs(healthy), readCpuMs(mortal)];
  while (rounds.length < ROUNDS) rounds.push(await ask(healthy, mortal));
  for (const temperature of ['hot', 'cold'] as const) {
    const at = (side: 0 | 1, share: number) =>
      median(rounds.map((round) => percentile(round[temperature][side], share)));
    const show = (side: 0 | 1) => `p50 ${at(side, 0.5).toFixed(2)} ms, p99 ${at(side, 0.99).toFixed(2)} ms`;
    const ratios = rounds.map(({ [temperature]: [beside, here] }) => percentile(here, 0.99) / percentile(beside, 0.99));
    say(
      `sources ${name}, ${temperature} reads: ${show(1)}; beside healthy ones: ${show(0)}; ratio of p99 ${median(ratios).toFixed(2)} (${spread(ratios)})`,
    );
  }
  const cpu = (readCpuMs(mortal) - mortalBefore) / (readCpuMs(healthy) - healthyBefore);
  say(`  processor time of the service, beside the healthy one's: ${cpu.toFixed(2)}`);
}

/** Milliseconds of each request: to the service with healthy sources, and to the other service. */
type Samples = [number[], number[]];
type Round = { hot: Samples; cold: Samples };

/** Every caller sends the same request to both services, so that other load on the machine affects both. */
async function ask(healthy: Side, mortal: Side): Promise<Round> {
  const round: Round = { hot: [[], []], cold: [[], []] };
  const until = performance.now() + ROUND_MS;
  const call = async (caller: number) => {
    for (let turn = caller; performance.now() < until; turn += CALLERS) {
      const isCold = (turn * 7_919) % 100 < COLD_SHARE * 100;
      const target = isCold ? coldTarget() : (HOT[turn % HOT.length] ?? '');
      const [ofHealthy, ofMortal] = isCold ? round.cold : round.hot;
      // Either service is called first in half of the rounds.
      const order = [() => time(healthy, target, ofHealthy), () => time(mortal, target, ofMortal)];
      for (const one of turn % 2 === 0 ? order : order.toReversed()) {
        await one();
        await delay(CALLER_PAUSE_MS);
      }
    }
  };
  await Promise.all(Array.from({ length: CALLERS }, (_, caller) => call(caller)));
  return round;
}

async function time({ url }: Side, target: string, samples: number[]): Promise<void> {
  const begun = performance.now();
  const response = await fetch(url + target);
  await response.arrayBuffer();
  samples.push(performance.now() - begun);
  if (response.status !== 200) throw new Error(`${target} was answered with ${response.status}`);
}

/** The processor time that a service has used, in milliseconds; NaN where the system does not report it. */
function readCpuMs({ pid }: Side): number {
  try {
    const fields = readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ')[1]?.split(' ') ?? [];
    return (Number(fields[11]) + Number(fields[12])) * TICK_MS;
  } catch {
    return Number.NaN;
  }
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

/** A target that was not requested in the last seconds. */
function coldTarget(): string {
  fresh += 1;
  if (fresh % 5 === 0) return `/v1/collections/bench/listings?limit=${1 + (fresh % 100)}`;
  return `/v1/tokens/ethereum/${CONTRACT}/${(fresh * 37) % 2_000}`;
}

function percentile(values: readonly number[], share: number): number {
  const sorted = values.toSorted((a, b) => a - b);
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? Number.NaN;
}

/** Measures how long it takes until every task works again and the chain is followed, and counts the requests of the first minute. */
async function measureReturn(side: Side): Promise<void> {
  const before = side.counts();
  const backAt = performance.now();
  const height = (await side.state()).block;
  await side.heal();
  let backMs: number | null = null;
  while (performance.now() - backAt < MINUTE_MS) {
    const { failing, block } = await side.state();
    if (failing.length === 0 && block > height) backMs ??= performance.now() - backAt;
    await delay(LOOK_MS);
  }
  const { failing } = await side.state();
  say(
    backMs === null
      ? `  still failing after a minute: ${failing.join(', ') || 'the chain'}`
      : `  all tasks work again ${(backMs / 1_000).toFixed(0)} s after the return`,
  );
  sayCounts('  asked in the minute of the return', side.counts(), before, 1);
}

function minutesSince(at: number): number {
  return (performance.now() - at) / MINUTE_MS;
}

type Counts = Partial<Record<Server | 'chain', number>>;

/** The requests that arrived at the servers: none while a source refuses or hangs, because its proxy does that. */
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

/** Starts a service with its records, its sources and a proxy before each source. Resolves when every source has been read. */
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
    if (status !== 200) throw new Error(`${operation} was answered with ${status}: ${JSON.stringify(body)}`);
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
      // Open connections stay silent. Only the service's own deadlines end them.
      for (const proxy of proxies) await proxy.heal();
    },
  };
  const settle = async () => {
    do await delay(LOOK_MS);
    while ((await readTasks()).some(({ name, state }) => isOfSource(name) && ['running', 'waiting'].includes(state)));
  };
  // The runs at the start of the service have nothing to follow yet.
  await settle();
  for (const { chain: id, address, opensea, magiceden } of FOLLOWED) {
    await operate('collections.add', { chain: id, address, opensea, magiceden });
  }
  for (const server of side.servers) server.reset();
  await side.runAll();
  await settle();
  return side;
}

/** True for the task of a chain, which runs as long as the service. */
function isOfSource(name: string): boolean {
  return !name.startsWith('chain-') && name !== 'expiry';
}

async function* toAsync(chunks: Iterable<Uint8Array>): AsyncGenerator<Uint8Array> {
  yield* chunks;
}
