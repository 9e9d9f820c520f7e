// Tests which listings of OpenSea are converted to records, and when a walk over OpenSea's listings is complete.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { toListingIdOfOrder } from '../../../../src/market/index/row-keys.ts';
import { parseExactJson } from '../../../../src/sources/upstreams/exact-json.ts';
import {
  parseOpenSeaListings,
  walkOpenSeaCheapest,
  walkOpenSeaListings,
} from '../../../../src/sources/upstreams/opensea/listings.ts';
import { emptyPage } from '../../../../src/sources/upstreams/response-rows.ts';
import { toReasons } from '../../../support/replay/every-fault.ts';
import { parseFixture, readFixture } from '../../../support/fixtures.ts';
import { APES, makeAddress } from '../../../support/replay/opensea.ts';
import type { Json } from './opensea-market.ts';
import {
  WAPE,
  chainOf,
  apes,
  kites,
  start,
  walk,
  assertTaken,
  listing,
  makeMarket,
  changeRow,
  set,
} from './opensea-market.ts';

const WETH_ON_POLYGON = '0x7ceb23fd6bc0add59e62ac25578270cff1b9f619';

const orderOf = (row: Json) => row['protocol_data']?.['parameters'] ?? assert.fail('no order');

test('a page of listings becomes records', () => {
  const { listings } = parseExactJson(Buffer.from(readFixture('opensea/listings.json'))) as { listings: unknown[] };
  const { records, rejected, unsupported, skipped } = parseOpenSeaListings(listings, apes);
  assert.deepEqual([rejected, skipped], [[], 0]);
  assert.deepEqual(unsupported, ['consideration: is in another currency']);
  const [{ order_hash: hash }] = parseFixture('opensea/listings.json').listings;
  assert.deepEqual(records[0], {
    kind: 'listing',
    source: 'opensea',
    chain: 'apechain',
    contractAddress: APES.contract,
    tokenId: '1',
    id: toListingIdOfOrder({ source: 'opensea', chain: 'apechain', orderHash: hash }),
    orderHash: hash,
    priceRaw: '1500000000000000000',
    buyerTotalRaw: '1500000000000000000',
    seller: '0x7e5f4552091a69125d5dfcb7b8c2659029395bdf',
    status: 'active',
    timestamp: '2025-11-13T02:13:20.000Z',
    expiresAt: '2026-05-12T02:13:20.000Z',
    operator: '0x1e0049783f008a0085193e00003d00cd54003c71',
    protocolAddress: '0x0000000000000068f116a894984e2db1123eb395',
    counter: '0',
  });
  assert.equal(records.length, 2);
  assertTaken(records);
});

test('an order in the format of 2023 becomes the same listing as in the current format', () => {
  const { orders } = parseExactJson(Buffer.from(readFixture('opensea/orders-2023.json'))) as { orders: unknown[] };
  const { records, rejected } = parseOpenSeaListings(orders, kites);
  const [order] = parseFixture('opensea/orders-2023.json').orders;
  const today = {
    order_hash: order.order_hash,
    chain: 'ethereum',
    protocol_data: order.protocol_data,
    protocol_address: order.protocol_address,
    asset: { identifier: '41', contract: kites.contractAddress },
    remaining_quantity: order.remaining_quantity,
    order_created_at: order.listing_time,
    price: { current: { currency: 'ETH', decimals: 18, value: order.current_price } },
    type: 'basic',
    status: 'ACTIVE',
  };
  const rows = parseExactJson(Buffer.from(JSON.stringify([today]))) as unknown[];
  assert.deepEqual([rejected, records], [[], parseOpenSeaListings(rows, kites).records]);
  assert.deepEqual(records[0], {
    kind: 'listing',
    source: 'opensea',
    chain: 'ethereum',
    contractAddress: kites.contractAddress,
    tokenId: '41',
    id: toListingIdOfOrder({ source: 'opensea', chain: 'ethereum', orderHash: order.order_hash }),
    orderHash: order.order_hash,
    priceRaw: '250000000000000000',
    buyerTotalRaw: '250000000000000000',
    seller: '0x6813eb9362372eef6200f3b1dbc3f819671cba69',
    status: 'active',
    timestamp: '2023-03-01T10:10:00.000Z',
    expiresAt: '2023-08-28T10:10:00.000Z',
    operator: '0x1e0049783f008a0085193e00003d00cd54003c71',
    protocolAddress: order.protocol_address,
    counter: '0',
  });
  assertTaken(records);
});

