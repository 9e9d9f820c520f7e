// Tests of MarketItem and Price in listings. The suite of GET /v1/collections/{id}/listings starts the service and runs these tests.

import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { toLargeTokenId } from '../../../../sample/random.ts';
import type { TestMarket } from '../../../support/service/market.ts';
import {
  DAY_MS,
  MINUTE_MS,
  SECOND_MS,
  SELLER,
  SOLANA_SELLER,
  START,
  UINT256_MAX,
  mintOf,
  newCollection,
} from '../../../support/service/market.ts';

const DAY_BEFORE = new Date(START - DAY_MS).toISOString();
const rawsOf = (rows: any[]) => rows.map((row) => row.price.raw);
const assetsOf = (rows: any[]) => rows.map((row) => row.tokenId ?? row.mint);

export function describeMarketItems(market: TestMarket): void {
  describe('a row', () => {
    test('a row of the own order book on EVM has every field', async () => {
      const subject = newCollection({ chain: 'base' });
      const expiresAt = new Date(START + DAY_MS).toISOString();
      await market.load([
        subject.collection(),
        subject.order('7', '1500000000000000000', { seller: SELLER.toUpperCase().replace('0X', '0x'), expiresAt }),
      ]);
      const { data } = await market.ok(`${subject.path}/listings`);
      assert.deepEqual(data, [
        {
          chain: 'base',
          contractAddress: subject.address,
          tokenId: '7',
          mint: null,
          collectionId: subject.id,
          price: { raw: '1500000000000000000', decimal: 1.5, currency: 'ETH', usd: null },
          seller: SELLER,
          buyer: null,
          marketplace: 'MERCAT',
          status: 'active',
          expiresAt,
          timestamp: DAY_BEFORE,
          orderId: `base_${subject.address}_7_${START - DAY_MS}`,
          tx: null,
        },
      ]);
    });

    test('a row of an external marketplace on EVM has its source slug and the mirror id, never the order hash', async () => {
      const subject = newCollection({ chain: 'polygon' });
      const orderHash = `0x${'ab'.repeat(32)}`;
      const tx = `0x${'Cd'.repeat(32)}`;
      const more = { source: 'magic-eden', id: 'me:42/x', orderHash, tx };
      await market.load([subject.collection(), subject.listing('0', 12, more)]);
      const { data } = await market.ok(`${subject.path}/listings`);
      assert.deepEqual(data, [
        {
          chain: 'polygon',
          contractAddress: subject.address,
          tokenId: '0',
          mint: null,
          collectionId: subject.id,
          price: { raw: '12', decimal: 1.2e-17, currency: 'POL', usd: null },
          seller: SELLER,
          buyer: null,
          marketplace: 'magic-eden',
          status: 'active',
          expiresAt: null,
          timestamp: DAY_BEFORE,
          orderId: 'me:42/x',
          tx: tx.toLowerCase(),
        },
      ]);
    });

    test('a row on Solana has a mint with letter case preserved and no contract address', async () => {
      const subject = newCollection({ chain: 'solana' });
      const mint = mintOf('case');
      await market.load([subject.collection(), subject.listing(mint, 2_500_000_000, { source: 'tensor', id: 'T1' })]);
      const { data } = await market.ok(`${subject.path}/listings`);
      assert.notEqual(subject.address, subject.address.toLowerCase());
      assert.deepEqual(data, [
        {
          chain: 'solana',
          contractAddress: null,
          tokenId: null,
          mint,
          collectionId: `solana_${subject.address.toLowerCase()}`,
          price: { raw: '2500000000', decimal: 2.5, currency: 'SOL', usd: null },
          seller: SOLANA_SELLER,
          buyer: null,
          marketplace: 'tensor',
          status: 'active',
          expiresAt: null,
          timestamp: DAY_BEFORE,
          orderId: 'T1',
          tx: null,
        },
      ]);
    });

    test("a row of the service's own Solana listings names the service as the marketplace and has an order id with its prefix", async () => {
      const subject = newCollection({ chain: 'solana' });
      await market.load([
        subject.collection(),
        subject.listing(mintOf('1'), 5, { source: 'mercat', id: 'escrow1' }),
        subject.listing(mintOf('2'), 6, { source: 'mercat', id: 'mercat_escrow2' }),
      ]);
      const { data } = await market.ok(`${subject.path}/listings`);
      assert.deepEqual(
        data.map((row: any) => [row.marketplace, row.orderId]),
        [
          ['MERCAT', 'mercat_escrow1'],
          ['MERCAT', 'mercat_escrow2'],
        ],
      );
    });

    test('a row whose record has no id keeps its order id when the record is imported again', async () => {
      const subject = newCollection();
      const records = [subject.collection(), subject.listing('1', 5)];
      await market.load(records);
      const [first] = (await market.ok(`${subject.path}/listings`)).data;
      await market.load(records);
      const [second] = (await market.ok(`${subject.path}/listings`)).data;
      assert.match(first.orderId, /./);
      assert.equal(second.orderId, first.orderId);
    });
  });

  describe('a price', () => {
    test('a price has the exact amount up to 2^256-1, also for token ids of 78 digits', async () => {
      const subject = newCollection();
      const large = toLargeTokenId('one');
      const raws = [1n, 9_007_199_254_740_993n, 10n ** 18n + 1n, 2n ** 255n, UINT256_MAX - 1n, UINT256_MAX];
      const ids = [UINT256_MAX.toString(), large, '0', '9007199254740993', '10', '9'];
      await market.load([
        subject.collection(),
        ...raws.map((raw, index) =>
          index % 2 === 0 ? subject.order(ids[index] ?? '', raw) : subject.listing(ids[index] ?? '', raw),
        ),
      ]);
      const { data } = await market.ok(`${subject.path}/listings`);
      assert.deepEqual(rawsOf(data), raws.map(String));
      assert.deepEqual(assetsOf(data), ids);
      assert.equal(large.length, 78);
      assert.equal(data.at(-1).price.decimal, 1.157920892373162e59);
      assert.equal(data[2].price.decimal, 1);
    });

    test('prices are sorted as integers: 9 before 10 before 2^256-1', async () => {
      const subject = newCollection();
      const raws = [10n, UINT256_MAX, 9n, 2n ** 64n, 100n, 99n, 2n ** 64n + 1n];
      await market.load([
        subject.collection(),
        ...raws.map((raw, index) => (index % 2 ? subject.order(`${index}`, raw) : subject.listing(`${index}`, raw))),
      ]);
      const { data } = await market.ok(`${subject.path}/listings`);
      const expected = raws.toSorted((a, b) => (a < b ? -1 : 1)).map(String);
      assert.deepEqual(rawsOf(data), expected);
    });

    test('a price in dollars is rounded to cents from one dollar up, and to six significant digits below one dollar', async () => {
      const subject = newCollection({ chain: 'apechain' });
      const amounts = [
        '1000000000000000000',
        '12345678900000000000',
        '123456789000000000',
        '1',
        '20000000000000000000000',
      ];
      await market.load([
        subject.collection(),
        ...amounts.map((raw, index) => subject.order(`${index}`, raw)),
        { kind: 'rate', symbol: 'APE', usd: 1.2345678, at: market.ago(0) },
      ]);
      const { data } = await market.ok(`${subject.path}/listings`);
      assert.deepEqual(
        data.map((row: any) => [row.price.raw, row.price.usd]),
        [
          ['1', 1.23457e-18],
          ['123456789000000000', 0.152416],
          ['1000000000000000000', 1.23],
          ['12345678900000000000', 15.24],
          ['20000000000000000000000', 24691.36],
        ],
      );
    });

    test('a price has no dollars while the newest rate is older than 15 minutes', async () => {
      const subject = newCollection({ chain: 'ink' });
      const usd = async () => (await market.ok(`${subject.path}/listings`)).data[0].price.usd;
      const rate = (dollars: number, at: string) => ({ kind: 'rate', symbol: 'ETH', usd: dollars, at });
      await market.load([subject.collection(), subject.order('1', 10n ** 18n), rate(2_000, market.ago(0))]);
      assert.equal(await usd(), 2_000);
      market.advance(15 * MINUTE_MS);
      assert.equal(await usd(), 2_000);
      market.advance(SECOND_MS);
      assert.equal(await usd(), null);
      await market.load([rate(3_000, market.ago(0))]);
      assert.equal(await usd(), 3_000);
      await market.load([rate(1_000, market.ago(MINUTE_MS))]);
      assert.equal(await usd(), 3_000, 'an older rate replaced a newer rate');
      market.advance(20 * MINUTE_MS);
      assert.equal(await usd(), null);
    });
  });
}
