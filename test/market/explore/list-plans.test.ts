// Tests that the SQL statements of the lists read few rows of a large market, with every filter and for every wallet.

import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { createExploreSet } from '../../../bench/reads/explore-set.ts';
import { ACTIVITY_KINDS } from '../../../src/market/activity/market-change.ts';
import type { AssetId } from '../../../src/platform/core/address.ts';
import { listActivity, listLoggedSales } from '../../../src/market/explore/queries/activity.ts';
import { INTERVALS, readRangeFigures } from '../../../src/market/explore/queries/history.ts';
import { listFloorsAt } from '../../../src/market/index/queries/past-floors.ts';
import { countHolders, listLargestHolders } from '../../../src/market/explore/queries/holders.ts';
import type { OrderFilter, OrderSort, OrderStart } from '../../../src/market/explore/queries/order-lists.ts';
import {
  ORDER_SORTS,
  ORDER_LIST_STATUSES,
  listBookOrders,
  listMirroredOrders,
} from '../../../src/market/explore/queries/order-lists.ts';
import { listUnitsOfWallet, listTokenHolders } from '../../../src/market/explore/queries/holdings.ts';
import { findListing, findBookOrderId } from '../../../src/market/explore/queries/orders.ts';
import {
  listOwnAssetsByPrice,
  listOwnAssetsByTime,
  listOwnOrdersOfSeller,
} from '../../../src/market/explore/queries/own-assets.ts';
import { listCollectionsLike, listTokensLike } from '../../../src/market/explore/queries/search.ts';
import {
  LOWEST_KEY,
  listAssetsById,
  listAssetsByLastSale,
  listAssetsByRank,
  listAssetsLike,
  listAssetsOfAccount,
  listMirroredAssetsByPrice,
  listMirroredAssetsByTime,
} from '../../../src/market/explore/queries/token-keys.ts';
import { toParts, toSearchText } from '../../../src/market/explore/trigrams.ts';
import { listSales } from '../../../src/market/index/queries/sales.ts';
import { listObservedTokens } from '../../../src/market/index/queries/tokens.ts';
import { listFillableOrdersOfAssets } from '../../../src/market/orders/queries/fillable-orders.ts';
import { BUSY_WALLET, QUIET_WALLET, crowd } from './crowded-market.ts';
import { assertPlans } from './query-plans.ts';
import type { TraitFilter } from '../../../src/market/explore/queries/trait-keys.ts';
import {
  findTraitFilter,
  listTraitAssetsById,
  listTraitAssetsByPrice,
  listTraitAssetsByRank,
} from '../../../src/market/explore/queries/trait-keys.ts';
import { findTraitCoverage, listTraitValues } from '../../../src/market/explore/queries/traits.ts';
import {
  listHeldCollections,
  listMirroredCollections,
  listOrderedCollections,
} from '../../../src/market/explore/queries/wallet-collections.ts';
import { listHeldAssets, listMirroredOfSeller } from '../../../src/market/explore/queries/wallet-assets.ts';
import { readConfig } from '../../../src/service/config.ts';
import { createLog } from '../../../src/platform/core/log.ts';
import { openDatabases } from '../../../src/platform/database/open.ts';
import type { Database, Queryable } from '../../../src/platform/database/port.ts';
import type { TestEngine } from '../../support/engines/each-engine.ts';
import { forEachEngine } from '../../support/engines/each-engine.ts';

const LIMIT = 26;
const NOW = Date.UTC(2026, 6, 1);
const MINUTE_MS = 60_000;
const DAY_MS = 24 * 60 * MINUTE_MS;
const ANY = { chain: null, collectionId: null, asset: null, kinds: ACTIVITY_KINDS };
/** At this scale the set has 20,000 tokens. */
const SCALE = 0.02;

forEachEngine('lists', (engine) => {
  // The inner suite closes the database before the engine removes it.
  describe('lists of a large collection', () => {
    declareTests(engine);
  });
});

