// Collections and tokens that callers requested recently. They are written to the primary every few seconds, where the workers
// of any process read which ones to refresh first. No response waits for this, and losing a view costs freshness alone.

import { LRUCache } from 'lru-cache';
import type { AssetId } from '../core/address.ts';
import type { Clock } from '../core/clock.ts';
import type { Database } from '../database/port.ts';
import type { RecentView } from './queries/recent-views.ts';
import { upsertRecentViews } from './queries/recent-views.ts';

/** A second view within this time is not noted. */
const REPEAT_MS = 60_000;
/** Views that wait to be written. More than these come from a caller that reads everything: they are dropped. */
const PENDING_MAX = 1_000;
/** Views whose time is remembered, so as not to note them again. */
const REMEMBERED_MAX = 10_000;
const STATEMENT_TIMEOUT_MS = 5_000;

export class RecentViews {
  readonly #main: Database;
  readonly #clock: Clock;
  readonly #notedAt = new LRUCache<string, number>({ max: REMEMBERED_MAX });
  readonly #pending = new Map<string, RecentView>();

  constructor(main: Database, clock: Clock) {
    this.#main = main;
    this.#clock = clock;
  }

  /** Notes a view of a collection, or of one of its tokens. */
  note(collectionId: string, asset?: AssetId): void {
    const key = asset === undefined ? collectionId : `${collectionId} ${asset}`;
    const at = this.#clock();
    const last = this.#notedAt.get(key);
    const isRepeated = last !== undefined && at - last < REPEAT_MS && at >= last;
    if (isRepeated || this.#pending.size >= PENDING_MAX) return;
    this.#notedAt.set(key, at);
    this.#pending.set(key, { collectionId, asset: asset ?? null, at });
  }

  /** Writes the pending views. When it rejects they stay pending. */
  async flush(): Promise<void> {
    if (this.#pending.size === 0) return;
    const views = [...this.#pending];
    await upsertRecentViews(
      this.#main.within(STATEMENT_TIMEOUT_MS),
      views.map(([, view]) => view),
    );
    // A view that was noted during the write is another object, and stays pending.
    for (const [key, view] of views) if (this.#pending.get(key) === view) this.#pending.delete(key);
  }
}
