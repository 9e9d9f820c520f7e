// Measures how many rows a second an import commits on each engine, with durable commits. The first measurement imports rows of one collection into
// empty tables, and the second imports rows of many collections. The last imports rows of one collection into filled tables, after more than five times
// as many rows as the first measurement has. The time includes reading and parsing NDJSON files.

import { execFile } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import type { Engine } from '../../src/platform/database/port.ts';
import type { Target } from '../support/databases.ts';
import { onEachTarget } from '../support/databases.ts';
import type { ImportFigures } from './import-process.ts';
import { median } from '../support/measure.ts';
import { IMPORTED_KINDS, importRows, toChunks } from '../support/records.ts';
import type { ImportedKind } from '../support/records.ts';
import { judge } from '../support/verdict.ts';

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
 * grows with its number, and must be more than an hour ago, because later sales are also recorded in the activity log.
 */
const FROM_MANY = 2_000_000;

export const RATE_AIM: Record<Engine, number> = { postgresql: 60_000, embedded: 15_000 };
/** The rate into the filled tables, as a share of the rate into the empty tables. */
const SHARE_AIM = 0.8;
const MEMORY_AIM_MIB = 400;

export function benchImport(): Promise<void> {
  return onEachTarget(async (target) => {
    for (const kind of IMPORTED_KINDS) await benchKind(target, kind);
  });
}

async function benchKind(target: Target, kind: ImportedKind): Promise<void> {
  const { engine } = target;
  const name = `import, ${engine}, ${kind}s`;
  const empty = await measure(target, { kind, collections: 1, from: 0 });
  const rate = median(empty.rates);
  judgeRate(name, engine, empty);
  judgeRate(
    `${name} of ${COLLECTIONS} collections`,
    engine,
    await measure(target, { kind, collections: COLLECTIONS, from: FROM_MANY }),
  );
  await importInProcess(target, { kind, collections: 1, from: MEASURED_ROWS, rounds: FILLED_ROWS / ROWS });
  const filled = await measure(target, { kind, collections: 1, from: MEASURED_ROWS + FILLED_ROWS });
  judge({
    name: `${name}, rate into tables with more than ${FILLED_ROWS} rows as a share of the rate into empty tables`,
    figure: median(filled.rates) / rate,
    unit: '',
    rounds: filled.rates.map((one) => one / rate),
    aim: { atLeast: SHARE_AIM },
    beside: `${median(filled.rates).toFixed(0)} rows/s; CPU time for 1,000 rows: the process ${filled.cpuMs.toFixed(1)} ms, the database ${filled.databaseCpuMs.toFixed(1)} ms`,
  });
}

function judgeRate(name: string, engine: Engine, { rates, cpuMs, databaseCpuMs: storedMs, memoryMiB }: Measured): void {
  judge({
    name,
    figure: median(rates),
    unit: 'rows/s',
    rounds: rates,
    aim: { atLeast: RATE_AIM[engine] },
    beside: `CPU time for 1,000 rows: the process ${cpuMs.toFixed(1)} ms, the database ${storedMs.toFixed(1)} ms`,
  });
  judge({
    name: `${name}, resident memory`,
    figure: memoryMiB,
    unit: 'MiB',
    rounds: [],
    aim: { atMost: MEMORY_AIM_MIB },
  });
}

/** CPU times in milliseconds for 1,000 rows: of the process of the import, and of the database if it has processes of its own. */
type Measured = { rates: number[]; cpuMs: number; databaseCpuMs: number; memoryMiB: number };

/** Rows of one kind, numbered from `from`. */
type RowSet = { kind: ImportedKind; collections: number; from: number };

async function measure(target: Target, set: RowSet): Promise<Measured> {
  const { files, peakMiB } = await importInProcess(target, { ...set, rounds: ROUNDS + 1 });
  const measured = files.slice(1);
  return {
    rates: measured.map(({ ms }) => (ROWS / ms) * 1_000),
    cpuMs: median(measured.map(({ cpuMs }) => cpuMs)) / (ROWS / 1_000),
    databaseCpuMs: median(measured.map(({ databaseCpuMs }) => databaseCpuMs)) / (ROWS / 1_000),
    memoryMiB: peakMiB,
  };
}

/** Imports `rounds` files of ROWS rows in a process of its own. */
async function importInProcess(
  { engine, address }: Target,
  { kind, collections, from, rounds }: RowSet & { rounds: number },
): Promise<ImportFigures> {
  const dir = mkdtempSync(path.join(os.tmpdir(), 'mercat-bench-rows-'));
  try {
    const files = Array.from({ length: rounds }, (_, round) => {
      const file = path.join(dir, `${round}.ndjson`);
      writeFileSync(file, Buffer.concat([...toChunks(importRows(kind, ROWS, from + round * ROWS, collections))]));
      return file;
    });
    const program = fileURLToPath(new URL('./import-process.ts', import.meta.url));
    const { stdout } = await promisify(execFile)(process.execPath, [program, engine, address, ...files]);
    return JSON.parse(stdout) as ImportFigures;
  } finally {
    rmSync(dir, { recursive: true, force: true });
  }
}
