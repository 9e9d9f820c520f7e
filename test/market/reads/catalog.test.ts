// Tests the figures of the own order book and their copy in the indexer database. The figures and the copy are exact after any interleaving
// of writers. After an interrupted copy, the next copy writes what is missing.

import assert from 'node:assert/strict';
import { before, beforeEach, test } from 'node:test';
import type { Database, Queryable } from '../../../src/platform/database/port.ts';
import type { ServiceContext } from '../../../src/service/context.ts';
import { readPresentFloors } from '../../../src/market/reads/floors/floor.ts';
import { createChains } from '../../../src/platform/core/chains.ts';
import { copyCatalog } from '../../../src/market/index/catalog.ts';
import { resolveCollection } from '../../../src/market/reads/resolve-collection.ts';
import { recountFigures } from '../../../src/market/index/recount.ts';
import { cancelOrder } from '../../../src/market/orders/cancel.ts';
import { evaluateCollectionOrders } from '../../../src/market/orders/evaluate.ts';
import { lockBooks, refreshBookAssets } from '../../../src/market/orders/queries/book-figures.ts';
import { submitOrder } from '../../../src/market/orders/submit.ts';
import { sweepExpired } from '../../../src/service/workers/expiry.ts';
import { Random, toEvmAddress } from '../../../sample/random.ts';
import { signOrder, toAsk, toParameters } from '../../support/chain/signed-orders.ts';
import { until } from '../../support/until.ts';
import { forOneEngine } from '../../support/engines/each-engine.ts';
import {
  EVM,
  NOW,
  collection,
  emptyTables,
  listing,
  order,
  runImport,
  toContext,
  toNdjson,
} from '../../support/service/intake.ts';
import { ask, ethereum, OFFERER, outcomeOf } from '../orders/test-orders.ts';

const CONTRACTS = [EVM, toEvmAddress('second collection'), toEvmAddress('third collection')];
const idOf = (contract: string) => `ethereum_${contract}`;
const COLLECTION = idOf(EVM);
const SECOND = 1_000;
const NOW_S = NOW / SECOND;
const at = (ms: number) => new Date(NOW + ms).toISOString();
/** Every start time and every expiry time of the random changes is before this time. */
const LATER = NOW + 60 * 60 * SECOND;
const ALL = { timeoutMs: 30_000, batchesMax: 100 };

