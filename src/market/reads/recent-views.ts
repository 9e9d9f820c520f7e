// Notes which collections and tokens callers requested recently. These views are written to the primary every few seconds. The workers of
// all processes read them there, and refresh viewed collections and tokens first. No response waits for the write, and a lost view only
// delays a refresh.

import { LRUCache } from 'lru-cache';
import type { AssetId } from '../../platform/core/address.ts';
import type { Clock } from '../../platform/core/clock.ts';
import type { Database } from '../../platform/database/port.ts';
import type { RecentView } from './queries/recent-views.ts';
import { upsertRecentViews } from './queries/recent-views.ts';

/** A second view of the same collection or token within this time is ignored. */
const REPEAT_MS = 60_000;
/** The largest number of views that wait to be written. Further views are dropped. Only a crawler causes more views than this. */
const PENDING_MAX = 1_000;
/** The most views whose time is kept in memory, to recognise repeated views. */
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

  /** Notes a view. The next `flush` writes it. */
  note(collectionId: string, asset?: AssetId): void {
    const key = asset === undefined ? collectionId : `${collectionId} ${asset}`;
    const now = this.#clock();
    const last = this.#notedAt.get(key);
    const isRepeated = last !== undefined && now - last < REPEAT_MS && now >= last;
    if (isRepeated || this.#pending.size >= PENDING_MAX) return;
    this.#notedAt.set(key, now);
    this.#pending.set(key, { collectionId, asset: asset ?? null, at: now });
  }

  /** Rejects when the write fails; the views then stay pending. */
  async flush(): Promise<void> {
    if (this.#pending.size === 0) return;
    const views = [...this.#pending];
    await upsertRecentViews(
      this.#main.within(STATEMENT_TIMEOUT_MS),
      views.map(([, view]) => view),
    );
    // A view that was noted again during the write is another object, and stays pending.
    for (const [key, view] of views) if (this.#pending.get(key) === view) this.#pending.delete(key);
  }
}
