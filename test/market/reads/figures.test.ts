// Each maintained figure equals a count of the rows, whatever is written, in any order and by any number of writers.

import assert from 'node:assert/strict';
import { before, beforeEach, test } from 'node:test';
import type { Database, Queryable } from '../../../src/platform/database/port.ts';
import { applyListingSnapshot } from '../../../src/market/index/listing-snapshot.ts';
import { createChains } from '../../../src/platform/core/chains.ts';
import { lockFigures, refreshListedAssets } from '../../../src/market/index/queries/figures.ts';
import { listMirrorRows } from '../../../src/market/index/queries/listings.ts';
import { recountFigures } from '../../../src/market/index/recount.ts';
import { deleteSalesAfter } from '../../../src/market/index/queries/sales.ts';
import { upsertTokenMetadata } from '../../../src/market/index/queries/token-metadata.ts';
import { deleteUnmintedTokens, upsertTokenHolders } from '../../../src/market/index/queries/tokens.ts';
import { changeIndex } from '../../../src/market/index/change-index.ts';
import { sweepExpired } from '../../../src/service/workers/expiry.ts';
import { Random, toEvmAddress } from '../../../sample/random.ts';
import { forOneEngine } from '../../support/engines/each-engine.ts';
import { copyCatalog } from '../../../src/market/index/catalog.ts';
import { saveCoverage } from '../../../src/market/index/coverage.ts';
import type { CollectionCoverage } from '../../../src/market/index/queries/coverage.ts';
import {
  EVM,
  NOW,
  SELLER,
  collection,
  emptyTables,
  ingest,
  listing,
  order,
  sale,
  token,
} from '../../support/service/intake.ts';

const CONTRACTS = [EVM, toEvmAddress('second collection'), toEvmAddress('third collection')];
const idOf = (contract: string) => `ethereum_${contract}`;
const COLLECTION = idOf(EVM);
const at = (ms: number) => new Date(NOW + ms).toISOString();
/** Every random listing with an expiry has expired at this time. */
const LATER = NOW + 60 * 60_000;
const ALL = { timeoutMs: 30_000, batchesMax: 100 };

