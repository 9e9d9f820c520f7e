// Tests that the service computes the ranks of tokens from their traits if no source reports ranks of the collection.

import assert from 'node:assert/strict';
import { before, beforeEach, test } from 'node:test';
import type { Address } from '../../../src/platform/core/address.ts';
import type { Database, Queryable } from '../../../src/platform/database/port.ts';
import { listTokens } from '../../../src/market/explore/tokens.ts';
import { findRankSource } from '../../../src/market/index/queries/rarity.ts';
import { listObservedTokens, toTokenKeyText, upsertTokenHolders } from '../../../src/market/index/queries/tokens.ts';
import { lockFigures } from '../../../src/market/index/queries/figures.ts';
import { Ingester } from '../../../src/sources/upstreams/ingester.ts';
import { createRarityTask } from '../../../src/service/workers/rarity.ts';
import { explainStatement } from '../../support/engines/query-plans.ts';
import { forOneEngine } from '../../support/engines/each-engine.ts';
import { collection, emptyTables, EVM, ingest, NOW, toContext, token } from '../../support/service/intake.ts';

const ID = `ethereum_${EVM}`;
const MINUTE_MS = 60_000;

forOneEngine('computed ranks', (engine) => {
  let db: Database;
  let now = NOW;
  before(async () => {
    db = await engine.open();
  });
  beforeEach(async () => {
    await emptyTables(db);
    now = NOW;
  });

  const createRanked = () => toContext(db, { clock: () => now });
  const rank = () =>
    createRarityTask(createRanked()).run(AbortSignal.timeout(30_000), () => undefined, { isFull: false });
  const rankLater = (ms: number) => {
    now += ms;
    return rank();
  };
  const hat = (tokenId: number, hatName: string) =>
    token({ tokenId: String(tokenId), traits: [{ name: 'Hat', value: hatName }] });
  const complete = collection({ tokensComplete: true });
  /** The served ranks of tokens 1 to `count`. */
  const ranksOf = async (count: number) => {
    const keys = Array.from({ length: count }, (_, index) => ({ collectionId: ID, asset: String(index + 1) }));
    const observed = await listObservedTokens(db, keys, { now });
    return keys.map((key) => observed.get(toTokenKeyText(key))?.rarityRank);
  };
  /** All token ids, rarest first, from pages of two tokens. */
  const listByRank = async (traits: ReadonlyMap<string, readonly string[]> = new Map()) => {
    const { market } = createRanked();
    const chain = market.chains.get('ethereum') ?? assert.fail();
    const location = { collectionId: ID, chain, contractAddress: EVM as Address };
    const assets: string[] = [];
    for (let after: Parameters<typeof listTokens>[2]['after'] = null; ;) {
      const none = { listed: null, owner: null, text: null, source: null, price: null, rank: null } as const;
      const query = { ...none, sort: 'rank', traits, after, limit: 2 } as const;
      const page = await listTokens(market, location, query);
      assets.push(...page.tokens.map(({ asset }) => asset));
      after = page.next;
      if (after === null) return assets.join(' ');
    }
  };

  test('each token of a complete collection has a rank computed from its traits, and lists can be sorted by rank', async () => {
    await ingest(db, complete, hat(1, 'Cap'), hat(2, 'Crown'), hat(3, 'Cap'), hat(10, 'Cap'), hat(9, 'Fez'));
    assert.deepEqual(await ranksOf(3), [null, null, null]);
    const result = await rank();
    assert.deepEqual([result.read, result.changed, result.problems], [1, 5, []]);
    assert.deepEqual(await ranksOf(3), [3, 1, 3]);
    assert.equal(await listByRank(), '2 9 1 3 10');
    assert.equal(await listByRank(new Map([['Hat', ['Cap', 'Fez']]])), '9 1 3 10');
    const source = await findRankSource(db, ID);
    const expected = {
      isReported: false,
      reportedBy: null,
      kind: 'imported',
      source: 'import',
      rankedAt: NOW,
      isComplete: true,
    };
    assert.deepEqual(source, expected);
    assert.equal((await rankLater(60 * MINUTE_MS)).read, 0, 'ranked tokens were ranked again');
  });

  test('tokens are ranked only when the list of tokens is known to be complete', async () => {
    await ingest(db, collection(), hat(1, 'Cap'), hat(2, 'Crown'));
    await rank();
    assert.deepEqual(await ranksOf(2), [null, null]);
    await ingest(db, complete);
    assert.equal((await rankLater(MINUTE_MS - 1)).read, 0);
    await rankLater(1);
    assert.deepEqual(await ranksOf(2), [1, 1]);
  });

  test('a collection is ranked if the traits of at most 1 % of its tokens are unknown; those tokens have no rank', async () => {
    const known = Array.from({ length: 99 }, (_, index) => hat(index + 1, index === 0 ? 'Crown' : 'Cap'));
    await ingest(db, complete, ...known, token({ tokenId: '100' }), token({ tokenId: '101' }));
    await rank();
    assert.deepEqual(await ranksOf(1), [null]);
    await ingest(db, token({ tokenId: '101', traits: [] }));
    await rankLater(MINUTE_MS);
    const ranks = await ranksOf(101);
    assert.deepEqual([ranks[0], ranks[1], ranks[99], ranks[100]], [2, 3, null, 1]);
    assert.equal((await findRankSource(db, ID))?.isComplete, false);
  });

  test('no computed rank is served while a token of the collection has a reported rank', async () => {
    await ingest(db, complete, hat(1, 'Cap'), hat(2, 'Crown'), hat(3, 'Cap'));
    await rank();
    await ingest(db, token({ tokenId: '3', rarityRank: 1 }));
    assert.deepEqual(await ranksOf(3), [null, null, 1]);
    assert.equal(await listByRank(), '3 1 2');
    const reported = {
      isReported: true,
      reportedBy: 'import',
      kind: null,
      source: null,
      rankedAt: null,
      isComplete: false,
    };
    assert.deepEqual(await findRankSource(db, ID), reported);
    await rankLater(10 * MINUTE_MS);
    await ingest(db, hat(1, 'Fez'));
    assert.equal((await rankLater(10 * MINUTE_MS)).changed, 0);
    await db.query(`update indexer.token set rarity_rank = null`);
    await rankLater(10 * MINUTE_MS);
    assert.deepEqual(await ranksOf(3), [1, 1, 1]);
  });

  test('the service does not read all ranks of a large collection to find out whether all its tokens have a rank', async () => {
    const tokens = 3_000;
    await db.query(
      `insert into indexer.token (collection_id, asset, chain, rarity_rank)
       select 'c' || (rank is null), i::text, 'ethereum', rank
       from generate_series(1, ${tokens}) as i cross join unnest(array[null, 1]) as rank`,
    );
    await db.query(
      `insert into indexer.collection_figures (collection_id, chain, tokens) values ('ctrue', 'ethereum', ${tokens})`,
    );
    // Each rank has three tokens.
    await db.query(
      `insert into indexer.rarity_rank (collection_id, asset, generation, rank)
       select 'ctrue', i::text, 1, 1 + (i - 1) / 3 * 3 from generate_series(1, ${tokens}) as i`,
    );
    await db.query(
      `insert into indexer.collection_rarity (collection_id, revision, generation, state, kind, ranked_at)
       values ('ctrue', 1, 1, 'ranked', 'imported', now())`,
    );
    for (const table of ['token', 'rarity_rank']) await db.query(`analyze indexer.${table}`);
    let most = 0;
    const explained: Queryable = {
      query: async (sql, params = []) => {
        for (const { rows } of await explainStatement(db, sql, params)) most = Math.max(most, rows);
        return db.query<any>(sql, params);
      },
    };
    assert.equal((await findRankSource(explained, 'ctrue'))?.isComplete, true);
    assert.equal((await findRankSource(explained, 'cfalse'))?.isComplete, true);
    assert.ok(most <= 10, `a step read ${most} rows`);
    await db.query(`delete from indexer.token where collection_id = 'ctrue' and asset = '${tokens}'`);
    assert.equal((await findRankSource(db, 'ctrue'))?.isComplete, false);
    await db.query(`delete from indexer.token where collection_id = 'ctrue'`);
    assert.equal(await findRankSource(db, 'ctrue'), null);
  });

  test('a rank keeps the name of its marketplace when another marketplace reports the same rank', async () => {
    const context = createRanked();
    const ranked = token({ tokenId: '1', rarityRank: 4 });
    await ingest(db, complete);
    await new Ingester(context, { source: 'opensea' }).ingest([ranked, token({ tokenId: '1', name: 'One' })]);
    assert.equal((await findRankSource(db, ID))?.reportedBy, 'opensea');
    await new Ingester(context, { source: 'magic-eden' }).ingest([ranked]);
    assert.equal((await findRankSource(db, ID))?.reportedBy, 'opensea');
    await ingest(db, { ...ranked, rarityRank: 5 });
    assert.equal((await findRankSource(db, ID))?.reportedBy, 'import');
  });

  test('tokens are ranked again after their traits changed, at most every ten minutes', async () => {
    await ingest(db, complete, hat(1, 'Cap'), hat(2, 'Crown'), hat(3, 'Cap'));
    await rank();
    await ingest(db, hat(1, 'Fez'), hat(2, 'Cap'));
    await rankLater(10 * MINUTE_MS - 1);
    assert.deepEqual(await ranksOf(3), [2, 1, 2]);
    await rankLater(1);
    assert.deepEqual(await ranksOf(3), [1, 2, 2]);
    const [stored] = await db.query(`select count(*)::int as rows from indexer.rarity_rank`);
    assert.deepEqual(stored, { rows: 3 }, 'earlier ranks were not deleted');
  });

  test('a token that was added after the ranks were computed is listed after the ranked tokens', async () => {
    await ingest(db, complete, hat(1, 'Cap'), hat(2, 'Crown'), hat(3, 'Cap'));
    await rank();
    await ingest(db, hat(5, 'Cap'), token({ tokenId: '4' }));
    const minted = { collectionId: ID, asset: '6', chain: 'ethereum', owner: null, burned: false, blockNumber: 1 };
    await db.transaction(async (tx) => {
      await lockFigures(tx, [ID]);
      await upsertTokenHolders(tx, [minted]);
    });
    assert.deepEqual(await ranksOf(6), [2, 1, 2, null, null, null]);
    assert.equal(await listByRank(), '2 1 3 4 5 6');
    assert.equal((await findRankSource(db, ID))?.isComplete, false);
  });

  test('after a token is burned, it has no rank, and the remaining tokens are ranked again', async () => {
    await ingest(db, complete, hat(1, 'Cap'), hat(2, 'Crown'), hat(3, 'Cap'));
    await rank();
    await db.transaction(async (tx) => {
      await lockFigures(tx, [ID]);
      const burned = { collectionId: ID, asset: '2', chain: 'ethereum', owner: null, burned: true, blockNumber: 7 };
      await upsertTokenHolders(tx, [burned]);
    });
    await rankLater(10 * MINUTE_MS);
    assert.deepEqual([(await ranksOf(1))[0], await listByRank()], [1, '1 3']);
  });

  test('a collection whose traits are only numbers and dates has no ranks', async () => {
    const level = (tokenId: number, value: number, kind = 'number') =>
      token({ tokenId: String(tokenId), traits: [{ name: 'Level', value, kind }] });
    await ingest(db, complete, hat(1, 'Cap'), hat(2, 'Crown'), hat(3, 'Cap'));
    await rank();
    assert.deepEqual(await ranksOf(3), [2, 1, 2]);
    await ingest(db, level(1, 1), level(2, 2), level(3, 9, 'date'));
    await rankLater(10 * MINUTE_MS);
    assert.deepEqual(await ranksOf(3), [null, null, null]);
    assert.equal(await findRankSource(db, ID), null);
    assert.equal((await rankLater(60 * MINUTE_MS)).read, 0);
  });

  test('ranks stored by an interrupted run are not served, and the next run replaces them', async () => {
    await ingest(db, complete, hat(1, 'Cap'), hat(2, 'Crown'));
    await rank();
    await db.query(`insert into indexer.rarity_rank values ($1, '1', 2, 77), ($1, '2', 2, 78)`, [ID]);
    assert.deepEqual(await ranksOf(2), [1, 1]);
    await ingest(db, hat(3, 'Cap'));
    await rankLater(10 * MINUTE_MS);
    assert.deepEqual(await ranksOf(3), [2, 1, 2]);
  });

  test('a collection with more tokens than one batch has one ranking of all its tokens', async () => {
    const tokens = Array.from({ length: 1_100 }, (_, index) => hat(index + 1, index === 1_050 ? 'Crown' : 'Cap'));
    await ingest(db, complete, ...tokens);
    assert.equal((await rank()).changed, 1_100);
    const [stored] = await db.query(
      `select count(*) filter (where rank = 1)::int as first, count(*) filter (where rank = 2)::int as second from indexer.rarity_rank`,
    );
    assert.deepEqual(stored, { first: 1, second: 1_099 });
    assert.equal((await ranksOf(1_051))[1_050], 1);
  });

  const OTHER = '0x00000000000000000000000000000000000000ee';
  for (const failing of [EVM, OTHER]) {
    test(`when the ranks of collection ${failing} cannot be stored, the other collection is still ranked`, async () => {
      const of = (contractAddress: string) => [
        collection({ contractAddress, slug: `s${contractAddress.slice(-2)}`, tokensComplete: true }),
        token({ contractAddress, traits: [{ name: 'Hat', value: 'Cap' }] }),
      ];
      await ingest(db, ...of(EVM), ...of(OTHER));
      await db.query(
        `alter table indexer.rarity_rank add constraint broken check (collection_id <> 'ethereum_${failing}')`,
      );
      try {
        const { changed, problems } = await rank();
        assert.equal(changed, 1);
        assert.equal(problems?.length, 1);
        assert.match(problems[0] ?? '', new RegExp(`^ethereum_${failing}: the ranks cannot be computed: .*broken`));
        const ranked = await db.query(`select collection_id from indexer.rarity_rank`);
        assert.deepEqual(ranked, [{ collection_id: `ethereum_${failing === EVM ? OTHER : EVM}` }]);
      } finally {
        await db.query(`alter table indexer.rarity_rank drop constraint broken`);
      }
    });
  }
});
