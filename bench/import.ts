// Measures how many rows a second an import commits on each engine, with durable commits: first into empty tables, then into tables that
// already have ten times as many rows as the first measurement imported. The time includes parsing the NDJSON bytes.

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

const ROWS = 20_000;
const ROUNDS = 5;
/** The first round warms up and is not counted. */
const MEASURED_ROWS = (ROUNDS + 1) * ROWS;
const FILLED_ROWS = 10 * MEASURED_ROWS;

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
  const empty = await measure(context, kind, 0);
  const rate = median(empty.rates);
  judge({
    name,
    figure: rate,
    unit: 'rows/s',
    rounds: empty.rates,
    aim: { atLeast: RATE_AIM[engine] },
    beside: `CPU time for 1,000 rows: this process ${empty.cpuMs.toFixed(1)} ms, the database ${empty.databaseCpuMs.toFixed(1)} ms`,
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
    beside: `${median(filled.rates).toFixed(0)} rows/s; CPU time for 1,000 rows: this process ${filled.cpuMs.toFixed(1)} ms, the database ${filled.databaseCpuMs.toFixed(1)} ms`,
  });
}

/** CPU times in milliseconds for 1,000 rows: of this process, and of the database if it has processes of its own. */
type Measured = { rates: number[]; cpuMs: number; databaseCpuMs: number; memoryMiB: number };

async function measure(context: ImportContext, kind: ImportedKind, from: number): Promise<Measured> {
  const rounds: ImportedRound[] = [];
  for (let round = 0; round <= ROUNDS; round += 1) {
    rounds.push(await importRound(context, kind, { from: from + round * ROWS, rows: ROWS }));
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
  kind: ImportedKind,
  { from, rows }: { from: number; rows: number },
): Promise<ImportedRound> {
  const round = { ms: 0, cpuMs: 0, databaseCpuMs: 0, memory: 0 };
  for (let start = from; start < from + rows; start += ROWS) {
    const chunks = [...toChunks(importRows(kind, Math.min(ROWS, from + rows - start), start))];
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
