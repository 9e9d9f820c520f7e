// One connection to the Redis server that counts requests. Every operation has a deadline. After the connection is lost, a RedisConnection
// does not connect again: its owner creates a new RedisConnection.

import { createHash } from 'node:crypto';
import { createClient } from '@redis/client';
import { Deadline } from '../../platform/core/deadline.ts';
import { DeadlineExceeded, raceDeadline } from '../../platform/resilience/deadline.ts';
import { NOT_IN_TIME, RedisFailure, SCRIPT_NOT_LOADED, toRedisFailure } from './redis-failure.ts';
import { RedisDeadline } from './redis-deadline.ts';

/** A rate limit window in Redis. Times are in milliseconds since the epoch, by the clock of Redis. */
export type CountedWindow = { count: number; resetAt: number; now: number };

export type RedisOptions = {
  /** The time limit for the connection and its handshake. */
  connectTimeoutMs: number;
  /** The time limit for each command. It begins when the command is sent. */
  timeoutMs: number;
  /** Called once, when an established connection is lost. */
  onLost?: (connection: RedisConnection, failure: RedisFailure) => void;
};

/**
 * Counts a request in a fixed window, atomically. The field `reset` stores the end of the window, for two reasons: older versions of Redis
 * cannot return the time at which a key expires, and the window must end even if the key has lost its expiry. If `reset` is more than one
 * window length ahead, the clock was set back, and a new window begins.
 */
const SCRIPT = `
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
local length = tonumber(ARGV[1])
local reset = tonumber(redis.call('HGET', KEYS[1], 'reset') or '0')
if reset > now and reset <= now + length then
  return {redis.call('HINCRBY', KEYS[1], 'count', 1), reset, now}
end
reset = now + length
local text = string.format('%.0f', reset)
redis.call('HSET', KEYS[1], 'reset', text, 'count', '1')
redis.call('PEXPIREAT', KEYS[1], text)
return {1, reset, now}
`;
const SCRIPT_SHA = createHash('sha1').update(SCRIPT).digest('hex');
const LATE = Symbol('late');

export class RedisConnection {
  readonly #client: ReturnType<typeof createRedisClient>;
  readonly #options: RedisOptions;
  readonly #deadline: RedisDeadline<typeof LATE>;
  #lastError: unknown = null;
  #isEstablished = false;

  private constructor(url: string, options: RedisOptions) {
    this.#options = options;
    this.#deadline = new RedisDeadline(options.timeoutMs, LATE);
    this.#client = createRedisClient(url, options.connectTimeoutMs);
    this.#client.on('error', (error: unknown) => this.#noteError(error));
    // The connection alone does not keep the process alive.
    this.#client.unref();
  }

  /** Opens a connection. Rejects with a RedisFailure if Redis cannot be reached in time or rejects the connection. */
  static async connect(url: string, options: RedisOptions): Promise<RedisConnection> {
    const connection = new RedisConnection(url, options);
    await connection.#connect();
    return connection;
  }

  /** Counts one request in the open window at `key`, or in a new window. Rejects with a RedisFailure. */
  async count(key: string, windowMs: number): Promise<CountedWindow> {
    const args = ['1', key, String(windowMs)];
    try {
      return toWindow(await this.#send('EVALSHA', SCRIPT_SHA, ...args));
    } catch (error) {
      if (!(error instanceof RedisFailure) || error.message !== SCRIPT_NOT_LOADED) throw error;
      return toWindow(await this.#send('EVAL', SCRIPT, ...args));
    }
  }

  /** The fields of `INFO`, by name. Rejects with a RedisFailure. */
  async info(): Promise<ReadonlyMap<string, string>> {
    return toInfo(await this.#send('INFO'));
  }

  /** Closes the connection immediately. Commands in progress are rejected. */
  destroy(): void {
    this.#isEstablished = false;
    this.#deadline.stop();
    this.#client.destroy();
  }

  async #connect(): Promise<void> {
    const connecting = this.#client.connect();
    try {
      await raceDeadline(connecting, Deadline.after(this.#options.connectTimeoutMs));
      this.#isEstablished = true;
    } catch (error) {
      // A client that is destroyed while it connects may still connect, so it is destroyed again.
      connecting.then(
        () => this.#client.destroy(),
        () => undefined,
      );
      this.#client.destroy();
      throw error instanceof DeadlineExceeded
        ? toRedisFailure(this.#lastError ?? new RedisFailure(NOT_IN_TIME))
        : toRedisFailure(this.#lastError ?? error);
    }
  }

  async #send(...args: string[]): Promise<unknown> {
    let reply: unknown;
    try {
      reply = await Promise.race([this.#client.sendCommand(args), this.#deadline.join()]);
    } catch (error) {
      throw toRedisFailure(error);
    }
    if (reply === LATE) throw new RedisFailure(NOT_IN_TIME);
    return reply;
  }

  #noteError(error: unknown): void {
    this.#lastError = error;
    if (!this.#isEstablished) return;
    this.#isEstablished = false;
    this.#options.onLost?.(this, toRedisFailure(error));
  }
}

function createRedisClient(url: string, connectTimeoutMs: number) {
  return createClient({
    url,
    // Every server and proxy supports RESP 2.
    RESP: 2,
    maintNotifications: 'disabled',
    disableClientInfo: true,
    disableOfflineQueue: true,
    // RedisDeadline costs less than the client's own signal and timer for each command.
    commandOptions: { timeout: 0 },
    socket: { connectTimeout: connectTimeoutMs, reconnectStrategy: false },
  });
}

function toWindow(reply: unknown): CountedWindow {
  const [count, resetAt, now] = Array.isArray(reply) ? (reply as unknown[]) : [];
  if (!isPositive(count) || !isPositive(resetAt) || !isPositive(now)) throw new RedisFailure('its reply is malformed');
  return { count, resetAt, now };
}

function isPositive(value: unknown): value is number {
  return typeof value === 'number' && Number.isSafeInteger(value) && value > 0;
}

function toInfo(reply: unknown): ReadonlyMap<string, string> {
  const lines = typeof reply === 'string' ? reply.split(/\r?\n/) : [];
  return new Map(
    lines.flatMap((line) => {
      const [, name, value] = /^(\w+):(.*)$/.exec(line) ?? [];
      return name === undefined || value === undefined ? [] : [[name, value] as const];
    }),
  );
}
