// Tests the conversion of OpenSea's sales to records.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { toListingIdOfOrder } from '../../../../src/market/index/row-keys.ts';
import { parseOpenSeaSales, walkOpenSeaSales } from '../../../../src/sources/upstreams/opensea/sales.ts';
import { emptyPage } from '../../../../src/sources/upstreams/response-rows.ts';
import { toReasons } from '../../../support/replay/every-fault.ts';
import { APES, makeAddress, makeHash } from '../../../support/replay/opensea.ts';
import type { Json } from './opensea-market.ts';
import { WAPE, USDC, apes, start, walk, assertTaken, makeMarket, changeRow, set } from './opensea-market.ts';

test('without a time, all sales are read, newest first; with a time, only the sales after it are read', async (t) => {
  const market = makeMarket();
  const [first, second] = market.sales;
  set(first, { currency: USDC, raw: 1_500_000n });
  set(second, { currency: { token: WAPE, symbol: 'WAPE', decimals: 18 } });
  const { upstream, replay } = await start(t, [market]);
  const { records, rejected, end } = await walk(walkOpenSeaSales(upstream, apes, { since: null }));
  assert.deepEqual([rejected, end], [[], { gap: null, pages: 2, rows: 250 }]);
  assert.equal(records.at(-1)?.['price'], '1500000 USDC');
  assert.deepEqual(records.at(-2), {
    kind: 'sale',
    source: 'opensea',
    chain: 'apechain',
    contractAddress: APES.contract,
    tokenId: '1',
    price: '1000000000000000000',
    seller: makeAddress(1),
    buyer: makeAddress(2),
    timestamp: '2026-02-02T02:40:01.000Z',
    listingId: toListingIdOfOrder({ source: 'opensea', chain: 'apechain', orderHash: makeHash(1_770_000_001) }),
    tx: makeHash(90_001),
  });
  assertTaken(records);
  const later = await walk(walkOpenSeaSales(upstream, apes, { since: 1_770_000_199_999 }));
  assert.equal(later.records.length, 50);
  assert.equal(replay.count(/event_type=sale&after=1770000199&limit=200/), 1);
});

const BAD_SALES: [string, (row: Json) => unknown, RegExp][] = [
  ['a bundle', (row) => delete row['nft'], /^unsupported: nft: is missing/],
  ['no payment', (row) => delete row['payment'], /^payment: must be an object/],
  ['a payment of zero', (row) => set(row['payment'], { quantity: '0' }), /^payment\.quantity: is zero/],
  ['a payment that is a JSON number', (row) => set(row['payment'], { quantity: 1.5 }), /^quantity: must be a string/],
  [
    'a payment with a decimal point',
    (row) => set(row['payment'], { quantity: '1.5' }),
    /^payment\.quantity: is not an amount/,
  ],
  ['a native payment with a wrong symbol', (row) => set(row['payment'], { symbol: 'ETH' }), /^payment\.symbol/],
  [
    'a native payment with a wrong number of decimals',
    (row) => set(row['payment'], { decimals: 9 }),
    /^payment\.decimals/,
  ],
  ['an invalid transaction hash', (row) => set(row, { transaction: 'abc' }), /^transaction: is not a hash/],
  ['no quantity', (row) => set(row, { quantity: 0 }), /^quantity: is zero/],
  ['no time', (row) => set(row, { event_timestamp: -1 }), /^event_timestamp: is not a time/],
  ['a buyer that is not an address', (row) => set(row, { buyer: 'bob.eth' }), /^buyer: is not an address/],
];

test('an invalid sale is rejected with its reason', async (t) => {
  const path = `/api/v2/events/collection/${APES.slug}`;
  for (const [what, change, reason] of BAD_SALES) {
    const page = parseOpenSeaSales(await changeRow(path, 'asset_events', change, t), apes);
    assert.deepEqual(page.records, [], what);
    assert.match(toReasons(page)[0] ?? '', reason, what);
  }
  const transfer = await changeRow(path, 'asset_events', (row) => set(row, { event_type: 'transfer' }), t);
  assert.deepEqual(parseOpenSeaSales(transfer, apes), { ...emptyPage(), skipped: 1 });
  // A payment without a symbol is rejected, even if it has the contract of its currency.
  const withoutSymbol = await changeRow(
    path,
    'asset_events',
    (row) => set(row['payment'], { symbol: '', token_address: USDC.token }),
    t,
  );
  assert.match(parseOpenSeaSales(withoutSymbol, apes).rejected[0] ?? '', /^symbol: is missing/);
});
