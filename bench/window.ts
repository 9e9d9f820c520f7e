// Compares the read of an uncached listings window (2,000 mirrored listings, 500 own orders) with its statements alone, without deadlines,
// mapping and merging.

import type { Database, Statements, Row } from '../src/database/port.ts';
import { readListingWindow } from '../src/market/listing-window.ts';
import { resolveCollection } from '../src/market/resolve-collection.ts';
import { onEachEngine } from './databases.ts';
import { createBenchMarket } from './market.ts';
import { compare, timeMs } from './measure.ts';
import { listedCollection } from './records.ts';
import { judge } from './verdict.ts';

const ROUNDS = 15;
const READS = 20;
/** The most time of the read, as a multiple of its statements alone. */
const RATIO_AIM = 1.3;

type Statement = { sql: string; params: readonly unknown[] };

export function benchWindow(): Promise<void> {
  return onEachEngine(async (database) => {
    const statements: Statement[] = [];
    const recorded = await createBenchMarket(recording(database, statements), listedCollection());
    const collection = await resolveCollection(recorded, 'bench');
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
      name: `cold window, ${database.engine}, time as a multiple of its statements alone`,
      figure: result.ratio,
      unit: '',
      rounds: result.ratios,
      aim: { atMost: RATIO_AIM },
      beside: `${(result.a / READS).toFixed(2)} ms; its ${statements.length} statements alone ${(result.b / READS).toFixed(2)} ms`,
    });
    await market.close();
    await recorded.close();
  });
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
