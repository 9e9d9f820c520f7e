// A market over one database, without a server, for benchmarks of reads.

import { systemClock } from '../src/core/clock.ts';
import type { Database } from '../src/database/port.ts';
import { createChains } from '../src/core/chains.ts';
import { importRecords } from '../src/intake/import.ts';
import { createLog } from '../src/core/log.ts';
import type { Market } from '../src/market/market.ts';
import { createMarket } from '../src/market/market.ts';
import { toChunks } from './records.ts';

const NO_DEADLINE_MS = 60_000;

/** A market that holds the given records. */
export async function createBenchMarket(
  database: Database,
  records: Iterable<Record<string, unknown>>,
): Promise<Market> {
  const chains = createChains();
  const context = { main: database, indexer: database, chains, serviceName: 'mercat', clock: systemClock };
  await importRecords(context, toAsync(toChunks(records)), { format: 'ndjson' });
  await database.query('analyze');
  return createMarket({
    ...context,
    platformFeeBps: 200,
    custodyWallets: new Map(),
    sourceTimeoutMs: NO_DEADLINE_MS,
    log: createLog('warn'),
  });
}

async function* toAsync(chunks: Iterable<Uint8Array>): AsyncGenerator<Uint8Array> {
  yield* chunks;
}
