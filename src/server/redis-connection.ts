// One connection to a Redis server: what is counted there, and in words why it is not. Everything it does has a deadline; it never
// connects again by itself, and never tells an address or a secret.

import { createHash } from 'node:crypto';
import { createClient } from '@redis/client';

/** A window as Redis keeps it. Times in milliseconds since the epoch, by its clock. */
export type CountedWindow = { count: number; resetAt: number; now: number };

export type RedisConnection = {
  /** Counts one more in the window of that name; the first one opens it. Rejects with a RedisFailure. */
  count(key: string, windowMs: number): Promise<CountedWindow>;
  /** What the server tells of itself, by name. Rejects with a RedisFailure. */
  info(): Promise<ReadonlyMap<string, string>>;
  /** Ends it at once; what was asked for is rejected. */
  destroy(): void;
};

/** `message` is fit for anyone's eyes. */
export class RedisFailure extends Error {
  override readonly name = 'RedisFailure';
}

export type RedisOptions = {
  /** Of the connection, its greeting included. */
  connectTimeoutMs: number;
  /** From the moment that a command was written to the moment that its answer is there. */
  timeoutMs: number;
  /** Called once, when a connection that had been made is gone. */
  onLost?: (failure: RedisFailure) => void;
};

/**
 * A fixed window in one step. Its end is a field, and does not hang on the key's expiry: it can be told to the millisecond by
 * every version of Redis, and a window whose expiry was lost ends all the same. One that ends later than a new one would was made
 * before the clock was set back.
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

export async function connectRedis(url: string, options: RedisOptions): Promise<RedisConnection> {
  const client = createRedisClient(url, options.connectTimeoutMs);
  let lastError: unknown = null;
  let isMade = false;
  client.on('error', (error: unknown) => {
    lastError = error;
    if (!isMade) return;
    isMade = false;
    options.onLost?.(toFailure(error));
  });
  // Whatever it is connected to does not keep a process alive that has nothing else to do.
  client.unref();
  const connecting = client.connect();
  const isLate = withinLimit(options.connectTimeoutMs);
  try {
    if ((await Promise.race([connecting, isLate.promise])) === LATE) throw new RedisFailure(NO_ANSWER);
    isMade = true;
  } catch (error) {
    // What is still connecting would be connected after it was destroyed.
    connecting.then(
      () => client.destroy(),
      () => undefined,
    );
    client.destroy();
    throw toFailure(lastError ?? error);
  } finally {
    isLate.cancel();
  }

  const deadline = createDeadline(options.timeoutMs);
  const ask = async (...args: string[]): Promise<unknown> => {
    const asked = client.sendCommand(args);
    const answer = await Promise.race([asked, deadline.join()]).catch((error: unknown) => {
      throw toFailure(error);
    });
    if (answer === LATE) throw new RedisFailure(NO_ANSWER);
    return answer;
  };
  return {
    count: async (key, windowMs) => {
      const args = ['1', key, String(windowMs)];
      const answer = await ask('EVALSHA', SCRIPT_SHA, ...args).catch((error: unknown) => {
        if (error instanceof RedisFailure && error.message === NOT_LOADED) return ask('EVAL', SCRIPT, ...args);
        throw error;
      });
      return toWindow(answer);
    },
    info: async () => toInfo(await ask('INFO')),
    destroy: () => {
      isMade = false;
      deadline.stop();
      client.destroy();
    },
  };
}

function createRedisClient(url: string, connectTimeoutMs: number) {
  return createClient({
    url,
    // Understood by every server and proxy.
    RESP: 2,
    maintNotifications: 'disabled',
    disableClientInfo: true,
    disableOfflineQueue: true,
    // A signal and a timer for each command: ours are cheaper.
    commandOptions: { timeout: 0 },
    socket: { connectTimeout: connectTimeoutMs, reconnectStrategy: false },
  });
}

const LATE = Symbol('late');
const NO_ANSWER = 'it does not answer in time';

function withinLimit(limitMs: number): { promise: Promise<typeof LATE>; cancel: () => void } {
  const { promise, resolve } = Promise.withResolvers<typeof LATE>();
  const timer = setTimeout(() => resolve(LATE), limitMs);
  return { promise, cancel: () => clearTimeout(timer) };
}

/** A deadline passes in so many steps. */
const STEPS = 5;

