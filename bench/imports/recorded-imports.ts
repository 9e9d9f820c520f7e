// Measures imports of real files on each engine, with durable commits, into empty tables. The aims are the same as for imports of generated rows.

import { readConfig } from '../../src/service/config.ts';
import { createContext } from '../../src/service/context.ts';
import { createLog } from '../../src/platform/core/log.ts';
import { importRecords } from '../../src/intake/import.ts';
import { emptyTables } from '../../test/support/service/intake.ts';
import { onEachEngine } from '../support/databases.ts';
import { RATE_AIM } from './import.ts';
import { median, timeMs } from '../support/measure.ts';
import { listRecordedImports } from './recorded-inputs.ts';
import { judge } from '../support/verdict.ts';

const ROUNDS = 7;
const CHUNK_BYTES = 64 * 1_024;
/** A file with fewer rows is measured without an aim, because imports begin with small batches. */
const JUDGED_ROWS_MIN = 8_000;

export async function benchRecordedImports(): Promise<void> {
  const imports = listRecordedImports();
  if (imports.length === 0) return;
  await onEachEngine(async (database) => {
    const databases = { main: database, indexer: database };
    const context = createContext({ config: readConfig({}), log: createLog('warn'), databases });
    for (const { name, content, rows, options } of imports) {
      const bytes = Buffer.from(content);
      const rates: number[] = [];
      let refused = 0;
      // The first round warms up and is not counted.
      for (let round = 0; round <= ROUNDS; round += 1) {
        await emptyTables(database);
        const ms = await timeMs(async () => {
          const summary = await importRecords(context, toChunks(bytes), { format: 'ndjson', ...options });
          refused += summary.refused;
        });
        if (round > 0) rates.push((rows / ms) * 1_000);
      }
      judge({
        name: `recorded import, ${database.engine}, ${name}, ${rows} rows`,
        figure: median(rates),
        unit: 'rows/s',
        rounds: rates,
        aim: rows < JUDGED_ROWS_MIN ? null : { atLeast: RATE_AIM[database.engine] },
        failures: refused,
      });
    }
  });
}

async function* toChunks(bytes: Buffer): AsyncGenerator<Uint8Array> {
  for (let start = 0; start < bytes.length; start += CHUNK_BYTES) yield bytes.subarray(start, start + CHUNK_BYTES);
}
