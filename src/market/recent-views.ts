// Remembers what readers ask for, and writes it down now and then, so that the workers, of whatever process, keep fresh first
// what is looked at. An answer never waits for it, and what it forgets is only seen to later.

import { LRUCache } from 'lru-cache';
import type { Clock } from '../core/clock.ts';
import type { Database } from '../database/port.ts';
import type { RecentView } from './queries/recent-views.ts';
import { upsertRecentViews } from './queries/recent-views.ts';
import type { AssetId } from '../core/address.ts';

export type RecentViews = {
  /** A collection was asked for, or a token of it that is known. Costs next to nothing. */
  note(collectionId: string, asset?: AssetId): void;
  /** Writes down what was noted. Rejects when the primary cannot take it: it is kept for the next time. */
  flush(): Promise<void>;
};

/** What is asked for again within this is not written down again. */
const AGAIN_MS = 60_000;
/** Between two flushes; what comes on top was asked for by somebody who reads everything. */
const PENDING_MAX = 1_000;
const REMEMBERED_MAX = 10_000;
const STATEMENT_TIMEOUT_MS = 5_000;

export function createRecentViews({ main, clock }: { main: Database; clock: Clock }): RecentViews {
  const notedAt = new LRUCache<string, number>({ max: REMEMBERED_MAX });
  const pending = new Map<string, RecentView>();
  return {
    note: (collectionId, asset) => {
      const key = asset === undefined ? collectionId : `${collectionId} ${asset}`;
      const at = clock();
      const before = notedAt.get(key);
      if ((before !== undefined && at - before < AGAIN_MS && at >= before) || pending.size >= PENDING_MAX) return;
      notedAt.set(key, at);
      pending.set(key, { collectionId, asset: asset ?? null, at });
    },
    flush: async () => {
      if (pending.size === 0) return;
      const taken = [...pending];
      await upsertRecentViews(
        main.within(STATEMENT_TIMEOUT_MS),
        taken.map(([, view]) => view),
      );
      for (const [key, view] of taken) if (pending.get(key) === view) pending.delete(key);
    },
  };
}
