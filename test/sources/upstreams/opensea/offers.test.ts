// Tests which offers of OpenSea are converted to records of bids, and why others are rejected.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Address } from '../../../../src/platform/core/address.ts';
import { parseExactJson } from '../../../../src/sources/upstreams/exact-json.ts';
import { parseOpenSeaOffers, walkOpenSeaOffers } from '../../../../src/sources/upstreams/opensea/offers.ts';
import { parseFixture, readFixture } from '../../../support/fixtures.ts';
import { assertValidRecords } from '../../../support/replay/every-fault.ts';
import { APES, makeAddress, makeHash } from '../../../support/replay/opensea.ts';

import { apes, AT, makeMarket, start } from './opensea-market.ts';

const BIDDER = '0x7e5f4552091a69125d5dfcb7b8c2659029395bdf';
const exact = (value: unknown) => parseExactJson(Buffer.from(JSON.stringify(value)));
type Json = Record<string, any>;
const rowsOf = (): Json[] => parseFixture('opensea/offers.json').offers;
const rowAt = (index: number): Json => rowsOf()[index] ?? assert.fail('no row');
const parse = (...rows: Json[]) => parseOpenSeaOffers(exact(rows) as unknown[], apes);
const orderOf = (row: Json) => row['protocol_data']?.['parameters'] ?? assert.fail('no order');

test('a page of offers becomes records of each kind, with the proceeds after the fees of the order', () => {
  const { offers } = parseExactJson(Buffer.from(readFixture('opensea/offers.json'))) as { offers: unknown[] };
  const { records, rejected, unsupported, skipped } = parseOpenSeaOffers(offers, apes);
  assertValidRecords(records);
  assert.deepEqual([rejected, unsupported, skipped], [[], [], 0]);
  assert.deepEqual(records[0], {
    kind: 'bid',
    source: 'opensea',
    chain: 'apechain',
    contractAddress: APES.contract,
    priceRaw: '1200000000000000000',
    proceedsRaw: '1188000000000000000',
    buyer: BIDDER,
    id: `0x${'c1'.repeat(32)}`,
    orderHash: `0x${'c1'.repeat(32)}`,
    quantity: '3',
    remaining: '2',
    status: 'active',
    timestamp: '2025-11-13T02:13:20.000Z',
    expiresAt: '2026-05-12T02:13:20.000Z',
  });
  assert.deepEqual(
    records.map(({ tokenId, tokenIds, traits, proceedsRaw }) => ({ tokenId, tokenIds, traits, proceedsRaw })).slice(1),
    [
      {
        tokenId: undefined,
        tokenIds: undefined,
        traits: [{ name: 'Fur', value: 'Gold' }],
        proceedsRaw: '1287000000000000000',
      },
      { tokenId: '2', tokenIds: undefined, traits: undefined, proceedsRaw: '1250000000000000000' },
      { tokenId: undefined, tokenIds: ['1', '3', '4', '5'], traits: undefined, proceedsRaw: '1100000000000000000' },
    ],
  );
});

test('an offer for all tokens of a collection that shares its contract is for any token', () => {
  const row = rowAt(1);
  const { records } = parse({ ...row, criteria: { ...row['criteria'], traits: undefined, encoded_token_ids: '*' } });
  const [record] = records;
  assert.deepEqual([record?.['tokenIds'], record?.['traits'], record?.['tokenId']], [undefined, undefined, undefined]);
});

test('offers of other contracts and chains, inactive offers and later offers are skipped', () => {
  const row = rowAt(0);
  const other = structuredClone(row);
  orderOf(other)['consideration'][0].token = makeAddress(9);
  assert.equal(parse(other, { ...row, chain: 'base' }, { ...row, status: 'INACTIVE' }).skipped, 3);
  assert.equal(parseOpenSeaOffers(exact([row]) as unknown[], apes, { begunBy: 1_762_999_999_000 }).skipped, 1);
});

