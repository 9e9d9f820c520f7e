// What `mercat doctor` finds out about Redis, where the settings name one: whether it counts, how fast, and whether it keeps what
// it has counted. It counts as the service does, in a window of a second that no client has. It never shows an address.

import type { Config } from '../../config.ts';
import { describeError } from '../../core/errors.ts';
import type { CountedWindow } from '../../server/redis-connection.ts';
import { RedisConnection } from '../../server/redis-connection.ts';
import { COUNT_DEADLINE_MS, PROBE, redisKeyPrefix } from '../../server/shared-windows.ts';
import type { DoctorFinding } from './findings.ts';
import { fail, ok, warn } from './findings.ts';

const NAME = 'redis';
const TIMEOUT_MS = 5_000;
/** The fastest of so many counts: the first one may have to load what counts. */
const COUNTS = 5;
/** More than this share of the deadline leaves too little for a bad moment. */
const SLOW_SHARE = 0.4;
const CLOCK_WARN_MS = 2_000;
const FULL_SHARE = 0.9;

export async function checkRedis({ redisUrl, serviceName }: Config): Promise<DoctorFinding[]> {
  if (redisUrl === null) return [];
  let connection: RedisConnection | null = null;
  try {
    connection = await RedisConnection.connect(redisUrl, { connectTimeoutMs: TIMEOUT_MS, timeoutMs: TIMEOUT_MS });
    const { ms, window } = await timeCount(connection, `${redisKeyPrefix(serviceName)}:${PROBE.name}`);
    // A user may be allowed to count and not to ask.
    const info = await connection.info().catch(() => new Map<string, string>());
    return [judgeSpeed(ms, info), ...judgeMemory(info), ...judgeClock(window)];
  } catch (error) {
    const message = `it cannot be counted in: ${describeError(error)}; each process counts rate limits alone`;
    return [fail(NAME, message, 'start it, or see REDIS_URL')];
  } finally {
    connection?.destroy();
  }
}

async function timeCount(connection: RedisConnection, key: string): Promise<{ ms: number; window: CountedWindow }> {
  let best: { ms: number; window: CountedWindow } | null = null;
  for (let count = 0; count < COUNTS; count += 1) {
    const startedAt = performance.now();
    const window = await connection.count(key, PROBE.windowMs);
    const ms = performance.now() - startedAt;
    if (!best || ms < best.ms) best = { ms, window };
  }
  if (!best) throw new Error('nothing was counted');
  return best;
}

function judgeSpeed(ms: number, info: ReadonlyMap<string, string>): DoctorFinding {
  const valkey = info.get('valkey_version');
  const redis = info.get('redis_version');
  const version = valkey === undefined ? (redis === undefined ? 'it' : `Redis ${redis}`) : `Valkey ${valkey}`;
  const message = `${version} counts in ${ms.toFixed(1)} ms`;
  if (ms <= COUNT_DEADLINE_MS * SLOW_SHARE) return ok(NAME, message);
  const consequence = `${message}: a process counts alone for a while after one that took more than ${COUNT_DEADLINE_MS} ms`;
  return warn(NAME, consequence, 'use one that is nearer, or has less to do');
}

/** What a full memory does: counts that are refused are made alone, counts that are dropped give clients more than their limit. */
function judgeMemory(info: ReadonlyMap<string, string>): DoctorFinding[] {
  const policy = info.get('maxmemory_policy');
  const most = Number(info.get('maxmemory') ?? 0);
  if (policy === undefined || !(most > 0)) return [];
  const name = `${NAME}: memory`;
  if (policy !== 'noeviction') {
    const message = `with its memory full it drops windows before they end (maxmemory-policy ${policy}), and clients get more than their limit`;
    return [warn(name, message, 'maxmemory-policy noeviction, or a server for this alone')];
  }
  const share = Number(info.get('used_memory') ?? 0) / most;
  if (share < FULL_SHARE) return [ok(name, 'what is counted stays until its window ends')];
  const message = `${Math.round(share * 100)} % is in use; when it is full, each process counts alone`;
  return [warn(name, message, 'raise maxmemory')];
}

function judgeClock({ now }: CountedWindow): DoctorFinding[] {
  const aheadMs = now - Date.now();
  if (Math.abs(aheadMs) < CLOCK_WARN_MS) return [];
  const message = `its clock is ${Math.abs(aheadMs)} ms ${aheadMs < 0 ? 'behind' : 'ahead'}, and X-RateLimit-Reset is told by it`;
  return [warn(`${NAME}: clock`, message, 'let both machines take their time from NTP')];
}
