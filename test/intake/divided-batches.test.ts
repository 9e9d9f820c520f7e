// On PostgreSQL, a large batch is divided by collection into parts, which are stored at the same time.

import assert from 'node:assert/strict';
import { before, beforeEach, describe, test } from 'node:test';
import type { Database } from '../../src/platform/database/port.ts';
import type { BatchTransaction } from '../../src/intake/batch-size.ts';
import type { IngestOptions } from '../../src/intake/ingest/batch.ts';
import { ingestBatch, prepareBatch } from '../../src/intake/ingest/batch.ts';
import { divideByCollection } from '../../src/intake/ingest/divide-batch.ts';
import type { NumberedRecord } from '../../src/intake/records/parse.ts';
import { parseRecord } from '../../src/intake/records/parse.ts';
import { lockOpenImport } from '../../src/intake/queries/import-changes.ts';
import type { ChangeLog } from '../../src/intake/undo/change-log.ts';
import { beginImport } from '../../src/intake/undo/recorded-import.ts';
import { undoPart } from '../../src/intake/undo/undo-import.ts';
import { forEachEngine } from '../support/engines/each-engine.ts';
import {
  dumpTables,
  emptyTables,
  listing,
  NOW,
  recordContext,
  sale,
  toContext,
  token,
} from '../support/service/intake.ts';

const ROWS = 6_000;
const addressOf = (collection: number) => `0x${String(collection).padStart(40, '0')}`;
/** Each record has a number of its own. Of three records one is a sale, one a listing, and one a token. */
const toRecords = (collections: number) =>
  Array.from({ length: ROWS }, (_, n) => {
    const fields = { contractAddress: addressOf(n % collections), tokenId: String(n) };
    if (n % 3 === 0) return sale({ ...fields, tx: `0x${n}`, logIndex: 1 });
    return n % 3 === 1 ? listing({ ...fields, id: `L${n}` }) : token({ ...fields, name: `#${n}` });
  });
const records = toRecords(6);

const poolOf = (engine: Database['engine'], max: number) => ({
  engine,
  pool: () => ({ max, open: 0, idle: 0, waiting: 0, respondedAt: 0 }),
});

function toNumbered(values: readonly Record<string, unknown>[]): NumberedRecord[] {
  return values.map((fields, index) => {
    const { record } = parseRecord(recordContext, fields);
    assert.ok(record);
    return { line: index + 1, record };
  });
}

/** `rows`: the number of tokens of each collection. The list has the first token of each collection, then the second of each, and so on. */
function listTokens(rows: readonly number[]): Record<string, unknown>[] {
  return Array.from({ length: Math.max(...rows) }, (_, n) => n).flatMap((n) =>
    rows.flatMap((count, collection) =>
      n < count ? [token({ contractAddress: addressOf(collection), tokenId: String(n) })] : [],
    ),
  );
}