test('a walk that reads all pages of listings is complete', async (t) => {
  const market = makeMarket();
  const { upstream, replay } = await start(t, [market]);
  const { records, rejected, end } = await walk(walkOpenSeaListings(upstream, apes));
  assert.deepEqual([rejected, end], [[], { gap: null, pages: 3, rows: 450 }]);
  assert.deepEqual(
    records.map((record) => [record['orderHash'], record['priceRaw'], record['seller']]),
    market.listings.map(({ hash, total, seller }) => [hash, total.toString(), seller]),
  );
  assertTaken(records);
  assert.equal(replay.count(/limit=200/), 3);
  market.listings = [];
  assert.deepEqual((await walk(walkOpenSeaListings(upstream, apes))).end, {
    gap: null,
    pages: 1,
    rows: 0,
  });
});

test('the cheapest listings are complete up to the last price that was read', async (t) => {
  const market = makeMarket();
  const { upstream, replay } = await start(t, [market]);
  const sorted = market.listings.map(({ total }) => total).toSorted((a, b) => (a < b ? -1 : 1));
  const part = await walk(walkOpenSeaCheapest(upstream, apes, { pages: 2 }));
  assert.deepEqual(part.end, { gap: null, pages: 2, rows: 400, below: sorted[399] });
  assert.deepEqual(
    part.records.map((record) => BigInt(String(record['priceRaw']))),
    sorted.slice(0, 400),
  );
  const all = await walk(walkOpenSeaCheapest(upstream, apes, { pages: 3 }));
  assert.deepEqual(all.end, { gap: null, pages: 3, rows: 450, below: null });
  replay.fail('wrong-types', { skip: 1 });
  await assert.rejects(walk(walkOpenSeaCheapest(upstream, apes, { pages: 2 })), { name: 'UpstreamFailure' });
  replay.heal();
  // The server sorts an order of several units by the price of all its units. The order can come after listings with a higher unit price, or
  // on a page that is not read.
  market.standard = 'erc1155';
  const unit = listing(2, { total: 2n * 10n ** 18n, quantity: 4 });
  market.listings = [listing(1, { total: 10n ** 18n }), unit];
  const units = await walk(walkOpenSeaCheapest(upstream, apes, { pages: 2 }));
  assert.deepEqual(
    units.end,
    { gap: null, pages: 1, rows: 2, below: null },
    'a list that was read completely has a gap, or counts as complete only below a price',
  );
  market.listings = [...Array.from({ length: 400 }, (_, n) => listing(n + 10, { total: 10n ** 18n })), unit];
  const many = await walk(walkOpenSeaCheapest(upstream, apes, { pages: 2 }));
  assert.deepEqual(
    many.end,
    { gap: null, pages: 2, rows: 400, below: 0n },
    'the walk counts as complete below a price, although an order of several units with a lower unit price may follow',
  );
  market.standard = 'erc721';
  const disorder = [listing(1, { total: 2n }), listing(2, { total: 1n })];
  disorder.toSorted = () => disorder;
  market.listings = disorder;
  const { end } = await walk(walkOpenSeaCheapest(upstream, apes, { pages: 2 }));
  assert.deepEqual(end.gap, 'out of order');
});

