// Measures how many rows a second an import commits on each engine, with durable commits. The time includes parsing the NDJSON bytes.

import { readConfig } from '../src/config.ts';
import { createContext } from '../src/context.ts';
import { createLog } from '../src/core/log.ts';
import { importRecords } from '../src/intake/import.ts';
import { onEachEngine } from './databases.ts';
import { median, say, spread, timeMs } from './measure.ts';
import { importRows, toChunks } from './records.ts';

const ROWS = 20_000;
const ROUNDS = 5;

export function benchImport(): Promise<void> {
  return onEachEngine(async (database) => {
    const databases = { main: database, indexer: database };
    const context = createContext({ config: readConfig({}), log: createLog('warn'), databases });
    for (const kind of ['sale', 'listing'] as const) {
      const rates: number[] = [];
      for (let round = 0; round <= ROUNDS; round += 1) {
        const chunks = [...toChunks(importRows(kind, ROWS, round * ROWS))];
        const ms = await timeMs(() => importRecords(context, toAsync(chunks), { format: 'ndjson' }));
        // The first round warms up and is not counted.
        if (round > 0) rates.push((ROWS / ms) * 1_000);
      }
      say(`import, ${database.engine}, ${kind}s: ${median(rates).toFixed(0)} rows/s (${spread(rates)})`);
    }
  });
}

async function* toAsync(chunks: Iterable<Uint8Array>): AsyncGenerator<Uint8Array> {
  yield* chunks;
}
