// The operations on shops and API keys for `mercat shops` and `mercat keys`, called in the command's process or over the local socket.
// Input is checked here.

import type { ApiKey } from './queries/keys.ts';
import { listKeyUsage } from './queries/keys.ts';
import { READ_KEY_LIMITS } from '../platform/http/rate-limit.ts';
import { isScope, READ_SCOPE, SCOPES } from './keys/scopes.ts';
import { isStorable } from '../platform/core/text.ts';
import { parseTime } from '../platform/core/time.ts';
import { OperatorError } from '../platform/core/errors.ts';
import type { IssuedKey } from './keys/keys.ts';
import { issueKey, readKeys, revokeKey, rotateKey } from './keys/keys.ts';
import { createShop, readShops } from './shops.ts';
import type { ShopContext } from './context.ts';
import type { ProductView } from './products/product-view.ts';
import { toProductView } from './products/product-view.ts';
import { listProductGroups } from './queries/product-export.ts';
import { listShopIds } from './queries/shops.ts';

/** A date without a time. As an expiry, it means the start of that day in UTC. */
const DATE = /^\d{4}-\d{2}-\d{2}$/;
/** A span from now, as an expiry. */
const SPAN = /^(\d{1,5})([hd])$/;
const HOUR_MS = 60 * 60_000;
const SPAN_UNITS_MS: Readonly<Record<string, number>> = { h: HOUR_MS, d: 24 * HOUR_MS };
const OVERLAP_MS_MAX = 366 * 24 * HOUR_MS;
/** The most requests a minute that a limit of a key may allow. */
const LIMIT_MAX = 100_000_000;

export type OperationInput = Readonly<Record<string, unknown>>;

/** Operations by name, with JSON as input and result. Invalid input throws an OperatorError. */
export type Operations = Readonly<Record<string, (input: OperationInput) => Promise<unknown>>>;

export function createShopOperations(context: ShopContext): Operations {
  return {
    'shops.create': async (input) => {
      const { id, name } = await createShop(context, readText(input, 'name'));
      return { id, name };
    },
    'shops.list': async () => (await readShops(context)).map(({ id, name }) => ({ id, name })),
    'products.export': (input) => readExport(context, readText(input, 'shop'), readTextOrNull(input, 'after')),
    'keys.create': async (input) =>
      toIssued(
        await issueKey(context, {
          shop: readTextOrNull(input, 'shop'),
          name: readTextOrNull(input, 'name'),
          scopes: readScopes(input['scopes']),
          listLimit: readLimit(input, 'lists'),
          itemLimit: readLimit(input, 'items'),
          expiresAt: readExpiry(input['expiresAt'], context.clock()),
        }),
      ),
    'keys.list': async (input) => (await readKeys(context, readTextOrNull(input, 'shop'))).map(toListed),
    'keys.usage': (input) => readUsage(context, readTextOrNull(input, 'shop')),
    'keys.rotate': async (input) =>
      toIssued(await rotateKey(context, readText(input, 'id'), readOverlap(input['overlapMs']))),
    'keys.revoke': async (input) => {
      const id = readText(input, 'id');
      await revokeKey(context, id);
      return { id, revoked: true };
    },
  };
}

/** How many groups of products one call of `products.export` returns. */
const EXPORT_GROUPS = 100;

/** A page of the products of a shop, the variants of a group together. `next`: the argument `after` for the next page; null on the last page. */
export type ProductExport = { groups: ProductView[][]; next: string | null };

async function readExport(context: ShopContext, shop: string, after: string | null): Promise<ProductExport> {
  const shopId = (await listShopIds(context.main, [shop])).get(shop);
  if (shopId === undefined)
    throw new OperatorError(`there is no shop named ${JSON.stringify(shop)}; see mercat shops list`);
  const groups = await listProductGroups(context.main, shopId, { after, limit: EXPORT_GROUPS });
  return {
    groups: groups.map(({ products }) => products.map(toProductView)),
    next: groups.length < EXPORT_GROUPS ? null : (groups.at(-1)?.leader ?? null),
  };
}

/** The days of which `keys.usage` tells the requests, today included. */
export const USAGE_DAYS = 30;

/** A key with its requests, by day. Days without requests are absent. `prefix`: how its secret begins. */
export type KeyUsage = {
  id: string;
  prefix: string;
  name: string | null;
  shop: string | null;
  lastUsedAt: string | null;
  /** The day of the answer, in UTC. */
  today: string;
  days: { day: string; requests: number }[];
};

