// Redis is suspended under load: commands get no reply. Later Redis continues.

import type { Fault } from '../fault.ts';
import { sharesLimits, withoutFailures } from '../redis.ts';

export const fault: Fault = {
  name: 'redis-frozen',
  promise: 'no request fails, and only a few requests wait until the limit of 50 ms for Redis has passed',
  engines: ['postgresql'],
  needs: ['redis'],
  run: async ({ start, onEnd }) => {
    const platform = await start({ redis: 'running' });
    onEnd(() => platform.redis.thaw());
    await withoutFailures(platform, async () => {
      platform.redis.freeze();
      await platform.load.progress(300);
      platform.redis.thaw();
    });
    return [await sharesLimits(platform)];
  },
};
