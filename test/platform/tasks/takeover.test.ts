// Processes that share the tasks. When the process that runs a task is killed, another process runs the task after the lease has
// ended.

import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { readConfig } from '../../../src/service/config.ts';
import { createLog } from '../../../src/platform/core/log.ts';
import { migrate } from '../../../src/platform/database/migrate.ts';
import { openDatabases } from '../../../src/platform/database/open.ts';
import type { Database } from '../../../src/platform/database/port.ts';
import { listTasks } from '../../../src/platform/tasks/queries/tasks.ts';
import { forEachEngine } from '../../support/engines/each-engine.ts';
import { until } from '../../support/until.ts';
import { programEnvironment } from '../../support/program-environment.ts';

const KILLED_PROCESS = fileURLToPath(new URL('./killed-process.ts', import.meta.url));
const LIMIT_MS = 60_000;
const LEASE_MS = 1_000;

forEachEngine('processes that share the tasks', (engine) => {
  test('when a process that runs a task is killed, another runs the task only after the lease has ended', async (t) => {
    const settings = await engine.settings();
    const withDatabase = async <T>(work: (main: Database) => Promise<T>): Promise<T> => {
      const { main, close } = await openDatabases(readConfig({ ...settings }), createLog('silent'));
      try {
        return await work(main);
      } finally {
        await close();
      }
    };
    const readLease = () =>
      withDatabase(async (main) => {
        const [row] = await main.query('select holder, leased_until, last_started from main.sync_task');
        return row ?? assert.fail('the task has no record');
      });
    const startProcess = () => {
      const child = spawn(process.execPath, [KILLED_PROCESS, String(LEASE_MS)], {
        env: { ...programEnvironment(), ...settings },
        stdio: ['ignore', 'pipe', 'inherit'],
      });
      t.after(() => child.kill('SIGKILL'));
      let output = '';
      child.stdout.setEncoding('utf8').on('data', (chunk: string) => (output += chunk));
      return { child, hasBegun: () => output === 'begun\n', closed: once(child, 'close') };
    };

    await withDatabase((main) => migrate(main, 'main'));
    const first = startProcess();
    await until(first.hasBegun, LIMIT_MS, 'the first process did not begin');
    // On PostgreSQL the second process is started now. The embedded database can be opened by one process only, so the second
    // process starts after the first has ended.
    const second = engine.name === 'postgresql' ? startProcess() : null;
    if (second) {
      const before = await readLease();
      await until(
        async () => (await readLease())['leased_until'] > before['leased_until'],
        LIMIT_MS,
        'the lease was not renewed',
      );
      assert.equal((await readLease())['holder'], before['holder']);
      assert.ok(!second.hasBegun(), 'two processes ran the task at the same time');
    }
    // Renewals only extend the lease. The next run cannot start before the end of the lease that is read here.
    const leaseBeforeKill = second ? await readLease() : null;
    first.child.kill('SIGKILL');
    await first.closed;
    const lease = leaseBeforeKill ?? (await readLease());
    const next = second ?? startProcess();
    await until(next.hasBegun, LIMIT_MS, 'no process took over');
    next.child.kill('SIGTERM');
    assert.deepEqual(await next.closed, [0, null]);
    const { last_started: startedAt } = await readLease();
    assert.ok(startedAt >= lease['leased_until'], 'the process did not wait for the end of the lease');
    await withDatabase(async (main) => {
      const [task] = await listTasks(main);
      assert.deepEqual(
        [task?.isRunning, task?.failures],
        [false, 0],
        'the stopped run still holds its lease, or it counts as a failure',
      );
    });
  });
});
