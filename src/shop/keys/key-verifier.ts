// Finds the API key of a request by its secret. Keys are cached for a few seconds, and unknown secrets for a second. Concurrent look-ups share
// statements, so that wrong keys cannot fill the database with statements. The uses of keys are counted here and written in batches.

import { LRUCache } from 'lru-cache';
import { Deadline } from '../../platform/core/deadline.ts';
import { BatchedReads } from '../../platform/database/batched-reads.ts';
import type { Database } from '../../platform/database/port.ts';
import type { ApiKey, KeyUse } from '../queries/keys.ts';
import { deleteOldKeyUsage, findKeysByHash, updateKeysUsed } from '../queries/keys.ts';
import { hashApiKey, isWellFormedKey } from './api-key.ts';
import { isUsable } from './keys.ts';
import type { Caller, ShopContext } from '../context.ts';

/** A key is cached for this long. A node may therefore accept a key for this long after another process revoked it. */
const CACHED_MS = 3_000;
const CACHED_KEYS_MAX = 10_000;
/** A secret that no key has is not looked up again for this long. */
const UNKNOWN_MS = 1_000;
/** The largest number of keys in one look-up. */
const LOOKUP_SIZE_MAX = 100;
/** A look-up begins at most this long after its request, so that its statement can end within the time limit of the request. */
const LOOKUP_WAIT_MAX_MS = 2_000;
/** Uses are written at most once in this period, because a write for each request would cost more than the request. */
export const KEY_USES_PERIOD_MS = 15_000;
const KEY_STATEMENT_TIMEOUT_MS = 3_000;
const DAY_MS = 24 * 60 * 60_000;
/** The counts of requests are kept for this long. */
const KEY_USAGE_KEPT_MS = 400 * DAY_MS;

export type VerifiedKey = { key: ApiKey; caller: Caller };

type CachedKey = VerifiedKey & { until: number };

export class KeyVerifier {
  readonly #context: ShopContext & { main: Database };
  readonly #cache = new LRUCache<string, CachedKey>({ max: CACHED_KEYS_MAX });
  /** The hashes of secrets that no key had, with the time until which they are not looked up again. */
  readonly #unknown = new LRUCache<string, number>({ max: CACHED_KEYS_MAX });
  readonly #lookups: BatchedReads<ApiKey>;
  /** The hashes of the keys that are read again in the background. */
  readonly #refreshed = new Set<string>();
  /** Uses that are not written yet, by key id. */
  #uses = new Map<string, KeyUse>();
  #usesWrittenAt: number;
  /** When old counts were last deleted. */
  #deletedAt = Number.NEGATIVE_INFINITY;