forOneEngine('the own order book and its copy', (engine) => {
  let main: Database;
  let indexer: Database;
  let now = NOW;
  before(async () => {
    [main, indexer] = [await engine.open(), await engine.open()];
  });
  beforeEach(async () => {
    now = NOW;
    await Promise.all([emptyTables(main), emptyTables(indexer)]);
    await main.query('truncate main.order_cancel');
  });

  /** The context of a service on one database with both schemas, or on two databases. */
  const contextOn = (databases: 'one' | 'two', overrides: Partial<ServiceContext> = {}) =>
    toContext(main, { indexer: databases === 'one' ? main : indexer, clock: () => now, ...overrides });
  const load = async (context: ServiceContext, ...records: unknown[]) => {
    const { refused } = await runImport(context, toNdjson(records));
    assert.deepEqual(refused, []);
  };
  const orderContext = (context: ServiceContext) => ({ ...context, checksOf: () => null });
  const submit = async (context: ServiceContext, options: Parameters<typeof ask>[0]) => {
    const signed = ask(options);
    const signature = await signOrder(1, signed);
    const submission = { parameters: toParameters(signed), signature };
    return submitOrder(orderContext(context), { chain: ethereum, protocolAddress: null, order: submission });
  };
  const figuresOf = async (db: Database) => {
    const [row] = await db.query(
      `select recorded, chain, launched, created_at, snapshot_floor_raw::text as snapshot, listed_assets::int as mirror,
         own_listed_assets::int as own, own_floor_raw::text as floor, mirror_floor_raw::text as mirror_floor
       from indexer.collection_figures where collection_id = $1`,
      [COLLECTION],
    );
    return row;
  };
  const bookFigures = async () => {
    const [row] = await main.query(
      `select listed_assets::int as listed, floor_raw::text as floor from main.collection_book where collection_id = $1`,
      [COLLECTION],
    );
    return row ? Object.values(row) : null;
  };
  /** Fails unless the stored figures equal a count of the rows, and the copy equals the original. */
  const assertExact = async (to: Database) => {
    assert.deepEqual(
      await main.query('select * from main.catalog_change'),
      [],
      'a change is still waiting to be copied',
    );
    const sides = { main, indexer: to, chains: createChains() };
    assert.deepEqual(await recountFigures(sides, { prefix: '', now, limit: 10 }), []);
  };

  for (const databases of ['one', 'two'] as const) {
    const copyOf = () => (databases === 'one' ? main : indexer);

    test(`an import updates the figures of the collection record and of the own order book, on ${databases} database(s)`, async () => {
      const context = contextOn(databases);
      await load(
        context,
        collection({ launched: true, createdAt: at(-SECOND), snapshot: { floorRaw: '7' } }),
        order({ tokenId: '1', priceRaw: '90' }),
        order({ tokenId: '2', priceRaw: '80', status: 'cancelled' }),
        listing({ id: 'a', tokenId: '1', priceRaw: '5' }),
        listing({ id: 'b', tokenId: '3', priceRaw: '6' }),
      );
      assert.deepEqual(await figuresOf(copyOf()), {
        recorded: true,
        chain: 'ethereum',
        launched: true,
        created_at: new Date(NOW - SECOND),
        snapshot: '7',
        mirror: 1,
        own: 1,
        floor: '90',
        mirror_floor: '6',
      });
      await load(context, collection({ launched: false }), order({ tokenId: '1', priceRaw: '90', status: 'filled' }));
      const { launched, own, floor, mirror, mirror_floor: mirrorFloor } = (await figuresOf(copyOf())) ?? {};
      assert.deepEqual([launched, own, floor, mirror, mirrorFloor], [false, 0, null, 2, '5']);
      await assertExact(copyOf());
    });

    test(`the figures are exact after concurrent changes of every kind, on ${databases} database(s)`, async () => {
      const context = contextOn(databases);
      const writers = [0, 1, 2, 3].map((writer) =>
        writeAtRandom(context, new Random('book', engine.name, databases, String(writer))),
      );
      const copies = [0, 1, 2].map(async () => {
        for (let round = 0; round < 20; round += 1) await copyCatalog(context, ALL);
      });
      await Promise.all([...writers, ...copies]);
      await sweepExpired(context);
      await copyCatalog(context, ALL);
      const [row] = await main.query('select count(*)::int as count from main.book_asset');
      assert.ok(Number(row?.['count']) > 0, 'the random changes left no asset listed');
      await assertExact(copyOf());
      now = LATER;
      await sweepExpired(context);
      await copyCatalog(context, ALL);
      await assertExact(copyOf());
    });
  }

  test('an order counts in the figures from its start time to its expiry time', async () => {
    const context = contextOn('one');
    await submit(context, { tokenId: 1n, price: 500n, start: NOW_S + 60, end: NOW_S + 120 });
    assert.deepEqual(await bookFigures(), [0, null]);
    now = NOW + 60 * SECOND;
    await sweepExpired(context);
    assert.deepEqual(await bookFigures(), [1, '500']);
    now = NOW + 120 * SECOND;
    await sweepExpired(context);
    assert.deepEqual(await bookFigures(), [0, null]);
    assert.deepEqual(await main.query('select * from main.book_start'), []);
    await copyCatalog(context, ALL);
    await assertExact(main);
  });

  test('a copy that is interrupted between its two commits is repeated with the newest state', async () => {
    const context = contextOn('two');
    const crash = new Error('the process ended');
    const crashing: Database = {
      ...indexer,
      within: () => ({
        ...indexer,
        transaction: async (work) => {
          await indexer.transaction(work);
          throw crash;
        },
      }),
    };
    const broken = contextOn('two', { indexer: crashing });
    await load(broken, collection(), order({ tokenId: '1', priceRaw: '90' }), order({ tokenId: '2', priceRaw: '80' }));
    assert.equal((await figuresOf(indexer))?.['own'], 2, 'the indexer has not committed the first copy');
    await assert.rejects(copyCatalog(broken, ALL), crash);
    assert.notDeepEqual(
      await main.query('select * from main.catalog_change'),
      [],
      'the interrupted copy deleted the changes',
    );
    await load(broken, order({ tokenId: '2', priceRaw: '80', status: 'filled' }));
    await copyCatalog(context, ALL);
    assert.equal((await figuresOf(indexer))?.['own'], 1);
    await assertExact(indexer);
  });

  test('while the indexer fails, orders are stored, and a later copy writes their figures to the indexer', async () => {
    const unreachable: Database = {
      ...indexer,
      within: () => ({ ...indexer, transaction: () => Promise.reject(new Error('connection refused')) }),
    };
    await load(contextOn('two', { indexer: unreachable }), collection(), order({ tokenId: '1', priceRaw: '90' }));
    assert.deepEqual(await bookFigures(), [1, '90']);
    assert.equal(await figuresOf(indexer), undefined);
    await copyCatalog(contextOn('two'), ALL);
    assert.equal((await figuresOf(indexer))?.['own'], 1);
    await assertExact(indexer);
  });

  test('the mirrored listing of a token that has an own order is never the buyer floor, even if it is cheaper', async () => {
    const assets = Array.from({ length: 45 }, (_, n) => String(n + 1));
    await load(
      contextOn('two'),
      collection({ royaltyBps: 0 }),
      ...assets.map((tokenId) => listing({ id: tokenId, tokenId, priceRaw: tokenId })),
      listing({ id: 'other', tokenId: '99', priceRaw: '8000' }),
    );
    const unreachable: Database = {
      ...indexer,
      within: () => ({ ...indexer, transaction: () => Promise.reject(new Error('connection refused')) }),
    };
    const orders = assets.map((tokenId) => order({ tokenId, priceRaw: '10000' }));
    await load(contextOn('two', { indexer: unreachable }), ...orders);
    const { market } = contextOn('two');
    const subject = await resolveCollection(market, COLLECTION);
    assert.deepEqual(await readPresentFloors(market, subject), { floors: { ask: 8_000n, total: 8_000n } });
    await copyCatalog(contextOn('two'), ALL);
    assert.deepEqual(await readPresentFloors(market, subject), { floors: { ask: 8_000n, total: 8_000n } });
  });

  /**
   * Waits until the work has ended or waits for a lock. On the embedded engine, this function returns at once, because `work`
   * waits for the only connection.
   */
  const untilBlocked = async (work: Promise<unknown>) => {
    if (main.engine === 'embedded') return;
    let hasEnded = false;
    const end = () => {
      hasEnded = true;
    };
    void work.then(end, end);
    const isWaiting = async () => {
      const waiting = await main.query(
        `select 1 from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`,
      );
      return hasEnded || waiting.length > 0;
    };
    await until(isWaiting, 20_000, 'the work neither ended nor waited for a lock');
  };

  test('two concurrent copies never leave the older figures in the indexer database', async () => {
    const unreachable: Database = {
      ...indexer,
      within: () => ({ ...indexer, transaction: () => Promise.reject(new Error('connection refused')) }),
    };
    const writer = contextOn('two', { indexer: unreachable });
    await load(writer, collection(), order({ tokenId: '1', priceRaw: '90' }), order({ tokenId: '2', priceRaw: '80' }));
    const slow = pauseOnce(indexer);
    const first = copyCatalog(contextOn('two', { indexer: slow.database }), ALL);
    await slow.reached;
    const second = load(writer, order({ tokenId: '2', priceRaw: '80', status: 'filled' })).then(() =>
      copyCatalog(contextOn('two'), ALL),
    );
    await untilBlocked(second);
    slow.resume();
    await Promise.all([first, second]);
    await copyCatalog(contextOn('two'), ALL);
    assert.equal((await figuresOf(indexer))?.['own'], 1);
    await assertExact(indexer);
  });

  test('figures include the assets of two concurrent transactions of one collection', async () => {
    const context = contextOn('one');
    await load(context, collection(), order({ tokenId: '3', priceRaw: '100' }));
    const steps = { locked: [0, 1].map(() => Promise.withResolvers<void>()), refreshed: Promise.withResolvers<void>() };
    const [refresh, commit] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
    const cheap = main.transaction(async (tx) => {
      await lockBooks(tx, [COLLECTION]);
      steps.locked[0]?.resolve();
      await refresh.promise;
      await insertActiveOrder(tx, '1', 50n);
      await refreshBookAssets(tx, [{ collectionId: COLLECTION, asset: '1' }], NOW);
      steps.refreshed.resolve();
      await commit.promise;
    });
    await steps.locked[0]?.promise;
    const dear = main.transaction(async (tx) => {
      await lockBooks(tx, [COLLECTION]);
      steps.locked[1]?.resolve();
      await insertActiveOrder(tx, '2', 90n);
      await steps.refreshed.promise;
      await refreshBookAssets(tx, [{ collectionId: COLLECTION, asset: '2' }], NOW);
    });
    await untilBlocked(Promise.race([dear, steps.locked[1]?.promise]));
    refresh.resolve();
    await steps.refreshed.promise;
    await untilBlocked(dear);
    commit.resolve();
    await Promise.all([cheap, dear]);
    await copyCatalog(context, ALL);
    assert.deepEqual(await bookFigures(), [3, '50']);
    await assertExact(main);
  });

  async function writeAtRandom(context: ServiceContext, random: Random): Promise<void> {
    for (let step = 0; step < 25; step += 1) {
      const contract = random.pick(CONTRACTS);
      switch (random.integer(0, 5)) {
        case 0:
          await load(
            context,
            ...repeat(random, () => randomOrder(random)),
            ...repeat(random, () => randomListing(random)),
          );
          break;
        case 1: {
          const signed = toAsk(
            {
              offerer: OFFERER,
              contract,
              tokenId: BigInt(random.integer(1, 8)),
              price: BigInt(random.integer(1, 60)),
              start: NOW_S + random.integer(-10, 10),
              end: NOW_S + random.integer(11, 60),
            },
            { salt: BigInt(random.integer(1, 1_000_000)) },
          );
          const submission = { parameters: toParameters(signed), signature: await signOrder(1, signed) };
          await outcomeOf(
            submitOrder(orderContext(context), { chain: ethereum, protocolAddress: null, order: submission }),
          );
          break;
        }
        case 2: {
          const [found] = await main.query<{ id: string }>(
            `select id from main.book_order where order_hash is not null and collection_id = $1 order by id offset $2 limit 1`,
            [idOf(contract), random.integer(0, 5)],
          );
          if (found) await outcomeOf(cancelOrder(orderContext(context), found.id, { cancelledBy: 'operator' }));
          break;
        }
        case 3:
          now = Math.max(now, NOW + random.integer(0, 30) * SECOND);
          await sweepExpired(context);
          break;
        case 4:
          await main.transaction((tx) => evaluateCollectionOrders(tx, idOf(contract), now));
          break;
        default:
          await context.copyCatalog();
      }
    }
  }
});