describe('the parts of a batch', () => {
  const divide = (rows: readonly number[], max = 10, engine: Database['engine'] = 'postgresql') =>
    divideByCollection(toNumbered(listTokens(rows)), poolOf(engine, max));

  test('all records of a collection are in one part, in their order, and every record is in one part', () => {
    const parts = divide([2_700, 1_500, 1_200, 900, 600, 300, 150, 150]);
    assert.equal(parts.length, 4);
    const collections = parts.map(
      (part) => new Set(part.map(({ record }) => 'collectionId' in record.row && record.row.collectionId)),
    );
    assert.equal(
      collections.reduce((sum, { size }) => sum + size, 0),
      8,
    );
    const lines = parts.flatMap((part) => part.map(({ line }) => line));
    assert.deepEqual(
      lines.toSorted((a, b) => a - b),
      Array.from({ length: 7_500 }, (_, index) => index + 1),
    );
    for (const part of parts)
      assert.deepEqual(
        part,
        part.toSorted((a, b) => a.line - b.line),
      );
  });

  test('the parts are of similar size unless one collection is larger than the others together', () => {
    const sizes = (rows: readonly number[]) => divide(rows).map((part) => part.length);
    assert.deepEqual(sizes([1_800, 1_650, 1_500, 1_200, 450, 300, 150]), [1_800, 1_800, 1_800, 1_650]);
    assert.deepEqual(sizes([7_500]), [7_500]);
  });

  test('a part has at least 1,500 records, and a batch at most half as many parts as there are connections', () => {
    const collections = Array.from({ length: 400 }, () => 30);
    assert.equal(divide(collections.slice(0, 99)).length, 1);
    assert.equal(divide(collections.slice(0, 100)).length, 2);
    assert.equal(divide(collections).length, 4);
    assert.equal(divide(collections, 4).length, 2);
    assert.equal(divide(collections, 3).length, 1);
    assert.deepEqual(divide([]), []);
  });

  test('the parts are prepared one after the other, and the event loop runs before each of them', async () => {
    let turns = 0;
    let immediate = setImmediate(function turn() {
      turns += 1;
      immediate = setImmediate(turn);
    });
    const context = { indexer: poolOf('postgresql', 10) };
    // No part has so many rows of one kind that the rows are divided again.
    const { parts } = await prepareBatch(context, toNumbered(toRecords(12)), { now: NOW });
    clearImmediate(immediate);
    assert.equal(parts.length, 4);
    assert.ok(turns >= parts.length, String(turns));
  });

  test('the embedded engine, which has one connection, stores a batch in one part', () => {
    assert.equal(
      divide(
        Array.from({ length: 400 }, () => 30),
        10,
        'embedded',
      ).length,
      1,
    );
  });
});