forOneEngine('maintained figures', (engine) => {
  let db: Database;
  before(async () => {
    db = await engine.open();
  });
  beforeEach(() => emptyTables(db));

  const figures = async () => {
    const [row] = await db.query(
      `select listed_assets::int, mirror_floor_raw::text as floor, tokens::int, holders::int
       from indexer.collection_figures where collection_id = $1`,
      [COLLECTION],
    );
    return row ? Object.values(row) : null;
  };
  const recount = (now: number) =>
    recountFigures({ main: db, indexer: db, chains: createChains() }, { prefix: '', now, limit: 10 });
  const assertExact = async (now: number) => assert.deepEqual(await recount(now), []);

  test('the figures count each listed asset once, and the floor is the price of the cheapest listing', async () => {
    await ingest(
      db,
      listing({ id: 'a', tokenId: '1', priceRaw: '70' }),
      listing({ id: 'b', tokenId: '1', priceRaw: '50', source: 'magic-eden' }),
      listing({ id: 'c', tokenId: '2', priceRaw: '60' }),
      listing({ id: 'd', tokenId: '3', priceRaw: '0' }),
    );
    assert.deepEqual(await figures(), [2, '50', 0, 0]);
    await ingest(db, listing({ id: 'b', tokenId: '1', priceRaw: '50', source: 'magic-eden', status: 'filled' }));
    assert.deepEqual(await figures(), [2, '60', 0, 0]);
    await assertExact(NOW);
  });

  test('the figures are refreshed by reading the listings of the changed assets only', async (t) => {
    if (engine.hasCitus) return t.skip('a coordinator does not count the rows that the workers read');
    const ids = Array.from({ length: 300 }, (_, number) => String(number));
    await ingest(db, ...ids.map((id) => listing({ id, tokenId: id })));
    const assets = ids.slice(0, 10).map((asset) => ({ collectionId: COLLECTION, asset }));
    const read = await db.transaction(async (tx) => {
      const before = await countRowsRead(tx);
      await refreshListedAssets(tx, assets, NOW);
      return (await countRowsRead(tx)) - before;
    });
    assert.ok(read >= assets.length && read <= 2 * assets.length, `${read} rows were read for ${assets.length} assets`);
  });

  test('the cheapest listings for a buyer are found by reading few rows of listings', async () => {
    const ids = Array.from({ length: 1_000 }, (_, number) => String(number));
    await ingest(db, ...ids.map((id) => listing({ id, tokenId: id, source: 'magic-eden' })));
    await db.query('analyze indexer.listing');
    const options = { now: NOW, ownSource: 'mercat' };
    const read = await db.transaction(async (tx) => {
      const before = await countRowsRead(tx);
      const found = (await listMirrorRows(tx, [COLLECTION], options)).get(COLLECTION);
      assert.deepEqual([found?.assets, new Set(found?.rows.map(({ raw }) => raw)).size], [1_000, 1]);
      return (await countRowsRead(tx)) - before;
    });
    assert.ok(read <= 10, `${read} rows were read for the cheapest listing`);
  });

  test('the figures leave out an expired listing after the sweep that records its expiry', async () => {
    await ingest(db, listing({ id: 'a', priceRaw: '50', expiresAt: at(1_000) }), listing({ id: 'b', priceRaw: '80' }));
    assert.deepEqual(await figures(), [1, '50', 0, 0]);
    await sweepExpired({ main: db, indexer: db, chains: createChains(), clock: () => NOW + 1_000 });
    assert.deepEqual(await figures(), [1, '80', 0, 0]);
    await assertExact(NOW + 1_000);
  });

  test('the figures have the right numbers of tokens and holders after transfers', async () => {
    const [first, second] = [toEvmAddress('first owner'), toEvmAddress('second owner')];
    await ingest(
      db,
      token({ tokenId: '1', owner: first }),
      token({ tokenId: '2', owner: first }),
      token({ tokenId: '3' }),
    );
    assert.deepEqual(await figures(), [0, null, 3, 1]);
    await ingest(db, token({ tokenId: '1', owner: second }));
    assert.deepEqual(await figures(), [0, null, 3, 2]);
    await ingest(db, token({ tokenId: '2', owner: second }));
    assert.deepEqual(await figures(), [0, null, 3, 1]);
    await assertExact(NOW);
  });

  test('the figures do not count a report that names another token under the id of a stored listing', async () => {
    await ingest(db, listing({ id: 'a', tokenId: '1', priceRaw: '50' }));
    await ingest(db, listing({ id: 'a', tokenId: '2', priceRaw: '40', timestamp: '2026-05-02T00:00:00Z' }));
    assert.deepEqual(await figures(), [1, '50', 0, 0]);
    await assertExact(NOW);
  });

  const SOLD = { price: '3000000000000000000', timestamp: at(-60_000) };
  const STALE = { kind: 'analytics', chain: 'ethereum', contractAddress: EVM, at: at(-31 * 60_000) };
  const rankings: readonly (readonly [string, readonly object[], readonly [volume: string, floor: string]])[] = [
    ['no more than its collection record', [], ['-Infinity', '-Infinity']],
    ['a snapshot', [collection({ snapshot: { floorRaw: '7', volumeAllTime: 1.5 } })], ['1.5', '7']],
    ['imported sales', [collection({ snapshot: { volumeAllTime: 1.5 } }), sale(SOLD)], ['3', '-Infinity']],
    [
      'a report that is 31 minutes old',
      [{ ...STALE, volume: { allTime: 2.5 }, floorRaw: '9' }, sale(SOLD)],
      ['2.5', '-Infinity'],
    ],
    ['a current report', [{ ...STALE, at: at(0), volume: { allTime: 2.5 }, floorRaw: '9' }], ['2.5', '9']],
    ['a listing', [listing({ priceRaw: '70' }), order({ tokenId: '2', priceRaw: '80' })], ['-Infinity', '70']],
    [
      'a mirrored listing and an own order of the same token',
      [listing({ priceRaw: '70' }), order({ priceRaw: '80' })],
      ['-Infinity', '80'],
    ],
  ];
  for (const [name, records, [volume, floor]] of rankings) {
    test(`the figures include the ranking keys of a collection with ${name}`, async () => {
      await ingest(db, collection({ createdAt: at(-1_000) }), ...records);
      const [keys] = await db.query(
        `select volume_rank::text, floor_rank::text from indexer.collection_figures where collection_id = $1`,
        [COLLECTION],
      );
      assert.deepEqual(Object.values(keys ?? {}), [volume, floor]);
      await assertExact(NOW);
      await db.query(`update indexer.collection_figures set volume_rank = 77, floor_rank = 77, created_at = $1`, [
        new Date(NOW),
      ]);
      const found = await recount(NOW);
      assert.deepEqual(
        found.map(({ figure, stored, counted }) => [figure, stored, counted]),
        [
          ['time key', `${NOW / 1_000}.000000`, `${NOW / 1_000 - 1}.000000`],
          ['floor key', '77', floor],
          ['volume key', '77', volume],
        ],
      );
    });
  }

  test('the figures equal a count of the rows after four concurrent writers made random changes', async () => {
    const writers = [0, 1, 2, 3].map((writer) => writeAtRandom(db, new Random('figures', engine.name, String(writer))));
    await ingest(db, ...CONTRACTS.map((contractAddress) => randomCollection(new Random('first'), contractAddress)));
    await Promise.all(writers);
    await copyCatalog({ main: db, indexer: db, chains: createChains(), clock: () => NOW }, ALL);
    await sweepExpired({ main: db, indexer: db, chains: createChains(), clock: () => LATER });
    await copyCatalog({ main: db, indexer: db, chains: createChains(), clock: () => LATER }, ALL);
    await assertExact(LATER);
    const [row] = await db.query(`select count(*)::int as count from indexer.listed_asset`);
    assert.ok(Number(row?.['count']) > 0, 'the random changes left no listing to count');
    const [traits] = await db.query(`select count(*)::int as count from indexer.trait_listing`);
    assert.ok(Number(traits?.['count']) > 0, 'the random changes left no listing of a token with traits');
  });
});

