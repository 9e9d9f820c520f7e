// Tests that an import reads few of the stored rows, on both engines, in tables without planner statistics. The numbers of rows come from the counters that
// PostgreSQL keeps for each transaction.

import assert from 'node:assert/strict';
import { before, test } from 'node:test';
import type { Database, Queryable } from '../../src/platform/database/port.ts';
import { forEachEngine } from '../support/engines/each-engine.ts';
import { listing, runImport, sale, SELLER, toContext, token, toNdjson } from '../support/service/intake.ts';

const STORED = 1_000;
const IMPORTED = 100;
/** An import may read all stored rows of a table ten times. If it read them once for each record, it would read 100,000 rows. */
const READS_MAX = 10 * STORED;

/** Several tokens have the same owner, so that stored rows of `holder` are read too. */
const KINDS = {
  sale: (n: number) => sale({ tokenId: String(n), tx: `0x${n}`, logIndex: 1 }),
  token: (n: number) =>
    token({ tokenId: String(n), name: `Token ${n}`, owner: `0x${String(n % 50).padStart(40, '0')}` }),
  listing: (n: number) => listing({ id: `L${n}`, tokenId: String(n), orderHash: `0x${n}`, seller: SELLER }),
};

interface Reads {
  rows: number;
  /** The number of scans. It shows that the table was read even if `rows` is 0: an index-only scan of vacuumed pages counts no rows. */
  scans: number;
}

/** Wraps a database. `reads` has, for each table, how many rows the transactions of the wrapped database have read. */
function countReads(db: Database): { db: Database; reads: Map<string, Reads> } {
  const reads = new Map<string, Reads>();
  const readCounts = async (tx: Queryable) => {
    const tables = await tx.query<{ name: string } & Reads>(
      `select relname as name, (seq_tup_read + idx_tup_fetch)::int as rows, (seq_scan + idx_scan)::int as scans
       from pg_stat_xact_user_tables
       where schemaname = 'indexer' and relname in ('sale', 'token', 'listing', 'holder', 'listed_asset')`,
    );
    return new Map(tables.map(({ name, rows, scans }) => [name, { rows, scans }]));
  };
  const none = { rows: 0, scans: 0 };
  const counted: Database = {
    ...db,
    transaction: (work) =>
      db.transaction(async (tx) => {
        // `pg_stat_xact_user_tables` may contain counts of earlier transactions of the connection, because PostgreSQL clears these counts with
        // a delay. Therefore the counts at the start are subtracted.
        const start = await readCounts(tx);
        const result = await work(tx);
        // If `work` throws, the transaction is rolled back and its reads are not counted.
        for (const [name, { rows, scans }] of await readCounts(tx)) {
          const sum = reads.get(name) ?? none;
          const earlier = start.get(name) ?? none;
          reads.set(name, {
            rows: sum.rows + rows - earlier.rows,
            scans: sum.scans + scans - earlier.scans,
          });
        }
        return result;
      }),
    within: () => counted,
  };
  return { db: counted, reads };
}

forEachEngine('rows read by an import', (engine) => {
  let db: Database;
  before(async () => {
    db = await engine.open();
  });

  for (const [kind, toRecord] of Object.entries(KINDS)) {
    test(`an import does not read all stored rows of a collection again for each ${kind}`, async () => {
      const records = (from: number, count: number) =>
        toNdjson(Array.from({ length: count }, (_, n) => toRecord(from + n)));
      await runImport(toContext(db), records(0, STORED));
      const counted = countReads(db);
      // Half of the records are stored already.
      const { summary } = await runImport(toContext(counted.db), records(STORED - IMPORTED / 2, IMPORTED));
      assert.equal(summary.inserted, IMPORTED / 2);
      for (const [table, { rows }] of counted.reads) {
        assert.ok(rows <= READS_MAX, `${rows} rows of ${table} were read`);
      }
      assert.ok((counted.reads.get(kind)?.scans ?? 0) > 0);
    });
  }
});
