// One rule says which part a stored sale has in `/sales`, `lastSale`, volume, number of sales, history and activity. The expectations are computed here
// from what was generated, not from what the service reads in it.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { IS_COUNTED, saleSumsSql } from '../../../src/market/index/queries/sale-rule.ts';
import { recountFigures } from '../../../src/market/index/recount.ts';
import { createChains } from '../../../src/platform/core/chains.ts';
import { deriveMissing } from '../../../src/platform/database/backup/earlier-backup.ts';
import { Random, toEvmAddress, toEvmHash } from '../../../sample/random.ts';
import { forEachEngine } from '../../support/engines/each-engine.ts';
import type { TestCollection } from '../../support/service/market.ts';
import { DAY_MS, forOneMarket, HOUR_MS, MINUTE_MS, newCollection, range } from '../../support/service/market.ts';

const COLLECTIONS = 12;
const SALES_MAX = 40;
const TOKENS = ['1', '2', '3'];
const ZERO = `0x${'0'.repeat(40)}`;
const ETH = 10n ** 18n;

/** How a price is written, and what it says. `raw`: the price in base units, null if it is not in the native currency. */
type Price = { text: string; raw: bigint | null; isRead: boolean };
const ofEth = (raw: bigint): Price => ({ text: raw.toString(), raw, isRead: true });
const inOther = (text: string): Price => ({ text, raw: null, isRead: true });
const unreadable = (text: string): Price => ({ text, raw: null, isRead: false });

const PRICES: readonly ((random: Random) => Price)[] = [
  ...range(6).map(() => (random: Random) => ofEth(BigInt(random.integer(1, 9)) * ETH)),
  () => ofEth(0n),
  () => inOther('7000000 USDC'),
  () => inOther('0.5 $APE'),
  () => inOther(`7e+6 ${toEvmAddress('currency')}`),
  () => inOther(`5 native and 7 of ${toEvmAddress('currency')}`),
  () => inOther(`7 of ${toEvmAddress('currency')} and 5 native`),
];
const UNREADABLE = [
  '6.27e+16 (unknown currency)',
  '5 ERC20',
  '5 unknown',
  'a lot',
  '1.5',
  'unknown',
  '5 for tokens of 2 contracts',
];

type Parties = { seller: string | null; buyer: string | null };
const [ANNE, BEN] = [toEvmAddress('anne'), toEvmAddress('ben')];
const PARTIES: readonly Parties[] = [
  { seller: ANNE, buyer: BEN },
  { seller: BEN, buyer: ANNE },
  { seller: ZERO, buyer: BEN },
  { seller: ANNE, buyer: ZERO },
  { seller: ZERO, buyer: ZERO },
  { seller: '0x0', buyer: '0x0' },
  { seller: null, buyer: null },
  { seller: ANNE, buyer: ANNE },
];

/** `assets`: several for a bundle. */
type MadeSale = Parties & { at: number; tx: string; assets: readonly string[]; price: Price };

function makeSales(random: Random, { now, hasUnreadable }: { now: number; hasUnreadable: boolean }): MadeSale[] {
  const times = new Set(
    range(random.integer(1, SALES_MAX)).map(() => now - random.integer(1, 20 * 24 * 60) * MINUTE_MS),
  );
  // Sales at the ends of the windows, and a sale of now: the sales are complete up to the newest one.
  for (const age of [0, DAY_MS - MINUTE_MS, DAY_MS + MINUTE_MS, 7 * DAY_MS]) times.add(now - age);
  return [...times].map((at) => ({
    at,
    tx: toEvmHash('sale', String(at), String(random.float())),
    assets: random.boolean(0.15) ? ['1', '2'] : [random.pick(TOKENS)],
    price: hasUnreadable && random.boolean(0.1) ? unreadable(random.pick(UNREADABLE)) : random.pick(PRICES)(random),
    ...random.pick(PARTIES),
  }));
}

const known = (party: string | null) => (party === ANNE || party === BEN ? party : null);
const isSelf = ({ seller, buyer }: MadeSale) => known(seller) !== null && known(seller) === known(buyer);