forEachEngine('divided batches', (engine) => {
  let db: Database;
  before(async () => {
    db = await engine.open();
  });
  beforeEach(() => emptyTables(db));

  /**
   * `context` uses the database `db`. `seen.most` is the largest number of transactions that ran at the same time. `fail` is called at the end of
   * each transaction, with the number of the transaction.
   */
  const observe = (fail: (started: number) => void = () => undefined) => {
    const seen = { most: 0 };
    let [running, started] = [0, 0];
    const observed: Database = {
      ...db,
      transaction: async (work) => {
        running += 1;
        started += 1;
        const number = started;
        seen.most = Math.max(seen.most, running);
        try {
          return await db.transaction(async (tx) => {
            const result = await work(tx);
            fail(number);
            return result;
          });
        } finally {
          running -= 1;
        }
      },
    };
    const context = toContext(db, { main: observed, indexer: observed, copyCatalog: () => Promise.resolve() });
    return { context, seen };
  };

  const ingestAll = async (
    context: ReturnType<typeof toContext>,
    {
      changes,
      onTransaction,
      values = records,
    }: {
      changes?: ChangeLog;
      onTransaction?: IngestOptions['onTransaction'];
      values?: readonly Record<string, unknown>[];
    } = {},
  ) => {
    let inserted = 0;
    const ingested = ingestBatch(context, toNumbered(values), {
      now: NOW,
      dryRun: false,
      isImport: true,
      ...(changes && { changes }),
      ...(onTransaction && { onTransaction }),
      onIngested: ({ counts }) => {
        for (const count of counts.values()) inserted += count.inserted;
      },
    });
    const error = await ingested.then(
      () => null,
      (reason: unknown) => reason,
    );
    return { inserted, error };
  };

  test('the parts are stored at the same time, and store the same rows as a batch in one part', async () => {
    const undivided: Database = { ...db, pool: () => ({ ...db.pool(), max: 1 }) };
    assert.deepEqual(await ingestAll(toContext(undivided)), { inserted: ROWS, error: null });
    const expected = await dumpTables(db);
    await emptyTables(db);
    const { context, seen } = observe();
    assert.deepEqual(await ingestAll(context), { inserted: ROWS, error: null });
    assert.deepEqual(await dumpTables(db), expected);
    assert.equal(seen.most, engine.name === 'postgresql' ? 4 : 1);
  });

  test('concurrent imports together use half of the connections to PostgreSQL, and on the embedded engine one transaction each', async () => {
    const { context, seen } = observe();
    const results = await Promise.all([ingestAll(context), ingestAll(context), ingestAll(context)]);
    assert.deepEqual(
      results.map(({ error }) => error),
      [null, null, null],
    );
    assert.equal(
      results.reduce((sum, { inserted }) => sum + inserted, 0),
      ROWS,
    );
    assert.equal(seen.most, engine.name === 'postgresql' ? db.pool().max / 2 : 3);
  });

  test('the longest transaction of a batch is reported once, even if the batch also looks up an order in the primary database', async () => {
    const slow: Database = {
      ...db,
      transaction: (work) =>
        db.transaction((tx) => {
          const slept = tx.query('select pg_sleep(0.1)');
          return work({ query: (sql, params) => slept.then(() => tx.query<any>(sql, params)) });
        }),
    };
    const context = toContext(db, { indexer: slow, copyCatalog: () => Promise.resolve() });
    const transactions: BatchTransaction[] = [];
    const values = [...records, listing({ id: 'with an order', orderHash: `0x${'a'.repeat(64)}` })];
    const { error } = await ingestAll(context, { values, onTransaction: (one) => void transactions.push(one) });
    assert.equal(error, null);
    assert.equal(transactions.length, 1);
    assert.ok((transactions[0]?.ms ?? 0) >= 100);
  });

  test('when one part fails, the other parts are stored and counted, and a repetition of the batch stores the missing rows', async () => {
    const failure = new Error('out of order');
    const { context } = observe((started) => {
      if (started === 1) throw failure;
    });
    const { inserted, error } = await ingestAll(context);
    assert.equal(error, failure);
    const [row] = await db.query(
      `select (select count(*) from indexer.sale)::int + (select count(*) from indexer.listing)::int
         + (select count(*) from indexer.token)::int as rows`,
    );
    assert.equal(row?.['rows'], inserted);
    // Two of the six collections are in the part that fails.
    assert.equal(inserted, engine.name === 'postgresql' ? (ROWS * 4) / 6 : 0);
    assert.deepEqual(await ingestAll(toContext(db)), { inserted: ROWS - inserted, error: null });
  });

  for (const [state, failing] of [
    ['completely stored', 0],
    ['partly stored', 1],
  ] as const) {
    test(`a batch in parts that is ${state} is undone completely`, async () => {
      const empty = await dumpTables(db);
      const { context, seen } = observe((started) => {
        if (started === failing) throw new Error('out of order');
      });
      const changes = await beginImport(context, {
        importer: 'operator',
        file: null,
        format: 'ndjson',
        replace: false,
      });
      const { inserted } = await ingestAll(context, { changes });
      assert.equal(seen.most, engine.name === 'postgresql' ? 4 : 1);
      if (failing === 0) assert.equal(inserted, ROWS);
      else assert.ok(inserted < ROWS);
      const part = await undoPart(toContext(db), changes.importId, { budgetMs: 60_000 });
      const removed = Object.values(part.rows).reduce((sum, rows) => sum + (rows?.removed ?? 0), 0);
      assert.deepEqual([part.state, removed], ['undone', inserted]);
      for (const [table, rows] of Object.entries(await dumpTables(db))) {
        if (/\.(sale|listing|token|listed_asset|coverage)$/.test(table)) assert.deepEqual(rows, empty[table], table);
      }
    });
  }

  test('two transactions of one import do not wait for one another, and an undo waits for both', async (t) => {
    if (engine.name === 'embedded') return t.skip('the embedded engine has one connection');
    await db.transaction((tx) => lockOpenImport(tx, 'indexer', 'imp_1'));
    const both = Promise.withResolvers<void>();
    t.after(() => both.resolve());
    const [first, second] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
    const hold = (held: typeof first) =>
      db.transaction(async (tx) => {
        assert.equal(await lockOpenImport(tx, 'indexer', 'imp_1'), true);
        held.resolve();
        await both.promise;
      });
    const held = [hold(first), hold(second)];
    await Promise.all([first.promise, second.promise]);
    const closing = `update indexer.import_log set closed = true where import_id = 'imp_1'`;
    const blocked = db.transaction(async (tx) => {
      await tx.query(`set local lock_timeout = '100ms'`);
      await tx.query(closing);
    });
    await assert.rejects(blocked, { code: '55P03' });
    both.resolve();
    await Promise.all(held);
    await db.query(closing);
    assert.equal(await db.transaction((tx) => lockOpenImport(tx, 'indexer', 'imp_1')), false);
  });
});
