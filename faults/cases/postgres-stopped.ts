// The primary is stopped at once, as by a crash of its machine, and is started again later.

import assert from 'node:assert/strict';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Fault } from '../fault.ts';

/** Long enough for requests to meet their deadline. */
const DOWN_MS = 8_000;

export const fault: Fault = {
  name: 'postgres-stopped',
  promise: 'marketplace reads are 200, 502 or 503, writes are 503 with Retry-After, and nothing has to be restarted',
  engines: ['postgresql'],
  run: async ({ start }) => {
    const platform = await start();
    const pids = platform.programs.map(({ pid }) => pid);
    await platform.whileBroken(async () => {
      await platform.postgres.kill();
      await sleep(DOWN_MS);
      await platform.postgres.start();
    });
    assert.deepEqual(
      platform.programs.map(({ pid, isRunning }) => isRunning && pid),
      pids,
      'a process has ended',
    );
    return [`stopped for ${DOWN_MS / 1_000} s`];
  },
};
