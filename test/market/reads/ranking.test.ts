// Collections are listed by their stored ranking keys. All pages together are the complete sorted list. The page size limits how many
// rows the statement for a page reads.

import assert from 'node:assert/strict';
import { afterEach, before, beforeEach, test } from 'node:test';
import { createChains } from '../../../src/platform/core/chains.ts';
import { readConfig } from '../../../src/service/config.ts';
import { createLog } from '../../../src/platform/core/log.ts';
import type { Database, Queryable } from '../../../src/platform/database/port.ts';
import type { WindowName } from '../../../src/market/provenance/trade.ts';
import { SHORT_WINDOWS } from '../../../src/market/provenance/trade.ts';
import { Market } from '../../../src/market/reads/market.ts';
import { listCollections } from '../../../src/market/reads/collections.ts';
import { readCollectionDetail } from '../../../src/market/reads/collection.ts';
import type { RankKey, Sort } from '../../../src/market/index/queries/ranks.ts';
import { RANK_SORTS, listRanked, listRankedChains } from '../../../src/market/index/queries/ranks.ts';
import type { RankingQuery } from '../../../src/market/reads/ranking.ts';
import { SORTS, readRanking } from '../../../src/market/reads/ranking.ts';
import { Random, toEvmAddress, toSolanaAddress } from '../../../sample/random.ts';
import { forEachEngine, forOneEngine } from '../../support/engines/each-engine.ts';
import { explainStatement } from '../../support/engines/query-plans.ts';
import { NOW, completeCatalog, emptyTables, runImport, toContext, toNdjson } from '../../support/service/intake.ts';

const CHAINS = createChains();
const RATES = new Map([
  ['ETH', 2_000.1],
  ['SOL', 150.25],
  ['POL', 0.4],
]);
const COUNT = 400;

/** A collection of the test. Volume in native units, floor in base units. */
type Made = {
  id: string;
  chain: string | null;
  launched: boolean;
  createdAt: number;
  volume: number | null;
  floor: bigint | null;
};

/** Makes collections. Many have the same value as another collection of the same chain or of another chain. Some values are unknown, and some chains have no rate. */
function makeCollections(random: Random): { made: Made[]; records: object[] } {
  const made: Made[] = [];
  const records: object[] = [];
  for (let n = 0; n < COUNT; n += 1) {
    const chain = random.pick([...CHAINS.keys(), 'ethereum', 'base', null]);
    const address = chain === 'solana' ? toSolanaAddress('ranked', `${n}`) : toEvmAddress('ranked', `${n}`);
    const place = chain === null ? { slug: `ranked-${n}` } : { chain, contractAddress: address };
    const id = chain === null ? `ranked-${n}` : `${chain}_${address.toLowerCase()}`;
    const launched = random.boolean(0.2);
    const createdAt = NOW - random.integer(0, 30) * 1_000;
    const volume = random.boolean(0.3) ? null : random.pick([0, 1, 2, 0.1, 1 / 3, 5, 1e21, random.integer(1, 50) / 7]);
    const decimals = BigInt(CHAINS.get(chain ?? '')?.decimals ?? 0);
    const unit = 10n ** decimals;
    const floor =
      chain === null || random.boolean(0.3)
        ? null
        : random.pick([1n, unit, unit + 1n, 2n * unit, unit / 10n, BigInt(random.integer(1, 50)) * unit + 7n]);
    made.push({ id, chain, launched, createdAt, volume, floor });
    records.push({
      kind: 'collection',
      ...place,
      name: `Ranked ${n}`,
      launched,
      createdAt: new Date(createdAt).toISOString(),
      snapshot: {
        ...(volume !== null && { volumeAllTime: volume }),
        ...(floor !== null && { floorRaw: String(floor) }),
      },
    });
  }
  return { made, records };
}

