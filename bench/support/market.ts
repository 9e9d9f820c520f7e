// Makes a market on one database, without a server, for benchmarks of reads.

import { readConfig } from '../../src/service/config.ts';
import { createContext } from '../../src/service/context.ts';
import type { Database } from '../../src/platform/database/port.ts';
import { importRecords } from '../../src/intake/import.ts';
import { createLog } from '../../src/platform/core/log.ts';
import type { Market } from '../../src/market/reads/market.ts';
import { toAsync, toChunks } from './records.ts';

const NO_DEADLINE_MS = 60_000;

/** A market that holds the given records. */
export async function createBenchMarket(
  database: Database,
  records: Iterable<Record<string, unknown>>,
): Promise<Market> {
  const config = readConfig({ SOURCE_TIMEOUT_MS: String(NO_DEADLINE_MS) });
  const databases = { main: database, indexer: database };
  const context = createContext({ config, log: createLog('warn'), databases });
  await importRecords(context, toAsync(toChunks(records)), { format: 'ndjson' });
  await database.query('analyze');
  return context.market;
}
