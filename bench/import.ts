// Measures how many rows a second an import commits on each engine, with durable commits: rows of one collection into empty tables, rows of many
// collections, and rows of one collection into tables that already have more than five times as many rows as the first measurement imported. The time
// includes parsing the NDJSON bytes.

import { readConfig } from '../src/config.ts';
import { createContext } from '../src/context.ts';
import { createLog } from '../src/core/log.ts';
import type { Database, Engine } from '../src/database/port.ts';
import type { ImportContext } from '../src/intake/import.ts';
import { importRecords } from '../src/intake/import.ts';
import { onEachEngine } from './databases.ts';
import { databaseCpuMs, median, timeMs } from './measure.ts';
import { IMPORTED_KINDS, importRows, toChunks } from './records.ts';
import type { ImportedKind } from './records.ts';
import { judge } from './verdict.ts';

/** The rows of a round. The first batches of an import are small, so a shorter import would say little about a large file. */
const ROWS = 40_000;
const ROUNDS = 5;
/** The rows that one measurement imports. The first of its rounds warms up and is not counted. */
const MEASURED_ROWS = (ROUNDS + 1) * ROWS;
const FILLED_ROWS = 5 * MEASURED_ROWS;
/** How many collections the second measurement has. Their numbers of rows differ as they do in a market. */
const COLLECTIONS = 500;
/**
 * The number of the first row of the second measurement. It is above the numbers of all rows of the other measurements. The time of a row
 * grows with its number and must be in the past, because sales of the last days are also added to the figures of their windows.
 */
const FROM_MANY = 2_000_000;

export const RATE_AIM: Record<Engine, number> = { postgresql: 60_000, embedded: 15_000 };
/** The rate into the larger tables, as a share of the rate into the empty tables. */
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
  const empty = await measure(context, { kind, collections: 1, from: 0 });
  const rate = median(empty.rates);
  judgeRate(name, engine, empty);
  judgeRate(
    `${name} of ${COLLECTIONS} collections`,
    engine,
    await measure(context, { kind, collections: COLLECTIONS, from: FROM_MANY }),
  );
  await importRound(context, { kind, collections: 1, from: MEASURED_ROWS, rows: FILLED_ROWS });
  const filled = await measure(context, { kind, collections: 1, from: MEASURED_ROWS + FILLED_ROWS });
  judge({
    name: `${name}, rate into tables with more than ${FILLED_ROWS} rows as a share of the rate into empty tables`,
    figure: median(filled.rates) / rate,
    unit: '',
    rounds: filled.rates.map((one) => one / rate),
    aim: { atLeast: SHARE_AIM },
    beside: `${median(filled.rates).toFixed(0)} rows/s; CPU time for 1,000 rows: this process ${filled.cpuMs.toFixed(1)} ms, the database ${filled.databaseCpuMs.toFixed(1)} ms`,
  });
}

function judgeRate(name: string, engine: Engine, { rates, cpuMs, databaseCpuMs: storedMs, memoryMiB }: Measured): void {
  judge({
    name,
    figure: median(rates),
    unit: 'rows/s',
    rounds: rates,
    aim: { atLeast: RATE_AIM[engine] },
    beside: `CPU time for 1,000 rows: this process ${cpuMs.toFixed(1)} ms, the database ${storedMs.toFixed(1)} ms`,
  });
  judge({
    name: `${name}, resident memory`,
    figure: memoryMiB,
    unit: 'MiB',
    rounds: [],
    aim: { atMost: MEMORY_AIM_MIB },
  });
}

/** CPU times in milliseconds for 1,000 rows: of this process, and of the database if it has processes of its own. */
type Measured = { rates: number[]; cpuMs: number; databaseCpuMs: number; memoryMiB: number };

/** Rows of one kind, numbered from `from`. */
type RowSet = { kind: ImportedKind; collections: number; from: number };

async function measure(context: ImportContext, { from, ...set }: RowSet): Promise<Measured> {
  const rounds: ImportedRound[] = [];
  for (let round = 0; round <= ROUNDS; round += 1) {
    rounds.push(await importRound(context, { ...set, from: from + round * ROWS, rows: ROWS }));
  }
  const measured = rounds.slice(1);
  return {
    rates: measured.map(({ ms }) => (ROWS / ms) * 1_000),
    cpuMs: median(measured.map((round) => round.cpuMs)) / (ROWS / 1_000),
    databaseCpuMs: median(measured.map((round) => round.databaseCpuMs)) / (ROWS / 1_000),
    memoryMiB: Math.max(...rounds.map((round) => round.memory)) / 2 ** 20,
  };
}

/** All times in milliseconds. They do not include generating the bytes. `memory`: the largest resident memory of this process in bytes. */
type ImportedRound = { ms: number; cpuMs: number; databaseCpuMs: number; memory: number };

async function importRound(
  context: ImportContext,
  { kind, collections, from, rows }: RowSet & { rows: number },
): Promise<ImportedRound> {
  const round = { ms: 0, cpuMs: 0, databaseCpuMs: 0, memory: 0 };
  for (let start = from; start < from + rows; start += ROWS) {
    const chunks = [...toChunks(importRows(kind, Math.min(ROWS, from + rows - start), start, collections))];
    const databaseBefore = await databaseCpuMs(context.indexer);
    const before = process.cpuUsage();
    const onEvent = () => void (round.memory = Math.max(round.memory, process.memoryUsage.rss()));
    round.ms += await timeMs(() => importRecords(context, toAsync(chunks), { format: 'ndjson', onEvent }));
    const { user, system } = process.cpuUsage(before);
    round.cpuMs += (user + system) / 1_000;
    round.databaseCpuMs += (await databaseCpuMs(context.indexer)) - databaseBefore;
  }
  return round;
}

async function* toAsync(chunks: Iterable<Uint8Array>): AsyncGenerator<Uint8Array> {
  yield* chunks;
}
