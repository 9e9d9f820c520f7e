// API keys: issued, rotated and revoked by the operator; verified for every request that carries one.

import { randomBytes } from 'node:crypto';
import { LRUCache } from 'lru-cache';
import type { Database } from '../../database/port.ts';
import type { ApiKey } from '../queries/keys.ts';
import {
  findKey,
  findKeyByHash,
  insertKey,
  listKeys,
  updateKeyReplaced,
  updateKeyRevoked,
  updateKeysUsed,
} from '../queries/keys.ts';
import { createApiKey, hashApiKey, isWellFormedKey, prefixOf } from './api-key.ts';
import { needsShop } from './scopes.ts';
import { createId } from '../../core/time-ordered-id.ts';
import { OperatorError } from '../../core/errors.ts';
import { requireShop } from '../shops.ts';
import type { Caller, Store } from '../context.ts';

/** A key at the only time when its secret is seen. */
export type IssuedKey = { key: ApiKey; secret: string };

const ROTATION_OVERLAP_MS = 24 * 60 * 60_000;

export async function issueKey(
  store: Store,
  options: { shop: string | null; name: string | null; scopes: string[]; expiresAt: number | null },
): Promise<IssuedKey> {
  const { name, scopes, expiresAt } = options;
  const inShop = scopes.find(needsShop);
  if (options.shop === null && inShop !== undefined) {
    throw new OperatorError(`a key for ${inShop} belongs to a shop: say which with --shop`, { exitCode: 2 });
  }
  const shopId = options.shop === null ? null : (await requireShop(store, options.shop)).id;
  return issue(store, store.main, { shopId, name, scopes, expiresAt });
}

/**
 * A new secret for the same shop and scopes, with the end that the key was given when it was made; the old one goes on working
 * for the overlap, so that callers can change over.
 */
export function rotateKey(store: Store, id: string, overlapMs: number = ROTATION_OVERLAP_MS): Promise<IssuedKey> {
  return store.main.transaction(async (tx) => {
    const now = store.clock();
    const key = await findKey(tx, id);
    if (!key) throw new OperatorError(`there is no key ${JSON.stringify(id)}; see mercat keys list`);
    if (!isUsable(key, now)) throw new OperatorError(`key ${id} has ended: make a new one with mercat keys create`);
    await updateKeyReplaced(tx, id, now + overlapMs);
    return issue(store, tx, key);
  });
}

/** Ends a key now. Nodes that have verified it lately notice within seconds. */
export async function revokeKey(store: Store, id: string): Promise<void> {
  if (!(await updateKeyRevoked(store.main, id, store.clock()))) {
    throw new OperatorError(`there is no key ${JSON.stringify(id)}; see mercat keys list`);
  }
}

/** Keys of a shop, or of all shops. */
export async function readKeys(store: Store, shop: string | null): Promise<ApiKey[]> {
  return listKeys(store.main, shop === null ? null : (await requireShop(store, shop)).id);
}

async function issue(
  store: Store,
  db: Store['main'] | Parameters<Parameters<Store['main']['transaction']>[0]>[0],
  like: Pick<ApiKey, 'shopId' | 'name' | 'scopes' | 'expiresAt'>,
): Promise<IssuedKey> {
  const now = store.clock();
  const secret = createApiKey(store.serviceName, randomBytes);
  const { shopId, name, scopes, expiresAt } = like;
  const ends = { expiresAt, replacedAt: null, revokedAt: null, lastUsedAt: null };
  const key = { id: createId('key', now), shopId, name, prefix: prefixOf(secret), scopes, createdAt: now, ...ends };
  await insertKey(db, key, hashApiKey(secret));
  return { key, secret };
}

function isUsable(key: ApiKey, now: number): boolean {
  return [key.revokedAt, key.expiresAt, key.replacedAt].every((end) => end === null || end > now);
}

/** How long a verified key is believed without looking again: within it a revocation reaches every node. */
const BELIEVED_MS = 3_000;
const BELIEVED_KEYS_MAX = 10_000;
/** Times of use are written in bulk this often, because a write a request would cost more than the request. */
const USES_PERIOD_MS = 15_000;

/** A statement that is not answered by then is given up. */
const STATEMENT_TIMEOUT_MS = 3_000;

export type KeyRing = {
  /** Whose secret this is; null when it is nobody's, or its time is over. */
  verify(secret: string): Promise<Caller | null>;
  /** Writes the times of use that are still to be written. */
  flush(): Promise<void>;
};

export function createKeyRing(store: Store & { main: Database }): KeyRing {
  const believed = new LRUCache<string, { key: ApiKey; caller: Caller; until: number }>({ max: BELIEVED_KEYS_MAX });
  let uses = new Map<string, number>();
  let flushedAt = store.clock();

  const flush = async () => {
    if (uses.size === 0) return;
    const pending = uses;
    uses = new Map();
    flushedAt = store.clock();
    await updateKeysUsed(store.main.within(STATEMENT_TIMEOUT_MS), pending);
  };

  const noteUse = (key: ApiKey, now: number) => {
    uses.set(key.id, now);
    if (now - flushedAt >= USES_PERIOD_MS) {
      flush().catch((error: unknown) => store.log.warn('times of key use could not be written', { error }));
    }
  };

  const find = async (secret: string, now: number) => {
    const hash = hashApiKey(secret);
    const known = hash.toString('base64');
    const kept = believed.get(known);
    if (kept && kept.until > now) return kept;
    const key = await findKeyByHash(store.main.within(STATEMENT_TIMEOUT_MS), hash);
    if (!key) return null;
    const caller = { keyId: key.id, shopId: key.shopId, scopes: new Set(key.scopes) };
    const entry = { key, caller, until: now + BELIEVED_MS };
    believed.set(known, entry);
    return entry;
  };

  return {
    flush,
    verify: async (secret) => {
      if (!isWellFormedKey(store.serviceName, secret)) return null;
      const now = store.clock();
      const entry = await find(secret, now);
      if (!entry || !isUsable(entry.key, now)) return null;
      noteUse(entry.key, now);
      return entry.caller;
    },
  };
}
