// `mercat serve --workers 2`: a supervisor and two serving processes on PostgreSQL with Redis, and what a client sees of them.

import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import path from 'node:path';
import type { TestContext } from 'node:test';
import { after, before, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { cleanUp } from '../../support/engines/cleanup.ts';
import { forEachEngine } from '../../support/engines/each-engine.ts';
import { withRedis } from '../../support/engines/redis-server.ts';
import { listChildren } from '../../support/engines/postgres-server.ts';
import { OneConnection } from '../../support/http/one-connection.ts';
import { freePort } from '../../support/free-port.ts';
import type { ServiceProcess } from '../../support/service/service-process.ts';
import { sendToSocket, startServiceProcess } from '../../support/service/service-process.ts';
import { temporaryDirectory } from '../../support/temporary-directory.ts';
import { until } from '../../support/until.ts';
import { programEnvironment } from '../../support/program-environment.ts';

const MAIN = fileURLToPath(new URL('../../../src/main.ts', import.meta.url));
const LIMIT_MS = 120_000;
const CONNECTIONS = 8;

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

  test('without Redis several processes are rejected, and the message says what to do', async () => {
    const env = { ...programEnvironment(), ...(await engine.settings()), DATA_DIR: temporaryDirectory() };
    const run = spawnSync(process.execPath, [MAIN, 'serve', '--workers', '2'], { env, encoding: 'utf8' });
    assert.equal(run.status, 2);
    assert.match(
      run.stderr,
      /need Redis, because each would allow every client the complete rate limits: set REDIS_URL/,
    );
  });

  withRedis('service', (redis) => {
    let service: ServiceProcess;
    let metricsUrls: string[];
    before(async () => {
      const port = await freePort();
      metricsUrls = [port, port + 1].map((one) => `http://127.0.0.1:${one}/metrics`);
      service = await startServiceProcess(
        {
          ...(await engine.settings()),
          DATA_DIR: temporaryDirectory(),
          TRUST_PROXY: 'true',
          METRICS_ADDRESS: `127.0.0.1:${port}`,
          REDIS_URL: redis.url,
          LOG_LEVEL: 'silent',
          SHUTDOWN_GRACE_MS: '3000',
        },
        ['--no-sample', '--workers', '2'],
      );
    });
    after(() => service.stop());

    test('mercat status lists the serving processes', () => {
      const env = { ...programEnvironment(), DATA_DIR: path.dirname(service.socketPath) };
      const run = spawnSync(process.execPath, [MAIN, 'status'], { env, encoding: 'utf8' });
      assert.match(
        run.stdout,
        /^PROCESS +STATE +SERVING FOR +RESTARTS\n1 +serving .* 0\n2 +serving .* 0\n/,
        run.stderr,
      );
    });

    test('each process has metrics of its own, on its own address', async () => {
      for (const url of metricsUrls) {
        const metrics = await readMetrics(url);
        const values = (name: string) => metrics.filter(([key]) => key.startsWith(name)).map(([, value]) => value);
        assert.equal(values('process_memory_usage_bytes').length, 1);
        // On the Citus engine, the indexer database is separate from the primary database. Then there is one more pool.
        assert.deepEqual(values('db_client_connection_max'), engine.hasCitus ? [5, 5, 5] : [5, 5]);
        assert.ok(values('mercat_task_state').length > 0);
      }
    });

    test('a killed process is started again, and only requests that it had in progress are lost', async (t) => {
      const [, victim = 0] = listChildren(service.pid);
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