async function readUsage(context: ShopContext, shop: string | null): Promise<KeyUsage[]> {
  const keys = await readKeys(context, shop);
  const now = context.clock();
  const shopId = shop === null ? null : (keys[0]?.shopId ?? null);
  const since = now - (USAGE_DAYS - 1) * 24 * HOUR_MS;
  const usage = Map.groupBy(await listKeyUsage(context.main, { shopId, since }), ({ keyId }) => keyId);
  const today = new Date(now).toISOString().slice(0, 10);
  return keys.map((key) => ({
    id: key.id,
    prefix: key.prefix,
    name: key.name,
    shop: key.shopId,
    lastUsedAt: toTime(key.lastUsedAt),
    today,
    days: (usage.get(key.id) ?? []).map(({ day, requests }) => ({ day, requests })),
  }));
}

function readText(input: OperationInput, name: string): string {
  return readTextOrNull(input, name) ?? refuseUsage(`${name} is missing`);
}

function readTextOrNull(input: OperationInput, name: string): string | null {
  const value = input[name] ?? null;
  if (value === null || (typeof value === 'string' && isStorable(value))) return value;
  return refuseUsage(`${name} must be text`);
}

function readScopes(value: unknown): string[] {
  const scopes = Array.isArray(value) ? [...new Set(value.map(String))] : [];
  const unknown = scopes.find((scope) => !isScope(scope));
  if (unknown !== undefined) {
    return refuseUsage(`${JSON.stringify(unknown)} is not a scope; the scopes are ${SCOPES.join(', ')}`);
  }
  return scopes.length > 0 ? scopes : refuseUsage(`a key needs at least one of the scopes ${SCOPES.join(', ')}`);
}

function readExpiry(value: unknown, now: number): number | null {
  if (value === undefined || value === null) return null;
  const text = typeof value === 'string' ? value : '';
  const [, amount, unit = ''] = SPAN.exec(text) ?? [];
  const time =
    amount === undefined
      ? parseTime(DATE.test(text) ? `${text}T00:00Z` : text)
      : now + Number(amount) * (SPAN_UNITS_MS[unit] ?? 0);
  return time !== null && time > now
    ? time
    : refuseUsage(
        'the expiry must be a time in the future, such as 2027-01-31T00:00:00Z, or a span such as 90d or 12h',
      );
}

function readLimit(input: OperationInput, name: string): number | null {
  const value = input[name] ?? null;
  if (value === null) return null;
  return typeof value === 'number' && Number.isInteger(value) && value >= 1 && value <= LIMIT_MAX
    ? value
    : refuseUsage(`the limit of ${name} must be an integer from 1 to ${LIMIT_MAX}`);
}

function readOverlap(value: unknown): number | undefined {
  if (value === undefined) return undefined;
  return typeof value === 'number' && value >= 0 && value <= OVERLAP_MS_MAX
    ? value
    : refuseUsage('the overlap must be between 0 hours and a year');
}

export function refuseUsage(message: string): never {
  throw new OperatorError(message, { exitCode: 2 });
}

function toIssued({ key, secret }: IssuedKey) {
  const { id, prefix, shopId: shop, scopes, expiresAt } = key;
  return { id, secret, prefix, shop, scopes, limits: limitsOf(key), expiresAt: toTime(expiresAt) };
}

/** The requests a minute that the key may send to the public interfaces. Null for a key without the scope `market:read`. */
function limitsOf({ scopes, listLimit, itemLimit }: ApiKey): { lists: number; items: number } | null {
  if (!scopes.includes(READ_SCOPE)) return null;
  return { lists: listLimit ?? READ_KEY_LIMITS.list, items: itemLimit ?? READ_KEY_LIMITS.single };
}

function toListed(key: ApiKey) {
  const { id, prefix, shopId: shop, name, scopes } = key;
  const ends = [key.expiresAt, key.replacedAt].filter((end) => end !== null);
  return {
    id,
    prefix,
    shop,
    name,
    scopes,
    limits: limitsOf(key),
    createdAt: toTime(key.createdAt),
    expiresAt: toTime(ends.length > 0 ? Math.min(...ends) : null),
    revokedAt: toTime(key.revokedAt),
    lastUsedAt: toTime(key.lastUsedAt),
  };
}

function toTime(ms: number | null): string | null {
  return ms === null ? null : new Date(ms).toISOString();
}
