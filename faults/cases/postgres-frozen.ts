// The primary's processes are suspended and later continue. Meanwhile connections stay open and carry nothing.

import assert from 'node:assert/strict';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Fault } from '../fault.ts';

const FROZEN_MS = 15_000;
/** The longest time for which a request may wait for its turn and then use the database, on a slow machine. */
const RESPONSE_MAX_MS = 30_000;

export const fault: Fault = {
  name: 'postgres-frozen',
  promise: 'every request gets a response in time: 200 from the cache, 502, or 503 with Retry-After',
  engines: ['postgresql'],
  run: async ({ start, onEnd }) => {
    const platform = await start();
    onEnd(() => platform.postgres.thaw());
    await platform.whileBroken(async () => {
      platform.postgres.freeze();
      await sleep(FROZEN_MS);
      platform.postgres.thaw();
    });
    const { slowestMs } = platform.during;
    assert.ok(slowestMs < RESPONSE_MAX_MS, `a response took ${Math.round(slowestMs)} ms`);
    return [`frozen for ${FROZEN_MS / 1_000} s`];
  },
};
