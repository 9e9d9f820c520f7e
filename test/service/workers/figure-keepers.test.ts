// Tests the tasks that update the stored snapshots and the last buyer floors of followed collections. The tasks depend neither on actions of
// the operator nor on requests of readers.

import assert from 'node:assert/strict';
import { before, beforeEach, test } from 'node:test';
import { readConfig } from '../../../src/service/config.ts';
import { createContext } from '../../../src/service/context.ts';
import type { Address } from '../../../src/platform/core/address.ts';
import { toCollectionId } from '../../../src/platform/core/collection.ts';
import { createLog } from '../../../src/platform/core/log.ts';
import type { Database } from '../../../src/platform/database/port.ts';
import { upsertFollow } from '../../../src/market/follows/queries/follows.ts';
import { saveCoverage } from '../../../src/market/index/coverage.ts';
import type { Task } from '../../../src/platform/tasks/task.ts';
import { createBuyerFloorsTask } from '../../../src/service/workers/buyer-floors.ts';
import { createSnapshotsTask } from '../../../src/service/workers/snapshots.ts';
import { forOneEngine } from '../../support/engines/each-engine.ts';
import {
  ASSET,
  collection,
  emptySyncTables,
  EVM,
  listing,
  MINT,
  NOW,
  runImport,
  SELLER,
  token,
  toNdjson,
} from '../../support/service/intake.ts';

const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;
const ID = `ethereum_${EVM}`;
const UNFOLLOWED = '0x00000000000000000000000000000000000000ff';