test('a listing is skipped until its start time has come', async (t) => {
  const market = makeMarket();
  const begins = 1_790_000_000;
  market.listings = [listing(1, { listedAt: begins }), listing(2, { listedAt: begins + 1 })];
  const { upstream } = await start(t, [market]);
  const { records, rejected, end } = await walk(walkOpenSeaListings(upstream, apes, { begunBy: begins * 1_000 }));
  assert.deepEqual([records.map((record) => record['tokenId']), rejected, end.gap === null], [['1'], [], true]);
  assert.equal(
    (await walk(walkOpenSeaListings(upstream, apes, { begunBy: begins * 1_000 + 1_000 }))).records.length,
    2,
  );
});

test('an order of several units has the price of one unit, rounded up', async (t) => {
  const market = makeMarket({ standard: 'erc1155' });
  market.listings = [
    listing(1, { total: 12_345_678_901_234_567_890_123n }),
    listing(2, { total: 10n ** 18n + 1n, quantity: 3 }),
    listing(3, { currency: { token: WAPE, symbol: 'WAPE', decimals: 18 } }),
    listing(4, { tokenId: (2n ** 256n - 1n).toString() }),
  ];
  const { upstream } = await start(t, [market]);
  const { records, rejected } = await walk(walkOpenSeaListings(upstream, apes));
  assert.deepEqual(rejected, []);
  assert.deepEqual(
    records.slice(0, 2).map((record) => record['priceRaw']),
    ['12345678901234567890123', '333333333333333334'],
  );
  assert.equal(records[3]?.['tokenId'], (2n ** 256n - 1n).toString());
  assertTaken(records);
});

test('a record states the operator, the counter and the units of its order, and whether the order can be filled in parts', () => {
  const [row] = parseFixture('opensea/listings.json').listings;
  const termsOf = (changes: object, units = 1) => {
    const order = { ...row.protocol_data.parameters, ...changes };
    if (units > 1) order.offer = [{ ...order.offer[0], itemType: 3, startAmount: `${units}`, endAmount: `${units}` }];
    const changed = { ...row, protocol_data: { parameters: order }, remaining_quantity: units };
    const { records, rejected } = parseOpenSeaListings(
      parseExactJson(Buffer.from(JSON.stringify([changed]))) as unknown[],
      apes,
    );
    const terms = ['operator', 'counter', 'quantity', 'partial'].map((field) => records[0]?.[field]);
    return rejected[0] ?? terms;
  };
  const conduit = '0x1e0049783f008a0085193e00003d00cd54003c71';
  assert.deepEqual(termsOf({}), [conduit, '0', undefined, undefined]);
  assert.deepEqual(termsOf({ conduitKey: `0x${'0'.repeat(64)}` })[0], row.protocol_address);
  assert.deepEqual(termsOf({ counter: `0x${'f'.repeat(32)}` })[1], `${2n ** 128n - 1n}`);
  assert.deepEqual(termsOf({ orderType: 1 }, 5), [conduit, '0', '5', true]);
  assert.deepEqual(termsOf({ orderType: 0 }, 5), [conduit, '0', '5', false]);
  assert.equal(termsOf({ conduitKey: '0x12' }), 'conduitKey: is not 32 bytes in hex');
  assert.equal(termsOf({ counter: 'x' }), 'counter: must be an integer of 0 or more');
  assert.equal(termsOf({ counter: `${2n ** 256n - 1n}` })[1], `${2n ** 256n - 1n}`);
  assert.equal(termsOf({ counter: `${2n ** 256n}` }), 'counter: has more than 256 bits');
});

test('a walk is complete even if listings in another currency are left out', async (t) => {
  const weth = { token: WETH_ON_POLYGON, symbol: 'WETH', decimals: 18 };
  const listings = Array.from({ length: 20 }, (_, index) => listing(index, index % 2 === 0 ? { currency: weth } : {}));
  const { upstream } = await start(t, [makeMarket({ chain: 'matic', symbol: 'POL', listings })]);
  const { records, rejected, end } = await walk(walkOpenSeaListings(upstream, { ...apes, chain: chainOf('polygon') }));
  assert.equal(records.length, 10);
  assert.deepEqual(rejected, Array(10).fill('unsupported: consideration: is in another currency'));
  assert.equal(end.gap, null);
});

