// Appends events to the activity log, with the code of the service that records and merges changes.

import type { MarketChange } from '../../src/market/activity/market-change.ts';
import { mergeChanges } from '../../src/market/activity/merge.ts';
import { insertMarketChanges } from '../../src/market/activity/queries/market-changes.ts';
import { systemClock } from '../../src/platform/core/clock.ts';
import type { Database } from '../../src/platform/database/port.ts';

const LIMITS = { timeoutMs: 60_000, batchesMax: 1_000 };

/** A change of the kind `list`. Its `orderId` is the number. */
export function listed(number: number, change: Partial<MarketChange> = {}): MarketChange {
  return {
    kind: 'list',
    at: Date.UTC(2026, 5, 1),
    chain: 'ethereum',
    collectionId: `ethereum_0x${'c'.repeat(40)}`,
    asset: String(number),
    priceRaw: 10n ** 18n,
    orderId: String(number),
    ...change,
  };
}

/** Appends events to the log. PostgreSQL notifies the processes that read the log. On the embedded engine, a reader finds the events when it polls. */
export async function appendActivity(main: Database, changes: readonly MarketChange[]): Promise<void> {
  await main.transaction((tx) => insertMarketChanges(tx, 'main', changes));
  await mergeChanges({ main, indexer: main, clock: systemClock }, LIMITS);
}