forOneEngine('the keepers of figures', (engine) => {
  let db: Database;
  let now = NOW;
  before(async () => {
    db = await engine.open();
  });
  beforeEach(async () => {
    now = NOW;
    await emptySyncTables(db);
    await db.query(`delete from main.last_buyer_floor`);
  });

  const makeContext = () =>
    createContext({
      config: readConfig({}),
      log: createLog('silent'),
      clock: () => now,
      random: () => 0.5,
      databases: { main: db, indexer: db },
    });
  const at = (ms: number) => new Date(ms).toISOString();
  const load = async (...records: object[]) =>
    assert.deepEqual((await runImport(makeContext(), toNdjson(records))).refused, []);
  const run = (task: Task) => task.run(AbortSignal.timeout(MINUTE_MS), () => undefined, { isFull: false });
  const follow = (chain: string, contractAddress: string) =>
    upsertFollow(db, {
      collectionId: toCollectionId(chain, contractAddress as Address),
      chain,
      contractAddress: contractAddress as Address,
      standard: null,
      fromBlock: null,
      names: new Map(),
      createdAt: NOW,
    });
  const snapshotOf = async (contractAddress: string) => {
    const [row] = await db.query(
      `select snapshot_floor_raw, snapshot_volume, snapshot_supply::int, snapshot_owners::int from main.collection
       where contract_address = $1`,
      [contractAddress],
    );
    return Object.values(row ?? {});
  };
  const reported = (fields: object) => ({ chain: 'ethereum', contractAddress: EVM, at: at(now), ...fields });

  test('a figure in the stored snapshot is replaced only by a newer figure that is complete and recent', async () => {
    await follow('ethereum', EVM);
    const context = makeContext();
    const task = createSnapshotsTask(context);
    const others = { contractAddress: UNFOLLOWED, slug: 'other' };
    await load(collection(), collection(others), token(), {
      ...reported({ floorRaw: '9' }),
      ...others,
      slug: undefined,
      kind: 'stats',
    });
    assert.equal((await run(task)).changed, 0);
    assert.deepEqual(
      await snapshotOf(EVM),
      [null, null, null, null],
      'the number of stored tokens was taken for the supply',
    );
    await load(
      reported({ kind: 'stats', floorRaw: '750', owners: 42, supply: 90 }),
      reported({ kind: 'analytics', volume: { allTime: 30 } }),
    );
    assert.equal((await run(task)).changed, 1);
    assert.deepEqual(await snapshotOf(EVM), ['750', 30, 90, 42]);
    assert.equal((await run(task)).changed, 0);
    now += HOUR_MS;
    await load(reported({ kind: 'stats', floorRaw: '800', at: at(now - 40 * MINUTE_MS), owners: 43 }));
    await run(task);
    assert.deepEqual(await snapshotOf(EVM), ['750', 30, 90, 43], 'a floor reported 40 minutes ago was stored');
    now += 48 * HOUR_MS;
    assert.equal((await run(task)).changed, 0, 'old figures changed the snapshot');
    await load(listing({ timestamp: at(now), priceRaw: '700' }));
    await run(task);
    assert.deepEqual(await snapshotOf(EVM), ['700', 30, 90, 43]);
    assert.deepEqual(await snapshotOf(UNFOLLOWED), [null, null, null, null]);
    const copied = `select snapshot_floor_raw from indexer.collection_figures where collection_id = $1`;
    await context.copyCatalog();
    assert.equal((await db.query(copied, [ID]))[0]?.['snapshot_floor_raw'], '700');
  });

  test('the floor in the stored snapshot is removed only after a recent scan of all listings found no listing', async () => {
    await follow('ethereum', EVM);
    await load(collection({ snapshot: { floorRaw: '640' } }));
    const scan = { collectionId: ID, subject: 'listings', source: 'opensea', kind: 'scan', from: null } as const;
    await saveCoverage(makeContext(), [{ ...scan, to: now - 2 * HOUR_MS }]);
    const task = createSnapshotsTask(makeContext());
    await run(task);
    assert.deepEqual(await snapshotOf(EVM), ['640', null, null, null], 'a scan from two hours ago removed the floor');
    await saveCoverage(makeContext(), [{ ...scan, to: now }]);
    await run(task);
    assert.deepEqual(await snapshotOf(EVM), [null, null, null, null]);
  });

  test('last buyer floors are stored only for collections on chains with `keepsBuyerFloor`', async () => {
    const solana = { chain: 'solana', contractAddress: MINT };
    const onBase = { chain: 'base', tokenId: '1' };
    for (const [chain, address] of [
      ['ethereum', EVM],
      ['base', EVM],
      ['solana', MINT],
    ] as const)
      await follow(chain, address);
    await load(
      collection(),
      collection({ ...solana, slug: 'sol' }),
      collection({ chain: 'base', slug: 'base' }),
      listing({ buyerTotalRaw: '110' }),
      listing({ ...onBase, id: 'b' }),
      listing({ ...solana, id: 'c', tokenId: null, mint: ASSET, seller: ASSET, priceRaw: '50' }),
    );
    const context = makeContext();
    const task = createBuyerFloorsTask(context);
    const storedFloors = async () => {
      const rows = await db.query(`select collection_id, floor_raw from main.last_buyer_floor order by collection_id`);
      return rows.map((row) => [row['collection_id'], row['floor_raw']]);
    };
    const solanaId = toCollectionId('solana', MINT as Address);
    assert.equal((await run(task)).read, 2);
    assert.deepEqual(await storedFloors(), [
      [ID, '110'],
      [solanaId, '50'],
    ]);
    now += MINUTE_MS;
    assert.equal((await run(task)).read, 0, 'a floor was resolved again without a change');
    assert.equal((await run(createBuyerFloorsTask(context))).read, 0, 'a floor was resolved again after a restart');
    await load(listing({ id: 'L2', tokenId: '2', priceRaw: '90' }));
    assert.equal((await run(task)).read, 1);
    assert.deepEqual(await storedFloors(), [
      [ID, '90'],
      [solanaId, '50'],
    ]);
    now += 16 * MINUTE_MS;
    assert.equal((await run(task)).read, 2, 'a floor near its maximum age was not resolved again');
    await load(
      listing({ status: 'cancelled' }),
      listing({ id: 'L2', tokenId: '2', priceRaw: '90', status: 'filled', seller: SELLER }),
    );
    await run(task);
    assert.deepEqual(await storedFloors(), [[solanaId, '50']], 'a collection without a listing still has a floor');
  });

  test('while the indexer database fails, the last buyer floors are still served', async () => {
    await follow('ethereum', EVM);
    await load(collection(), listing());
    await run(createBuyerFloorsTask(makeContext()));
    now += 20 * MINUTE_MS;
    const context = makeContext();
    await db.query(`alter schema indexer rename to unreachable`);
    try {
      await assert.rejects(run(createBuyerFloorsTask(context)), /does not exist/);
      await assert.rejects(run(createSnapshotsTask(context)), /does not exist/);
    } finally {
      await db.query(`alter schema unreachable rename to indexer`);
    }
    const stored = await context.market.lastBuyerFloors.list([ID]);
    assert.deepEqual([stored?.get(ID)?.raw, stored?.get(ID)?.askRaw], [100n, 100n]);
  });
});