/** Makes random changes of every kind: imports, lists read from a marketplace, expiries, metadata, transfers and reorganisations of a chain. */
async function writeAtRandom(db: Database, random: Random): Promise<void> {
  const refresh = { chains: createChains(), now: NOW };
  for (let step = 0; step < 30; step += 1) {
    const contract = random.pick(CONTRACTS);
    const collectionId = idOf(contract);
    switch (random.integer(0, 10)) {
      case 0:
      case 1:
        await ingest(db, ...repeat(random, () => randomListing(random)));
        break;
      case 2:
        await ingest(db, ...repeat(random, () => randomSale(random)), ...repeat(random, () => randomToken(random)));
        break;
      case 3:
        await applyListingSnapshot(
          { indexer: db, chains: createChains() },
          {
            source: 'opensea',
            collectionId,
            keys: [],
            listedBefore: NOW,
            takenAt: NOW,
            below: BigInt(random.integer(0, 60)),
          },
          { smallBookMax: 1_000, shareLeftMin: 0, doubtsMin: 1, doubtMs: 0 },
        );
        break;
      case 4:
        await sweepExpired({
          main: db,
          indexer: db,
          chains: createChains(),
          clock: () => NOW + random.integer(0, 1_000),
        });
        break;
      case 5:
        await ingest(db, randomCollection(random, contract), randomRecord(random, contract, 'stats'));
        await ingest(db, randomRecord(random, contract, 'analytics'));
        break;
      case 6:
        await saveCoverage({ indexer: db, chains: createChains(), clock: () => NOW }, [
          randomCoverage(random, collectionId),
        ]);
        break;
      case 7:
        await db.transaction((tx) =>
          changeIndex(tx, { collectionIds: [collectionId], refresh }, async () => ({
            moved: await upsertTokenHolders(tx, distinctTokens(random, collectionId)),
          })),
        );
        break;
      case 8:
        await ingest(db, ...repeat(random, () => randomOrder(random)));
        break;
      case 9:
        await db.transaction(async (tx) => {
          await lockFigures(tx, [collectionId]);
          await upsertTokenMetadata(tx, distinctMetadata(random), { collectionId, source: 'chain', at: NOW });
        });
        break;
      default:
        await db.transaction((tx) =>
          changeIndex(tx, { collectionIds: CONTRACTS.map(idOf), refresh }, async () => {
            const moved = distinctTokens(random, collectionId);
            await deleteUnmintedTokens(tx, moved);
            await deleteSalesAfter(tx, 'ethereum', random.integer(0, 10));
            return { moved };
          }),
        );
    }
  }
}

const repeat = <T>(random: Random, make: () => T): T[] => Array.from({ length: random.integer(1, 20) }, make);
const randomTokenId = (random: Random) => String(random.integer(1, 12));

