// Compares one serving process with two (`mercat serve --workers 2`) on PostgreSQL with Redis. If the load generator runs on the same cores, the
// requests per second say little about the service. So the benchmark also compares the CPU time that all processes of the service need for
// one request. The gain that two free cores would bring is twice the CPU time with one process, divided by the CPU time with two processes.

import { spawn } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import net from 'node:net';
import os from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { SocketIntake } from '../../src/intake/socket-client.ts';
import {
  canRunPostgres,
  createTestDatabase,
  listChildren,
  startPostgres,
} from '../../test/support/engines/postgres-server.ts';
import { canStartRedis, startRedis } from '../../test/support/engines/redis-server.ts';
import { readServiceUrl, stopProgram } from '../support/child-program.ts';
import { cpuMs, median, spread } from '../support/measure.ts';
import { listedCollection, toAsync, toChunks } from '../support/records.ts';
import { judge, recordUnmeasured } from '../support/verdict.ts';

const ROUNDS = 7;
const ROUND_MS = 2_000;
const CONNECTIONS = 32;
/** Each connection always has this many requests in flight. */
const PIPELINED = 8;
/**
 * A connection sends this many requests with the address of one client, fewer than the rate limit of a client. Then it sends requests with
 * the address of another client.
 */
const REQUESTS_OF_CLIENT = 100;
const PAGE = '/v1/collections/bench/listings?limit=25';
/** The aim: with two cores, 1.8 times the requests of one process. */
const GAIN_AIM = 1.8;

const STATUS_LINE = 'HTTP/1.1 200';

const PROGRAM = fileURLToPath(new URL('../../bin/mercat.mjs', import.meta.url));

type Measured = { perSecond: number; cpuMicros: number };
type Service = { measure(): Promise<Measured>; stop(): Promise<void> };

export async function benchWorkers(): Promise<void> {
  if (!canRunPostgres() || !canStartRedis()) {
    recordUnmeasured('workers', 'needs PostgreSQL and Redis on this machine');
    return;
  }
  const server = await startPostgres();
  const redis = await startRedis();
  const services: Service[] = [];
  try {
    for (const processes of [1, 2])
      services.push(await start({ serverUrl: server.url, redisUrl: redis.url, processes }));
    const [one, two] = services;
    if (!one || !two) return;
    const rounds: [Measured, Measured][] = [];
    await one.measure();
    await two.measure();
    for (let round = 0; round < ROUNDS; round += 1) rounds.push([await one.measure(), await two.measure()]);
    report(rounds);
  } finally {
    await Promise.all(services.map((service) => service.stop()));
    await redis.discard();
    await server.discard();
  }
}

function report(rounds: readonly [Measured, Measured][]): void {
  const ratios = rounds.map(([one, two]) => one.cpuMicros / two.cpuMicros);
  const gains = ratios.map((ratio) => 2 * ratio);
  const walls = rounds.map(([one, two]) => two.perSecond / one.perSecond);
  const of = (index: 0 | 1, read: (measured: Measured) => number) => median(rounds.map((round) => read(round[index])));
  const micros = ({ cpuMicros }: Measured) => cpuMicros;
  const perSecond = ({ perSecond }: Measured) => perSecond;
  judge({
    name: 'workers, requests of two processes on two free cores as a multiple of those of one process, computed from CPU time',
    figure: median(gains),
    unit: '',
    rounds: gains,
    aim: { atLeast: GAIN_AIM },
    beside:
      `CPU time of a hot request ${of(0, micros).toFixed(1)} µs in one process, ${of(1, micros).toFixed(1)} µs in the supervisor and two processes, ` +
      `ratio ${median(ratios).toFixed(2)} (${spread(ratios)})`,
  });
  judge({
    name: 'workers, requests/s of two processes as a multiple of those of one process, load generator and PostgreSQL on the same cores',
    figure: median(walls),
    unit: '',
    rounds: walls,
    aim: null,
    beside: `${of(1, perSecond).toFixed(0)} and ${of(0, perSecond).toFixed(0)} requests/s`,
  });
}