/** The volume in ether, null while one of the sales cannot be read, and the number of sales. */
function sumUp(sales: readonly MadeSale[]): { volume: number | null; sales: number } {
  const traded = sales.filter((sale) => !isSelf(sale) && sale.price.raw !== 0n);
  const volume = traded.reduce((sum, { price }) => sum + (price.raw ?? 0n), 0n);
  return { volume: traded.every(({ price }) => price.isRead) ? Number(volume / ETH) : null, sales: traded.length };
}

const since = (sales: readonly MadeSale[], from: number, to = Number.POSITIVE_INFINITY) =>
  sales.filter(({ at }) => at >= from && at < to);

forOneMarket('the rule of sales', {}, (market) => {
  const subjects = new Map<TestCollection, readonly MadeSale[]>();
  const random = new Random('the rule of sales');
  const each = async (check: (subject: TestCollection, sales: readonly MadeSale[]) => Promise<void>) => {
    if (subjects.size === 0) await fill();
    for (const [subject, sales] of subjects) await check(subject, sales);
  };
  const fill = async () => {
    for (const index of range(COLLECTIONS)) {
      const sales = makeSales(random, { now: market.now(), hasUnreadable: index % 3 > 0 });
      const subject = newCollection();
      subjects.set(
        subject,
        sales.toSorted((a, b) => b.at - a.at),
      );
      const records = sales.map(({ at, tx, assets, price, seller, buyer }) => {
        const { tokenId, ...record } = subject.sale(assets[0] ?? '', price.text, {
          timestamp: new Date(at).toISOString(),
          tx,
          ...(seller !== null && { seller }),
          ...(buyer !== null && { buyer }),
        });
        return assets.length > 1 ? { ...record, tokenIds: assets } : { ...record, tokenId };
      });
      await market.load([
        subject.collection(),
        ...TOKENS.map((token) => subject.token(token)),
        ...random.shuffle(records),
      ]);
    }
  };

  test('`/sales` has each sale of one token with a price in the native currency, newest first', () =>
    each(async ({ path }, sales) => {
      const rows = await market.walk(`${path}/sales?limit=100`);
      assert.deepEqual(
        rows.map(({ tx, tokenId, price, seller, buyer }) => [tx, tokenId, price.raw, seller, buyer]),
        sales
          .filter(({ assets, price }) => assets.length === 1 && price.raw !== null)
          .map(({ tx, assets, price, seller, buyer }) => [
            tx,
            assets[0],
            String(price.raw),
            known(seller),
            known(buyer),
          ]),
      );
    }));

  test('`lastSale` is the newest sale of the token alone, and null if its price is not a native one', () =>
    each(async ({ chain, address }, sales) => {
      for (const token of TOKENS) {
        const last = sales.find(({ assets }) => assets.length === 1 && assets[0] === token);
        if (!last) continue;
        const { data } = await market.ok(`/v1/tokens/${chain}/${address}/${token}`);
        assert.equal(data.lastSale?.price.raw ?? null, last.price.raw?.toString() ?? null);
      }
    }));

  test('volume and number of sales are those of the sales of the window, and the provenance says why a volume is null', () =>
    each(async ({ path, slug }, sales) => {
      const { stats } = (await market.ok(path)).data;
      const { figures } = (await market.ok(`/explore/v1/collections/${slug}/provenance`)).data;
      const starts = { allTime: 0, sevenDay: market.now() - 7 * DAY_MS, twentyFourHour: market.now() - DAY_MS };
      for (const [name, start] of Object.entries(starts)) {
        const expected = sumUp(since(sales, start));
        assert.deepEqual({ volume: stats.volume[name], sales: stats.sales[name] }, expected, `${slug} ${name}`);
        const { kind, reason } = figures.find(({ figure }: { figure: string }) => figure === `volume.${name}`);
        assert.equal(kind, expected.volume === null ? 'unknown' : 'imported');
        if (expected.volume === null)
          assert.match(reason, /stored sales? ha(s|ve) a price or currency that cannot be read/);
        else assert.equal(reason, null);
      }
    }));

  test('the history has the volume and the number of sales of each hour and of each day', () =>
    each(async ({ slug }, sales) => {
      for (const [interval, lengthMs] of Object.entries({ hour: HOUR_MS, day: DAY_MS })) {
        const from = new Date(market.now() - 21 * DAY_MS).toISOString();
        const points = (await market.ok(`/explore/v1/collections/${slug}/history?interval=${interval}&from=${from}`))
          .data;
        assert.ok(points.length >= 21);
        for (const point of points) {
          const start = Date.parse(point.from);
          const expected = sumUp(since(sales, start, start + lengthMs));
          assert.deepEqual({ volume: point.volume, sales: point.sales }, expected, `${slug} ${point.from}`);
        }
      }
    }));

  test('the activity has every sale once, also bundles, and marks a sale from an account to itself', () =>
    each(async ({ slug }, sales) => {
      const rows = await market.walk(`/explore/v1/activity?collection=${slug}&kinds=sale&limit=100`);
      assert.deepEqual(
        rows.map(({ tx, tokenId, price, from, to, self }) => [tx, tokenId, price?.raw ?? null, from, to, self]),
        sales.map((sale) => [
          sale.tx,
          sale.assets.length === 1 ? sale.assets[0] : null,
          sale.price.raw?.toString() ?? null,
          known(sale.seller),
          known(sale.buyer),
          isSelf(sale),
        ]),
      );
    }));

  test('the list of collections has the same volume, and the stored sums are those of the stored sales', async () => {
    await each(async ({ address }, sales) => {
      const rows = await market.walk('/v1/collections?sort=volume&limit=100');
      const row = rows.find(({ contractAddress }) => contractAddress === address);
      assert.equal(row.stats.volumeAllTime, sumUp(sales).volume);
    });
    const stores = { main: market.main(), indexer: market.indexer(), chains: createChains() };
    assert.deepEqual(await recountFigures(stores, { prefix: '', now: market.now(), limit: 10 }), []);
  });
});

