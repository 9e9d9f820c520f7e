// PostgreSQL ends connections of the service again and again, some of them during a statement.

import { setTimeout as sleep } from 'node:timers/promises';
import { withClient } from '../../test/support/engines/postgres-locks.ts';
import type { Fault } from '../fault.ts';

const ROUNDS = 60;
const PAUSE_MS = 100;
const TERMINATE = `
  select count(pg_terminate_backend(pid))::int as ended from
    (select pid from pg_stat_activity where application_name = 'mercat' order by (state = 'active') desc, random() limit 2) chosen`;

export const fault: Fault = {
  name: 'backend-killed',
  promise:
    'a request whose database connection is ended gets a 503 with Retry-After, or the service repeats its statement; all other requests succeed',
  engines: ['postgresql'],
  run: async ({ start }) => {
    const platform = await start();
    let ended = 0;
    await platform.whileBroken(() =>
      withClient(platform.postgres.url, async (client) => {
        for (let round = 0; round < ROUNDS; round += 1) {
          const { rows } = await client.query<{ ended: number }>(TERMINATE);
          ended += rows[0]?.ended ?? 0;
          await sleep(PAUSE_MS);
        }
      }),
    );
    return [`${ended} connections ended`];
  },
};
