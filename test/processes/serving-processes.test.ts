// `mercat serve --workers 2`: a supervisor and two serving processes on PostgreSQL, and what a client sees of them.

import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import path from 'node:path';
import type { TestContext } from 'node:test';
import { after, before, describe, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { cleanUp } from '../support/engines/cleanup.ts';
import { forEachEngine } from '../support/engines/each-engine.ts';
import { listChildren } from '../support/engines/postgres-server.ts';
import { EventStream } from '../support/http/event-stream.ts';
import { OneConnection } from '../support/http/one-connection.ts';
import { freePort } from '../support/free-port.ts';
import type { ServiceProcess } from '../support/service/service-process.ts';
import { sendToSocket, startServiceProcess } from '../support/service/service-process.ts';
import { temporaryDirectory } from '../support/temporary-directory.ts';
import { until } from '../support/until.ts';
import { programEnvironment } from '../support/program-environment.ts';

const MAIN = fileURLToPath(new URL('../../src/main.ts', import.meta.url));
const LIMIT_MS = 120_000;
const LIST_MAX = 120;
const CONNECTIONS = 8;
const STREAMS_MAX = 5;

after(cleanUp);

forEachEngine('several serving processes', (engine) => {
  if (engine.name === 'embedded') {
    test('the embedded database is rejected, and the message says what to do', () => {
      const env = { ...programEnvironment(), DATA_DIR: temporaryDirectory(), PRICE_SOURCES: 'none' };
      const run = spawnSync(process.execPath, [MAIN, 'serve', '--workers', '2'], { env, encoding: 'utf8' });
      assert.equal(run.status, 2);
      assert.match(
        run.stderr,
        /need PostgreSQL, because only one process can open the embedded database: set DATABASE_URL/,
      );
    });
    return;
  }

  describe('service', () => {
    let service: ServiceProcess;
    let metricsUrl: string;
    before(async () => {
      const port = await freePort();
      metricsUrl = `http://127.0.0.1:${port}/metrics`;
      service = await startServiceProcess(
        {
          ...(await engine.settings()),
          DATA_DIR: temporaryDirectory(),
          TRUST_PROXY: 'true',
          METRICS_ADDRESS: `127.0.0.1:${port}`,
          STREAM_CONNECTIONS: String(STREAMS_MAX),
          LOG_LEVEL: 'silent',
          SHUTDOWN_GRACE_MS: '3000',
        },
        ['--no-sample', '--workers', '2'],
      );
    });
    after(() => service.stop());

    test('all processes together accept exactly as many requests of one client as the limit allows, and all rejections name the same reset time', async (t) => {
      const clients = Array.from({ length: CONNECTIONS }, () => new OneConnection(t, service.url, '192.0.2.1'));
      const responses = await Promise.all(
        Array.from({ length: 2 * LIST_MAX }, (_, index) => clientOf(clients, index).get('/v1/collections?limit=1')),
      );
      const rejected = responses.filter(({ status }) => status === 429);
      assert.deepEqual([responses.length - rejected.length, rejected.length], [LIST_MAX, LIST_MAX]);
      assert.equal(new Set(rejected.map(({ headers }) => headers['x-ratelimit-reset'])).size, 1);
      const again = await Promise.all(clients.map((client) => client.get('/v1/collections?limit=1')));
      assert.ok(again.every(({ status }) => status === 429));
    });

    test('connections to the stream are limited over all processes, and the status counts all of them', async () => {
      const streams: EventStream[] = [];
      for (let opened = 0; opened < STREAMS_MAX; opened += 1)
        streams.push(await EventStream.open(`${service.url}/explore/v1/stream`));
      const rejected = await fetch(`${service.url}/explore/v1/stream`);
      assert.equal(rejected.status, 503);
      const counted = async () => (await readStatus(service)).stream.subscribers;
      await until(async () => (await counted()) === STREAMS_MAX, LIMIT_MS, 'the subscribers are not counted');
      for (const stream of streams) stream.close();
      await until(async () => (await counted()) === 0, LIMIT_MS, 'the closed connections are still counted');
    });

    test('mercat status lists the serving processes', () => {
      const env = { ...programEnvironment(), DATA_DIR: path.dirname(service.socketPath) };
      const run = spawnSync(process.execPath, [MAIN, 'status'], { env, encoding: 'utf8' });
      assert.match(
        run.stdout,
        /^PROCESS +STATE +SERVING FOR +RESTARTS\n1 +serving .* 0\n2 +serving .* 0\n/,
        run.stderr,
      );
    });

    test('the counters are sums over the processes, and the memory is shown for each process', async () => {
      const metrics = await readMetrics(metricsUrl);
      const values = (name: string) => metrics.filter(([key]) => key.startsWith(name));
      const processes = values('process_memory_usage_bytes').map(([key]) => /process="(\w+)"/.exec(key)?.[1]);
      assert.deepEqual(processes, ['1', '2', 'supervisor']);
      assert.deepEqual(values('mercat_rejected_requests_total{limit="list"}'), [
        ['mercat_rejected_requests_total{limit="list"}', LIST_MAX + CONNECTIONS],
      ]);
      // On the Citus engine, the indexer database is separate from the primary database. Then there is one more pool.
      assert.deepEqual(
        values('db_client_connection_max').map(([, value]) => value),
        engine.hasCitus ? [10, 10, 10] : [10, 10],
      );
      // The metrics have one state for each task, although each process could report the state.
      const states = values('mercat_task_state').map(([key]) => /task="([\w-]+)"/.exec(key)?.[1]);
      assert.ok(states.length > 0);
      assert.equal(new Set(states).size, states.length);
    });

    test('a killed process is started again, and only requests that it had in progress are lost', async (t) => {
      const [, victim = 0] = listChildren(service.pid);
      const clients = Array.from({ length: CONNECTIONS }, () => new OneConnection(t, service.url, '192.0.2.2'));
      const sent = CONNECTIONS * 10;
      for (let index = 0; index < sent; index += 1) await clientOf(clients, index).get('/v1/collections?limit=1');
      const load = new Load(t, service.url);
      await load.responses(200);
      process.kill(victim, 'SIGKILL');
      await until(
        async () => (await readProcesses(service)).some(isRestarted),
        LIMIT_MS,
        'the end of the process was not noticed',
      );
      const failuresAtNotice = load.failures.length;
      await until(
        async () => (await readProcesses(service)).every(isServing),
        LIMIT_MS,
        'the process was not started again',
      );
      await load.responses(200);
      await load.stop();
      assert.equal(load.failures.length, failuresAtNotice, load.failures.join(', '));
      assert.ok(
        load.failures.every((code) => code === 'ECONNRESET' || code === 'EPIPE'),
        load.failures.join(', '),
      );
      assert.equal(listChildren(service.pid).length, 2);
      const client = new OneConnection(t, service.url, '192.0.2.2');
      for (let index = sent; index < LIST_MAX; index += 1)
        assert.equal(
          (await client.get('/v1/collections?limit=1')).status,
          200,
          'the limit of the client is reached early',
        );
      const rejected = (await readMetrics(metricsUrl)).find(
        ([key]) => key === 'mercat_rejected_requests_total{limit="list"}',
      );
      assert.ok((rejected?.[1] ?? 0) >= LIST_MAX + CONNECTIONS, 'the counters of the ended process are lost');
    });

    test('when the service stops under load, clients that stop sending as soon as /readyz fails have no failed request', async (t) => {
      const load = new Load(t, service.url);
      await load.responses(200);
      const stopped = service.stop();
      await until(async () => !(await isReady(service.url)), LIMIT_MS, 'the service is still ready');
      await load.stop();
      await stopped;
      assert.deepEqual(load.failures, []);
      assert.deepEqual(listChildren(service.pid), []);
    });
  });
});

type Report = { process: number; state: string; restarts: number };

const isServing = ({ state }: Report): boolean => state === 'serving';
const isRestarted = ({ restarts }: Report): boolean => restarts > 0;

async function readStatus({ socketPath }: ServiceProcess): Promise<any> {
  return (await sendToSocket(socketPath, 'POST', '/operator/v1/status', {})).body.result;
}

async function readProcesses(service: ServiceProcess): Promise<Report[]> {
  return (await readStatus(service)).processes;
}

async function readMetrics(url: string): Promise<[key: string, value: number][]> {
  const lines = (await (await fetch(url)).text()).split('\n').filter((line) => line !== '' && !line.startsWith('#'));
  return lines.map((line) => [line.slice(0, line.lastIndexOf(' ')), Number(line.slice(line.lastIndexOf(' ')))]);
}

async function isReady(url: string): Promise<boolean> {
  try {
    return (await fetch(`${url}/readyz`)).ok;
  } catch {
    return false;
  }
}

const clientOf = (clients: readonly OneConnection[], index: number): OneConnection => {
  const client = clients[index % clients.length];
  assert.ok(client);
  return client;
};

/** Clients that send one request after another. Each client changes its address often enough that no rate limit rejects its requests. */
class Load {
  readonly failures: string[] = [];
  readonly #ended: Promise<unknown>;
  #responses = 0;
  #isStopped = false;

  constructor(t: TestContext, url: string) {
    this.#ended = Promise.all(
      Array.from({ length: CONNECTIONS }, async (_, number) => {
        for (let sent = 0; !this.#isStopped; sent += 1) {
          const client = new OneConnection(t, url, `198.51.${number}.${sent % 250}`);
          for (let burst = 0; burst < 20 && !this.#isStopped; burst += 1) await this.#send(client);
        }
      }),
    );
  }

  async responses(count: number): Promise<void> {
    const wanted = this.#responses + count;
    await until(() => this.#responses >= wanted, LIMIT_MS, 'the service does not respond');
  }

  async stop(): Promise<void> {
    this.#isStopped = true;
    await this.#ended;
  }

  async #send(client: OneConnection): Promise<void> {
    try {
      const { status } = await client.get('/v1/collections?limit=2');
      if (status === 200) this.#responses += 1;
      else this.failures.push(String(status));
    } catch (error) {
      this.failures.push((error as { code?: string }).code ?? String(error));
    }
  }
}
