// Steps that all faults of Redis share. The service uses Redis only to count requests for the rate limits, so no request may fail because
// Redis fails.

import assert from 'node:assert/strict';
import type { Platform } from './platform.ts';
import { RECOVERY_LIMIT_MS } from './platform.ts';
import { isReached } from './wait.ts';

/** Breaks Redis while requests are sent to the service. Throws if one of these requests failed. */
export async function withoutFailures(platform: Platform, breakIt: () => Promise<unknown>): Promise<void> {
  await platform.whileBroken(breakIt);
  const failed = [...platform.during.statuses.keys()].filter((status) => status === 'no response' || status >= 429);
  assert.deepEqual(failed, [], `requests failed: ${platform.during.describe()}`);
}

/** Waits until the service counts requests in Redis. Throws if it does not count there within RECOVERY_LIMIT_MS. */
export async function sharesLimits({ redis }: Platform): Promise<string> {
  const startedAt = performance.now();
  await redis.ask('FLUSHALL');
  const counts = async () => Number(await redis.ask('DBSIZE')) > 0;
  assert.ok(await isReached(counts, startedAt + RECOVERY_LIMIT_MS), 'limits are not shared again');
  return `limits shared again after ${((performance.now() - startedAt) / 1_000).toFixed(1)} s`;
}