type Started = { serverUrl: string; redisUrl: string; processes: number };

async function start({ serverUrl, redisUrl, processes }: Started): Promise<Service> {
  const dir = mkdtempSync(path.join(os.tmpdir(), 'mercat-bench-'));
  const settings = { PRICE_SOURCES: 'none', LOG_LEVEL: 'error', DATA_DIR: dir, PORT: '0', TRUST_PROXY: 'true' };
  const databaseUrl = await createTestDatabase(serverUrl);
  const env = { ...process.env, ...settings, DATABASE_URL: databaseUrl, REDIS_URL: redisUrl };
  const child = spawn(process.execPath, [PROGRAM, 'serve', '--no-workers', '--workers', String(processes)], {
    env,
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const url = await readServiceUrl(child);
  const intake = new SocketIntake(path.join(dir, 'mercat.sock'));
  await intake.import(toAsync(toChunks(listedCollection())), { format: 'ndjson' }, () => undefined);
  const supervisor = child.pid ?? 0;
  const pids = [supervisor, ...(processes > 1 ? listChildren(supervisor) : [])];
  const load = new PipelinedLoad(url);
  return {
    measure: async () => {
      const usedMs = () => pids.reduce((sum, pid) => sum + cpuMs(pid), 0);
      const before = usedMs();
      const startedAt = performance.now();
      const responses = await load.run(ROUND_MS);
      const seconds = (performance.now() - startedAt) / 1_000;
      return { perSecond: responses / seconds, cpuMicros: ((usedMs() - before) * 1_000) / responses };
    },
    stop: async () => {
      await stopProgram(child);
      rmSync(dir, { recursive: true, force: true });
    },
  };
}

/** A load generator that does little: it sends prepared bytes and counts responses, so that most of the CPU time is left to the service. */
class PipelinedLoad {
  readonly #port: number;
  #clients = 0;

  constructor(url: string) {
    this.#port = Number(new URL(url).port);
  }

  /** Returns the number of responses. Rejects if a response is not 200. */
  async run(ms: number): Promise<number> {
    const until = performance.now() + ms;
    const counts = await Promise.all(Array.from({ length: CONNECTIONS }, () => this.#runConnection(until)));
    return counts.reduce((sum, count) => sum + count, 0);
  }

  async #runConnection(until: number): Promise<number> {
    const socket = net.connect(this.#port, '127.0.0.1');
    let received = 0;
    let sent = 0;
    let request = this.#nextRequest();
    const send = (count: number) => {
      const batch: string[] = [];
      for (let left = count; left > 0; left -= 1) {
        if (sent % REQUESTS_OF_CLIENT === 0) request = this.#nextRequest();
        batch.push(request);
        sent += 1;
      }
      socket.write(batch.join(''));
    };
    const { promise, resolve, reject } = Promise.withResolvers<number>();
    let tail = '';
    socket.setNoDelay(true).on('data', (data) => {
      const text = tail + data.toString('latin1');
      if (/HTTP\/1\.1 [345]/.test(text)) {
        reject(new Error(`a response was not 200: ${text.slice(0, 200)}`));
        socket.destroy();
        return;
      }
      const responses = text.split(STATUS_LINE).length - 1;
      // The status line may be divided between two chunks.
      tail = text.slice(1 - STATUS_LINE.length);
      received += responses;
      if (performance.now() < until) send(responses);
      else if (received >= sent) socket.end();
    });
    socket.on('error', reject).on('close', () => resolve(received));
    send(PIPELINED);
    return promise;
  }

  #nextRequest(): string {
    this.#clients += 1;
    const address = `10.${(this.#clients >> 16) & 255}.${(this.#clients >> 8) & 255}.${this.#clients & 255}`;
    return `GET ${PAGE} HTTP/1.1\r\nhost: bench\r\nx-forwarded-for: ${address}\r\n\r\n`;
  }
}