  constructor(context: ShopContext & { main: Database }) {
    this.#context = context;
    this.#lookups = new BatchedReads({
      sizeMax: LOOKUP_SIZE_MAX,
      readAll: (hashes) => findKeysByHash(context.main.within(KEY_STATEMENT_TIMEOUT_MS), hashes),
    });
    this.#usesWrittenAt = context.clock();
  }

  /**
   * The caller with this secret. Null if no key has the secret, if the key is revoked or expired, or if the overlap after a rotation has
   * ended.
   */
  async verify(secret: string): Promise<Caller | null> {
    const { serviceName, clock } = this.#context;
    if (!isWellFormedKey(serviceName, secret)) return null;
    const now = clock();
    const found = await this.#find(secret, now);
    return found && this.#admit(found, now) && found.caller;
  }

  /**
   * The key with this secret and its caller, for a request that is served without a key too. So the request must not wait for the database, or fail with it: a
   * key that was found before is used as it was found, and is read again in the background when it is older than a few seconds. A key that
   * was not found before is null if it cannot be read.
   */
  verifyReader(secret: string): VerifiedKey | null | Promise<VerifiedKey | null> {
    const { serviceName, clock } = this.#context;
    if (!isWellFormedKey(serviceName, secret)) return null;
    const hash = hashApiKey(secret);
    const known = this.#cache.get(hash);
    const now = clock();
    if (!known) {
      return this.#find(secret, now).then(
        (found) => found && this.#admit(found, now),
        // The reads that need the database report its failure.
        () => null,
      );
    }
    if (!this.#findCached(hash, now)) this.#refresh(secret, hash, now);
    return this.#admit(known, now);
  }

  /** Writes the uses since the last call. If this fails, they are written by a later call. */
  async writeUses(): Promise<void> {
    if (this.#uses.size === 0) return;
    const uses = this.#uses;
    const now = this.#context.clock();
    const statements = this.#context.main.within(KEY_STATEMENT_TIMEOUT_MS);
    this.#uses = new Map();
    this.#usesWrittenAt = now;
    try {
      await updateKeysUsed(statements, uses);
    } catch (error) {
      for (const [keyId, use] of uses) this.#addUse(keyId, use);
      throw error;
    }
    if (now - this.#deletedAt < DAY_MS) return;
    this.#deletedAt = now;
    await deleteOldKeyUsage(statements, now - KEY_USAGE_KEPT_MS);
  }

  /** Writes the last uses. If this fails, they are lost, and the failure is logged: it is no reason for the process to fail at its end. */
  close(): Promise<void> {
    return this.#tryWriteUses();
  }

  async #find(secret: string, now: number): Promise<CachedKey | null> {
    const hash = hashApiKey(secret);
    const cached = this.#findCached(hash, now);
    if (cached) return cached;
    if (isBefore(this.#unknown.get(hash), now, UNKNOWN_MS)) return null;
    const key = await this.#lookups.read(hash, Deadline.after(LOOKUP_WAIT_MAX_MS));
    if (!key) {
      // The time counts from the end of the look-up. Otherwise a look-up that takes longer than UNKNOWN_MS would be repeated at once.
      this.#unknown.set(hash, this.#context.clock() + UNKNOWN_MS);
      return null;
    }
    const caller = { keyId: key.id, shopId: key.shopId, scopes: new Set(key.scopes) };
    const found = { key, caller, until: now + CACHED_MS };
    this.#cache.set(hash, found);
    return found;
  }

  /** Reads a key again, unless it is being read. If this fails, the key stays as it was found, and the next request tries again. */
  #refresh(secret: string, hash: string, now: number): void {
    if (this.#refreshed.has(hash)) return;
    this.#refreshed.add(hash);
    void this.#find(secret, now)
      .catch(() => null)
      .finally(() => this.#refreshed.delete(hash));
  }

  /** Returns the key if it may be used now, and counts the use. */
  #admit(found: CachedKey, now: number): VerifiedKey | null {
    if (!isUsable(found.key, now)) return null;
    this.#noteUse(found.key.id, now);
    return found;
  }

  #findCached(hash: string, now: number): CachedKey | null {
    const cached = this.#cache.get(hash);
    return cached && isBefore(cached.until, now, CACHED_MS) ? cached : null;
  }

  #addUse(keyId: string, { at, requests }: KeyUse): void {
    const use = this.#uses.get(keyId);
    if (!use) {
      this.#uses.set(keyId, { at, requests });
      return;
    }
    use.at = Math.max(use.at, at);
    use.requests += requests;
  }

  #noteUse(keyId: string, now: number): void {
    this.#addUse(keyId, { at: now, requests: 1 });
    if (now - this.#usesWrittenAt < KEY_USES_PERIOD_MS) return;
    void this.#tryWriteUses();
  }

  async #tryWriteUses(): Promise<void> {
    await this.writeUses().catch((error: unknown) => {
      this.#context.log.warn('the uses of API keys could not be written', { error });
    });
  }
}

/**
 * Whether `now` is before `until`, the end of a period of `lengthMs`. If more time than `lengthMs` is left, the clock was set back: the period
 * then counts as ended.
 */
function isBefore(until: number | undefined, now: number, lengthMs: number): boolean {
  const leftMs = (until ?? now) - now;
  return leftMs > 0 && leftMs <= lengthMs;
}