const BAD_LISTINGS: [string, (row: Json) => unknown, RegExp][] = [
  ['no signed order', (row) => delete row['protocol_data'], /^protocol_data: must be an object/],
  ['no offerer', (row) => set(orderOf(row), { offerer: null }), /^offerer: is missing/],
  ['an offerer that is not an address', (row) => set(orderOf(row), { offerer: '0x12' }), /^offerer: is not an address/],
  ['nothing offered', (row) => set(orderOf(row), { offer: [] }), /^offer: is empty/],
  [
    'a bundle',
    (row) => set(orderOf(row), { offer: [orderOf(row)['offer']?.[0], orderOf(row)['offer']?.[0]] }),
    /^unsupported: offer: is a bundle/,
  ],
  [
    'a criteria offer',
    (row) => set(orderOf(row)['offer']?.[0], { itemType: 4 }),
    /^unsupported: offer\[0\]\.itemType: /,
  ],
  [
    'an offered currency',
    (row) => set(orderOf(row)['offer']?.[0], { itemType: 1 }),
    /^unsupported: offer\[0\]\.itemType: /,
  ],
  [
    'two units of an ERC-721 token',
    (row) => set(orderOf(row)['offer']?.[0], { startAmount: '2', endAmount: '2' }),
    /^offer\[0\]\.startAmount: is not 1/,
  ],
  [
    'zero units of an ERC-721 token',
    (row) => set(orderOf(row)['offer']?.[0], { startAmount: '0', endAmount: '0' }),
    /is not a fixed amount/,
  ],
  [
    'a token id that is a number',
    (row) => set(orderOf(row)['offer']?.[0], { identifierOrCriteria: 7 }),
    /must be a string/,
  ],
  ['another asset than offered', (row) => set(row['asset'], { identifier: '8' }), /^asset\.identifier/],
  ['another contract than offered', (row) => set(row['asset'], { contract: makeAddress(5) }), /^asset\.contract/],
  [
    'a swap',
    (row) => set(orderOf(row)['consideration']?.[0], { itemType: 2 }),
    /^unsupported: consideration: includes a token/,
  ],
  ['no payment', (row) => set(orderOf(row), { consideration: [] }), /^consideration: is empty/],
  ['a price of zero', (row) => set(row['price']?.['current'], { value: '0' }), /^price\.current\.value: is zero/],
  ['a negative price', (row) => set(row['price']?.['current'], { value: '-1' }), /^value: is not an amount/],
  [
    'a price that is a JSON number',
    (row) => set(row['price']?.['current'], { value: 1e18 }),
    /^value: must be a string/,
  ],
  [
    'a price that differs from the payments of the order',
    (row) => set(row['price']?.['current'], { value: '1' }),
    /^price\.current\.value: is not the price/,
  ],
  ['other decimals', (row) => set(row['price']?.['current'], { decimals: 6 }), /^price\.current\.decimals/],
  [
    'another currency symbol',
    (row) => set(row['price']?.['current'], { currency: 'USDC' }),
    /^unsupported: price\.current\.currency: /,
  ],
  ['an invalid hash', (row) => set(row, { order_hash: '0x12' }), /^order_hash: is not a hash/],
  ['no units left', (row) => set(row, { remaining_quantity: 0 }), /^remaining_quantity/],
  ['more units left than offered', (row) => set(row, { remaining_quantity: 9 }), /^remaining_quantity/],
  ['an unknown status', (row) => set(row, { status: 'MAYBE' }), /^status: is unknown/],
  ['an auction', (row) => set(row, { type: 'english' }), /^unsupported: type: is an auction/],
  ['an end that is not a time', (row) => set(orderOf(row), { endTime: 'never' }), /^endTime: is not a time/],
  [
    'a time in milliseconds',
    (row) => set(row, { order_created_at: 1_763_000_000_000 }),
    /^order_created_at: is not a time/,
  ],
];

