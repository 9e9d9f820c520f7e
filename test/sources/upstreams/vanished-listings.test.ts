// Tests how a mirrored listing ends although its marketplace does not report an end: the listing is missing from a snapshot, which is a
// list of the listings at the marketplace, or another marketplace reports the end of the same order. The last test checks the counts and
// the rejections of an ingester.

import assert from 'node:assert/strict';
import { before, beforeEach, test } from 'node:test';
import type { Database } from '../../../src/platform/database/port.ts';
import { Ingester, LISTING_DELAY_MAX_MS } from '../../../src/sources/upstreams/ingester.ts';
import { forOneEngine } from '../../support/engines/each-engine.ts';
import { bid, emptySyncTables, EVM, listing, NOW, order, toContext, token } from '../../support/service/intake.ts';
import { range } from '../../support/service/market.ts';

const COLLECTION_ID = `ethereum_${EVM}`;
const MINUTE_MS = 60_000;
const HASH = `0x${'ab'.repeat(32)}`;

forOneEngine('mirrored listings', (engine) => {
  let db: Database;
  let now = NOW;
  let changed: string[] = [];
  before(async () => {
    db = await engine.open();
  });
  beforeEach(async () => {
    now = NOW;
    changed = [];
    await emptySyncTables(db);
  });

  const ingester = (): Ingester =>
    new Ingester(
      toContext(db, {
        clock: () => now,
        onChanged: ({ collectionIds, kinds }) => changed.push([...kinds, ...collectionIds].join(' ')),
      }),
    );
  const row = (n: number, more: object = {}) => listing({ id: `L${n}`, tokenId: String(n), ...more });
  /**
   * Stores a snapshot of one marketplace, and retires the listings that are not in the snapshot. With `below`, only listings below that
   * price are retired.
   */
  const snapshot = async (
    rows: readonly Record<string, unknown>[],
    { source = 'opensea', below = null }: { source?: string; below?: bigint | null } = {},
  ) => {
    const run = ingester();
    await run.ingest(rows);
    const accepted = await run.retireUnseen({ source, collectionId: COLLECTION_ID, below });
    return { accepted, ...run.result() };
  };
  const statuses = async (): Promise<Record<string, string>> => {
    const rows = await db.query(`select id, status from indexer.listing order by id`);
    return Object.fromEntries(rows.map((found) => [found['id'], found['status']]));
  };
  const countActive = async () => Object.values(await statuses()).filter((status) => status === 'active').length;

  test('a listing that is missing from a snapshot is retired and reported as changed', async () => {
    await snapshot(range(4).map((n) => row(n)));
    changed = [];
    const { accepted, retired } = await snapshot([row(0), row(1), row(2)]);
    assert.deepEqual([accepted, retired], [true, 1]);
    assert.deepEqual(await statuses(), { L0: 'active', L1: 'active', L2: 'active', L3: 'cancelled' });
    assert.deepEqual(changed, [`listing ${COLLECTION_ID}`]);
    assert.equal((await snapshot([row(0), row(1), row(2)])).retired, 0, 'a second snapshot retired a listing again');
    const again = await snapshot(range(4).map((n) => row(n)));
    assert.deepEqual([again.changed, again.retired, await countActive()], [1, 0, 4]);
    assert.equal((await snapshot(range(4).map((n) => row(n)))).changed, 0);
  });

  test('a retired listing that is reported as filled stays filled when a later snapshot contains it', async () => {
    await snapshot([row(0), row(1)]);
    await snapshot([row(0)]);
    await ingester().ingest([row(1, { status: 'filled', tx: '0x01' })]);
    assert.deepEqual(await statuses(), { L0: 'active', L1: 'filled' });
    assert.equal((await snapshot([row(0), row(1)])).changed, 0);
    assert.deepEqual(await statuses(), { L0: 'active', L1: 'filled' });
  });

  test('a snapshot retires only listings of its own marketplace and collection', async () => {
    const fresh = { timestamp: new Date(NOW - LISTING_DELAY_MAX_MS).toISOString() };
    await ingester().ingest([
      row(0),
      row(1, { source: 'magic-eden' }),
      row(2, { contractAddress: EVM.replace(/aa$/, 'ab') }),
      row(3, fresh),
    ]);
    assert.equal((await snapshot([])).retired, 1);
    assert.deepEqual(await statuses(), { L0: 'cancelled', L1: 'active', L2: 'active', L3: 'active' });
    now += 1;
    assert.equal((await snapshot([])).retired, 1, 'a later snapshot that lacks the new listing did not retire it');
    assert.equal((await statuses())['L3'], 'cancelled');
  });

  test('a reported bid that is missing from a snapshot of bids is retired, and active again when it is reported again', async () => {
    const offer = (n: number, more: object = {}) => bid({ id: `B${n}`, priceRaw: String(100 + n), ...more });
    const bids = async (rows: readonly Record<string, unknown>[], source = 'opensea') => {
      const run = ingester();
      await run.ingest(rows);
      const accepted = await run.retireUnseenBids({ source, collectionId: COLLECTION_ID, chain: 'ethereum' });
      return { accepted, ...run.result() };
    };
    const states = async () =>
      (await db.query(`select right(id, 2) as id, status, ended_at from main.book_order order by right(id, 2)`)).map(
        ({ id, status, ended_at: at }) => [id, status, at],
      );
    await ingester().ingest([row(1), offer(9, { source: 'magic-eden' })]);
    await bids([offer(1), offer(2), offer(3, { status: 'filled' })]);
    changed = [];
    now += 1;
    const { accepted, retired } = await bids([offer(1)]);
    assert.deepEqual([accepted, retired, changed], [true, 1, [`bid ${COLLECTION_ID}`]]);
    assert.deepEqual(await states(), [
      ['B1', 'active', null],
      ['B2', 'cancelled', new Date(now)],
      ['B3', 'filled', null],
      ['B9', 'active', null],
    ]);
    assert.deepEqual(await statuses(), { L1: 'active' });
    assert.equal((await bids([offer(1), offer(2), offer(3)])).changed, 1);
    assert.deepEqual((await states())[1], ['B2', 'active', null]);
    assert.deepEqual((await states())[2], ['B3', 'filled', null]);
    // A bid that was made during the list may be missing from it.
    await ingester().ingest([offer(4, { timestamp: new Date(now - LISTING_DELAY_MAX_MS).toISOString() })]);
    assert.equal((await bids([offer(1), offer(2)])).retired, 0);
    const many = range(40).map((n) => offer(n + 10));
    await bids(many);
    assert.deepEqual(await bids(many.slice(0, 19)).then((one) => [one.accepted, one.retired]), [false, 0]);
    now += 5 * MINUTE_MS;
    assert.equal((await bids(many.slice(0, 19))).accepted, false);
    // By now, the bid that was made during an earlier list is missing too.
    assert.deepEqual(await bids(many.slice(0, 19)).then((one) => [one.accepted, one.retired]), [true, 22]);
  });

  test('a run that sees more distinct listings than its limit fails', async () => {
    const run = new Ingester(toContext(db), { seenMax: 2 });
    await run.ingest([row(0), row(1), row(0)]);
    await run.ingest([row(1)]);
    await assert.rejects(run.ingest([row(2)]), /more than 2 active listings/);
  });

  test('a listing whose listing time is in the future is retired like any other listing', async () => {
    const wrong = { timestamp: new Date(NOW + 24 * 60 * MINUTE_MS).toISOString() };
    await ingester().ingest([row(0), row(1, wrong)]);
    assert.equal((await snapshot([row(0)])).retired, 1);
    assert.deepEqual(await statuses(), { L0: 'active', L1: 'cancelled' });
  });

  test('a snapshot that lacks more than half of the listings is rejected for five minutes', async () => {
    const book = range(40).map((n) => row(n));
    await snapshot(book);
    const short = book.slice(0, 19);
    for (const minutes of [0, 2, 4]) {
      now = NOW + minutes * MINUTE_MS;
      const { accepted, retired } = await snapshot(short);
      assert.deepEqual(
        [accepted, retired, await countActive()],
        [false, 0, 40],
        `the snapshot was accepted after ${minutes} minutes`,
      );
    }
    now = NOW + 5 * MINUTE_MS;
    const { accepted, retired } = await snapshot(short);
    assert.deepEqual([accepted, retired, await countActive()], [true, 21, 19]);
  });

  test('a short snapshot is accepted only if it is at least the third in a row and the first is at least five minutes old', async () => {
    const book = range(40).map((n) => row(n));
    await snapshot(book);
    for (let times = 0; times < 6; times += 1) assert.equal((await snapshot([])).accepted, false);
    await snapshot(book);
    assert.equal((await snapshot([])).accepted, false);
    now += 60 * MINUTE_MS;
    assert.equal((await snapshot([])).accepted, false, 'the second short snapshot was accepted');
    assert.equal((await snapshot([])).accepted, true);
    assert.equal(await countActive(), 0);
  });

  test('a snapshot may retire all listings of a collection with 20 listings, and half of the listings of a larger collection', async () => {
    await snapshot(range(20).map((n) => row(n)));
    assert.equal((await snapshot([])).retired, 20);
    const book = range(40).map((n) => row(n + 100));
    await snapshot(book);
    assert.equal((await snapshot(book.slice(0, 20))).retired, 20);
  });

  test('a snapshot of the listings below a price retires none at or above that price', async () => {
    const priced = (n: number) => row(n, { priceRaw: String(1_000 + n) });
    const book = range(100).map(priced);
    await snapshot(book);
    const cheapest = book.slice(0, 60).filter((_, n) => n !== 7 && n !== 59);
    const { accepted, retired } = await snapshot(cheapest, { below: 1_059n });
    assert.deepEqual([accepted, retired], [true, 1]);
    const { L7, L59, L60 } = await statuses();
    assert.deepEqual([L7, L59, L60], ['cancelled', 'active', 'active']);
    assert.equal(
      (await snapshot(book.slice(0, 20), { below: 1_059n })).accepted,
      false,
      'a snapshot that lacks 38 of 58 listings was accepted',
    );
    assert.equal((await snapshot([])).accepted, false);
    now += 5 * MINUTE_MS;
    for (const isThird of [false, true]) {
      assert.equal((await snapshot(cheapest, { below: 1_059n })).accepted, true);
      assert.equal(
        (await snapshot([])).accepted,
        isThird,
        'a snapshot of the listings below a price changed how many short snapshots of all listings were counted',
      );
    }
  });

  test('the buyer total of a listing decides whether a snapshot of the listings below a price can retire the listing', async () => {
    await ingester().ingest([row(0, { priceRaw: '900', buyerTotalRaw: '1000' }), row(1, { priceRaw: '900' })]);
    assert.equal((await snapshot([row(2, { priceRaw: '950' })], { below: 950n })).retired, 1);
    assert.deepEqual(await statuses(), { L0: 'active', L1: 'cancelled', L2: 'active' });
  });

  test('an order that one marketplace reports as ended ends at all marketplaces', async () => {
    const twins = (hash: string, n: number) => [
      row(n, { orderHash: hash, tokenId: '7' }),
      row(n + 1, { orderHash: hash, tokenId: '7', source: 'magic-eden' }),
    ];
    const [a, b] = [HASH, HASH.replace('ab', 'cd')];
    await ingester().ingest([...twins(a, 0), row(9, { orderHash: a, chain: 'base' })]);
    await ingester().ingest([row(0, { orderHash: a, tokenId: '7', status: 'filled', tx: '0x0f' })]);
    const { 0: first, 1: second } = twins(b, 2);
    await ingester().ingest([{ ...first, status: 'cancelled' }]);
    await ingester().ingest([second ?? {}]);
    assert.deepEqual(await statuses(), {
      L0: 'filled',
      L1: 'filled',
      L2: 'cancelled',
      L3: 'cancelled',
      L9: 'active',
    });
    const again = ingester();
    await again.ingest(twins(a, 0));
    assert.deepEqual([again.result().changed, (await statuses())['L1']], [0, 'filled']);
  });

  test('an order that is missing from a snapshot of one marketplace does not end at another marketplace', async () => {
    await ingester().ingest([
      row(0, { orderHash: HASH }),
      row(1, { orderHash: HASH, source: 'magic-eden', tokenId: '0' }),
    ]);
    await snapshot([]);
    await ingester().ingest([row(1, { orderHash: HASH, source: 'magic-eden', tokenId: '0', priceRaw: '99' })]);
    assert.deepEqual(await statuses(), { L0: 'cancelled', L1: 'active' });
  });

  test('a listing whose order is in the own order book is not stored', async () => {
    await snapshot([row(0, { orderHash: HASH })]);
    await ingester().ingest([order()]);
    await db.query(`update main.book_order set order_hash = $1, status = 'cancelled'`, [HASH]);
    const {
      read,
      changed: rows,
      refused,
      retired,
    } = await snapshot([
      row(0, { orderHash: HASH }),
      row(1),
      row(2, { orderHash: HASH.toUpperCase().replace('0X', '0x') }),
      row(3, { orderHash: HASH, chain: 'base' }),
    ]);
    assert.deepEqual([read, rows, refused, retired], [4, 2, 0, 1]);
    assert.deepEqual(await statuses(), { L0: 'cancelled', L1: 'active', L3: 'active' });
  });

  test('rejections are counted by reason, with one example for each reason', async () => {
    const run = ingester();
    await run.ingest([
      ...range(700).map((n) => token({ tokenId: String(n) })),
      token({ tokenId: 'x1' }),
      token({ tokenId: 'x2' }),
      listing({ seller: null }),
      { kind: 'nonsense' },
    ]);
    run.reject('price: is negative');
    const { read, changed: rows, refused, refusals = [] } = run.result({ problems: ['a page'] });
    assert.deepEqual([read, rows, refused], [705, 700, 5]);
    assert.deepEqual(
      refusals.map(({ count }) => count),
      [2, 1, 1, 1],
    );
    assert.ok(refusals[0]?.reason.startsWith('token: tokenId'));
    assert.ok(!refusals[0]?.reason.includes('x1') && refusals[0]?.example.includes('x1'));
    const many = ingester();
    for (const n of range(1_000)) many.reject(`field${n} ${'!'.repeat(1_000)}: is wrong`, 'x'.repeat(10_000));
    assert.ok(JSON.stringify(many.result()).length < 64 * 1024, 'the result is too long');
    assert.equal(many.result().refused, 1_000);
  });
});
