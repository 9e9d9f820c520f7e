// Imports of records that other people published: sales, tokens, mints and collections.

import assert from 'node:assert/strict';
import { before, beforeEach, test } from 'node:test';
import type { Database } from '../../src/platform/database/port.ts';
import { parseNativeAmount } from '../../src/platform/core/amount.ts';
import { parseColumnMap } from '../../src/intake/csv/column-map.ts';
import { ORDERS_MAP, PUNKS_MAP } from '../cli/import/guide-files.ts';
import { needsPayloads, readPayload } from '../support/recordings/payloads.ts';
import { needsRecordings, readRecording } from '../support/recordings/recordings.ts';
import { forOneEngine } from '../support/engines/each-engine.ts';
import { dumpTables, emptyTables, MINT, runImport, toContext, toNdjson } from '../support/service/intake.ts';

const PUNKS = '0xb47e3cd837ddf8e4c57f05d70ab865de6e193bbb';
const LOOT = '0xff9c1b15b16263c61d017ee9f65c50e4ae0113d7';

/** The map of the guide, with the contract of the recorded file. */
const REAL_PUNKS_MAP = parseColumnMap({ ...PUNKS_MAP, contractAddress: { value: PUNKS } });

const ASKS = 'reservoir/orders_asks_v4_v5.json';
type ReservoirOrder = { side: string; price: { currency: { symbol: string }; amount: { raw: string } } };

/** The rows of the file have no time. All of them get the same time. */
const SEAPORT_MAP = parseColumnMap({
  kind: { value: 'sale' },
  source: 'marketplace',
  chain: { value: 'ethereum' },
  contractAddress: 'contract_address',
  tokenId: 'token_id',
  price: 'price_amount',
  seller: 'seller_address',
  buyer: 'buyer_address',
  tx: 'transaction_hash',
  timestamp: { value: '2022-12-31T00:00:00Z' },
});