/** A database whose first transaction does not begin until `resume` is called. */
function pauseOnce(db: Database) {
  const reached = Promise.withResolvers<void>();
  const resumed = Promise.withResolvers<void>();
  let isFirst = true;
  const transaction: Database['transaction'] = async (work) => {
    if (!isFirst) return db.transaction(work);
    isFirst = false;
    reached.resolve();
    await resumed.promise;
    return db.transaction(work);
  };
  const database: Database = { ...db, transaction, within: () => ({ ...db, transaction }) };
  return { database, reached: reached.promise, resume: () => resumed.resolve() };
}

async function insertActiveOrder(tx: Queryable, asset: string, raw: bigint): Promise<void> {
  await tx.query(
    `insert into main.book_order (id, collection_id, chain, contract_address, token_id, price_raw, seller, status, created_at)
     values ($1, $2, 'ethereum', $3, $4, $5, $6, 'active', $7)`,
    [`${COLLECTION}_${asset}`, COLLECTION, EVM, asset, raw.toString(), OFFERER, new Date(NOW)],
  );
}

const repeat = <T>(random: Random, make: () => T): T[] => Array.from({ length: random.integer(1, 6) }, make);

const randomOrder = (random: Random) =>
  order({
    contractAddress: random.pick(CONTRACTS),
    tokenId: String(random.integer(1, 8)),
    priceRaw: String(random.integer(0, 60)),
    createdAt: at(-random.integer(1, 3) * SECOND),
    status: random.pick(['active', 'active', 'active', 'filled', 'cancelled']),
    ...(random.boolean(0.5) && { expiresAt: at(random.integer(1, 60) * SECOND) }),
  });

const randomListing = (random: Random) => {
  const contractAddress = random.pick(CONTRACTS);
  const tokenId = String(random.integer(1, 8));
  return listing({
    id: `${contractAddress} ${tokenId} ${random.integer(1, 2)}`,
    contractAddress,
    tokenId,
    priceRaw: String(random.integer(1, 60)),
    timestamp: at(-random.integer(1, 1_000)),
    status: random.pick(['active', 'active', 'filled']),
  });
};