test('an invalid listing is rejected with its reason', async (t) => {
  for (const [what, change, reason] of BAD_LISTINGS) {
    const rows = await changeRow(`/api/v2/listings/collection/${APES.slug}/all`, 'listings', change, t);
    const page = parseOpenSeaListings(rows, apes);
    assert.deepEqual(page.records, [], what);
    assert.match(toReasons(page)[0] ?? '', reason, what);
  }
  for (const row of [null, 7, 'row', [], true]) assert.equal(parseOpenSeaListings([row], apes).rejected.length, 1);
});

test('a listing without a signature, an end or a fixed price is accepted, and a listing that is inactive or of another collection is skipped', async (t) => {
  const path = `/api/v2/listings/collection/${APES.slug}/all`;
  const parseChanged = async (change: (row: Json) => unknown) =>
    parseOpenSeaListings(await changeRow(path, 'listings', change, t), apes);
  const unsigned = await parseChanged((row) => set(row['protocol_data'], { signature: null }));
  assert.equal(unsigned.records.length, 1);
  const endless = await parseChanged((row) => set(orderOf(row), { endTime: (2n ** 256n - 1n).toString() }));
  assert.equal(endless.records[0]?.['expiresAt'], undefined);
  const upper = await parseChanged((row) =>
    set(orderOf(row), { offerer: makeAddress(3).toUpperCase().replace('0X', '0x') }),
  );
  assert.equal(upper.records[0]?.['seller'], makeAddress(3));
  for (const change of [
    (row: Json) => set(row, { status: 'INACTIVE' }),
    (row: Json) => set(row, { chain: 'ethereum' }),
    (row: Json) => {
      set(row['asset'], { contract: makeAddress(5) });
      set(orderOf(row)['offer']?.[0], { token: makeAddress(5) });
    },
  ]) {
    assert.deepEqual(await parseChanged(change), { ...emptyPage(), skipped: 1 });
  }
  const falling = await parseChanged((row) => {
    set(orderOf(row)['consideration']?.[0], { endAmount: '1000' });
    set(row['price']?.['current'], { value: '500000000000000000' });
  });
  assert.equal(falling.records[0]?.['priceRaw'], '500000000000000000');
});

test('a walk with a repeated page or paging cursor is incomplete', async (t) => {
  const { replay, upstream } = await start(t, [makeMarket()]);
  for (const [fault, skip, why] of [
    ['repeated-page', 0, 'repeated page'],
    ['repeated-page', 1, 'repeated page'],
    ['looping-cursor', 0, 'repeated page'],
    ['looping-cursor', 2, 'repeated page'],
  ] as const) {
    replay.reset();
    replay.fail(fault, { skip });
    const { end } = await walk(walkOpenSeaListings(upstream, apes));
    assert.deepEqual(
      end.gap,
      why,
      `${fault} after ${skip} pages did not make the walk incomplete for the expected reason`,
    );
    assert.ok(replay.count() <= 5, `${replay.count()} requests`);
  }
});

test('a walk in which many rows are invalid is incomplete', async (t) => {
  const market = makeMarket();
  market.listings = market.listings.slice(0, 20).map((one, index) => (index < 4 ? { ...one, status: 'NEW' } : one));
  const { upstream } = await start(t, [market]);
  const { records, end } = await walk(walkOpenSeaListings(upstream, apes));
  assert.equal(records.length, 16);
  assert.deepEqual(end.gap, 'too many rejected');
});

test('a walk whose last page has only invalid rows is incomplete', async (t) => {
  const market = makeMarket();
  market.listings = market.listings.slice(0, 202);
  const { upstream, replay } = await start(t, [market]);
  replay.fail('wrong-types', { skip: 1 });
  const { records, end } = await walk(walkOpenSeaListings(upstream, apes));
  assert.equal(records.length, 200);
  assert.deepEqual(end.gap, 'too many rejected');
});
