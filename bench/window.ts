// Measures how much longer the read of an uncached listing window takes than the SQL statements of this read alone. The statements alone run
// without deadlines, and their rows are neither mapped nor merged. Two collections are measured: a generated collection (2,000 mirrored
// listings, 500 own orders), and a collection with the prices and tokens of recorded sales.

import type { Database, Statements, Row } from '../src/database/port.ts';
import { readListingWindow } from '../src/market/listing-window.ts';
import { resolveCollection } from '../src/market/resolve-collection.ts';
import { onEachEngine } from './databases.ts';
import { createBenchMarket } from './market.ts';
import { compare, timeMs } from './measure.ts';
import { listedCollection } from './records.ts';
import { recordedListings } from './recorded-inputs.ts';
import { judge, recordUnmeasured } from './verdict.ts';

const ROUNDS = 15;
const READS = 20;
/** The aim: the read takes at most this multiple of the time of its statements alone. */
const RATIO_AIM = 1.3;

type Statement = { sql: string; params: readonly unknown[] };

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
  const statements: Statement[] = [];
  const recorded = await createBenchMarket(recording(database, statements), records());
  const collection = await resolveCollection(recorded, slug);
  statements.length = 0;
  await readListingWindow(recorded, collection);
  const market = await createBenchMarket(database, []);

  const repeat = (work: () => Promise<unknown>) => async () => {
    for (let read = 0; read < READS; read += 1) await work();
  };
  const readWindow = repeat(() => readListingWindow(market, collection));
  const readRows = repeat(() => Promise.all(statements.map(({ sql, params }) => database.query(sql, params))));
  await readWindow();
  const result = await compare(
    ROUNDS,
    () => timeMs(readWindow),
    () => timeMs(readRows),
  );
  judge({
    name: `cold window, ${database.engine}, ${name}, time as a multiple of its statements alone`,
    figure: result.ratio,
    unit: '',
    rounds: result.ratios,
    aim: { atMost: RATIO_AIM },
    beside: `${(result.a / READS).toFixed(2)} ms; its ${statements.length} statements alone ${(result.b / READS).toFixed(2)} ms`,
  });
  await market.close();
  await recorded.close();
}

/** Wraps a database, and records every statement with a deadline. */
function recording(database: Database, statements: Statement[]): Database {
  const within = (timeoutMs: number): Statements => ({
    ...database.within(timeoutMs),
    query: <R extends Row>(sql: string, params: readonly unknown[] = []) => {
      statements.push({ sql, params });
      return database.within(timeoutMs).query<R>(sql, params);
    },
  });
  return { ...database, within };
}