function declareTests(engine: TestEngine): void {
  let db: Database;
  let id: string;
  before(async () => {
    const databases = await openDatabases(readConfig(await engine.settings('empty')), createLog('warn'));
    db = databases.main;
    ({ largestId: id } = await createExploreSet(db, { scale: SCALE, now: NOW, report: () => undefined }));
    // Adds traits and figures of other collections, because PostgreSQL reads all rows of a table that is small.
    await db.query(
      `insert into indexer.trait (collection_id, name, value) select 'other ' || n % 500, 'Name ' || n % 7, n::text from generate_series(1, 20000) as n`,
    );
    await db.query(
      `insert into indexer.collection_figures (collection_id) select 'other ' || n from generate_series(1, 2000) as n`,
    );
    await db.query(
      `update indexer.token_metadata set name = 'Harbour ' || asset where collection_id = $1 and length(asset) < 5`,
      [id],
    );
    await crowd(db, { id, now: NOW });
  });
  after(() => db.close());

  const filters: Record<string, [string, string[]][]> = {
    'one trait': [['Hat', ['Hat 3']]],
    'one of two values': [['Hat', ['Hat 3', 'Hat 0']]],
    'five common traits': ['Hat', 'Eyes', 'Coat', 'Mouth', 'Fur'].map((name) => [name, [`${name} 0`]]),
    'five rare traits': ['Hat', 'Eyes', 'Coat', 'Mouth', 'Fur'].map((name) => [name, [`${name} 19`]]),
    'a rare trait and a common one': [
      ['Aura', ['Gold']],
      ['Hat', ['Hat 0']],
    ],
    'a trait of every token': [['Kind', ['Spirit']]],
    'a trait of every token and a rare one': [
      ['Kind', ['Spirit']],
      ['Hat', ['Hat 19']],
    ],
  };
  const filterOf = async (wanted: ReadonlyMap<string, readonly string[]>) => {
    const filter = await findTraitFilter(db, id, wanted);
    return 'value' in filter ? assert.fail(`there is no trait ${filter.name}`) : filter;
  };
  for (const [name, wanted] of Object.entries(filters)) {
    test(`a list of tokens by traits with ${name} reads few rows of each table`, async () => {
      const filter = await filterOf(new Map(wanted));
      const query = { filter, limit: LIMIT, now: NOW };
      await assertPlans(db, async (reading) => {
        const priced = await listTraitAssetsByPrice(reading, id, { ...query, after: null, except: [] });
        await listTraitAssetsByPrice(reading, id, { ...query, after: priced[9] ?? null, except: ['5'] });
        for (const listed of [null, false]) {
          await listTraitAssetsById(reading, id, { ...query, listed, after: null, unranked: false });
          await listTraitAssetsByRank(reading, id, { ...query, listed, after: null });
        }
      });
      assert.deepEqual(
        (await listTraitAssetsByPrice(db, id, { ...query, after: null, except: [] })).map(({ asset }) => asset),
        await listPricedByReading(db, id, filter),
      );
    });
  }

  test('a list of tokens by id with common traits reads only an index, and stops when the page is full', async () => {
    const wanted = new Map([
      ['Hat', ['Hat 0']],
      ['Eyes', ['Eyes 0']],
    ]);
    const filter = await filterOf(wanted);
    for (const after of [null, '5000']) {
      const query = { filter, limit: LIMIT, now: NOW, after, unranked: false, listed: null };
      await assertPlans(db, (reading) => listTraitAssetsById(reading, id, query), {
        rowsMax: (3 * LIMIT) / filter.share,
        indexOnly: ['trait_set'],
      });
      assert.deepEqual(await listTraitAssetsById(db, id, query), await listByReading(db, id, filter, after));
    }
  });

  const assertWalkByRank = async (indexOnly: readonly string[]) => {
    const wanted = new Map([
      ['Hat', ['Hat 0']],
      ['Eyes', ['Eyes 0']],
    ]);
    const filter = await filterOf(wanted);
    for (const after of [null, '5000']) {
      const position = after === null ? null : { rank: Number(after), asset: after };
      const query = { filter, limit: LIMIT, now: NOW, after: position, listed: null };
      await assertPlans(db, (reading) => listTraitAssetsByRank(reading, id, query), {
        rowsMax: (3 * LIMIT) / filter.share,
        indexOnly,
      });
      // The rank of each token is its id.
      assert.deepEqual(
        (await listTraitAssetsByRank(db, id, query)).map(({ asset }) => asset),
        await listByReading(db, id, filter, after),
      );
    }
  };

  test('a list of tokens by rank with common traits reads only indexes, and stops when the page is full', () =>
    assertWalkByRank(['trait_set']));

  test('if no token has both of two common traits, the list of tokens with both reads a limited part of the index, and then the tokens with the rarer trait', async () => {
    const wanted = new Map([
      ['Mouth', ['Mouth 0']],
      ['Fur', ['Fur 0']],
    ]);
    const filter = await filterOf(wanted);
    const [mouth, fur] = [...wanted].map(([name]) => name);
    await db.query(
      `update indexer.trait_set as owned set trait_ids = array_remove(trait_ids, fur.id)
       from indexer.trait as mouth, indexer.trait as fur
       where owned.collection_id = $1 and mouth.collection_id = $1 and mouth.name = $2 and mouth.value = $2 || ' 0'
         and fur.collection_id = $1 and fur.name = $3 and fur.value = $3 || ' 0' and trait_ids @> array[mouth.id, fur.id]`,
      [id, mouth, fur],
    );
    // The statement first visits tokens in the order of the list, at most twice as many as it expects to need for a page. Then it reads the
    // tokens with the rarer trait. Together this is far less than the 10,000 tokens of the collection.
    const rowsMax = (2 * LIMIT) / filter.share + filter.rarest.tokens;
    assert.ok(rowsMax < 5_000);
    const query = { filter, limit: LIMIT, now: NOW, listed: null, after: null };
    await assertPlans(db, (reading) => listTraitAssetsById(reading, id, { ...query, unranked: false }), {
      rowsMax,
    });
    await assertPlans(db, (reading) => listTraitAssetsByRank(reading, id, query), { rowsMax });
    assert.deepEqual(await listTraitAssetsById(db, id, { ...query, unranked: false }), []);
    assert.deepEqual(await listTraitAssetsByRank(db, id, query), []);
  });

  test('the traits of a collection are read through indexes', async () => {
    await assertPlans(db, async (reading) => {
      await listTraitValues(reading, id, { after: null, limit: LIMIT, valuesMax: 251, except: [] });
      await findTraitCoverage(reading, id, NOW);
    });
  });

  for (const listed of [null, true, false]) {
    for (const after of [null, '5000']) {
      test(`a list of tokens by id or rank reads few rows (listed: ${listed}, after: ${after})`, async () => {
        const filter = { listed, assets: null, now: NOW, limit: LIMIT };
        await assertPlans(db, (reading) =>
          listAssetsById(reading, id, { ...filter, after, unranked: false, unsold: false }),
        );
        await assertPlans(db, (reading) =>
          listAssetsById(reading, id, { ...filter, after, unranked: true, unsold: false }),
        );
        const position = after === null ? null : { rank: Number(after), asset: after };
        await assertPlans(db, (reading) => listAssetsByRank(reading, id, { ...filter, after: position, ranks: null }));
      });
    }
  }

  test('a list of tokens by price reads few rows of the order book and of the mirror', async () => {
    const filter = { assets: null, now: NOW, limit: LIMIT, source: null, price: null };
    const mirrored = await listMirroredAssetsByPrice(db, id, { ...filter, limit: 300, after: null });
    const own = await listOwnAssetsByPrice(db, id, { ...filter, limit: 300, after: null });
    for (const [after, afterOwn] of [[null, null] as const, [mirrored[250] ?? null, own[250] ?? null] as const]) {
      await assertPlans(db, (reading) => listMirroredAssetsByPrice(reading, id, { ...filter, after }));
      await assertPlans(db, (reading) => listOwnAssetsByPrice(reading, id, { ...filter, after: afterOwn }));
    }
    assert.ok(mirrored.length > 250 && own.length > 250);
  });

  test('a list of the tokens of an owner reads at most two rows for each token of the owner', async () => {
    const assets = await listAssetsOfAccount(db, id, { account: BUSY_WALLET, now: NOW, limit: 10_001 });
    const rowsMax = 2 * assets.length;
    const filter = { listed: null, assets, now: NOW, limit: LIMIT };
    await assertPlans(
      db,
      (reading) => listAssetsById(reading, id, { ...filter, after: null, unranked: false, unsold: false }),
      {
        rowsMax,
      },
    );
    await assertPlans(db, (reading) => listAssetsByRank(reading, id, { ...filter, after: null, ranks: null }), {
      rowsMax,
    });
    assert.ok(assets.length > 4_000);
  });

  test('a list of tokens by price within a range, of one marketplace, or by the time of the listing reads few rows', async () => {
    const filter = { assets: null, now: NOW, limit: LIMIT, source: null, price: null };
    const [cheap] = await listMirroredAssetsByPrice(db, id, { ...filter, after: null, limit: 1 });
    const price = { min: (cheap?.raw ?? 0n) + 1n, max: null };
    for (const more of [{}, { price }, { source: 'opensea' }, { source: 'opensea', price }]) {
      const query = { ...filter, ...more, after: null };
      await assertPlans(db, (reading) => listMirroredAssetsByPrice(reading, id, query));
      await assertPlans(db, (reading) => listOwnAssetsByPrice(reading, id, query));
    }
    const mirrored = await listMirroredAssetsByTime(db, id, { ...filter, after: null, limit: 100 });
    const own = await listOwnAssetsByTime(db, id, { ...filter, after: null, limit: 100 });
    for (const [after, afterOwn] of [[null, null] as const, [mirrored[90] ?? null, own[90] ?? null] as const]) {
      await assertPlans(db, (reading) => listMirroredAssetsByTime(reading, id, { ...filter, after }));
      await assertPlans(db, (reading) => listOwnAssetsByTime(reading, id, { ...filter, after: afterOwn }));
    }
    assert.ok(mirrored.length > 90 && own.length > 90);
  });

  test('tokens are found by the beginning of their name or id, and listed by their last sale, through indexes', async () => {
    const like = (text: string) => (reading: Queryable) =>
      listAssetsLike(reading, id, { text, limit: LIMIT, isNumbered: true });
    for (const text of ['123', 'token 12', 'nothing']) await assertPlans(db, like(text));
    const filter = { listed: null, assets: null, now: NOW, limit: LIMIT };
    await assertPlans(db, (reading) => listAssetsByLastSale(reading, id, { ...filter, after: null }));
    await assertPlans(db, (reading) =>
      listAssetsByLastSale(reading, id, { ...filter, assets: ['1', '2'], after: { at: NOW, key: LOWEST_KEY } }),
    );
  });

  test('the collections of a wallet are read through indexes', async () => {
    const chains = ['base', 'ethereum'];
    for (const account of [BUSY_WALLET, QUIET_WALLET]) {
      const query = { account, chains, after: null, limit: LIMIT, now: NOW };
      await assertPlans(db, (reading) => listHeldCollections(reading, query));
      // The listings of the wallet are counted, so each of them is read.
      const rowsMax = 12_000;
      await assertPlans(db, (reading) => listMirroredCollections(reading, query), { rowsMax });
      await assertPlans(db, (reading) => listOrderedCollections(reading, query), { rowsMax });
    }
  });

  test('the tokens of a page are read through indexes', async () => {
    const assets = await listAssetsById(db, id, {
      listed: null,
      assets: null,
      now: NOW,
      limit: LIMIT,
      after: '4999',
      unranked: false,
      unsold: false,
    });
    const keys = assets.map((asset) => ({ collectionId: id, asset }));
    await assertPlans(db, (reading) => listObservedTokens(reading, keys, { now: NOW }));
    await assertPlans(db, (reading) => listFillableOrdersOfAssets(reading, keys, NOW));
    assert.equal(keys.length, LIMIT);
  });

  for (const chains of [['ethereum', 'base', 'solana'], ['base']]) {
    for (const after of [null, '7']) {
      test(`a list of a wallet with thousands of tokens reads few rows (chains: ${chains.join(', ')}, after: ${after})`, async () => {
        const position = after === null ? null : { collectionId: id, asset: after };
        const wallet = { account: BUSY_WALLET, chains, after: position, limit: LIMIT, now: NOW };
        await assertPlans(db, (reading) => listHeldAssets(reading, wallet));
        await assertPlans(db, (reading) => listMirroredOfSeller(reading, wallet));
        await assertPlans(db, (reading) => listOwnOrdersOfSeller(reading, wallet));
        await assertPlans(db, (reading) => listUnitsOfWallet(reading, wallet));
      });
    }
  }

  test('a search reads few rows, whatever its text', async () => {
    for (const text of ['h', 'harbour', 'habour of lamps', 'lantern of foxes 7', 'zzz', id, 'storms']) {
      const chains = ['ethereum', 'base', 'solana'];
      const query = { prefix: toSearchText(text), chains, limit: 200 };
      const address = text === id ? id.slice(id.indexOf('_') + 1) : null;
      const names = { written: text, addressPrefix: '0x1234', parts: toParts(text), id: text, address };
      await assertPlans(db, (reading) => listCollectionsLike(reading, { ...query, ...names }));
      const numbered = { tokenId: '7', collectionIds: [id] };
      await assertPlans(db, (reading) => listTokensLike(reading, { ...query, mint: null, numbered }));
      await assertPlans(db, (reading) =>
        listTokensLike(reading, { ...query, mint: null, numbered, chains: ['solana'] }),
      );
    }
  });

  test('activity by each filter reads few rows', async () => {
    const [row] = await listActivity(db, { ...ANY, account: null }, { after: null, limit: 1 });
    const afters = [null, row ? { at: row.at - 9_000 * MINUTE_MS, position: 9_000 } : null];
    for (const kinds of [ACTIVITY_KINDS, ['sale'] as const, ['burn'] as const])
      for (const collectionId of [null, id, 'base_other7'])
        for (const asset of collectionId === null ? [null] : [null, '77'])
          for (const account of [null, BUSY_WALLET, QUIET_WALLET])
            for (const after of afters)
              await assertPlans(db, (reading) =>
                listActivity(
                  reading,
                  { chain: null, collectionId, asset: asset as AssetId | null, account, kinds },
                  { after, limit: LIMIT },
                ),
              );
  });

  test('activity of a wallet on one chain reads few rows', async () => {
    for (const chain of ['ethereum', 'base', 'solana'])
      for (const account of [BUSY_WALLET, QUIET_WALLET])
        await assertPlans(db, (reading) =>
          listActivity(reading, { ...ANY, chain, account }, { after: null, limit: LIMIT }),
        );
  });

  test('past sales are read through indexes', async () => {
    const sales = await listSales(db, id, { limit: LIMIT, before: null });
    const before = sales.at(-1) ?? assert.fail();
    for (const asset of [null, '77' as AssetId])
      await assertPlans(db, (reading) => listSales(reading, id, { limit: LIMIT, before, asset }));
    await assertPlans(db, (reading) => listLoggedSales(reading, sales));
  });

  test('the history of a collection reads only indexes, and only the hours of the range', async () => {
    const range = { from: NOW - 90 * DAY_MS, to: NOW };
    for (const interval of INTERVALS)
      await assertPlans(db, (reading) => readRangeFigures(reading, id, { ...range, interval }), {
        rowsMax: 90 * 24,
        indexOnly: ['market_hour', 'sale_hour'],
      });
    const times = Array.from({ length: 29 }, (_, step) => NOW - step * 6 * 60 * MINUTE_MS);
    await assertPlans(db, (reading) => listFloorsAt(reading, [id, 'base_pier-7'], times));
  });

  test('the owners of a token with thousands of owners are read in their order', async () => {
    const token = { collectionId: id, asset: '77' };
    for (const after of ['', `0x${'5'.repeat(40)}`])
      await assertPlans(db, (reading) => listTokenHolders(reading, token, { after, limit: LIMIT }));
    assert.equal((await listTokenHolders(db, token, { after: '', limit: 5_000 }))?.length, 3_000);
  });

  test('holders are counted through an index, and the largest holders are read without sorting', async () => {
    await assertPlans(db, (reading) => listLargestHolders(reading, id, 100));
    await assertPlans(
      db,
      (reading) =>
        countHolders(reading, id, [
          { from: 1, to: 3 },
          { from: 4, to: null },
        ]),
      { rowsMax: 10_000 },
    );
  });

  test('a list of tokens by computed rank with common traits reads only indexes, and stops when the page is full', async () => {
    await db.query(
      `insert into indexer.rarity_rank (collection_id, asset, generation, rank)
       select collection_id, asset, 1, rarity_rank from indexer.token where collection_id = $1 and rarity_rank is not null`,
      [id],
    );
    await db.query(
      `insert into indexer.collection_rarity as stored (collection_id, generation) values ($1, 1)
       on conflict (collection_id) do update set generation = 1`,
      [id],
    );
    await db.query(`update indexer.token set rarity_rank = null where collection_id = $1`, [id]);
    await db.query(`vacuum analyze indexer.rarity_rank, indexer.token`);
    await assertWalkByRank(['trait_set', 'rarity_rank']);
  });

  const maker = `0x${'d'.repeat(40)}`;
  const orderFilters: Record<string, Partial<OrderFilter & { source: string }>> = {
    none: {},
    collection: { collectionId: 'base_0xd3' },
    maker: { account: maker },
    'maker and source': { account: maker, source: 'blur' },
    'maker and collection': { account: maker, collectionId: 'base_0xd3' },
    'a maker without orders': { account: QUIET_WALLET },
  };
  describe('with 20,000 orders of one seller', () => {
    before(() => crowdOrders(db, { maker, now: NOW }));
    for (const [name, wanted] of Object.entries(orderFilters)) {
      for (const state of ORDER_LIST_STATUSES) {
        test(`a list of ${state} orders reads the rows of a page in the order of an index (filter: ${name})`, async () => {
          for (const sort of ORDER_SORTS) {
            if (state !== 'active' && (sort !== 'created' || name === 'none')) continue;
            if (sort !== 'created' && wanted.collectionId === undefined) continue;
            if (sort === 'price' && wanted.account !== undefined) continue;
            const filter = {
              collectionId: null,
              asset: null,
              account: null,
              source: null,
              ...wanted,
              state,
              sort,
              now: NOW,
            };
            const read = async (reading: Queryable, start: OrderStart | null, limit: number) => {
              const page = { start, limit };
              return {
                mirrored: await listMirroredOrders(reading, filter, page),
                own: await listBookOrders(reading, filter, page),
              };
            };
            const { mirrored, own } = await read(db, null, 300);
            if (name === 'maker' && state !== 'expired') assert.ok(mirrored.length === 300 && own.length === 300);
            // All orders of the seller in the collection are read.
            const rowsMax = name === 'maker and collection' ? 1_500 : 600;
            for (const found of [mirrored[250]?.listing, own[250]?.order])
              for (const start of [null, ...startsAfter(found, sort)])
                await assertPlans(db, (reading) => read(reading, start, LIMIT), { rowsMax });
          }
        });
      }
    }

    test('the orders of a token are found by the token', async () => {
      const page = { start: null, limit: LIMIT };
      const ofAll = { source: null, state: 'active' as const, now: NOW };
      for (const sort of ORDER_SORTS) {
        const ofToken = { ...ofAll, collectionId: 'base_0xd3', asset: '13', account: null, sort };
        await assertPlans(db, (reading) => listMirroredOrders(reading, ofToken, page));
        await assertPlans(db, (reading) => listBookOrders(reading, ofToken, page));
      }
    });
  });

  test('orders are found through indexes', async () => {
    for (const idOrHash of ['own-7', 'busy-2000', `0x${'0'.repeat(64)}`, 'nothing']) {
      await assertPlans(db, (reading) => findBookOrderId(reading, idOrHash, ['ethereum']));
      await assertPlans(db, (reading) => findListing(reading, idOrHash, ['ethereum']));
    }
  });
}