forEachEngine('the sums of sales in a backup from before the rule', (engine) => {
  test('a restore computes the sums again by the same rule', async () => {
    const db = await engine.open();
    const random = new Random('before the rule');
    const sales = range(6).flatMap((index) =>
      makeSales(random, { now: Date.UTC(2026, 5, 1), hasUnreadable: true }).map((sale) => ({
        ...sale,
        collection: `c${index}`,
      })),
    );
    const rows = sales.map(({ collection, at, tx, assets, price, seller, buyer }) => ({
      key: tx.slice(2, 34),
      collection_id: collection,
      asset: assets.length > 1 ? '' : assets[0],
      price: price.text,
      price_raw: price.raw?.toString() ?? null,
      seller,
      buyer,
      sold_at: new Date(at).toISOString(),
    }));
    await db.query(
      `insert into indexer.sale (key, source, chain, collection_id, asset, price, price_raw, seller, buyer, sold_at)
       select key, 's', 'ethereum', collection_id, asset, price, price_raw, seller, buyer, sold_at from json_to_recordset($1::json) as made
         (key uuid, collection_id text, asset text, price text, price_raw numeric, seller text, buyer text, sold_at timestamptz)`,
      [JSON.stringify(rows)],
    );
    await db.query(
      `insert into indexer.sale_total (collection_id, volume_raw, sales) values ('c0', 1, 1), ('gone', 5, 5)`,
    );
    await db.transaction((tx) => deriveMissing(tx, 'indexer', []));
    const totals = await db.query(
      `select collection_id, volume_raw::text as volume, sales::int, unread::int from indexer.sale_total order by 1`,
    );
    assert.deepEqual(
      totals,
      range(6).map((index) => {
        const traded = sales.filter(
          (sale) => sale.collection === `c${index}` && !isSelf(sale) && sale.price.raw !== 0n,
        );
        return {
          collection_id: `c${index}`,
          volume: traded.reduce((sum, { price }) => sum + (price.raw ?? 0n), 0n).toString(),
          sales: traded.length,
          unread: traded.filter(({ price }) => !price.isRead).length,
        };
      }),
    );
    const differing = await db.query(
      `select * from (select collection_id, date_trunc('hour', sold_at, 'UTC') as hour, ${saleSumsSql()}
         from indexer.sale where ${IS_COUNTED} group by 1, 2) as counted
       full join indexer.sale_hour as stored using (collection_id, hour, volume_raw, sales, unread) where stored is null or counted is null`,
    );
    assert.deepEqual(differing, []);
  });
});
