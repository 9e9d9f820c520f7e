// What the operator does to the store, by name, so that a command can ask a running server for it. Input comes through a
// socket that only its owner may open; it is checked all the same.

import type { ApiKey } from './queries/keys.ts';
import { isScope, SCOPES } from './keys/scopes.ts';
import { isStorable } from '../core/text.ts';
import { parseTime } from '../core/time.ts';
import { OperatorError } from '../core/errors.ts';
import type { IssuedKey } from './keys/keys.ts';
import { issueKey, readKeys, revokeKey, rotateKey } from './keys/keys.ts';
import { createShop, readShops } from './shops.ts';
import type { Store } from './context.ts';

/** A day alone is its first moment, in UTC. */
const DAY = /^\d{4}-\d{2}-\d{2}$/;
const OVERLAP_MS_MAX = 366 * 24 * 60 * 60_000;

type Input = Readonly<Record<string, unknown>>;

/** Operations by name: JSON in, JSON out. Mistakes are thrown as OperatorErrors. */
export type Operations = Readonly<Record<string, (input: Input) => Promise<unknown>>>;

export function createStoreOperations(store: Store): Operations {
  return {
    'shops.create': async (input) => {
      const { id, name } = await createShop(store, readText(input, 'name'));
      return { id, name };
    },
    'shops.list': async () => (await readShops(store)).map(({ id, name }) => ({ id, name })),
    'keys.create': async (input) =>
      toIssued(
        await issueKey(store, {
          shop: readTextOrNull(input, 'shop'),
          name: readTextOrNull(input, 'name'),
          scopes: readScopes(input['scopes']),
          expiresAt: readTime(store, input['expiresAt']),
        }),
      ),
    'keys.list': async (input) => (await readKeys(store, readTextOrNull(input, 'shop'))).map(toListed),
    'keys.rotate': async (input) => {
      const { overlapMs } = input;
      const isSpan = typeof overlapMs === 'number' && overlapMs >= 0 && overlapMs <= OVERLAP_MS_MAX;
      if (overlapMs !== undefined && !isSpan) refuse('the overlap must be 0 hours to a year');
      return toIssued(await rotateKey(store, readText(input, 'id'), isSpan ? overlapMs : undefined));
    },
    'keys.revoke': async (input) => {
      const id = readText(input, 'id');
      await revokeKey(store, id);
      return { id, revoked: true };
    },
  };
}

function readText(input: Input, name: string): string {
  return readTextOrNull(input, name) ?? refuse(`${name} is missing`);
}

function readTextOrNull(input: Input, name: string): string | null {
  const value = input[name] ?? null;
  if (value === null || (typeof value === 'string' && isStorable(value))) return value;
  return refuse(`${name} must be text`);
}

function readScopes(value: unknown): string[] {
  const scopes = Array.isArray(value) ? [...new Set(value.map(String))] : [];
  const unknown = scopes.find((scope) => !isScope(scope));
  if (unknown !== undefined) refuse(`${JSON.stringify(unknown)} is not a scope; there are ${SCOPES.join(', ')}`);
  return scopes.length > 0 ? scopes : refuse(`a key needs at least one scope of ${SCOPES.join(', ')}`);
}

function readTime(store: Store, value: unknown): number | null {
  if (value === undefined || value === null) return null;
  const text = typeof value === 'string' ? value : '';
  const time = parseTime(DAY.test(text) ? `${text}T00:00Z` : text);
  return time !== null && time > store.clock()
    ? time
    : refuse('the expiry must be a time in the future, such as 2027-01-31T00:00:00Z');
}

function refuse(message: string): never {
  throw new OperatorError(message, { exitCode: 2 });
}

function toIssued({ key, secret }: IssuedKey) {
  const { id, prefix, shopId: shop, scopes, expiresAt } = key;
  return { id, secret, prefix, shop, scopes, expiresAt: expiresAt === null ? null : toTime(expiresAt) };
}

function toListed(key: ApiKey) {
  const { id, prefix, shopId: shop, name, scopes } = key;
  const ends = [key.expiresAt, key.replacedAt].filter((end) => end !== null);
  const times = {
    expiresAt: ends.length > 0 ? Math.min(...ends) : null,
    revokedAt: key.revokedAt,
    lastUsedAt: key.lastUsedAt,
  };
  const shown = Object.entries(times).map(([what, at]) => [what, at === null ? null : toTime(at)] as const);
  return { id, prefix, shop, name, scopes, createdAt: toTime(key.createdAt), ...Object.fromEntries(shown) };
}

function toTime(ms: number): string {
  return new Date(ms).toISOString();
}
