// Measures the cost of counting requests in Redis.

import { canStartRedis, startRedis } from '../../test/support/engines/redis-server.ts';
import { say } from '../support/measure.ts';
import { compareServices } from '../support/two-services.ts';
import { recordUnmeasured } from '../support/verdict.ts';

export async function benchSharedLimits(): Promise<void> {
  if (!canStartRedis()) {
    recordUnmeasured('shared limits', 'no redis-server on this machine');
    return;
  }
  const redis = await startRedis();
  try {
    await compareServices(
      { name: 'with rate limits in Redis', settings: { REDIS_URL: redis.url } },
      { name: 'with rate limits in the process', settings: { REDIS_URL: '' } },
    );
    const counted = await redis.ask('INFO', 'commandstats');
    say(`counted in Redis: ${/cmdstat_hincrby:calls=(\d+)/.exec(String(counted))?.[1] ?? 'no'} requests`);
  } finally {
    await redis.discard();
  }
}
