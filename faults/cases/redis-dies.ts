// Redis is killed under load, loses its data, and is started again.

import type { Fault } from '../fault.ts';
import { sharesLimits, withoutFailures } from '../redis.ts';

export const fault: Fault = {
  name: 'redis-dies',
  promise: 'no request fails: each process counts requests by itself until Redis runs again',
  engines: ['postgresql'],
  needs: ['redis'],
  run: async ({ start }) => {
    const platform = await start({ redis: 'running' });
    await withoutFailures(platform, async () => {
      await platform.redis.stop();
      await platform.load.progress(300);
      await platform.redis.start();
    });
    return [await sharesLimits(platform)];
  },
};