/** Sorts by the documented rules, without the code under test. Dollars are compared as exact fractions. */
function sortFully(
  made: readonly Made[],
  sort: Sort,
  chain: string | null,
  {
    isAscending = false,
    isLaunchedFirst = true,
    keyOf,
  }: { isAscending?: boolean; isLaunchedFirst?: boolean; keyOf?: (one: Made) => number | null } = {},
): string[] {
  const isMoney = sort === 'volume' || sort === 'floor';
  const comparable = (one: Made): { group: number; value: bigint } => {
    const value = keyOf ? keyOf(one) : sort === 'recent' ? one.createdAt : sort === 'floor' ? one.floor : one.volume;
    if (value === null) return { group: 2, value: 0n };
    if (!isMoney) return { group: 0, value: toFraction(value) };
    const known = CHAINS.get(one.chain ?? '');
    const usd = chain === null ? RATES.get(known?.symbol ?? '') : undefined;
    const scale = sort === 'floor' && chain === null ? 10n ** BigInt(18 - (known?.decimals ?? 18)) : 1n;
    const group = chain === null && usd === undefined ? 1 : 0;
    return { group, value: toFraction(value) * scale * toFraction(usd ?? 1) };
  };
  return made
    .filter((one) => chain === null || one.chain === chain)
    .map((one) => ({ ...one, ...comparable(one) }))
    .sort((a, b) => {
      const first = (isLaunchedFirst ? Number(b.launched) - Number(a.launched) : 0) || a.group - b.group;
      const later = (a.value === b.value ? 0 : a.value > b.value ? -1 : 1) || (a.id < b.id ? -1 : 1);
      return first || (isAscending && a.group < 2 ? -later : later);
    })
    .map(({ id }) => id);
}

/** The exact value of a number, in units of 2^-200. */
function toFraction(value: number | bigint): bigint {
  if (typeof value === 'bigint') return value << 200n;
  let [digits, shift] = [value, 0n];
  while (!Number.isInteger(digits)) [digits, shift] = [digits * 2, shift + 1n];
  return (BigInt(digits) << 200n) >> shift;
}

/** Every ranking, with the column of its key. */
const RANKINGS: readonly { sort: Sort; window: WindowName; column: string }[] = [
  { sort: 'volume', window: 'allTime', column: 'volume_rank' },
  { sort: 'sales', window: 'allTime', column: 'sales_rank' },
  { sort: 'listed', window: 'allTime', column: 'point_listed' },
  ...SHORT_WINDOWS.flatMap((window) => {
    const name = { oneHour: 'hour', twentyFourHour: 'day', sevenDay: 'week', thirtyDay: 'month' }[window];
    return (['volume', 'sales', 'change'] as const).map((sort) => ({ sort, window, column: `${sort}_${name}_rank` }));
  }),
];

/** SQL: a key as its column stores it. An unknown key is minus infinity, and in a column of counts null. */
const storedSql = (column: string, key: string) =>
  column === 'point_listed' ? `nullif(${key}, '-Infinity')::bigint` : key;

function marketOn(database: Database): Market {
  return new Market({
    ...readConfig({ SOURCE_TIMEOUT_MS: '20000' }),
    main: database,
    indexer: database,
    chains: CHAINS,
    clock: () => NOW,
    random: () => 0.5,
    log: createLog('silent'),
  });
}

