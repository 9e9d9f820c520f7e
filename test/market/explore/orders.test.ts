// GET /explore/v1/orders.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { toEvmAddress } from '../../../sample/random.ts';
import {
  HOUR_MS,
  MINUTE_MS,
  SELLER,
  forOneMarket,
  mintOf,
  newCollection,
  range,
} from '../../support/service/market.ts';
import { until } from '../../support/until.ts';

const VAULT = toEvmAddress('vault');
const HASH = `0x${'5e'.repeat(32)}`;

forOneMarket('orders', { settings: { CUSTODY_WALLETS: `${VAULT}=The vault` } }, (market) => {
  const ordersOf = (query: Record<string, string | number>) =>
    `/explore/v1/orders?${Object.entries(query)
      .map(([name, value]) => `${name}=${encodeURIComponent(value)}`)
      .join('&')}`;
  const walk = (query: Record<string, string | number>) => market.walk(ordersOf(query));
  const pricesOf = (rows: any[]) => rows.map((row) => Number(row.price.raw));

  test('the list has every order: of the own order book and of the mirror, and also the further orders of a token or of a seller', async () => {
    const subject = newCollection();
    await market.load([
      subject.collection(),
      subject.order('1', 40, { createdAt: market.ago(4 * HOUR_MS) }),
      subject.order('1', 50, { createdAt: market.ago(3 * HOUR_MS) }),
      subject.listing('1', 30, { timestamp: market.ago(2 * HOUR_MS), orderHash: HASH }),
      subject.listing('1', 60, { timestamp: market.ago(HOUR_MS), source: 'blur' }),
      subject.listing('2', 20, { timestamp: market.ago(5 * HOUR_MS) }),
    ]);
    const rows = await walk({ collection: subject.slug, limit: 2 });
    assert.deepEqual(
      rows.map((row) => [row.tokenId, Number(row.price.raw), row.marketplace, row.status, row.orderHash, row.dormant]),
      [
        ['1', 60, 'blur', 'active', null, null],
        ['1', 30, 'opensea', 'active', HASH, null],
        ['1', 50, 'MERCAT', 'active', null, null],
        ['1', 40, 'MERCAT', 'active', null, null],
        ['2', 20, 'opensea', 'active', null, null],
      ],
    );
    for (const row of rows) {
      const { data } = await market.ok(`/explore/v1/orders/${row.orderId}`);
      const { dormant, side, kind, criteria, proceeds, maker, ...listing } = row;
      assert.deepEqual([data.listing, data.dormant], [listing, dormant]);
      assert.deepEqual([side, kind, criteria, proceeds, maker], ['ask', 'item', null, null, row.seller]);
    }
    const { meta } = await market.ok(ordersOf({ collection: subject.id }));
    assert.match(meta.offset, /^[\da-f]{12}-\d{16}$/);
  });

  test('every list of listings has the total of a buyer: the stated one, or the ask with platform fee and royalty, or the ask of another marketplace', async () => {
    const [subject, solana] = [newCollection(), newCollection({ chain: 'solana' })];
    const [seller, other] = [toEvmAddress('totals', 'seller'), toEvmAddress('totals', 'other')];
    const mint = mintOf('totals', '1');
    await market.load([
      subject.collection({ royaltyBps: 500 }),
      subject.order('1', 1_001, { seller }),
      subject.listing('2', 1_000, { seller, buyerTotalRaw: '1100' }),
      subject.listing('3', 1_000, { seller }),
      subject.listing('4', 1_000, { seller, buyerTotalRaw: '999' }),
      subject.token('5', { owner: other }),
      solana.collection({ royaltyBps: 100 }),
      solana.listing(mint, 1_000, { source: 'mercat' }),
    ]);
    // The platform fee is 2 %. Fee and royalty are each rounded up.
    const expected = { '1': '1073', '2': '1100', '3': '1000', '4': '1000' };
    const totalsOf = (rows: any[]) =>
      Object.fromEntries(rows.map((row) => [row.tokenId ?? row.mint, row.buyerTotal?.raw]));
    const listed = (rows: any[]) => rows.flatMap(({ listing }) => listing ?? []);
    const tokens = { tokens: [{ chain: 'ethereum', address: subject.address, tokenId: '1' }] };
    const headers = { 'content-type': 'application/json' };
    const batch = await market.get('/explore/v1/tokens/batch', {
      method: 'POST',
      headers,
      body: JSON.stringify(tokens),
    });
    const single = await market.ok(`/explore/v1/tokens/ethereum/${subject.address}/1`);
    assert.deepEqual(totalsOf(await walk({ collection: subject.id })), expected);
    assert.deepEqual(totalsOf(listed(await market.walk(`/explore/v1/collections/${subject.id}/tokens`))), expected);
    assert.deepEqual(totalsOf(await market.walk(`/explore/v1/wallets/${seller}/listings`)), expected);
    assert.deepEqual(totalsOf(listed(await market.walk(`/explore/v1/wallets/${seller}/tokens`))), expected);
    assert.deepEqual(totalsOf(listed([...batch.body.data, single.data])), { '1': '1073' });
    assert.deepEqual(totalsOf(await walk({ collection: solana.id })), { [mint]: '1030' });
  });

  test('the filters collection, token, maker and source can be combined, with each sort', async () => {
    const [seller, other] = [toEvmAddress('combined', 'seller'), toEvmAddress('combined', 'other')];
    const subjects = [newCollection(), newCollection({ chain: 'base' })];
    const expiresAt = (minutes: number) => new Date(market.now() + HOUR_MS + minutes * MINUTE_MS).toISOString();
    // The prices are unique. Many of the times are equal.
    const made = subjects.flatMap((subject, place) =>
      range(24).map((index) => {
        const fields = {
          seller: index % 3 === 0 ? other : seller,
          ...(index % 4 !== 0 && { expiresAt: expiresAt(index % 5) }),
        };
        const tokenId = String(index % 6);
        const price = 100 * (place + 1) + ((index * 7) % 24);
        const time = market.ago(HOUR_MS + (index % 7) * MINUTE_MS);
        const source = index % 2 === 0 ? 'MERCAT' : index % 3 === 0 ? 'blur' : 'opensea';
        const record =
          source === 'MERCAT'
            ? subject.order(tokenId, price, { ...fields, createdAt: market.ago(HOUR_MS + index * MINUTE_MS) })
            : subject.listing(tokenId, price, { ...fields, timestamp: time, source });
        const sorts = {
          price,
          created: -Date.parse(String(record['createdAt'] ?? record['timestamp'])),
          expires: 'expiresAt' in fields ? Date.parse(fields.expiresAt ?? '') : null,
        };
        return { subject, price, tokenId, source, seller: fields.seller, record, sorts };
      }),
    );
    await market.load([...subjects.map((subject) => subject.collection()), ...made.map(({ record }) => record)]);
    const sellers = new Set([seller, other]);
    let found = 0;
    for (const sort of ['price', 'created', 'expires'] as const)
      for (const collection of [null, ...subjects])
        for (const tokenId of collection === null ? [null] : [null, '2'])
          for (const maker of [null, seller])
            for (const source of [null, 'MERCAT', 'opensea']) {
              if (sort !== 'created' && collection === null) continue;
              if (source !== null && collection === null && maker === null) continue;
              const query = {
                sort,
                limit: 5,
                ...(collection && tokenId === null && { collection: collection.id }),
                ...(collection &&
                  tokenId !== null && { token: `${collection.chain}/${collection.address}/${tokenId}` }),
                ...(maker && { maker }),
                ...(source && { source }),
              };
              const rows = (await walk(query)).filter((row) => sellers.has(row.seller));
              const expected = made.filter(
                (one) =>
                  one.sorts[sort] !== null &&
                  (collection === null || one.subject === collection) &&
                  (tokenId === null || one.tokenId === tokenId) &&
                  (maker === null || one.seller === maker) &&
                  (source === null || one.source === source),
              );
              const valueOf = new Map(made.map((one) => [one.price, one.sorts[sort] ?? 0]));
              const where = JSON.stringify(query);
              assert.deepEqual(new Set(pricesOf(rows)), new Set(expected.map(({ price }) => price)), where);
              assert.equal(rows.length, expected.length, where);
              const values = pricesOf(rows).map((price) => valueOf.get(price) ?? 0);
              assert.deepEqual(
                values,
                values.toSorted((a, b) => a - b),
                where,
              );
              found += rows.length;
            }
    assert.ok(found > 500);
  });

  test('equal values of a sort are on pages of any size exactly once, over both tables', async () => {
    const subject = newCollection();
    const expiresAt = new Date(market.now() + HOUR_MS).toISOString();
    const time = market.ago(HOUR_MS);
    await market.load([
      subject.collection(),
      ...range(7).map((id) => subject.order(String(id), 5, { createdAt: time, expiresAt })),
      ...range(7).map((id) => subject.listing(String(id), 5, { timestamp: time, expiresAt, id: `a listing ${id}` })),
    ]);
    for (const sort of ['price', 'created', 'expires'])
      for (const limit of [1, 3, 7, 14]) {
        const rows = await walk({ collection: subject.id, sort, limit });
        assert.equal(rows.length, 14, `${sort} ${limit}`);
        assert.equal(new Set(rows.map(({ orderId }) => orderId)).size, 14, `${sort} ${limit}`);
      }
  });

  test('each order is in the list of exactly one status, before and after the expiry sweep', async () => {
    const subject = newCollection();
    const expiresAt = new Date(market.now() + HOUR_MS).toISOString();
    await market.load([
      subject.collection(),
      subject.order('1', 1, { expiresAt }),
      subject.listing('1', 2, { expiresAt }),
      subject.order('2', 3),
      subject.listing('2', 4),
      subject.order('3', 5, { status: 'filled' }),
      subject.listing('3', 6, { status: 'cancelled' }),
      subject.listing('4', 7, { status: 'filled' }),
      subject.listing('5', 0),
    ]);
    await market
      .indexer()
      .query(`update indexer.listing set dormant = 'no-balance' where collection_id = $1 and price_raw = 4`, [
        subject.id,
      ]);
    const read = async () => {
      const byStatus: Record<string, unknown> = {};
      for (const status of ['active', 'dormant', 'filled', 'cancelled', 'expired']) {
        const rows = await walk({ collection: subject.id, status, limit: 1 });
        byStatus[status] = rows
          .map((row) => `${row.price.raw} ${row.status} ${row.dormant?.reasons ?? ''}`.trim())
          .toSorted();
        const byMaker = await walk({ maker: SELLER, status });
        assert.deepEqual(
          byMaker.filter((row) => row.collectionId === subject.id),
          rows,
        );
      }
      return byStatus;
    };
    const lasting = { dormant: ['4 active no-balance'], filled: ['5 filled', '7 filled'], cancelled: ['6 cancelled'] };
    assert.deepEqual(await read(), { ...lasting, active: ['1 active', '2 active', '3 active'], expired: [] });
    market.advance(HOUR_MS);
    const later = { ...lasting, active: ['3 active'], expired: ['1 expired', '2 expired'] };
    assert.deepEqual(await read(), later);
    for (const [db, table] of [
      [market.main(), 'main.book_order'],
      [market.indexer(), 'indexer.listing'],
    ] as const)
      await db.query(
        `update ${table} set status = 'expired' where collection_id = $1 and price_raw in (1, 2) and status = 'active'`,
        [subject.id],
      );
    market.advance(HOUR_MS);
    assert.deepEqual(await read(), later);
  });

  test('an order has the units that it offers and that are left, and the total price of these', async () => {
    const subject = newCollection();
    await market.load([
      subject.collection(),
      subject.order('1', 10),
      subject.listing('2', 20),
      subject.listing('3', 30, { quantity: '3' }),
      subject.listing('4', 40, { quantity: '4', partial: true }),
      subject.listing('5', 50, { quantity: '5', partial: true, status: 'filled' }),
    ]);
    const unitsOf = (row: any) => [row.price.raw, row.quantity, row.remaining, row.total && row.total.raw];
    const active = await walk({ collection: subject.id, sort: 'price' });
    const expected = [
      ['10', '1', '1', '10'],
      ['20', '1', '1', '20'],
      ['30', '3', '3', '90'],
      ['40', '4', null, null],
    ];
    assert.deepEqual(active.map(unitsOf), expected);
    const ended = await walk({ collection: subject.id, status: 'filled' });
    assert.deepEqual(ended.map(unitsOf), [['50', '5', '0', '0']]);
    const tokens = await market.walk(`/explore/v1/collections/${subject.id}/tokens?listed=true`);
    assert.deepEqual(
      tokens.map(({ listing }) => unitsOf(listing)),
      expected,
    );
    const listed = await market.walk(`/explore/v1/wallets/${SELLER}/listings`);
    assert.deepEqual(listed.filter((row) => row.collectionId === subject.id).map(unitsOf), expected);
    await market
      .indexer()
      .query(`update indexer.listing set filled_quantity = 1 where collection_id = $1 and asset = '4'`, [subject.id]);
    market.advance(MINUTE_MS);
    const [, , , partly] = await walk({ collection: subject.id, sort: 'price' });
    assert.deepEqual(unitsOf(partly), ['40', '4', '3', '120']);
  });

  test('on Solana, the orders of a mint and the own orders of the service are found', async () => {
    const subject = newCollection({ chain: 'solana' });
    const [mint, other] = [mintOf('orders', '1'), mintOf('orders', '2')];
    await market.load([
      subject.collection(),
      subject.listing(mint, 7),
      subject.listing(mint, 8, { source: 'mercat', id: 'own-1' }),
      subject.listing(other, 9),
    ]);
    const token = `solana/${subject.address}/${mint}`;
    assert.deepEqual(pricesOf(await walk({ token, sort: 'price' })), [7, 8]);
    assert.deepEqual(pricesOf(await walk({ token, source: 'MERCAT' })), [8]);
    const [row] = await walk({ token, source: 'opensea' });
    assert.deepEqual([row.mint, row.tokenId, row.contractAddress], [mint, null, null]);
  });

  test('the address of a custody wallet is not published by the filter maker, and its orders are in the other lists', async () => {
    const subject = newCollection();
    await market.load([subject.collection(), subject.listing('1', 5, { seller: VAULT })]);
    assert.deepEqual(await walk({ maker: VAULT }), []);
    const [row] = await walk({ collection: subject.id });
    assert.equal(row.seller, null);
  });

  test('a token is named in full, or by its id with its collection, in the same way as in activity; one of another collection has no rows', async () => {
    const [subject, other] = [newCollection(), newCollection({ chain: 'base' })];
    await market.load([subject.collection(), other.collection(), other.listing('1', 5), other.listing('2', 6)]);
    const full = `base/${other.address}/1`;
    await until(
      async () => {
        market.advance(2_000);
        return (await market.walk(`/explore/v1/activity?kinds=list&token=${full}`)).length > 0;
      },
      60_000,
      'the listing was not logged',
    );
    for (const list of ['orders?', 'activity?kinds=list&']) {
      const tokensOf = async (query: string) =>
        (await market.walk(`/explore/v1/${list}${query}`)).map(({ tokenId }) => tokenId);
      for (const query of [
        `token=${full}`,
        `token=${full}&collection=${other.slug}`,
        `token=1&collection=${other.id}`,
      ]) {
        assert.deepEqual(await tokensOf(query), ['1'], list + query);
      }
      assert.deepEqual(await tokensOf(`token=${full}&collection=${subject.id}`), []);
      for (const token of [
        '1',
        'base',
        `base/${other.address}`,
        `${full}/1`,
        `nowhere/${other.address}/1`,
        'base/1/1',
      ]) {
        const { status, body } = await market.get(`/explore/v1/${list}token=${token}`);
        assert.deepEqual([status, body.error?.param], [400, 'token'], list + token);
      }
    }
    const wallet = `/explore/v1/wallets/${SELLER}/activity?token=${full}`;
    assert.deepEqual([(await market.walk(wallet)).length, await market.walk(`${wallet}&chain=ethereum`)], [1, []]);
  });

  test('a malformed parameter, a sort that is not possible, and a cursor of another list are rejected', async () => {
    const subject = newCollection();
    await market.load([subject.collection(), ...range(3).map((id) => subject.listing(String(id), 5 + id))]);
    const { pagination } = await market.ok(ordersOf({ collection: subject.id, limit: 1 }));
    const cursor = pagination.nextCursor;
    const queries: [status: number, query: Record<string, string>][] = [
      [400, { maker: 'nobody' }],
      [400, { token: '1' }],
      [400, { token: `ethereum/${subject.address}/1/2` }],
      [400, { token: `nowhere/${subject.address}/1` }],
      [400, { sort: 'price' }],
      [400, { sort: 'expires', maker: SELLER }],
      [400, { sort: 'expires', status: 'filled', collection: subject.id }],
      [400, { status: 'filled' }],
      [400, { source: 'blur' }],
      [400, { status: 'sold' }],
      [400, { side: 'sell' }],
      [404, { collection: 'nothing' }],
      [400, { collection: subject.id, sort: 'price', cursor }],
      [400, { collection: subject.id, status: 'filled', cursor }],
      [400, { cursor }],
    ];
    for (const [status, query] of queries) {
      assert.equal((await market.get(ordersOf(query))).status, status, JSON.stringify(query));
    }
  });
});
