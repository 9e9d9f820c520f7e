// GET /v1/collections/{id}/sales.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { toEvmHash, toSolanaSignature } from '../../../../sample/random.ts';
import {
  BUYER,
  DAY_MS,
  HOUR_MS,
  SECOND_MS,
  SELLER,
  SOLANA_BUYER,
  SOLANA_SELLER,
  START,
  UINT256_MAX,
  forOneMarket,
  mintOf,
  newCollection,
  range,
} from '../../../support/service/market.ts';

const at = (ms: number) => new Date(ms).toISOString();
const rawsOf = (rows: any[]) => rows.map((row) => row.price.raw);

forOneMarket('sales', {}, (market) => {
  test('a sale on EVM has every field, with its source as `marketplace` and its listing as `orderId`', async () => {
    const subject = newCollection({ chain: 'abstract' });
    const tx = toEvmHash('a sale');
    const more = {
      seller: SELLER,
      buyer: BUYER,
      listingId: 'L-1',
      tx: tx.toUpperCase().replace('0X', '0x'),
      logIndex: 3,
    };
    await market.load([subject.collection(), subject.sale('7', '250000000000000000', more)]);
    const { data, pagination } = await market.ok(`${subject.path}/sales`);
    assert.deepEqual(data, [
      {
        chain: 'abstract',
        contractAddress: subject.address,
        tokenId: '7',
        mint: null,
        collectionId: subject.id,
        price: { raw: '250000000000000000', decimal: 0.25, currency: 'ETH', usd: null },
        seller: SELLER,
        buyer: BUYER,
        marketplace: 'opensea',
        status: 'sold',
        expiresAt: null,
        timestamp: at(START - DAY_MS),
        orderId: 'L-1',
        tx,
      },
    ]);
    assert.deepEqual(pagination, { nextCursor: null, hasMore: false });
  });

  test("a sale through this service on Solana has the service's code as `marketplace` and the service's prefix in `orderId`", async () => {
    const subject = newCollection({ chain: 'solana' });
    const mint = mintOf('sold');
    const tx = toSolanaSignature('a sale');
    const fields = {
      source: 'mercat',
      listingId: 'escrow',
      seller: SOLANA_SELLER,
      buyer: SOLANA_BUYER,
      logIndex: 1,
      tx,
    };
    await market.load([
      subject.collection(),
      subject.sale(mint, 1, fields),
      subject.sale(mint, 2, { source: 'magic-eden', timestamp: market.ago(2 * DAY_MS) }),
      subject.sale(mint, 3, { source: 'tensor', timestamp: market.ago(3 * DAY_MS), tx }),
    ]);
    const { data } = await market.ok(`${subject.path}/sales`);
    assert.deepEqual(
      data.map((row: any) => [row.marketplace, row.orderId, row.seller, row.buyer, row.tx]),
      [
        ['MERCAT', 'mercat_escrow', SOLANA_SELLER, SOLANA_BUYER, tx],
        ['magic-eden', null, null, null, null],
        ['tensor', null, null, null, tx],
      ],
    );
    assert.deepEqual([data[0].contractAddress, data[0].tokenId, data[0].mint], [null, null, mint]);
    assert.equal(data[0].collectionId, `solana_${subject.address.toLowerCase()}`);
  });

  test('amounts up to 2^256-1 are served digit for digit', async () => {
    const subject = newCollection();
    const raws = [UINT256_MAX, UINT256_MAX - 1n, 10n ** 18n + 1n, 9_007_199_254_740_993n, 1n, 0n].map(String);
    await market.load([
      subject.collection(),
      ...raws.map((raw, index) => subject.sale('1', raw, { timestamp: market.ago(index * HOUR_MS) })),
    ]);
    assert.deepEqual(rawsOf((await market.ok(`${subject.path}/sales`)).data), raws);
  });

  test('sales are served newest first, whatever the order of their import', async () => {
    const subject = newCollection();
    const hours = [5, 1, 9, 3, 7, 2, 8, 4, 6, 0];
    await market.load([
      subject.collection(),
      ...hours.map((hour) => subject.sale('1', hour + 1, { timestamp: market.ago(hour * HOUR_MS) })),
    ]);
    const rows = await market.walk(`${subject.path}/sales?limit=3`);
    assert.deepEqual(
      rawsOf(rows),
      range(10).map((hour) => `${hour + 1}`),
    );
  });

  test('many sales of one second are served in the same order with any limit', async () => {
    const subject = newCollection();
    const second = at(START - HOUR_MS);
    const sales = range(90).map((n) =>
      subject.sale(`${n}`, 1 + n, { timestamp: second, tx: toEvmHash('sweep', `${n % 7}`), logIndex: n }),
    );
    const around = [-SECOND_MS, SECOND_MS].map((ms) =>
      subject.sale('1', 500, { timestamp: at(START - HOUR_MS + ms), source: 'blur' }),
    );
    await market.load([subject.collection(), ...sales, ...around]);
    const complete = (await market.ok(`${subject.path}/sales?limit=100`)).data;
    assert.equal(new Set(rawsOf(complete.slice(1, -1))).size, 90);
    for (const limit of [1, 7, 45, 91, 92]) {
      assert.deepEqual(await market.walk(`${subject.path}/sales?limit=${limit}`), complete, `limit ${limit}`);
    }
  });

  test('when sales are imported between two pages, each sale that was stored before the first page is served exactly once', async () => {
    const subject = newCollection();
    const sale = (n: number, more = {}) => subject.sale(`${n}`, n, { timestamp: market.ago(n * HOUR_MS), ...more });
    await market.load([subject.collection(), ...range(20).map((n) => sale(10 + 2 * n))]);
    const seen: string[] = [];
    let cursor = '';
    for (let page = 0; ; page += 1) {
      const response = await market.ok(`${subject.path}/sales?limit=4${cursor}`);
      seen.push(...rawsOf(response.data));
      if (!response.pagination.hasMore) break;
      cursor = `&cursor=${response.pagination.nextCursor}`;
      // The first sale is newer than all others. The second is among the sales already served. The third belongs to a later page.
      await market.load([sale(page + 1), sale(11 + 2 * page), sale(13 + 8 * (page + 1))]);
    }
    const before = range(20).map((n) => `${10 + 2 * n}`);
    assert.deepEqual(
      seen.filter((raw) => before.includes(raw)),
      before,
    );
    assert.equal(new Set(seen).size, seen.length);
    assert.ok(seen.length > before.length, 'no sale that was imported for a later page is served');
  });

  test('a page that contains a sale with an unreadable price is shorter, and the next pages are still served', async () => {
    const subject = newCollection();
    const bad = ['6.27e+16', '1.5', '-1', '', 'NaN', '0x10', (UINT256_MAX + 1n).toString(), '1,000', ' 1', 'null'];
    const prices = range(12).map((n) => (n < 3 || n >= 9 ? `${n + 1}` : (bad[n - 3] ?? 'x')));
    prices[6] = 'unknown';
    const sales = prices.map((price, n) => subject.sale(`${n}`, price, { timestamp: market.ago(n * HOUR_MS) }));
    await market.load([subject.collection(), ...sales]);
    const lengths: number[] = [];
    const raws: string[] = [];
    let cursor = '';
    for (;;) {
      const { data, pagination } = await market.ok(`${subject.path}/sales?limit=2${cursor}`);
      lengths.push(data.length);
      raws.push(...rawsOf(data));
      assert.equal(pagination.hasMore, lengths.length < 6);
      assert.equal(pagination.nextCursor === null, !pagination.hasMore);
      if (!pagination.hasMore) break;
      cursor = `&cursor=${pagination.nextCursor}`;
    }
    assert.deepEqual(lengths, [2, 1, 0, 0, 1, 2]);
    assert.deepEqual(raws, ['1', '2', '3', '10', '11', '12']);
  });

  test('a sale whose price is not an integer from 0 to 2^256-1 is not served', async () => {
    const subject = newCollection();
    const bad = ['6.27e+16', '1.0', '-1', '+1', 'NaN', '0x10', (UINT256_MAX + 1n).toString(), '1,000', ' 1', '1 ', '٣'];
    const sales = bad.map((price, n) => subject.sale(`${n}`, price, { timestamp: market.ago(n * HOUR_MS) }));
    await market.load([subject.collection(), ...sales, { ...subject.sale('n', 0), tokenId: '99', price: 6.27e16 }]);
    const { data, pagination } = await market.ok(`${subject.path}/sales`);
    assert.deepEqual(
      rawsOf(data),
      ['62700000000000000'],
      'the sale whose price was a JSON number is not the only served sale',
    );
    assert.deepEqual(pagination, { nextCursor: null, hasMore: false });
  });

  test('`hasMore` is false on a last page that is full', async () => {
    const subject = newCollection();
    const sales = range(50).map((n) => subject.sale(`${n}`, n, { timestamp: market.ago(n * HOUR_MS) }));
    await market.load([subject.collection(), ...sales]);
    const first = await market.ok(`${subject.path}/sales`);
    assert.equal(first.data.length, 25, 'the default limit is not 25');
    const second = await market.ok(`${subject.path}/sales?cursor=${first.pagination.nextCursor}`);
    assert.equal(second.data.length, 25);
    assert.deepEqual(second.pagination, { nextCursor: null, hasMore: false });
  });

  test('a collection without sales has an empty page', async () => {
    const subject = newCollection();
    await market.load([subject.collection()]);
    assert.deepEqual(await market.ok(`${subject.path}/sales`), {
      data: [],
      pagination: { nextCursor: null, hasMore: false },
    });
  });

  test('a sale is served in the first request after its import', async () => {
    const subject = newCollection();
    const sale = subject.sale('1', 5, { tx: toEvmHash('imported twice'), logIndex: 1 });
    await market.load([subject.collection()]);
    assert.equal((await market.ok(`${subject.path}/sales`)).data.length, 0);
    for (let imports = 0; imports < 3; imports += 1) {
      await market.load([sale, { ...sale, source: 'blur' }]);
      assert.equal((await market.ok(`${subject.path}/sales`)).data.length, 1);
    }
    await market.load([{ ...sale, logIndex: 2 }]);
    assert.equal(
      (await market.ok(`${subject.path}/sales`)).data.length,
      2,
      'a sale with another log index of the same transaction was not served as a second sale',
    );
  });

  test('an unknown collection and a collection without a contract address are not found', async () => {
    await market.load([
      { kind: 'collection', slug: 'no-address', name: 'No address', chain: 'ethereum' },
      { kind: 'collection', slug: 'no-chain', name: 'Neither' },
    ]);
    for (const id of ['nobody', 'no-address', 'ethereum_no-address', 'no-chain']) {
      const response = await market.get(`/v1/collections/${id}/sales`);
      assert.equal(response.status, 404, id);
      assert.equal(response.body.error.code, 'not_found');
    }
  });

  test('an invalid limit, or a cursor of another list, gets a bad_request that names the parameter', async () => {
    const [one, two] = [newCollection(), newCollection()];
    const rows = (subject: typeof one) =>
      range(5).flatMap((n) => [subject.order(`${n}`, 1 + n), subject.sale(`${n}`, 1, { timestamp: market.ago(n) })]);
    await market.load([one.collection(), two.collection(), ...rows(one), ...rows(two)]);
    const cursorOf = async (path: string) => (await market.ok(`${path}limit=2`)).pagination.nextCursor as string;
    const own = await cursorOf(`${one.path}/sales?`);
    const wrong = [
      await cursorOf(`${two.path}/sales?`),
      await cursorOf(`${one.path}/listings?`),
      await cursorOf('/v1/collections?'),
    ];
    const invalid = ['', 'x', '2026-01-01', `${own}A`, `${own}==`, own.slice(1), own.toLowerCase()];
    for (const cursor of [...wrong, ...invalid, `${own}&cursor=${own}`]) {
      const response = await market.get(`${one.path}/sales?cursor=${cursor}`);
      assert.equal(response.status, 400, cursor);
      assert.equal(response.body.error.code, 'bad_request');
      assert.match(response.body.error.message, /cursor/);
    }
    for (const limit of ['0', '101', '1.5', '-1', '', 'all', '1&limit=2']) {
      const response = await market.get(`${one.path}/sales?limit=${limit}`);
      assert.equal(response.status, 400, limit);
      assert.match(response.body.error.message, /limit/);
    }
    const byId = await market.ok(`/v1/collections/${one.id}/sales?limit=2&cursor=${own}`);
    assert.equal(byId.data.length, 2, 'the cursor did not continue the list under another name of the collection');
  });
});
