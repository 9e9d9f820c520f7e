// Measures how much longer the read of an uncached listing window takes than its SQL statements alone. The statements alone run without deadlines,
// and their rows are not mapped or merged. In both measurements, a statement that needs the result of another statement waits for this result. The
// CPU times are compared too: the sum of the CPU times of this process and the database. Two collections are measured: a generated collection
// (2,000 mirrored listings, 500 own orders), and a collection with the prices and tokens of recorded sales.

import type { Database } from '../../src/platform/database/port.ts';
import { readListingWindow } from '../../src/market/reads/listing-window.ts';
import { resolveCollection } from '../../src/market/reads/resolve-collection.ts';
import { StatementRecorder, runStatements } from './cold-reads.ts';
import { onEachEngine } from '../support/databases.ts';
import { createBenchMarket } from '../support/market.ts';
import { databaseCpuMs, median } from '../support/measure.ts';
import { listedCollection } from '../support/records.ts';
import { recordedListings } from '../imports/recorded-inputs.ts';
import { judge, recordUnmeasured } from '../support/verdict.ts';

const ROUNDS = 15;
const READS = 50;
/** The aim: the read takes at most this multiple of the time of its statements alone. */
const RATIO_AIM = 1.3;

/** `ms`: the elapsed time of one read. `cpuMs`: the CPU time of one read, of this process and the database. */
type Cost = { ms: number; cpuMs: number };

export function benchWindow(): Promise<void> {
  const real = recordedListings();
  if (!real) recordUnmeasured('cold window of recorded listings', '../shared/data is absent');
  const inputs = [
    { name: 'generated listings', slug: 'bench', records: () => listedCollection() },
    ...(real ? [{ name: `${real.length - 1} recorded listings`, slug: 'recorded', records: () => real }] : []),
  ];
  return onEachEngine(async (database) => {
    for (const input of inputs) await benchInput(database, input);
  });
}

type Input = { name: string; slug: string; records: () => Iterable<Record<string, unknown>> };

async function benchInput(database: Database, { name, slug, records }: Input): Promise<void> {
  const recorder = new StatementRecorder(database);
  const recorded = await createBenchMarket(recorder.database, records());
  const collection = await resolveCollection(recorded, slug);
  const statements = await recorder.record(() => readListingWindow(recorded, collection));
  const market = await createBenchMarket(database, []);

  const readWindow = () => readListingWindow(market, collection);
  const readRows = () => runStatements(database, statements);
  const rounds: [Cost, Cost][] = [];
  await costOf(database, readWindow);
  await costOf(database, readRows);
  for (let round = 0; round < ROUNDS; round += 1)
    rounds.push([await costOf(database, readWindow), await costOf(database, readRows)]);
  for (const [field, what, aim] of [
    ['ms', 'time', { atMost: RATIO_AIM }],
    ['cpuMs', 'CPU time', null],
  ] as const) {
    const ratios = rounds.map(([read, alone]) => read[field] / alone[field]);
    const [read, alone] = [0, 1].map((side) => median(rounds.map((round) => round[side]?.[field] ?? Number.NaN)));
    judge({
      name: `cold window, ${database.engine}, ${name}, ${what} as a multiple of its statements alone`,
      figure: median(ratios),
      unit: '',
      rounds: ratios,
      aim,
      beside: `${read?.toFixed(2)} ms; its ${statements.length} statements alone ${alone?.toFixed(2)} ms`,
    });
  }
  await market.close();
  await recorded.close();
}

async function costOf(database: Database, work: () => Promise<unknown>): Promise<Cost> {
  const databaseBefore = await databaseCpuMs(database);
  const [startedAt, cpuBefore] = [performance.now(), process.cpuUsage()];
  for (let read = 0; read < READS; read += 1) await work();
  const ms = performance.now() - startedAt;
  const { user, system } = process.cpuUsage(cpuBefore);
  const cpuMs = (user + system) / 1_000 + (await databaseCpuMs(database)) - databaseBefore;
  return { ms: ms / READS, cpuMs: cpuMs / READS };
}