forOneEngine('imports of published records', (engine) => {
  let db: Database;
  before(async () => {
    db = await engine.open();
  });
  beforeEach(() => emptyTables(db));

  /** Imports the content twice. Fails unless every record is accepted. Fails if the second import changes a row. */
  const importTwice = async (content: string, options: Parameters<typeof runImport>[2] = {}) => {
    const first = await runImport(toContext(db), content, options);
    assert.deepEqual(first.refused, []);
    const stored = await dumpTables(db);
    const second = await runImport(toContext(db), content, options);
    assert.deepEqual([second.summary.inserted, second.summary.updated], [0, 0]);
    assert.deepEqual(await dumpTables(db), stored);
    return first.summary;
  };

  test(
    '16,824 CryptoPunks sales are stored once, and the sum of their prices is exact',
    needsRecordings('sales/cryptopunks-2017-2022.csv'),
    async () => {
      const content = readRecording('sales/cryptopunks-2017-2022.csv');
      const summary = await importTwice(content, { format: 'csv', map: REAL_PUNKS_MAP });
      assert.equal(summary.inserted, 16_824);
      const [header = '', ...rows] = content.trim().split(/\r?\n/);
      const column = header.split(',').indexOf('price');
      const prices = rows
        .map((row) => parseNativeAmount(row.split(',')[column] ?? '', 18) ?? 0n)
        .filter((raw) => raw > 0n);
      const [total] = await db.query('select volume_raw, sales from indexer.sale_total');
      assert.deepEqual(total, {
        volume_raw: prices.reduce((sum, raw) => sum + raw, 0n).toString(),
        sales: String(prices.length),
      });
      const [unreadable] = await db.query<{ count: number }>(
        'select count(*)::int as count from indexer.sale where price_raw is null',
      );
      assert.equal(unreadable?.count, 0, 'a price was not read as an amount, perhaps one like 1e-05');
    },
  );

  test('2,966 rows of Seaport sales are 1,966 distinct sales', needsRecordings('sales/seaport-2022.csv'), async () => {
    const content = readRecording('sales/seaport-2022.csv');
    const { seller: _seller, ...map } = SEAPORT_MAP;
    const { read, inserted, unchanged } = await importTwice(content, { format: 'csv', map });
    assert.deepEqual([read, inserted, unchanged], [2_966, 1_966, 1_000]);
    const [found] = await db.query(
      'select count(*)::int as sales, count(price_raw)::int as interpretable, count(distinct price)::int > 1 as kept from indexer.sale',
    );
    assert.deepEqual(found, { sales: 1_966, interpretable: 0, kept: true });
    const [sums] = await db.query(
      'select sum(volume_raw)::int as volume, sum(sales)::int as sales, sum(unread)::int as unread from indexer.sale_total',
    );
    assert.deepEqual(sums, { volume: 0, sales: 1_966, unread: 1_966 });
  });

  test(
    'a Seaport sale whose seller lost its leading zeros is stored with the seller as received',
    needsRecordings('sales/seaport-2022.csv'),
    async () => {
      const content = readRecording('sales/seaport-2022.csv');
      const { summary, refused } = await runImport(toContext(db), content, { format: 'csv', map: SEAPORT_MAP });
      assert.deepEqual(refused, []);
      assert.deepEqual([summary.inserted, summary.unchanged], [1_966, 1_000]);
      const [header = '', ...rows] = content.trim().split(/\r?\n/);
      const columns = header.split(',');
      const cellOf = (row: string, name: string) => row.split(',')[columns.indexOf(name)] ?? '';
      const shortened = rows.filter((row) => cellOf(row, 'seller_address').length < PUNKS.length);
      assert.equal(shortened.length, 3);
      const received = shortened.map((row) => ({
        tx: cellOf(row, 'transaction_hash'),
        seller: cellOf(row, 'seller_address'),
      }));
      const stored = await db.query('select tx, seller from indexer.sale where tx = any($1)', [
        received.map(({ tx }) => tx),
      ]);
      const sorted = (sales: readonly object[]) => sales.map((sale) => JSON.stringify(sale)).toSorted();
      assert.deepEqual(sorted(stored), sorted(received));
    },
  );

  test('8,000 Loot tokens keep their ranks', needsRecordings('rarity/loot-ranks.json'), async () => {
    const content = readRecording('rarity/loot-ranks.json');
    const ranks = JSON.parse(content) as { lootId: number; rarest: number }[];
    const records = ranks.map(({ lootId, rarest }) => ({
      kind: 'token',
      chain: 'ethereum',
      contractAddress: LOOT,
      tokenId: String(lootId),
      rarityRank: rarest,
    }));
    assert.equal((await importTwice(toNdjson(records))).inserted, 8_000);
    const [found] = await db.query(`select asset from indexer.token where rarity_rank = 1`);
    assert.equal(found?.['asset'], String(ranks.find(({ rarest }) => rarest === 1)?.lootId));
  });

  test(
    '2,525 Solana mints are stored with the case in which they are written',
    needsRecordings('solana/frantic-bullyz-mints.json'),
    async () => {
      const content = readRecording('solana/frantic-bullyz-mints.json');
      const mints = JSON.parse(content) as string[];
      const records = mints.map((mint) => ({ kind: 'token', chain: 'solana', contractAddress: MINT, mint }));
      assert.equal((await importTwice(toNdjson(records))).inserted, 2_525);
      const rows = await db.query<{ asset: string }>('select asset from indexer.token');
      assert.deepEqual(new Set(rows.map((row) => row.asset)), new Set(mints));
    },
  );

  test(
    '200 collections that are identified by their slugs keep their snapshots',
    needsRecordings('opensea-top200-collections-2022.json'),
    async () => {
      const content = readRecording('opensea-top200-collections-2022.json');
      type Collection = {
        slug: string;
        name: string;
        logo: string | null;
        createdDate: string;
        floorPrice: string | null;
        stats: { numOwners: number; totalSupply: number; totalVolume: number };
      };
      const records = (JSON.parse(content) as Collection[]).map(
        ({ slug, name, logo, createdDate, floorPrice, stats }) => ({
          kind: 'collection',
          slug,
          name,
          image: logo,
          createdAt: `${createdDate}Z`,
          snapshot: {
            floorRaw: floorPrice && parseNativeAmount(floorPrice, 18)?.toString(),
            volumeAllTime: stats.totalVolume,
            supply: stats.totalSupply,
            owners: stats.numOwners,
          },
        }),
      );
      const { inserted, warnings } = await importTwice(toNdjson(records));
      // Of two collections, the file states a floor of 0: nothing of them was listed.
      assert.deepEqual([inserted, warnings.zeroPrice?.count], [200, 2]);
      const unknown = await db.query(`select slug from main.collection where snapshot_floor_raw is null`);
      const withoutFloor = records
        .filter(({ snapshot }) => BigInt(snapshot.floorRaw ?? 0) === 0n)
        .map(({ slug }) => slug);
      assert.deepEqual(new Set(unknown.map((row) => row['slug'])), new Set(withoutFloor));
      assert.ok(withoutFloor.includes('cryptokitties') && withoutFloor.includes('rarible'));
      const [ape] = await db.query(`select * from main.collection where slug = 'boredapeyachtclub'`);
      assert.deepEqual([ape?.['id'], ape?.['chain'], ape?.['snapshot_owners']], ['boredapeyachtclub', null, '5727']);
      assert.equal(ape?.['snapshot_floor_raw'], '34800000000000000000');
    },
  );

  test(
    'the listings of a Reservoir dump have the price that their marketplace states',
    needsPayloads(ASKS),
    async () => {
      const orders = (JSON.parse(readPayload(ASKS)) as ReservoirOrder[]).filter(({ side }) => side === 'sell');
      const { summary } = await runImport(toContext(db), toNdjson(orders), { map: parseColumnMap(ORDERS_MAP) });
      const inEther = orders.filter(({ price }) => ['ETH', 'WETH'].includes(price.currency.symbol));
      assert.deepEqual([summary.inserted, summary.refused], [inEther.length, orders.length - inEther.length]);
      const stored = await db.query(
        `select price_raw::text as price, buyer_total_raw from indexer.listing order by price_raw`,
      );
      const stated = inEther.map(({ price }) => BigInt(price.amount.raw)).sort((a, b) => (a < b ? -1 : 1));
      assert.deepEqual(
        stored,
        stated.map((price) => ({ price: price.toString(), buyer_total_raw: null })),
      );
    },
  );

  test('106 Rarible activities are 106 sales', needsRecordings('sales/rarible-sell-activities.json'), async () => {
    type Activity = {
      transactionHash: string;
      blockchainInfo: { logIndex: number };
      date: string;
      nft: { type: { contract: string; tokenId: string } };
      payment: { value: string };
      buyer: string;
      seller: string;
      sellerOrderHash: string;
    };
    const activities = JSON.parse(readRecording('sales/rarible-sell-activities.json')) as Activity[];
    const toAddress = (text: string) => text.replace('ETHEREUM:', '');
    const records = activities.map(({ nft, payment, ...activity }) => ({
      kind: 'sale',
      source: 'opensea',
      chain: 'ethereum',
      contractAddress: toAddress(nft.type.contract),
      tokenId: nft.type.tokenId,
      // The payments are in ether or wrapped ether.
      price: parseNativeAmount(payment.value, 18)?.toString(),
      seller: toAddress(activity.seller),
      buyer: toAddress(activity.buyer),
      timestamp: activity.date,
      listingId: activity.sellerOrderHash,
      tx: activity.transactionHash,
      logIndex: activity.blockchainInfo.logIndex,
    }));
    assert.equal((await importTwice(toNdjson(records))).inserted, 106);
    const [total] = await db.query('select volume_raw::text as volume, sales::int as sales from indexer.sale_total');
    assert.deepEqual(total, {
      volume: records.reduce((sum, { price }) => sum + BigInt(price ?? 0), 0n).toString(),
      sales: 106,
    });
    const [pairs] = await db.query('select count(distinct (tx, asset))::int as count from indexer.sale');
    assert.equal(pairs?.['count'], 105);
  });

  test(
    '10,000 CryptoPunks are imported from a file of which only one column is mapped',
    needsRecordings('rarity/cryptopunks-attributes.csv'),
    async () => {
      const map = parseColumnMap({
        kind: { value: 'token' },
        chain: { value: 'ethereum' },
        contractAddress: { value: PUNKS },
        tokenId: 'id',
      });
      const content = readRecording('rarity/cryptopunks-attributes.csv');
      assert.equal((await importTwice(content, { format: 'csv', map })).inserted, 10_000);
      const [found] = await db.query('select min(asset::int) as first, max(asset::int) as last from indexer.token');
      assert.deepEqual(found, { first: 0, last: 9_999 });
    },
  );
});