function randomListing(random: Random): object {
  const source = random.pick(['opensea', 'magic-eden']);
  const contractAddress = random.pick(CONTRACTS);
  const tokenId = randomTokenId(random);
  return listing({
    id: `${contractAddress} ${tokenId} ${random.integer(1, 3)}`,
    source,
    contractAddress,
    tokenId,
    priceRaw: String(random.integer(0, 60)),
    timestamp: at(-random.integer(1, 1_000)),
    status: random.pick(['active', 'active', 'active', 'filled', 'cancelled']),
    ...(random.boolean(0.5) && { expiresAt: at(random.integer(1, 2_000)) }),
    ...(random.boolean(0.2) && { orderHash: `0x${String(random.integer(1, 9)).repeat(64)}` }),
  });
}

const randomToken = (random: Random) =>
  token({
    contractAddress: random.pick(CONTRACTS),
    tokenId: randomTokenId(random),
    ...(random.boolean(0.5) && { name: `Token ${random.integer(1, 3)}` }),
    ...(random.boolean(0.8) && { owner: toEvmAddress(`owner ${random.integer(1, 4)}`) }),
  });

const randomSale = (random: Random) =>
  sale({
    contractAddress: random.pick(CONTRACTS),
    tokenId: randomTokenId(random),
    price: String(random.integer(0, 60)),
    timestamp: at(-random.integer(1, 100) * 60_000),
    seller: SELLER,
  });

const randomCollection = (random: Random, contractAddress: string) =>
  collection({
    contractAddress,
    slug: `lamps-${contractAddress.slice(-6)}`,
    launched: random.boolean(0.5),
    createdAt: at(-random.integer(1, 1_000)),
    snapshot: {
      ...(random.boolean(0.5) && { floorRaw: String(random.integer(0, 60)) }),
      ...(random.boolean(0.5) && { volumeAllTime: random.integer(0, 60) / 7 }),
    },
  });

/** A record that is up to 30 hours old, so that its figures may have passed their maximum age. */
const randomRecord = (random: Random, contractAddress: string, kind: 'stats' | 'analytics') => ({
  kind,
  chain: 'ethereum',
  contractAddress,
  at: at(-random.pick([1, 10, 25, 60, 60 * 20, 60 * 30]) * 60_000),
  ...(random.boolean(0.7) && { floorRaw: String(random.integer(1, 60)) }),
  ...(kind === 'analytics' && random.boolean(0.7) && { volume: { allTime: random.integer(0, 60) / 7 } }),
});

function randomCoverage(random: Random, collectionId: string): CollectionCoverage {
  const kind = random.pick(['scan', 'scan', 'imported'] as const);
  return {
    collectionId,
    subject: random.pick(['listings', 'sales']),
    source: kind === 'imported' ? 'import' : random.pick(['opensea', 'magic-eden']),
    kind,
    from: random.boolean(0.7) ? null : NOW - 60_000,
    to: NOW - random.pick([1, 25, 60, 60 * 20, 60 * 30]) * 60_000,
  };
}

const randomOrder = (random: Random) =>
  order({
    contractAddress: random.pick(CONTRACTS),
    tokenId: randomTokenId(random),
    priceRaw: String(random.integer(1, 60)),
    createdAt: at(-random.integer(1, 1_000)),
    ...(random.boolean(0.5) && { expiresAt: at(random.integer(1, 2_000)) }),
  });

function distinctMetadata(random: Random) {
  const assets = new Set(repeat(random, () => randomTokenId(random)));
  const none = { name: null, image: null, description: null, host: null, uriDigest: null };
  return [...assets].map((asset) => ({
    ...none,
    asset,
    traits: ['Hat', 'Eyes', 'Coat']
      .slice(0, random.integer(0, 3))
      .map((name) => ({ name, value: String(random.integer(1, 3)), kind: 'text' as const })),
  }));
}

function distinctTokens(random: Random, collectionId: string) {
  const assets = new Set(repeat(random, () => randomTokenId(random)));
  return [...assets].map((asset) => ({
    collectionId,
    asset,
    chain: 'ethereum',
    owner: random.boolean(0.9) ? toEvmAddress(`owner ${random.integer(1, 4)}`) : null,
    burned: random.boolean(0.1),
    blockNumber: random.integer(1, 20),
  }));
}

/**
 * The number of rows of `indexer.listing` that this transaction has read. Only the difference of two of these numbers has a
 * meaning.
 */
async function countRowsRead(tx: Queryable): Promise<number> {
  const [row] = await tx.query(
    `select (coalesce(idx_tup_fetch, 0) + seq_tup_read)::int as rows from pg_stat_xact_user_tables
     where relid = 'indexer.listing'::regclass`,
  );
  return Number(row?.['rows']);
}
