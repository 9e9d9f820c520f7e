// Redis does not run when the service starts, and is started later.

import type { Fault } from '../fault.ts';
import { sharesLimits, withoutFailures } from '../redis.ts';

export const fault: Fault = {
  name: 'redis-dead-at-start',
  promise: 'the service starts, and no request fails; rate limits are shared as soon as Redis runs',
  engines: ['postgresql'],
  needs: ['redis'],
  run: async ({ start }) => {
    const platform = await start({ redis: 'dead' });
    await withoutFailures(platform, () => platform.load.progress(300));
    await platform.redis.start();
    return [await sharesLimits(platform)];
  },
};
