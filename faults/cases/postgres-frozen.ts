// The PostgreSQL processes of the primary database are suspended, and later continue. Connections stay open but carry no data.

import assert from 'node:assert/strict';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Fault } from '../fault.ts';

const FROZEN_MS = 15_000;
/** The longest time that a request may take on a slow machine, to wait for its turn and then for the database. */
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
