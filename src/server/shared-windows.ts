// Windows that several processes count in, kept in Redis. A server that fails or is late is left alone at once, for everyone who
// waits for it, and is tried again by itself beside all requests: nobody waits for it twice, and nobody ever gets an error.

import type { Log } from '../core/log.ts';
import type { CountedWindow, RedisConnection } from './redis-connection.ts';
import { RedisFailure, connectRedis } from './redis-connection.ts';

export type SharedWindows = {
  /** Counts one more. Null, at once or later: it could not be counted there. Never rejects. */
  count: (name: string, windowMs: number) => Promise<CountedWindow | null> | null;
  /** For the status of the service. */
  status: { section: string; read(): Promise<SharedWindowsStatus> };
  close(): Promise<void>;
};

/** Whether what is counted now is counted with the others. */
export type SharedWindowsStatus = { counted: 'shared' | 'alone' };

export type SharedWindowsOptions = {
  url: string;
  serviceName: string;
  log: Log;
  random?: () => number;
};

/** More under way at once are not sent: a flood costs bounded memory, and does not make the server late for everyone. */
export const UNDER_WAY_MAX = 2_000;
/** What a request waits for at most, once: then all count alone. */
export const COUNT_DEADLINE_MS = 50;
/** A new connection, its greeting and the first loading of what counts; nobody but the start waits for these. */
const CONNECT_TIMEOUT_MS = 1_000;
/** No window of a client has this name; it is counted in to find out whether the server can. */
export const PROBE = { name: 'probe', windowMs: 1_000 };
/** A server that was away is tried again so often. */
const REST_MS = 1_000;
/** Rests are shortened by up to this share, so that many nodes do not try at once. */
const JITTER = 0.2;

/** Resolves when the server has been tried once, whether it was there or not. */
export async function openSharedWindows(options: SharedWindowsOptions): Promise<SharedWindows> {
  const { url, log, random = Math.random } = options;
  const prefix = redisKeyPrefix(options.serviceName);
  let live: RedisConnection | null = null;
  let underWay = 0;
  let isToldAway = false;
  let isClosed = false;
  let retry: NodeJS.Timeout | undefined;

  const noteAway = (error: unknown) => {
    if (isClosed) return;
    if (!isToldAway) {
      isToldAway = true;
      const reason = error instanceof RedisFailure ? error.message : String(error);
      log.warn('Redis is away: this process counts rate limits alone', { reason });
    }
    retry = setTimeout(() => void attempt(), REST_MS * (1 - JITTER * random())).unref();
  };
  const lose = (connection: RedisConnection, error: unknown) => {
    // Of all that waited for it, the first one tells.
    if (connection !== live) return;
    live = null;
    connection.destroy();
    noteAway(error);
  };
  const attempt = async (): Promise<void> => {
    let connection: RedisConnection | null = null;
    try {
      connection = await connectProved(url, `${prefix}:${PROBE.name}`, (lost, failure) => lose(lost, failure));
    } catch (error) {
      return noteAway(error);
    }
    if (isClosed) return connection.destroy();
    live = connection;
    if (isToldAway) log.info('Redis is back: rate limits are shared again');
    isToldAway = false;
  };

  const countIn = async (connection: RedisConnection, key: string, windowMs: number): Promise<CountedWindow | null> => {
    underWay += 1;
    try {
      return await connection.count(key, windowMs);
    } catch (error) {
      lose(connection, error);
      return null;
    } finally {
      underWay -= 1;
    }
  };

  await attempt();
  return {
    count: (name, windowMs) => {
      const connection = live;
      return connection && underWay < UNDER_WAY_MAX ? countIn(connection, `${prefix}:${name}`, windowMs) : null;
    },
    status: { section: 'rateLimits', read: async () => ({ counted: live ? 'shared' : 'alone' }) },
    close: async () => {
      isClosed = true;
      clearTimeout(retry);
      live?.destroy();
      live = null;
    },
  };
}

/** What all keys begin with. */
export function redisKeyPrefix(serviceName: string): string {
  return `${serviceName}:rate-limit`;
}

/** A connection that has been seen to count in time: one that only connects would be lost again with the next request. */
async function connectProved(
  url: string,
  probeKey: string,
  onLost: (connection: RedisConnection, failure: RedisFailure) => void,
): Promise<RedisConnection> {
  const connection: RedisConnection = await connectRedis(url, {
    connectTimeoutMs: CONNECT_TIMEOUT_MS,
    timeoutMs: COUNT_DEADLINE_MS,
    onLost: (failure) => onLost(connection, failure),
  });
  try {
    await connection.count(probeKey, PROBE.windowMs);
    return connection;
  } catch (error) {
    connection.destroy();
    throw error;
  }
}
