// Issues, rotates and revokes API keys for the operator.

import { randomBytes } from 'node:crypto';
import type { Queryable } from '../../platform/database/port.ts';
import type { ApiKey } from '../queries/keys.ts';
import { findKeyForUpdate, insertKey, listKeys, updateKeyReplaced, updateKeyRevoked } from '../queries/keys.ts';
import { createApiKey, hashApiKey, toKeyPrefix } from './api-key.ts';
import { READ_SCOPE, needsShop } from './scopes.ts';
import { createId } from '../../platform/core/time-ordered-id.ts';
import { OperatorError } from '../../platform/core/errors.ts';
import { requireShop } from '../shops.ts';
import type { ShopContext } from '../context.ts';

/** A new key with its secret, which is never returned again. */
export type IssuedKey = { key: ApiKey; secret: string };

/** What a rotation does not change. */
type KeyTerms = Pick<ApiKey, 'name' | 'scopes' | 'expiresAt' | Limits>;
type Limits = 'listLimit' | 'itemLimit';

const KEY_ROTATION_OVERLAP_MS = 24 * 60 * 60_000;

/** Issues a key. `shop` is the name or the id of a shop. It may be null only if no scope belongs to the store interface. */
export async function issueKey(
  context: ShopContext,
  {
    shop,
    name,
    scopes,
    listLimit = null,
    itemLimit = null,
    expiresAt,
  }: { shop: string | null } & Omit<KeyTerms, Limits> & Partial<Pick<KeyTerms, Limits>>,
): Promise<IssuedKey> {
  const storeScope = scopes.find(needsShop);
  if (shop === null && storeScope !== undefined) {
    throw new OperatorError(`a key with the scope ${storeScope} needs a shop: add --shop`, { exitCode: 2 });
  }
  if ((listLimit ?? itemLimit) !== null && !scopes.includes(READ_SCOPE)) {
    throw new OperatorError(`only a key with the scope ${READ_SCOPE} has limits of lists and items`, { exitCode: 2 });
  }
  const shopId = shop === null ? null : (await requireShop(context, shop)).id;
  return insertNewKey(context, context.main, { shopId, name, scopes, listLimit, itemLimit, expiresAt });
}

/**
 * Issues a replacement for the key `id`, with the same shop, name, scopes, limits and expiry. The old key stays valid for `overlapMs`, so that
 * callers can switch to the new key. If the expiry of the old key is earlier, the old key ends at its expiry.
 */
export function rotateKey(
  context: ShopContext,
  id: string,
  overlapMs: number = KEY_ROTATION_OVERLAP_MS,
): Promise<IssuedKey> {
  return context.main.transaction(async (tx) => {
    const now = context.clock();
    const key = (await findKeyForUpdate(tx, id)) ?? refuseUnknownKey(id);
    if (!isUsable(key, now)) {
      throw new OperatorError(`key ${id} is no longer valid; create a new key with mercat keys create`);
    }
    await updateKeyReplaced(tx, id, now + overlapMs);
    return insertNewKey(context, tx, key);
  });
}

/** Revokes a key. Nodes that have cached the key reject it within seconds. */
export async function revokeKey(context: ShopContext, id: string): Promise<void> {
  if (!(await updateKeyRevoked(context.main, id, context.clock()))) refuseUnknownKey(id);
}

/** The keys of one shop, given by its name or id. If `shop` is null, all keys. */
export async function readKeys(context: ShopContext, shop: string | null): Promise<ApiKey[]> {
  return listKeys(context.main, shop === null ? null : (await requireShop(context, shop)).id);
}

/** Whether the key is neither revoked, nor expired, nor past the overlap of its rotation. */
export function isUsable(key: ApiKey, now: number): boolean {
  return [key.revokedAt, key.expiresAt, key.replacedAt].every((end) => end === null || end > now);
}

async function insertNewKey(
  context: ShopContext,
  db: Queryable,
  { shopId, name, scopes, listLimit, itemLimit, expiresAt }: Pick<ApiKey, 'shopId'> & KeyTerms,
): Promise<IssuedKey> {
  const now = context.clock();
  const secret = createApiKey(context.serviceName, randomBytes);
  const key: ApiKey = {
    id: createId('key', now),
    shopId,
    name,
    prefix: toKeyPrefix(secret),
    scopes,
    listLimit,
    itemLimit,
    createdAt: now,
    expiresAt,
    replacedAt: null,
    revokedAt: null,
    lastUsedAt: null,
  };
  await insertKey(db, key, hashApiKey(secret));
  return { key, secret };
}

function refuseUnknownKey(id: string): never {
  throw new OperatorError(`there is no key ${JSON.stringify(id)}; see mercat keys list`);
}
