// Redis has reached its memory limit, and rejects every command that writes.

import type { Fault } from '../fault.ts';
import { sharesLimits, withoutFailures } from '../redis.ts';

export const fault: Fault = {
  name: 'redis-full',
  promise: 'no request fails: each process counts requests by itself until Redis accepts writes',
  engines: ['postgresql'],
  needs: ['redis'],
  run: async ({ start }) => {
    const platform = await start({ redis: 'running' });
    await withoutFailures(platform, async () => {
      await platform.redis.ask('CONFIG', 'SET', 'maxmemory-policy', 'noeviction');
      await platform.redis.ask('CONFIG', 'SET', 'maxmemory', '1');
      await platform.load.progress(300);
      await platform.redis.ask('CONFIG', 'SET', 'maxmemory', '0');
    });
    return [await sharesLimits(platform)];
  },
};
