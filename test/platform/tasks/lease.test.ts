// Tests what happens to a running task when the database does not respond to the renewal of its lease.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createLog } from '../../../src/platform/core/log.ts';
import type { Database } from '../../../src/platform/database/port.ts';
import { runTask } from '../../../src/platform/tasks/run.ts';
import type { Task } from '../../../src/platform/tasks/task.ts';
import { forEachEngine } from '../../support/engines/each-engine.ts';

/** Only a run that does not notice the loss of its lease takes so long. */
const DEADLINE_MS = 30_000;

/** Wraps `main`. A statement with the deadline of a lease renewal waits until `hanging` is fulfilled. */
function hangingRenewals(main: Database, renewalMs: number, hanging: Promise<void>): Database {
  return {
    ...main,
    within: (timeoutMs) => {
      const statements = main.within(timeoutMs);
      if (timeoutMs !== renewalMs) return statements;
      return {
        ...statements,
        query: async (sql, params) => {
          await hanging;
          return main.query(sql, params);
        },
      };
    },
  };
}

forEachEngine('the lease of a task', (engine) => {
  test('a run whose lease renewal hangs is aborted when the lease ends, without a wait for the renewal', async () => {
    const leaseMs = 300;
    const { promise: hanging, resolve: release } = Promise.withResolvers<void>();
    const main = hangingRenewals(await engine.open(), leaseMs / 3, hanging);
    let isAborted = false;
    const task: Task = {
      name: 'a',
      periodMs: 60_000,
      deadlineMs: DEADLINE_MS,
      run: async (signal) => {
        const { promise: aborted, resolve } = Promise.withResolvers<void>();
        signal.addEventListener('abort', () => resolve(), { once: true });
        await aborted;
        isAborted = true;
        release();
        return { read: 0, changed: 0, refused: 0 };
      },
    };
    const startedAt = performance.now();
    const options = { main, log: createLog('silent'), stop: new AbortController().signal, random: () => 0.5, leaseMs };
    const end = await runTask(task, options);
    assert.deepEqual([isAborted, end.kind], [true, 'lost']);
    assert.ok(performance.now() - startedAt >= leaseMs);
  });
});