forOneEngine('the ranking of collections', (engine) => {
  let db: Database;
  let market: Market;
  before(async () => {
    db = await engine.open();
  });
  beforeEach(async () => {
    await emptyTables(db);
    market = marketOn(db);
  });
  afterEach(() => market.close());
  const load = async (records: readonly object[]) => {
    const context = toContext(db);
    const { refused } = await runImport(context, toNdjson(records));
    assert.deepEqual(refused, []);
    await completeCatalog(context);
  };
  const rates = [...RATES].map(([symbol, usd]) => ({ kind: 'rate', symbol, usd, at: new Date(NOW).toISOString() }));
  const walk = async (
    sort: Sort,
    chain: string | null,
    limit: number,
    more: Omit<RankingQuery, 'sort' | 'chain'> = {},
  ): Promise<string[]> => {
    const ids: string[] = [];
    for (let after: RankKey | null = null; ids.length <= COUNT;) {
      const page = await readRanking(market, { sort, chain, ...more }, { after, limit });
      ids.push(...page.map(({ id }) => id));
      after = page.at(-1) ?? null;
      if (page.length < limit) break;
    }
    return ids;
  };

  test('for every sort, the pages together equal the fully sorted list', async () => {
    const { made, records } = makeCollections(new Random('ranking', engine.name));
    await load([...records, ...rates]);
    for (const sort of SORTS) {
      for (const chain of [null, ...CHAINS.keys()]) {
        const expected = sortFully(made, sort, chain);
        for (const limit of sort === 'floor' && chain === null ? [1_000, 1] : [50, 7]) {
          assert.deepEqual(
            await walk(sort, chain, limit),
            expected,
            `the sort ${sort} on ${chain ?? 'all chains'} with the limit ${limit} differs from the full sort`,
          );
        }
      }
    }
  });

  test('for every sort and window, from high to low and from low to high, the pages together equal the fully sorted list', async () => {
    const random = new Random('windows', engine.name);
    const { made, records } = makeCollections(random);
    await load([...records, ...rates]);
    const pick = (): number | null =>
      random.boolean(0.3) ? null : random.pick([0, 1, 2, 0.5, 1 / 3, random.integer(1, 50) / 7]);
    const values = new Map(
      made.map(({ id }) => [
        id,
        RANKINGS.map(({ sort }) => {
          if (sort === 'listed') return random.boolean(0.3) ? null : random.integer(0, 3);
          return sort === 'change' && random.boolean(0.3) ? -(pick() ?? 0) : pick();
        }),
      ]),
    );
    for (const [id, keys] of values) {
      const set = RANKINGS.map(({ column }, index) => `${column} = ${storedSql(column, `$${index + 2}::float8`)}`).join(
        ', ',
      );
      await db.query(`update indexer.collection_figures set ${set} where collection_id = $1`, [
        id,
        ...keys.map((key) => String(key ?? '-Infinity')),
      ]);
    }
    for (const [index, { sort, window }] of RANKINGS.entries()) {
      const keyOf = ({ id }: Made) => values.get(id)?.[index] ?? null;
      for (const isAscending of [false, true]) {
        for (const chain of [null, 'base']) {
          assert.deepEqual(
            await walk(sort, chain, chain === null ? 60 : 7, { window, isAscending }),
            sortFully(made, sort, chain, { isAscending, keyOf }),
            `the sort ${sort} ${window} ${isAscending ? 'ascending' : 'descending'} on ${chain ?? 'all chains'} differs from the full sort`,
          );
        }
      }
    }
    for (const sort of ['floor', 'recent'] as const) {
      for (const chain of [null, 'base']) {
        assert.deepEqual(
          await walk(sort, chain, 30, { isAscending: true }),
          sortFully(made, sort, chain, { isAscending: true }),
          `the sort ${sort} ascending on ${chain ?? 'all chains'} differs from the full sort`,
        );
      }
    }
  });

  test('without launched collections first, the pages together equal the list that is sorted by the value alone', async () => {
    const { made, records } = makeCollections(new Random('launched', engine.name));
    await load([...records, ...rates]);
    for (const sort of SORTS) {
      for (const chain of [null, 'base']) {
        for (const isAscending of [false, true]) {
          assert.deepEqual(
            await walk(sort, chain, 30, { isAscending, isLaunchedFirst: false }),
            sortFully(made, sort, chain, { isAscending, isLaunchedFirst: false }),
            `the sort ${sort} ${isAscending ? 'ascending' : 'descending'} on ${chain ?? 'all chains'} differs from the full sort`,
          );
        }
      }
    }
  });

  test('volumes are compared in dollars, even if the dollar rates are old', async () => {
    const on = (chain: string, volumeAllTime: number, n: number) => ({
      kind: 'collection',
      chain,
      contractAddress: toEvmAddress('currency', `${n}`),
      name: chain,
      snapshot: { volumeAllTime },
    });
    const old = new Date(NOW - 400 * 24 * 60 * 60_000).toISOString();
    await load([
      on('polygon', 55, 1),
      on('ethereum', 55, 2),
      on('polygon', 1e9, 3),
      on('apechain', 1e12, 4),
      on('apechain', 7, 5),
      on('base', 54, 6),
      ...rates.map((rate) => ({ ...rate, at: old })),
    ]);
    const keys = await readRanking(market, { sort: 'volume', chain: null }, { after: null, limit: 10 });
    const volumes = keys.map(({ chain, value }) => `${chain} ${value}`);
    assert.deepEqual(volumes, [
      'polygon 1000000000',
      'ethereum 55',
      'base 54',
      'polygon 55',
      'apechain 1000000000000',
      'apechain 7',
    ]);
  });

  test('for every sort, a list from the highest value down or from the lowest up has all collections of all chains', async () => {
    await load(makeCollections(new Random('bounds')).records);
    const chains = await listRankedChains(db);
    assert.deepEqual(chains, ['', ...CHAINS.keys()].sort());
    for (const sort of RANK_SORTS) {
      for (const isAscending of [false, true]) {
        const bound = isAscending ? null : Number.POSITIVE_INFINITY;
        const from = chains.map((chain) => ({ chain, equal: null, bound }));
        const ranking = { sort, window: 'oneHour', isAscending } as const;
        const keys = await listRanked(db, ranking, { from, after: { launched: true, id: '' }, limit: COUNT });
        assert.equal(keys.length, COUNT, sort);
      }
    }
  });
});

