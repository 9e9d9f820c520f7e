// Tests what a record of a listing, order or sale does to a stored row. A batch with several records of one row must have
// the same effect as the same records imported one by one.

import assert from 'node:assert/strict';
import { before, beforeEach, describe, test } from 'node:test';
import { createChains } from '../../src/platform/core/chains.ts';
import type { Database } from '../../src/platform/database/port.ts';
import { PIECE_ROWS } from '../../src/platform/database/row-source.ts';
import { foldRows, prepareRows } from '../../src/platform/database/upsert.ts';
import { listFigureDifferences } from '../../src/market/index/queries/figure-recount.ts';
import { sweepExpired } from '../../src/service/workers/expiry.ts';
import { forOneEngine } from '../support/engines/each-engine.ts';
import {
  EVM,
  NOW,
  SELLER,
  bid,
  collection,
  dumpTables,
  emptyTables,
  ingest,
  listing,
  order,
  runImport,
  sale,
  toContext,
  toNdjson,
  completeCatalog,
} from '../support/service/intake.ts';

const OTHER = '0x00000000000000000000000000000000000000bb';
const may = (day: number) => `2026-05-${String(day).padStart(2, '0')}T00:00:00Z`;
const TX = `0x${'1'.padStart(64, '0')}`;
const INSERTED = [1, 0, 0];
const UPDATED = [0, 1, 0];
const UNCHANGED = [0, 0, 1];

test('rows are written in the order of their keys, so that two writers cannot deadlock', async () => {
  const rows = ['c', 'a', 'b', 'a'].map((key, at) => ({ key, at }));
  const { rows: folded, changes } = await foldRows(rows, { keyOf: (row) => row.key, fold: (_earlier, later) => later });
  assert.deepEqual(
    folded.map(({ key, at }) => key + at),
    ['a3', 'b2', 'c0'],
  );
  assert.equal(changes, 1);
});

test('many rows are prepared in pieces, and the event loop runs between two pieces', async () => {
  const rows = Array.from({ length: 5_000 }, (_, n) => ({ key: String(n), at: n }));
  const most = { keys: 0, values: 0 };
  const read = { keys: 0, values: 0 };
  const count = <V>(of: keyof typeof read, value: V): V => {
    read[of] += 1;
    most[of] = Math.max(most[of], read[of]);
    return value;
  };
  let immediate = setImmediate(function turn() {
    Object.assign(read, { keys: 0, values: 0 });
    immediate = setImmediate(turn);
  });
  const prepared = await prepareRows(rows, {
    keyOf: ({ key }) => count('keys', key),
    fold: (earlier) => earlier,
    columns: { key: { text: ({ key }) => count('values', key) }, at: { integer: ({ at }) => count('values', at) } },
  });
  clearImmediate(immediate);
  assert.equal(prepared.rows.length, rows.length);
  // A piece has the keys of some rows, or one column of all rows.
  assert.deepEqual(most, { keys: PIECE_ROWS, values: rows.length });
});

