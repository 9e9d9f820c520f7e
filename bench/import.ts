// Measures how many rows a second an import commits on each engine, with durable commits: first into empty tables, then into tables with ten
// times as many rows. The time includes parsing the NDJSON bytes.

import { readConfig } from '../src/config.ts';
import { createContext } from '../src/context.ts';
import { createLog } from '../src/core/log.ts';
import type { Database, Engine } from '../src/database/port.ts';
import type { ImportContext } from '../src/intake/import.ts';
import { importRecords } from '../src/intake/import.ts';
import { onEachEngine } from './databases.ts';
import { median, timeMs } from './measure.ts';
import { IMPORTED_KINDS, importRows, toChunks } from './records.ts';
import type { ImportedKind } from './records.ts';
import { judge } from './verdict.ts';

const ROWS = 20_000;
const ROUNDS = 5;
/** The first round warms up and is not counted. */
const MEASURED_ROWS = (ROUNDS + 1) * ROWS;
const FILLED_ROWS = 10 * MEASURED_ROWS;

export const RATE_AIM: Record<Engine, number> = { postgresql: 60_000, embedded: 15_000 };
/** The rate into the larger tables, as a share of the rate into the empty ones. */
const SHARE_AIM = 0.8;
const MEMORY_AIM_MIB = 400;

export function benchImport(): Promise<void> {
  return onEachEngine(async (database) => {
    const databases = { main: database, indexer: database };
    const context = createContext({ config: readConfig({}), log: createLog('warn'), databases });
    for (const kind of IMPORTED_KINDS) await benchKind(context, database, kind);
  });
}

async function benchKind(context: ImportContext, { engine }: Database, kind: ImportedKind): Promise<void> {
  const name = `import, ${engine}, ${kind}s`;
  const empty = await measure(context, kind, 0);
  const rate = median(empty.rates);
  judge({
    name,
    figure: rate,
    unit: 'rows/s',
    rounds: empty.rates,
    aim: { atLeast: RATE_AIM[engine] },
    beside: `${empty.cpuMs.toFixed(1)} ms of this process's CPU for 1,000 rows`,
  });
  judge({
    name: `${name}, resident memory`,
    figure: empty.memoryMiB,
    unit: 'MiB',
    rounds: [],
    aim: { atMost: MEMORY_AIM_MIB },
  });
  await importRound(context, kind, { from: MEASURED_ROWS, rows: FILLED_ROWS });
  const filled = await measure(context, kind, MEASURED_ROWS + FILLED_ROWS);
  judge({
    name: `${name}, with ${FILLED_ROWS} rows stored, as a share of the rate into empty tables`,
    figure: median(filled.rates) / rate,
    unit: '',
    rounds: filled.rates.map((one) => one / rate),
    aim: { atLeast: SHARE_AIM },
    beside: `${median(filled.rates).toFixed(0)} rows/s`,
  });
}

type Measured = { rates: number[]; cpuMs: number; memoryMiB: number };

async function measure(context: ImportContext, kind: ImportedKind, from: number): Promise<Measured> {
  const rates: number[] = [];
  const cpuMs: number[] = [];
  let memory = 0;
  for (let round = 0; round <= ROUNDS; round += 1) {
    const started = process.cpuUsage();
    const ms = await importRound(context, kind, { from: from + round * ROWS, rows: ROWS });
    const { user, system } = process.cpuUsage(started);
    memory = Math.max(memory, process.memoryUsage.rss());
    if (round === 0) continue;
    rates.push((ROWS / ms) * 1_000);
    cpuMs.push((user + system) / ROWS);
  }
  return { rates, cpuMs: median(cpuMs), memoryMiB: memory / 2 ** 20 };
}

/** Returns the time of the import in milliseconds, without the time in which the bytes are made. */
async function importRound(
  context: ImportContext,
  kind: ImportedKind,
  { from, rows }: { from: number; rows: number },
): Promise<number> {
  let ms = 0;
  for (let start = from; start < from + rows; start += ROWS) {
    const chunks = [...toChunks(importRows(kind, Math.min(ROWS, from + rows - start), start))];
    ms += await timeMs(() => importRecords(context, toAsync(chunks), { format: 'ndjson' }));
  }
  return ms;
}

async function* toAsync(chunks: Iterable<Uint8Array>): AsyncGenerator<Uint8Array> {
  yield* chunks;
}
