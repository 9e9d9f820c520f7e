// Checks Redis if REDIS_URL is set: whether it can count requests, how fast it counts, and whether counts last until their window ends. The
// check counts in the same way as the service, under a key of its own. The findings do not contain the address of Redis.

import type { Config } from '../../service/config.ts';
import { describeError } from '../../platform/core/errors.ts';
import type { CountedWindow, RedisConnection as Connection } from '../../server/rate-limit/redis-connection.ts';
import type { DoctorFinding } from './findings.ts';
import { fail, ok, warn } from './findings.ts';

const NAME = 'redis';
const TIMEOUT_MS = 5_000;
/** The number of counts that are timed. Only the fastest count is judged, because the first count can include loading the script. */
const COUNTS = 5;
/**
 * Redis is fast enough if its fastest count takes at most this share of the deadline of a count. A slower Redis would sometimes exceed the
 * deadline.
 */
const SLOW_SHARE = 0.4;
const CLOCK_WARN_MS = 2_000;
/** A memory use above this share of the limit is a warning. */
const FULL_SHARE = 0.9;

export async function checkRedis({ redisUrl, serviceName }: Config): Promise<DoctorFinding[]> {
  if (redisUrl === null) return [];
  const { RedisConnection } = await import('../../server/rate-limit/redis-connection.ts');
  const { COUNT_DEADLINE_MS, PROBE, redisKeyPrefix } = await import('../../server/rate-limit/redis-windows.ts');
  let connection: Connection | null = null;
  try {
    connection = await RedisConnection.connect(redisUrl, { connectTimeoutMs: TIMEOUT_MS, timeoutMs: TIMEOUT_MS });
    const probe = { key: `${redisKeyPrefix(serviceName)}:${PROBE.name}`, windowMs: PROBE.windowMs };
    const { ms, window } = await timeCount(connection, probe);
    // Some Redis users have the permission to count, but not to call INFO.
    const info = await connection.info().catch(() => new Map<string, string>());
    return [judgeSpeed(ms, COUNT_DEADLINE_MS, info), ...judgeMemory(info), ...judgeClock(window)];
  } catch (error) {
    const message = `Redis cannot count requests: ${describeError(error)}; each process counts requests by itself`;
    return [fail(NAME, message, 'start Redis, correct REDIS_URL, or raise maxmemory')];
  } finally {
    connection?.destroy();
  }
}

async function timeCount(
  connection: Connection,
  { key, windowMs }: { key: string; windowMs: number },
): Promise<{ ms: number; window: CountedWindow }> {
  let fastest: { ms: number; window: CountedWindow } | null = null;
  for (let count = 0; count < COUNTS; count += 1) {
    const startedAt = performance.now();
    const window = await connection.count(key, windowMs);
    const ms = performance.now() - startedAt;
    if (!fastest || ms < fastest.ms) fastest = { ms, window };
  }
  if (!fastest) throw new Error('nothing was counted');
  return fastest;
}

function judgeSpeed(ms: number, deadlineMs: number, info: ReadonlyMap<string, string>): DoctorFinding {
  const message = `${describeVersion(info)} counts in ${ms.toFixed(1)} ms`;
  if (ms <= deadlineMs * SLOW_SHARE) return ok(NAME, message);
  const warning = `${message}: after a count that takes more than ${deadlineMs} ms, a process counts alone for about a second`;
  return warn(NAME, warning, 'use a server that is nearer or has less load');
}

function describeVersion(info: ReadonlyMap<string, string>): string {
  const valkey = info.get('valkey_version');
  if (valkey !== undefined) return `Valkey ${valkey}`;
  const redis = info.get('redis_version');
  return redis === undefined ? 'Redis' : `Redis ${redis}`;
}

/**
 * If its memory is full, Redis drops counts or rejects new ones, depending on its maxmemory-policy. After a rejected count each process
 * counts alone.
 */
function judgeMemory(info: ReadonlyMap<string, string>): DoctorFinding[] {
  const policy = info.get('maxmemory_policy');
  const memoryMax = Number(info.get('maxmemory') ?? 0);
  if (policy === undefined || !(memoryMax > 0)) return [];
  const name = `${NAME}: memory`;
  if (policy !== 'noeviction') {
    const message = `when its memory is full, Redis drops counts before their window ends (maxmemory-policy ${policy}), and clients can exceed their limits`;
    return [warn(name, message, 'set maxmemory-policy noeviction, or use a separate Redis server')];
  }
  const share = Number(info.get('used_memory') ?? 0) / memoryMax;
  if (share < FULL_SHARE) return [ok(name, 'counts are kept until their window ends')];
  const message = `${Math.round(share * 100)} % of maxmemory is in use; when the memory is full, each process counts alone`;
  return [warn(name, message, 'raise maxmemory')];
}

function judgeClock({ now }: CountedWindow): DoctorFinding[] {
  const aheadMs = now - Date.now();
  if (Math.abs(aheadMs) < CLOCK_WARN_MS) return [];
  const message = `the clock of Redis is ${Math.abs(aheadMs)} ms ${aheadMs < 0 ? 'behind' : 'ahead'}, and the times in X-RateLimit-Reset are those of the clock of Redis`;
  return [warn(`${NAME}: clock`, message, 'synchronise the clocks of both machines with NTP')];
}
