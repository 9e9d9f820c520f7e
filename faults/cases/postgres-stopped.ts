// PostgreSQL is killed, as by a crash of its machine, and is started again later.

import { setTimeout as sleep } from 'node:timers/promises';
import type { Fault } from '../fault.ts';

/** Longer than the deadlines of requests. */
const DOWN_MS = 8_000;

export const fault: Fault = {
  name: 'postgres-stopped',
  promise:
    'marketplace reads get 200, 502 or 503, and writes get 503 with Retry-After; nothing has to be restarted by hand',
  engines: ['postgresql'],
  run: async ({ start }) => {
    const platform = await start();
    await platform.whileBroken(async () => {
      await platform.postgres.kill();
      await sleep(DOWN_MS);
      await platform.postgres.start();
    });
    return [`stopped for ${DOWN_MS / 1_000} s`];
  },
};