test('an offer in a currency that CURRENCIES names is a bid in this currency, if its fees are in the same', () => {
  const usdc = makeAddress(7) as Address;
  const chain = { ...apes.chain, currencies: [{ address: usdc, symbol: 'USDC', decimals: 6 }] };
  const row = rowAt(0);
  const order = orderOf(row);
  order['offer'][0].token = usdc;
  const parseRow = () => parseOpenSeaOffers(exact([row]) as unknown[], { ...apes, chain });
  assert.deepEqual(parseRow().unsupported, ['consideration: is in another currency']);
  for (const fee of order['consideration'].slice(1)) fee.token = usdc;
  const { records, rejected, unsupported } = parseRow();
  assert.deepEqual([rejected, unsupported], [[], []]);
  const [own] = parse(rowAt(0)).records;
  assert.deepEqual(records, [{ ...own, currency: usdc }]);
});

test('an offer that is malformed or contradicts itself is rejected with the field, and one that cannot be stored is counted apart', () => {
  const changed = (change: (order: Json, row: Json) => void, index = 0) => {
    const row = rowAt(index);
    change(orderOf(row), row);
    const { records, rejected, unsupported } = parse(row);
    assert.deepEqual(records, []);
    return [...rejected, ...unsupported.map((reason) => `unsupported ${reason}`)];
  };
  const USDC = makeAddress(7);
  assert.deepEqual(
    changed((order) => (order['offer'][0].token = USDC)),
    ['unsupported offer[0].token: is another currency'],
  );
  assert.deepEqual(
    changed((order) => (order['consideration'][1].token = USDC)),
    ['unsupported consideration: is in another currency'],
  );
  assert.deepEqual(
    changed((order) => order['consideration'].push(order['consideration'][0])),
    ['unsupported consideration: is a bundle'],
  );
  assert.deepEqual(
    changed((order) => (order['offer'][0].endAmount = '1')),
    ['offer[0]: is not a fixed amount'],
  );
  assert.deepEqual(
    changed((order) => Object.assign(order['offer'][0], { startAmount: '100', endAmount: '100' })),
    ['offer[0].startAmount: is no multiple of the wanted amount'],
  );
  assert.deepEqual(
    changed((order) => (order['consideration'][0].recipient = makeAddress(3))),
    ['consideration: is not for the bidder'],
  );
  assert.deepEqual(
    changed((order) => order['consideration'].shift()),
    ['consideration: has no token'],
  );
  assert.deepEqual(
    changed((_, row) => (row['remaining_quantity'] = 4)),
    ['remaining_quantity: is not between 0 and the wanted amount'],
  );
  assert.deepEqual(
    changed((_, row) => (row['criteria'].encoded_token_ids = '1:9999999'), 3),
    ['unsupported criteria.encoded_token_ids: has more than 5000 tokens'],
  );
  assert.deepEqual(
    changed((_, row) => (row['criteria'].encoded_token_ids = '1,x'), 3),
    ['criteria.encoded_token_ids: is not a list of token ids'],
  );
  assert.deepEqual(
    changed((_, row) => (row['criteria'] = { numeric_traits: [{ type: 'Level', min: 1 }] }), 3),
    ['unsupported criteria: does not name its tokens'],
  );
  assert.deepEqual(
    changed((order) =>
      Object.assign(order['consideration'][1], {
        startAmount: '3600000000000000000',
        endAmount: '3600000000000000000',
      }),
    ),
    ['consideration: leaves nothing to the seller'],
  );
});

test('a walk reads all pages of offers', async (t) => {
  const offers = Array.from({ length: 450 }, (_, n) => ({
    bidder: makeAddress(n % 3),
    total: 10n ** 17n,
    hash: makeHash(n + 1),
  }));
  const { upstream } = await start(t, [makeMarket({ offers })]);
  const hashes = new Set<unknown>();
  const pages = walkOpenSeaOffers(upstream, apes, { begunBy: AT });
  for (;;) {
    const page = await pages.next();
    if (page.done) {
      assert.deepEqual([page.value.gap, page.value.pages], [null, 3]);
      break;
    }
    for (const { orderHash } of page.value.records) hashes.add(orderHash);
  }
  assert.equal(hashes.size, 450);
});
