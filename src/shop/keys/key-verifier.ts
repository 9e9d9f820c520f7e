// Finds the API key of a request by its secret. Keys are cached for a few seconds. The times of their last use are written in batches.

import { LRUCache } from 'lru-cache';
import type { Database } from '../../database/port.ts';
import type { ApiKey } from '../queries/keys.ts';
import { findKeyByHash, updateKeysUsed } from '../queries/keys.ts';
import { hashApiKey, isWellFormedKey } from './api-key.ts';
import { isUsable } from './keys.ts';
import type { Caller, ShopContext } from '../context.ts';

/** A key is cached for this long. A node may therefore accept a key for this long after another process revoked it. */
const CACHED_MS = 3_000;
const CACHED_KEYS_MAX = 10_000;
/** Times of last use are written at most once in this period, because a write for each request would cost more than the request. */
export const KEY_USES_PERIOD_MS = 15_000;
const KEY_STATEMENT_TIMEOUT_MS = 3_000;

type CachedKey = { key: ApiKey; caller: Caller; until: number };

export class KeyVerifier {
  readonly #context: ShopContext & { main: Database };
  readonly #cache = new LRUCache<string, CachedKey>({ max: CACHED_KEYS_MAX });
  /** Times of last use that are not written yet, by key id. */
  #uses = new Map<string, number>();
  #usesWrittenAt: number;

  constructor(context: ShopContext & { main: Database }) {
    this.#context = context;
    this.#usesWrittenAt = context.clock();
  }

  /**
   * The caller with this secret. Null if no key has the secret, or if the key is revoked, expired, or past its overlap after a rotation.
   */
  async verify(secret: string): Promise<Caller | null> {
    const { serviceName, clock } = this.#context;
    if (!isWellFormedKey(serviceName, secret)) return null;
    const now = clock();
    const found = await this.#find(secret, now);
    if (!found || !isUsable(found.key, now)) return null;
    this.#noteUse(found.key.id, now);
    return found.caller;
  }

  async writeUses(): Promise<void> {
    if (this.#uses.size === 0) return;
    const uses = this.#uses;
    this.#uses = new Map();
    this.#usesWrittenAt = this.#context.clock();
    await updateKeysUsed(this.#context.main.within(KEY_STATEMENT_TIMEOUT_MS), uses);
  }

  async #find(secret: string, now: number): Promise<CachedKey | null> {
    const hash = hashApiKey(secret);
    const cacheKey = hash.toString('base64');
    const cached = this.#cache.get(cacheKey);
    const leftMs = cached ? cached.until - now : 0;
    // If more time is left than CACHED_MS, the clock was set back. The cached key is then not used.
    if (cached && leftMs > 0 && leftMs <= CACHED_MS) return cached;
    const key = await findKeyByHash(this.#context.main.within(KEY_STATEMENT_TIMEOUT_MS), hash);
    if (!key) return null;
    const caller = { keyId: key.id, shopId: key.shopId, scopes: new Set(key.scopes) };
    const found = { key, caller, until: now + CACHED_MS };
    this.#cache.set(cacheKey, found);
    return found;
  }

  #noteUse(keyId: string, now: number): void {
    this.#uses.set(keyId, now);
    if (now - this.#usesWrittenAt < KEY_USES_PERIOD_MS) return;
    this.writeUses().catch((error: unknown) => {
      this.#context.log.warn('the times at which API keys were used could not be written', { error });
    });
  }
}
