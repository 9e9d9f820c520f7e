// Tests how many records an import stores in one transaction, on both engines.

import assert from 'node:assert/strict';
import { before, describe, test } from 'node:test';
import type { Database } from '../../src/platform/database/port.ts';
import { BATCH_ROWS_FIRST, BatchSize } from '../../src/intake/batch-size.ts';
import { forEachEngine } from '../support/engines/each-engine.ts';
import { runImport, toContext, token, toNdjson } from '../support/service/intake.ts';

describe('the size of a batch', () => {
  test('a long transaction for which other work waits makes the batches smaller', () => {
    const size = new BatchSize('embedded');
    size.adapt(500, { ms: 300, isAwaited: true });
    assert.equal(size.rows, 250);
    size.adapt(250, { ms: 4_000, isAwaited: true });
    assert.equal(size.rows, 100);
  });

  test('a long transaction for which nothing waits does not make the batches smaller than the first batch', () => {
    const size = new BatchSize('embedded');
    size.adapt(500, { ms: 400, isAwaited: false });
    assert.equal(size.rows, BATCH_ROWS_FIRST);
  });

  test('the batches grow only while a transaction takes less time than the target of the engine', () => {
    const sizes = (['embedded', 'postgresql'] as const).map((engine) => {
      const size = new BatchSize(engine);
      for (let batch = 0; batch < 10; batch += 1) size.adapt(size.rows, { ms: size.rows / 5, isAwaited: false });
      return size.rows;
    });
    assert.deepEqual(sizes, [750, 2_500]);
  });

  test('a batch that is not full after one second is stored if it has at least 500 records, the size of the first batch', () => {
    const size = new BatchSize('postgresql');
    size.adapt(500, { ms: 10, isAwaited: false });
    const isComplete = (rows: number, ms: number) => size.isComplete(rows, { hasPrimary: false, fillMs: () => ms });
    assert.deepEqual([size.rows, isComplete(1_499, 900), isComplete(1_500, 0)], [1_500, false, true]);
    assert.deepEqual([isComplete(500, 1_100), isComplete(499, 1_100)], [true, false]);
  });

  test('a short transaction for which other work waits leaves the batches as they are', () => {
    const size = new BatchSize('embedded');
    size.adapt(500, { ms: 300, isAwaited: true });
    size.adapt(250, { ms: 140, isAwaited: true });
    assert.equal(size.rows, 250);
  });

  test('a batch has at most 2,000 records on the embedded engine and 10,000 on PostgreSQL', () => {
    const sizes = (['embedded', 'postgresql'] as const).map((engine) => {
      const size = new BatchSize(engine);
      for (let batch = 0; batch < 20; batch += 1) size.adapt(size.rows, { ms: 1, isAwaited: false });
      return size.rows;
    });
    assert.deepEqual(sizes, [2_000, 10_000]);
  });

  test('a batch with products or orders has at most 2,000 records', () => {
    const size = new BatchSize('postgresql');
    for (let batch = 0; batch < 20; batch += 1) size.adapt(size.rows, { ms: 1, isAwaited: false });
    const isComplete = (rows: number, hasPrimary: boolean) => size.isComplete(rows, { hasPrimary, fillMs: () => 0 });
    assert.deepEqual(
      [isComplete(1_999, true), isComplete(2_000, true), isComplete(2_000, false)],
      [false, true, false],
    );
  });

  test('the batches grow again up to the largest size when nothing waits', () => {
    const size = new BatchSize('embedded');
    size.adapt(500, { ms: 4_000, isAwaited: true });
    const grown = Array.from({ length: 4 }, () => {
      size.adapt(size.rows, { ms: 10, isAwaited: false });
      return size.rows;
    });
    assert.deepEqual(grown, [300, 900, 2_000, 2_000]);
  });
});

forEachEngine('batches of an import', (engine) => {
  let db: Database;
  before(async () => {
    db = await engine.open();
  });

  test('requests that wait for slow transactions make the batches smaller, on the embedded engine only', async () => {
    const ended = new AbortController();
    // While the import runs, a statement with a deadline always waits for the connection.
    const waiting = (async () => {
      while (!ended.signal.aborted) await db.within(60_000).query('select 1');
    })();
    const slow: Database = {
      ...db,
      transaction: (work) =>
        db.transaction((tx) => {
          const slept = tx.query('select pg_sleep(0.3)');
          return work({ query: (sql, params) => slept.then(() => tx.query<any>(sql, params)) });
        }),
    };
    const context = toContext(db, { main: slow, indexer: slow, copyCatalog: () => Promise.resolve() });
    const tokens = Array.from({ length: 1_300 }, (_, n) => token({ tokenId: String(n) }));
    const ends: number[] = [];
    await runImport(context, toNdjson(tokens), {
      onEvent: (event) => void (event.event === 'progress' && ends.push(event.read)),
    });
    ended.abort();
    await waiting;
    const batches = ends.map((end, index) => end - (ends[index - 1] ?? 0));
    if (engine.name === 'postgresql') assert.deepEqual(batches, [500, 500, 300]);
    else assert.ok((batches[2] ?? 0) <= 250, `the batches had ${batches.join(', ')} rows`);
  });
});
