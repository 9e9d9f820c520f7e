// The primary is restarted three times in a row. An update of the PostgreSQL package restarts the server in the same way.

import type { Fault } from '../fault.ts';

const RESTARTS = 3;
const REQUESTS_BETWEEN = 100;

export const fault: Fault = {
  name: 'postgres-restarted',
  promise: 'a request is 200 or 503 with Retry-After; the service uses the new server without a restart of its own',
  engines: ['postgresql'],
  run: async ({ start }) => {
    const platform = await start();
    await platform.whileBroken(async () => {
      for (let restarts = 0; restarts < RESTARTS; restarts += 1) {
        await platform.postgres.stop();
        await platform.postgres.start();
        await platform.load.progress(REQUESTS_BETWEEN);
      }
    });
    return [`${RESTARTS} restarts`];
  },
};