forOneEngine('upserts', (engine) => {
  let db: Database;
  before(async () => {
    db = await engine.open();
  });
  beforeEach(() => emptyTables(db));

  const only = async (table: string): Promise<any> => {
    const rows = await db.query(`select * from ${table}`);
    assert.equal(rows.length, 1);
    return rows[0];
  };

  /** Imports the records one by one and then, into empty tables, as one batch. Both imports must leave the same rows. */
  const sameInOneBatch = async (...records: unknown[]) => {
    await emptyTables(db);
    for (const record of records) await ingest(db, record);
    const apart = await dumpTables(db);
    await emptyTables(db);
    const [inserted, updated, unchanged] = await ingest(db, ...records);
    assert.deepEqual(await dumpTables(db), apart);
    assert.equal(inserted + updated + unchanged, records.length);
    assert.deepEqual(await ingest(db, records.at(-1)), UNCHANGED);
  };

  test('a floor of 0 is stored as unknown, whichever kind of record states it, and a count or volume of 0 is stored as 0', async () => {
    const location = { chain: 'ethereum', contractAddress: EVM, at: may(5) };
    await ingest(
      db,
      { kind: 'stats', ...location, floorRaw: '0', owners: 0, listedCount: 0, supply: 0 },
      { kind: 'analytics', ...location, floorRaw: '0', volume: { allTime: 0 }, sales: { allTime: 0 } },
    );
    const stats = await only('indexer.collection_stats');
    assert.deepEqual([stats.floor_raw, stats.owners, stats.listed_count, stats.supply], [null, '0', '0', '0']);
    const analytics = await only('indexer.collection_analytics');
    assert.deepEqual([analytics.floor_raw, analytics.volume_all_time, analytics.sales_all_time], [null, 0, '0']);
    const zero = collection({ snapshot: { floorRaw: '0', volumeAllTime: 0, supply: 0, owners: 0 } });
    await sameInOneBatch(zero);
    const { snapshot_floor_raw, snapshot_volume, snapshot_supply, snapshot_owners } = await only('main.collection');
    assert.deepEqual([snapshot_floor_raw, snapshot_volume, snapshot_supply, snapshot_owners], [null, 0, '0', '0']);
    // As with a field that is left out, the stored floor stays.
    await sameInOneBatch(collection({ snapshot: { floorRaw: '7' } }), zero);
    assert.equal((await only('main.collection')).snapshot_floor_raw, '7');
  });

  describe('listings and orders', () => {
    test('a record replaces the terms of an active listing unless the record is older than the stored terms', async () => {
      assert.deepEqual(await ingest(db, listing({ timestamp: may(5) })), INSERTED);
      assert.deepEqual(await ingest(db, listing({ timestamp: may(5) })), UNCHANGED);
      assert.deepEqual(await ingest(db, listing({ timestamp: may(4), priceRaw: '1' })), UNCHANGED);
      assert.equal((await only('indexer.listing')).price_raw, '100');
      assert.deepEqual(await ingest(db, listing({ timestamp: may(5), priceRaw: '2' })), UPDATED);
      const newer = {
        timestamp: may(6),
        priceRaw: '3',
        seller: OTHER,
        expiresAt: may(9),
        buyerTotalRaw: '4',
        orderHash: '0xAA',
      };
      assert.deepEqual(await ingest(db, listing(newer)), UPDATED);
      const row = await only('indexer.listing');
      assert.deepEqual([row.price_raw, row.seller, row.buyer_total_raw, row.order_hash], ['3', OTHER, '4', '0xaa']);
      assert.deepEqual(row.expires_at, new Date(may(9)));
    });

    for (const buyerTotalRaw of ['0', '99']) {
      test(`a buyer total of ${buyerTotalRaw} at a price of 100 is stored as unknown`, async () => {
        await sameInOneBatch(listing({ buyerTotalRaw: '105' }), listing({ buyerTotalRaw }));
        assert.equal((await only('indexer.listing')).buyer_total_raw, null);
      });
    }

    test('a listing without an id has its source and a digest as its id, and is the same listing when it is imported again', async () => {
      const bare = listing({ id: undefined });
      await ingest(db, bare);
      const { id } = await only('indexer.listing');
      assert.match(id, /^opensea_[0-9a-f]{32}$/);
      assert.deepEqual(await ingest(db, bare), UNCHANGED);
      // The record as it is exported, with the id that was served.
      assert.deepEqual(await ingest(db, listing({ id })), UNCHANGED);
      assert.deepEqual(await ingest(db, listing({ id, status: 'cancelled' })), UPDATED);
      assert.deepEqual(await ingest(db, bare, listing({ id })), [0, 0, 2]);
    });

    test('a listing that an earlier version stored with the digest alone as its id is not stored a second time', async () => {
      const bare = listing({ id: undefined });
      await ingest(db, bare);
      const digest = String((await only('indexer.listing')).id).replace('opensea_', '');
      await emptyTables(db);
      // An earlier version stored the record as if the digest were its id.
      await ingest(db, listing({ id: digest }));
      assert.deepEqual(await ingest(db, bare), UNCHANGED);
      assert.equal((await only('indexer.listing')).id, digest);
    });

    test('an older record can end a listing, which keeps its newer terms', async () => {
      await ingest(db, listing({ timestamp: may(5), priceRaw: '7' }));
      assert.deepEqual(
        await ingest(db, listing({ timestamp: may(1), priceRaw: '1', status: 'filled', tx: TX })),
        UPDATED,
      );
      const row = await only('indexer.listing');
      assert.deepEqual([row.status, row.tx, row.price_raw, row.listed_at], ['filled', TX, '7', new Date(may(5))]);
    });

    for (const status of ['filled', 'cancelled', 'expired']) {
      test(`a listing or order that is ${status} never changes again`, async () => {
        await ingest(db, listing({ status }), order({ status }));
        const stored = await dumpTables(db);
        for (const next of ['active', 'filled', 'cancelled', 'expired']) {
          const change = { status: next, priceRaw: '5', tx: '0x2' };
          assert.deepEqual(await ingest(db, listing({ ...change, timestamp: may(20) })), UNCHANGED);
          assert.deepEqual(await ingest(db, order(change)), UNCHANGED);
        }
        assert.deepEqual(await dumpTables(db), stored);
      });
    }

    const OVER = { expiresAt: may(20) };
    const LONGER = { expiresAt: '2027-01-01T00:00:00Z', priceRaw: '5' };
    const afterExpiry: Record<string, { before: object[]; later: object[] }> = {
      'a listing that is reported with a later expiry': {
        before: [listing(OVER)],
        later: [listing({ ...LONGER, timestamp: may(25) })],
      },
      'an order that is imported with a later expiry': { before: [order(OVER)], later: [order(LONGER)] },
      'a listing that is reported as filled': {
        before: [listing(OVER)],
        later: [listing({ status: 'filled', tx: TX })],
      },
      'an order that is imported as filled': {
        before: [order(OVER)],
        later: [order({ ...OVER, status: 'filled', tx: TX })],
      },
      'a listing whose order another marketplace reports as filled': {
        before: [listing({ ...OVER, orderHash: '0xaa' })],
        later: [listing({ id: 'M1', source: 'magic-eden', orderHash: '0xaa', status: 'filled', tx: TX })],
      },
      'a listing that is reported as expired, with the time of the end': {
        before: [listing(OVER)],
        later: [listing({ ...LONGER, status: 'expired', endedAt: may(19), timestamp: may(25) })],
      },
      'an order that is imported as expired, with the time of the end': {
        before: [order(OVER)],
        later: [order({ ...LONGER, status: 'expired', endedAt: may(19) })],
      },
    };
    for (const [what, { before, later }] of Object.entries(afterExpiry)) {
      test(`${what} after it has expired keeps its terms and stays expired, whether or not the sweep has run`, async () => {
        const stores = { main: db, indexer: db, chains: createChains(), clock: () => NOW };
        const results: unknown[] = [];
        for (const isSwept of [false, true]) {
          await emptyTables(db);
          await runImport(toContext(db, { clock: () => Date.parse(may(10)) }), toNdjson(before));
          if (isSwept) await sweepExpired(stores);
          const { summary } = await runImport(toContext(db), toNdjson(later));
          await sweepExpired(stores);
          await completeCatalog(toContext(db));
          results.push({
            counts: [summary.inserted, summary.updated, summary.unchanged],
            tables: await dumpTables(db),
          });
        }
        assert.deepEqual(results[0], results[1]);
        const rows = await db.query(
          `select status, price_raw::text as price, tx from indexer.listing where source = 'opensea'
           union all select status, price_raw::text, tx from main.book_order`,
        );
        assert.deepEqual(
          rows,
          before.map(() => ({ status: 'expired', price: '100', tx: null })),
        );
        // Imported in one file, the later record finds the listing or order expired too.
        await sameInOneBatch(...before, ...later);
      });
    }

    test('a later record can add the time at which a listing or an order has ended, and nothing else', async () => {
      for (const status of ['filled', 'cancelled', 'expired']) {
        const ended = { status, endedAt: may(3), priceRaw: '5', tx: '0x2', timestamp: may(25) };
        const { timestamp: _, ...endedOrder } = ended;
        await sameInOneBatch(listing({ status, tx: TX }), listing(ended));
        await sameInOneBatch(order({ status, tx: TX }), order(endedOrder));
        await ingest(db, listing({ status, tx: TX }));
        assert.deepEqual(await ingest(db, listing(ended)), UPDATED);
        for (const other of [
          { ...ended, endedAt: may(4) },
          { ...ended, status: 'filled', endedAt: may(2) },
        ]) {
          assert.deepEqual(await ingest(db, listing(other)), UNCHANGED);
        }
        assert.deepEqual(await ingest(db, order({ ...endedOrder, endedAt: may(4) })), UNCHANGED);
        const rows = await db.query(
          `select status, price_raw::text as price, tx, closed_at as at from indexer.listing
           union all select status, price_raw::text, tx, ended_at from main.book_order`,
        );
        const expected = { status, price: '100', tx: TX, at: new Date(may(3)) };
        assert.deepEqual(rows, [expected, expected]);
      }
    });

    test('each later record of an active order replaces the terms of the order', async () => {
      assert.deepEqual(await ingest(db, order()), INSERTED);
      assert.deepEqual(await ingest(db, order()), UNCHANGED);
      assert.deepEqual(await ingest(db, order({ priceRaw: '5', expiresAt: LONGER.expiresAt })), UPDATED);
      assert.deepEqual(
        await ingest(db, order({ priceRaw: '5', expiresAt: LONGER.expiresAt, status: 'filled', tx: TX })),
        UPDATED,
      );
      const row = await only('main.book_order');
      assert.deepEqual(
        [row.id, row.status, row.price_raw, row.tx],
        [`ethereum_${EVM}_1_${Date.parse(may(1))}`, 'filled', '5', TX],
      );
    });

    test('records in one batch leave the same rows as the same records imported one by one', async () => {
      const record = (day: number, more: object = {}) =>
        listing({ timestamp: may(day), priceRaw: String(day), ...more });
      await sameInOneBatch(record(5), record(3), record(6), record(6, { priceRaw: '9' }));
      await sameInOneBatch(record(5), record(3, { status: 'cancelled', tx: TX }), record(8));
      await sameInOneBatch(record(3, { status: 'filled' }), record(8), record(9, { status: 'expired' }));
      await sameInOneBatch(record(3, { tx: '0x5' }), record(4), record(5, { status: 'filled' }));
      await sameInOneBatch(order(), order({ priceRaw: '5' }), order({ status: 'filled', tx: TX }), order());
      assert.deepEqual((await db.query('select status, tx, price_raw from main.book_order'))[0], {
        status: 'filled',
        tx: TX,
        price_raw: '100',
      });
    });

    test('a bid changes by the same rules as a listing, one by one and in one batch', async () => {
      const record = (day: number, more: object = {}) =>
        bid({ timestamp: may(day), priceRaw: String(100 + day), ...more });
      const terms = async () => {
        const row = await only('main.book_order');
        return [row.status, row.price_raw, row.proceeds_raw, row.token_id, row.quantity, row.filled_quantity];
      };
      assert.deepEqual(await ingest(db, record(5)), INSERTED);
      assert.deepEqual(await ingest(db, record(5)), UNCHANGED);
      assert.deepEqual(await ingest(db, record(4, { priceRaw: '900' })), UNCHANGED);
      assert.deepEqual(await terms(), ['active', '105', '95', null, '1', '0']);
      assert.deepEqual(await ingest(db, record(6, { tokenId: '7', quantity: '5', remaining: '2' })), UPDATED);
      assert.deepEqual(await terms(), ['active', '106', '95', '7', '5', '3']);
      assert.deepEqual(await ingest(db, record(1, { status: 'cancelled' })), UPDATED);
      assert.deepEqual(await ingest(db, record(9)), UNCHANGED);
      assert.deepEqual((await terms()).slice(0, 2), ['cancelled', '106']);
      await sameInOneBatch(record(5), record(3), record(6), record(6, { proceedsRaw: '9' }));
      await sameInOneBatch(record(5), record(3, { status: 'cancelled', tx: TX, endedAt: may(8) }), record(8));
      await sameInOneBatch(
        record(3, { status: 'filled' }),
        record(8),
        record(3, { status: 'filled', endedAt: may(4) }),
      );
      await sameInOneBatch(record(3, { expiresAt: may(9) }), record(8, { status: 'cancelled' }));
      await sameInOneBatch(bid(), bid({ id: undefined }), bid({ id: undefined, tokenId: '3' }));
      assert.equal((await db.query('select 1 from main.book_order')).length, 3);
    });

    test('if a later record of a batch lacks order terms, the terms of the earlier record are kept', async () => {
      const terms = { operator: OTHER, protocolAddress: OTHER, counter: '3', quantity: '2', partial: true };
      const first = listing({ timestamp: may(5), orderHash: '0xaa', ...terms });
      const same = listing({ timestamp: may(6), orderHash: '0xaa', priceRaw: '7' });
      await sameInOneBatch(first, same);
      const row = await only('indexer.listing');
      assert.deepEqual([row.price_raw, row.operator, row.counter, row.quantity], ['7', OTHER, '3', '2']);
      await sameInOneBatch(first, listing({ timestamp: may(6), orderHash: '0xaa', counter: '4' }));
      await sameInOneBatch(first, listing({ timestamp: may(6), orderHash: '0xbb' }));
      assert.equal((await only('indexer.listing')).counter, null);
      await sameInOneBatch(first, same, listing({ timestamp: may(4), orderHash: '0xaa', status: 'filled' }));
    });

    test('a record that has the id of a stored listing, but another token, changes nothing', async () => {
      await sameInOneBatch(listing({ timestamp: may(5) }), listing({ timestamp: may(6), priceRaw: '7', tokenId: '2' }));
      const row = await only('indexer.listing');
      assert.deepEqual([row.collection_id, row.asset, row.price_raw], [`ethereum_${EVM}`, '1', '100']);
    });

    test('a record that has the id of a listing of another token is a conflict, in the batch of that listing and after it', async () => {
      const other = listing({ tokenId: '2', timestamp: may(6), priceRaw: '7' });
      const third = listing({ tokenId: '1', timestamp: may(7), priceRaw: '8' });
      const reason = 'this listing is stored with token "1", not "2"';
      const { summary, conflicts } = await runImport(toContext(db), toNdjson([listing(), other, third]), {
        replace: true,
      });
      assert.deepEqual([summary.inserted, summary.updated, summary.unchanged, summary.conflict], [1, 1, 0, 1]);
      assert.deepEqual(conflicts, [{ line: 2, reason }]);
      assert.equal(summary.byKind.listing?.conflict, 1);
      const again = await runImport(toContext(db), toNdjson([third, other]));
      assert.deepEqual([again.summary.unchanged, again.conflicts], [1, [{ line: 2, reason }]]);
      const row = await only('indexer.listing');
      assert.deepEqual([row.asset, row.price_raw], ['1', '8']);
    });

    test('records with the same listing id in two collections are stored as two listings', async () => {
      await ingest(db, listing({ timestamp: may(5) }));
      assert.deepEqual(await ingest(db, listing({ timestamp: may(6), contractAddress: OTHER })), INSERTED);
      const rows = await db.query('select collection_id, asset from indexer.listing order by collection_id');
      assert.deepEqual(
        rows,
        [EVM, OTHER].sort().map((address) => ({ collection_id: `ethereum_${address}`, asset: '1' })),
      );
      await sameInOneBatch(listing({ timestamp: may(5) }), listing({ timestamp: may(6), contractAddress: OTHER }));
    });

    test('amounts of 78 digits are kept exactly', async () => {
      const raw = (2n ** 256n - 1n).toString();
      await ingest(db, listing({ priceRaw: raw, buyerTotalRaw: raw }), order({ priceRaw: raw, tokenId: raw }));
      assert.equal((await only('indexer.listing')).price_raw, raw);
      assert.equal((await only('indexer.listing')).buyer_total_raw, raw);
      assert.equal((await only('main.book_order')).price_raw, raw);
      assert.equal((await only('main.book_order')).token_id, raw);
    });
  });

  describe('sales', () => {
    test('an import without `replace` never changes a stored sale', async () => {
      assert.deepEqual(await ingest(db, sale({ tx: '0x1' })), INSERTED);
      assert.deepEqual(await ingest(db, sale({ tx: '0x1', price: '5', source: 'blur' })), UNCHANGED);
      assert.equal((await only('indexer.sale')).price, '100');
      await sameInOneBatch(sale({ tx: '0x1' }), sale({ tx: '0x1', price: '7' }), sale({ tx: '0x1' }));
    });

    test('an import with `replace` replaces the stored sales that differ from its records', async () => {
      const at = (hour: string, price: string, tx: string) =>
        sale({ tx, price, tokenId: tx.slice(2), timestamp: `2026-05-01T${hour}:30:00Z` });
      const wrong = [at('10', '59', '0x1'), at('10', '59.9', '0x2'), at('11', '7', '0x3')];
      const right = [at('10', '5900', '0x1'), at('12', '5990', '0x2'), at('11', '7', '0x3'), at('13', '1', '0x4')];
      await runImport(toContext(db), toNdjson(right));
      const expected = await dumpTables(db);
      await emptyTables(db);
      await runImport(toContext(db), toNdjson(wrong));
      const stored = await dumpTables(db);
      const { conflicts } = await runImport(toContext(db), toNdjson(right.slice(0, 3)));
      assert.deepEqual(
        conflicts.map(({ line }) => line),
        [1, 2],
      );
      assert.deepEqual(await dumpTables(db), stored);
      const dry = await runImport(toContext(db), toNdjson(right), { replace: true, dryRun: true });
      assert.deepEqual(await dumpTables(db), stored);
      // If a batch has two records of one sale, the later record is stored.
      const content = toNdjson([at('10', '1', '0x1'), ...right]);
      const { summary } = await runImport(toContext(db), content, { replace: true });
      assert.deepEqual([summary.inserted, summary.updated, summary.unchanged, summary.conflict], [1, 2, 2, 0]);
      assert.deepEqual([dry.summary.inserted, dry.summary.updated, dry.summary.unchanged], [1, 2, 1]);
      const differences = await listFigureDifferences(db, { prefix: '', now: NOW, limit: 10 });
      assert.deepEqual(differences, []);
      // When all sales of an hour were replaced by sales in other hours, `sale_hour` keeps a row for the hour.
      await db.query('delete from indexer.sale_hour where sales = 0');
      assert.deepEqual(await dumpTables(db), expected);
      assert.deepEqual(await ingest(db, ...right), [0, 0, 4]);
    });

    test('a record that names neither parties nor a listing does not conflict with the stored sale', async () => {
      await ingest(db, sale({ tx: '0x1', seller: SELLER, listingId: 'L1' }));
      const { summary } = await runImport(toContext(db), toNdjson([sale({ tx: '0x1', source: 'magic-eden' })]));
      assert.deepEqual([summary.unchanged, summary.conflict], [1, 0]);
    });

    test('a sale that replaces a stored sale keeps the parties that the new record does not name', async () => {
      const BUYER = `0x${'b2'.repeat(20)}`;
      await ingest(db, sale({ tx: '0x1', seller: SELLER, buyer: BUYER }));
      const right = toNdjson([sale({ tx: '0x1', price: '5', seller: null, buyer: null })]);
      for (const updated of [1, 0]) {
        const { summary } = await runImport(toContext(db), right, { replace: true });
        assert.equal(summary.updated, updated);
        const { price, seller, buyer } = await only('indexer.sale');
        assert.deepEqual([price, seller, buyer], ['5', SELLER, BUYER]);
      }
    });

    test('a sale that was read from a chain is not replaced', async () => {
      await ingest(db, sale({ tx: '0x1', logIndex: 1 }));
      await db.query('update indexer.sale set block_number = 5');
      const { summary } = await runImport(toContext(db), toNdjson([sale({ tx: '0x1', logIndex: 1, price: '5' })]), {
        replace: true,
      });
      assert.deepEqual([summary.updated, summary.conflict], [0, 1]);
      assert.equal((await only('indexer.sale')).price, '100');
    });

    test('the sums of sales by hour and in total contain each sale that is not at 0 exactly once', async () => {
      const at = (time: string, price: string, more: object = {}) =>
        sale({ timestamp: `2026-05-01T${time}Z`, price, tokenId: `${time}${price}`.replace(/\D/g, '1'), ...more });
      const first = [at('10:00:00', '1'), at('10:59:59.999', '2'), at('11:00:00', '4'), at('10:30:00', '6.27e+16')];
      const then = [
        at('10:15:00', '0'),
        at('10:20:00', '8'),
        at('10:20:00', '8'),
        at('10:00:00', '16', { contractAddress: OTHER }),
      ];
      await ingest(db, ...first);
      await ingest(db, ...first, ...then);
      await ingest(db, ...then);
      const hours = await db.query(
        `select collection_id, hour, volume_raw, sales, unread from indexer.sale_hour order by 1, 2`,
      );
      const row = (address: string, hour: number, volume: string, sales: string, unread = '0') => ({
        collection_id: `ethereum_${address}`,
        hour: new Date(Date.UTC(2026, 4, 1, hour)),
        volume_raw: volume,
        sales,
        unread,
      });
      assert.deepEqual(hours, [row(EVM, 10, '11', '4', '1'), row(EVM, 11, '4', '1'), row(OTHER, 10, '16', '1')]);
      const totals = await db.query(
        `select collection_id, volume_raw, sales, unread from indexer.sale_total order by 1`,
      );
      assert.deepEqual(totals, [
        { collection_id: `ethereum_${EVM}`, volume_raw: '15', sales: '5', unread: '1' },
        { collection_id: `ethereum_${OTHER}`, volume_raw: '16', sales: '1', unread: '0' },
      ]);
      const [{ count } = { count: 0 }] = await db.query(`select count(*)::int as count from indexer.sale`);
      assert.equal(count, 7);
    });

    test('sums are exact beyond the precision of a double', async () => {
      const raw = 2n ** 255n;
      await ingest(
        db,
        sale({ price: raw.toString(), tokenId: '1' }),
        sale({ price: (raw + 1n).toString(), tokenId: '2' }),
      );
      assert.equal((await only('indexer.sale_total')).volume_raw, (2n * raw + 1n).toString());
    });
  });
});
