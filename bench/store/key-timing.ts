// Tests whether the time of a failed look-up of an API key reveals something about a stored key. Three kinds of unknown keys are looked up
// in random order: random keys, keys that begin like a stored key, and keys whose hash begins like the hash of a stored key. Welch's t-test
// compares the times of the second and the third kind with those of random keys.

import { randomBytes, randomInt } from 'node:crypto';
import { createLog } from '../../src/platform/core/log.ts';
import { systemClock } from '../../src/platform/core/clock.ts';
import { SecretKeys } from '../../src/platform/core/secret-keys.ts';
import type { Database } from '../../src/platform/database/port.ts';
import { createApiKey, hashApiKey } from '../../src/shop/keys/api-key.ts';
import { KeyVerifier } from '../../src/shop/keys/key-verifier.ts';
import { issueKey } from '../../src/shop/keys/keys.ts';
import { onEachEngine } from '../support/databases.ts';
import { judge } from '../support/verdict.ts';

const SERVICE = 'mercat';
const STORED_KEYS = 200;
const LOOK_UPS = 20_000;
/**
 * How many first bytes the hash of a key of the third kind has in common with the hash of a stored key. It takes 65,536 attempts on average
 * to find such a key.
 */
const SAME_HASH_BYTES = 2;
const SAME_CHARACTERS = 29;
const KEYS_OF_KIND = 8;
const ALPHABET = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';
/** The look-ups slower than this quantile are left out: they waited for other processes or for the garbage collector. */
const KEPT_SHARE = 0.9;
/** The usual limit for this test in dudect (Reparaz, Balasch and Verbauwhede, 2017). A larger value shows a difference. */
const T_MAX = 4.5;

type Kind = { name: string; keys: readonly string[] };

export function benchKeyTiming(): Promise<void> {
  return onEachEngine(async (main) => {
    const verifier = new KeyVerifier(createContext(main));
    const secret = await storeKeys(main);
    const kinds: Kind[] = [
      { name: 'random', keys: createKeys(() => createApiKey(SERVICE, randomBytes)) },
      {
        name: `the same first ${SAME_CHARACTERS} of 30 characters`,
        keys: createKeys((index) => keyLike(secret, index)),
      },
      { name: `the same first ${SAME_HASH_BYTES} bytes of the hash`, keys: createKeys(() => keyWithHashLike(secret)) },
    ];
    const [random, ...others] = await measure(verifier, kinds);
    for (const { name, times } of others) {
      const t = welchT(times, random?.times ?? []);
      judge({
        name: `key look-up, ${main.engine}, ${name}, |t|`,
        figure: Math.abs(t),
        unit: '',
        rounds: [],
        aim: { atMost: T_MAX },
        beside: `mean ${mean(times).toFixed(1)} µs, random keys ${mean(random?.times ?? []).toFixed(1)} µs`,
      });
    }
  });
}

/** The clock advances by this time whenever it is read. Results of look-ups are cached for a shorter time, so each look-up reads the database. */
const BETWEEN_LOOK_UPS_MS = 5_000;
let now = systemClock();

function createContext(main: Database) {
  const secretKeys = new SecretKeys([]);
  return { main, clock: () => (now += BETWEEN_LOOK_UPS_MS), log: createLog('warn'), serviceName: SERVICE, secretKeys };
}

/** Stores keys. Returns one of them. */
async function storeKeys(main: Database): Promise<string> {
  let secret = '';
  for (let count = 0; count < STORED_KEYS; count += 1) {
    const options = { shop: null, name: null, scopes: ['intake:write'], expiresAt: null };
    ({ secret } = await issueKey(createContext(main), options));
  }
  return secret;
}

/** Every kind has the same number of keys, made before the measurement, so that only the keys differ. */
function createKeys(create: (index: number) => string): string[] {
  return Array.from({ length: KEYS_OF_KIND }, (_, index) => create(index));
}

/** A key whose random characters are those of `secret`, except for the last one. */
function keyLike(secret: string, index: number): string {
  const start = `${SERVICE}_live_`.length;
  const same = Array.from(secret.slice(start, start + SAME_CHARACTERS), (character) => ALPHABET.indexOf(character));
  const last = (ALPHABET.indexOf(secret[start + SAME_CHARACTERS] ?? '') + 1 + index) % ALPHABET.length;
  return createApiKey(SERVICE, () => Uint8Array.from([...same, last]));
}

function keyWithHashLike(secret: string): string {
  const start = hashApiKey(secret).slice(0, 2 * SAME_HASH_BYTES);
  for (;;) {
    const key = createApiKey(SERVICE, randomBytes);
    if (hashApiKey(key).startsWith(start)) return key;
  }
}

/** The times of the look-ups of each kind, in microseconds. The kind of each look-up is chosen at random. */
async function measure(verifier: KeyVerifier, kinds: readonly Kind[]): Promise<{ name: string; times: number[] }[]> {
  const measured = kinds.map(({ name, keys }) => ({ name, keys, times: [] as number[] }));
  for (let lookUp = 0; lookUp < LOOK_UPS * kinds.length; lookUp += 1) {
    const kind = measured[randomInt(kinds.length)];
    const key = kind?.keys[randomInt(KEYS_OF_KIND)];
    if (!kind || key === undefined) continue;
    const startedAt = performance.now();
    await verifier.verify(key);
    kind.times.push((performance.now() - startedAt) * 1_000);
  }
  const all = measured.flatMap(({ times }) => times).toSorted((one, other) => one - other);
  const limit = all[Math.floor(all.length * KEPT_SHARE)] ?? Number.POSITIVE_INFINITY;
  return measured.map(({ name, times }) => ({ name, times: times.filter((time) => time <= limit) }));
}

function mean(values: readonly number[]): number {
  return values.reduce((sum, value) => sum + value, 0) / values.length;
}

function variance(values: readonly number[]): number {
  const middle = mean(values);
  return values.reduce((sum, value) => sum + (value - middle) ** 2, 0) / (values.length - 1);
}

/** Welch's t: the difference of two means, divided by its standard error. */
function welchT(a: readonly number[], b: readonly number[]): number {
  return (mean(a) - mean(b)) / Math.sqrt(variance(a) / a.length + variance(b) / b.length);
}