/**
 * A deadline shared by all that is asked within a fifth of it. It passes in steps, each of which needs a timer of its own, and
 * before a step counts, what has arrived is read: neither a process that was busy nor a machine that stood still takes its own
 * pause for the server's.
 */
function createDeadline(limitMs: number): { join: () => Promise<typeof LATE>; stop: () => void } {
  const slots: (PromiseWithResolvers<typeof LATE> | null)[] = [null];
  let timer: NodeJS.Timeout | undefined;
  const step = () => {
    slots.push(null);
    if (slots.length > STEPS + 1) slots.shift()?.resolve(LATE);
    if (slots.some((slot) => slot !== null)) wait();
  };
  const wait = () => {
    timer = setTimeout(() => setImmediate(step), limitMs / STEPS);
  };
  const join = () => {
    if (slots.every((slot) => slot === null)) wait();
    const slot = slots.at(-1) ?? Promise.withResolvers<typeof LATE>();
    slots[slots.length - 1] = slot;
    return slot.promise;
  };
  const stop = () => {
    clearTimeout(timer);
    slots.fill(null);
  };
  return { join, stop };
}

function toWindow(answer: unknown): CountedWindow {
  const [count, resetAt, now] = Array.isArray(answer) ? (answer as unknown[]) : [];
  if (!isCount(count) || !isCount(resetAt) || !isCount(now)) throw new RedisFailure('its answer cannot be read');
  return { count, resetAt, now };
}

function isCount(value: unknown): value is number {
  return typeof value === 'number' && Number.isSafeInteger(value) && value > 0;
}

function toInfo(answer: unknown): ReadonlyMap<string, string> {
  const lines = typeof answer === 'string' ? answer.split(/\r?\n/) : [];
  return new Map(
    lines.flatMap((line) => {
      const [, name, value] = /^(\w+):(.*)$/.exec(line) ?? [];
      return name === undefined || value === undefined ? [] : [[name, value] as const];
    }),
  );
}

const NOT_LOADED = 'it does not know the script';

/** What servers say, by the word that it begins with or, out of a script, has in it. The rest of it may quote what was sent. */
const REPLIES: readonly (readonly [RegExp, string])[] = [
  [/^NOSCRIPT\b/, NOT_LOADED],
  [/\bWRONGPASS\b|invalid password/, 'it refuses the user or password'],
  [/\bNOAUTH\b/, 'it wants a password'],
  [/^ERR AUTH\b.*without any password/, 'it has no password, and was given one'],
  [/\bNOPERM\b|can't run this command/, 'the user may not run what is needed'],
  [/\bOOM\b/, 'its memory is full'],
  [/\bREADONLY\b/, 'it is a replica that takes no writes'],
  [/\bLOADING\b/, 'it is loading its data'],
  [/\bMISCONF\b/, 'it takes no writes (MISCONF)'],
  [/\b(MASTERDOWN|NOREPLICAS)\b/, 'it has lost its other half'],
  [/^(MOVED|ASK|CLUSTERDOWN|CROSSSLOT)\b/, 'it is a node of a cluster'],
  [/DB index/, 'it has no database of that number'],
];

function toFailure(error: unknown): RedisFailure {
  if (error instanceof RedisFailure) return error;
  const { message = '', code } = error as { message?: string; code?: unknown };
  const [, known] = REPLIES.find(([pattern]) => pattern.test(message)) ?? [];
  if (known !== undefined) return new RedisFailure(known);
  if (typeof code === 'string' && /^[A-Z][A-Z0-9_]{1,60}$/.test(code)) return new RedisFailure(code);
  if (/timeout/i.test(message)) return new RedisFailure(NO_ANSWER);
  if (/closed/i.test(message)) return new RedisFailure('it has closed the connection');
  const [, word] = /^([A-Z]{2,30}) /.exec(message) ?? [];
  return new RedisFailure(word === undefined ? 'it cannot be talked to' : `it answers ${word}`);
}