forEachEngine('the statements of the ranking', (engine) => {
  test('a statement for a page of collections or for one collection reads few rows, however many collections, tokens and listings there are', async () => {
    const db = await engine.open();
    const chainOf = `(array['ethereum', 'base', 'polygon'])[1 + n % 3]`;
    const made = `${chainOf} || '_0x' || lpad(n::text, 40, '0')`;
    await db.query(
      `insert into main.collection (id, chain, contract_address, name, launched, created_at)
       select ${made}, ${chainOf}, '0x' || lpad(n::text, 40, '0'), 'Many', n % 10 = 0, now() from generate_series(1, 30000) as n`,
    );
    await db.query(
      `insert into indexer.collection_figures (collection_id, recorded, chain, launched, created_at, volume_rank, floor_rank)
       select ${made}, true, ${chainOf}, n % 10 = 0, now() - n % 900 * interval '1 second', n % 700, n % 800
       from generate_series(1, 30000) as n`,
    );
    for (const [table, columns, values] of [
      ['token', 'asset, chain, owner', `n::text, 'base', '0x' || n % 77`],
      ['collection_stats', 'owners, at', 'n, now()'],
      ['collection_analytics', 'floor_raw, at', 'n, now()'],
      ['sale_total', 'volume_raw, sales', 'n, 1'],
    ] as const) {
      await db.query(
        `insert into indexer.${table} (collection_id, ${columns}) select ${made}, ${values} from generate_series(1, 30000) as n`,
      );
    }
    await db.query('analyze');
    const limit = 25;
    const { recorded, statements } = record(db);
    const reading = marketOn(recorded);
    for (const sort of SORTS) {
      for (const chain of [null, 'base']) {
        let after: RankKey | null = null;
        for (let pages = 0; pages < 3; pages += 1) {
          after = (await listCollections(reading, { sort, chain, after, limit })).next;
        }
      }
    }
    const [first] = await readRanking(reading, { sort: 'volume', chain: null }, { after: null, limit: 1 });
    // The collection whose detail is read has many tokens and listings, which the statements must not count.
    await db.query(
      `insert into indexer.token (collection_id, asset, chain, owner) select $1, 'many ' || n, 'base', '0x' || n from generate_series(1, 3000) as n`,
      [first?.id],
    );
    await db.query(
      `insert into indexer.listing (key, id, source, chain, collection_id, asset, price_raw, seller, status, listed_at)
       select gen_random_uuid(), 'many ' || n, 'opensea', 'base', $1, 'many ' || n, n, '0x' || n, 'active', now()
       from generate_series(1, 3000) as n`,
      [first?.id],
    );
    await db.query('analyze');
    await readCollectionDetail(reading, first?.id ?? '');
    await reading.close();
    assert.ok(statements.length > 30, `only ${statements.length} statements were recorded`);
    // A page reads three lists of each of three chains: launched collections with the value at which the page begins, launched collections
    // with smaller values, and collections that are not launched. It reads at most `limit + 1` rows of each list.
    const most = 3 * 3 * (limit + 1);
    for (const { sql, params } of statements) {
      for (const { type, table, rows } of await explainStatement(db, sql, params)) {
        if (table !== null)
          assert.ok(rows <= most, `${type} of ${table} reads ${rows} rows, more than ${most}: ${sql}`);
      }
    }
  });
});

/** `recorded` runs its statements in `db`. `statements` receives the text and the parameters of each statement that reads. */
function record(db: Database): { recorded: Database; statements: { sql: string; params: readonly unknown[] }[] } {
  const statements: { sql: string; params: readonly unknown[] }[] = [];
  const keep: Queryable['query'] = (sql, params = []) => {
    if (/^\s*(select|with)/.test(sql)) statements.push({ sql, params });
    return db.query(sql, params);
  };
  const statementsOf = { query: keep, queryPrepared: keep, transaction: db.transaction };
  return { recorded: { ...db, ...statementsOf, within: () => statementsOf }, statements };
}