/** Each kind of start of a page after the given row. */
function startsAfter(
  row: { raw: bigint; orderId: string; listedAt?: number; createdAt?: number; expiresAt: number | null } | undefined,
  sort: OrderSort,
): OrderStart[] {
  if (!row) return [];
  const time = sort === 'created' ? (row.listedAt ?? row.createdAt) : row.expiresAt;
  const value = sort === 'price' ? row.raw.toString() : new Date(time ?? assert.fail()).toISOString();
  return [
    { kind: 'at-value', value },
    { kind: 'after-value', value },
  ];
}

/**
 * Adds 10,000 listings and 10,000 own orders of one seller, in ten collections, and as many of other sellers. One in five is dormant, one in five was
 * filled, and one in five was cancelled. Many have the same times.
 */
async function crowdOrders(db: Database, { maker, now }: { maker: string; now: number }): Promise<void> {
  const rows = `generate_series(1, 20000) as n cross join lateral (select
    case when n % 2 = 0 then '${maker}' else '0x' || lpad((n % 999)::text, 40, '0') end as seller,
    (array['active', 'active', 'active', 'filled', 'cancelled'])[1 + n / 10 % 5] as status,
    case when n / 10 % 5 = 2 then 'no-balance' end as dormant,
    timestamptz '${new Date(now).toISOString()}' as now) as of_order`;
  const expires = `case when n % 3 = 0 then now + n % 500 * interval '1 hour' + interval '1 hour' end`;
  await db.query(
    `insert into indexer.listing (key, id, source, chain, collection_id, asset, price_raw, seller, status, dormant, listed_at, expires_at)
     select md5('of seller ' || n)::uuid, 'of-seller-' || n, (array['opensea', 'blur'])[1 + n / 100 % 2], 'base', 'base_0xd' || n % 10,
       (n % 1000)::text, n, seller, status, dormant, now - n % 700 * interval '1 minute', ${expires}
     from ${rows}`,
  );
  await db.query(
    `insert into main.book_order (id, chain, contract_address, collection_id, token_id, price_raw, seller, status, dormant, created_at, expires_at)
     select 'of-seller-' || n, 'base', '0xd' || n % 10, 'base_0xd' || n % 10, (n % 1000)::text, n, seller, status, dormant,
       now - n % 700 * interval '1 minute', ${expires}
     from ${rows}`,
  );
  await db.query('vacuum analyze indexer.listing, main.book_order');
}

/** Finds the list of `listTraitAssetsByPrice` by reading all rows. */
function listPricedByReading(db: Database, collectionId: string, filter: TraitFilter): Promise<string[]> {
  return listAll(db, filter, {
    collectionId,
    rows: 'indexer.trait_listing where true',
    order: 'price_raw, asset',
  });
}

/** Finds the list of `listTraitAssetsById` by reading all rows. */
function listByReading(
  db: Database,
  collectionId: string,
  filter: TraitFilter,
  after: string | null,
): Promise<string[]> {
  const rows = `indexer.trait_set where asset::numeric > ${after ?? -1}`;
  return listAll(db, filter, { collectionId, rows, order: 'asset::numeric' });
}

async function listAll(
  db: Database,
  { rarest, others }: TraitFilter,
  { collectionId, rows, order }: { collectionId: string; rows: string; order: string },
): Promise<string[]> {
  const found = await db.query<{ asset: string }>(
    `select asset from ${rows} and collection_id = $1
     ${[rarest, ...others].map(({ ids }) => `and trait_ids && array[${ids.join(',')}]`).join(' ')}
     order by ${order} limit ${LIMIT}`,
    [collectionId],
  );
  return found.map(({ asset }) => asset);
}
