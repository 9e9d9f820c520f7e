// One of the two endpoints of a chain fails, and the other alters what it serves, so that wrong blocks are stored. When both endpoints respond
// and tell the truth, the blocks are read again, and everything that was derived from them is corrected.

import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import type { TestContext } from 'node:test';
import { callOf, mine } from '../../../devnet/chain.ts';
import { mergeChanges } from '../../../src/market/activity/merge.ts';
import { listRereadRanges } from '../../../src/market/chain-log/queries/reread-ranges.ts';
import { readChainStatus } from '../../../src/sources/chains/chain-status.ts';
import type { Database } from '../../../src/platform/database/port.ts';
import { listFollows } from '../../../src/market/follows/queries/follows.ts';
import type { FaultyEndpoint } from '../../support/chain/faulty-endpoint.ts';
import { startFaultyEndpoint } from '../../support/chain/faulty-endpoint.ts';
import type { Following, LocalWorld } from '../../support/chain/followed-collection.ts';
import { follow, followWorld, startLocalWorld } from '../../support/chain/followed-collection.ts';
import type { Lie, LyingEndpoint } from '../../support/chain/lying-endpoint.ts';
import { startLyingEndpoint } from '../../support/chain/lying-endpoint.ts';
import { forOneEngine } from '../../support/engines/each-engine.ts';
import { toContext } from '../../support/service/intake.ts';

const MINUTE_MS = 60_000;
const DOWN = { faults: ['reset'], faultShare: 1 } as const;
const UP = { faults: [], faultShare: 0 } as const;
const MERGE_LIMITS = { timeoutMs: 60_000, batchesMax: 1_000 };

forOneEngine('blocks that only one endpoint has served', (engine) => {
  let world: LocalWorld;
  before(async () => {
    world = await startLocalWorld();
    const [seller] = world.people;
    await world.mint(seller, 1n, 2n, 3n, 4n, 5n, 6n);
    await world.approve(seller);
  });
  after(() => world.chain.stop());

  type Scene = Following & {
    db: Database;
    lying: LyingEndpoint;
    other: FaultyEndpoint;
    pass(ms: number): void;
  };

  const open = async (t: TestContext): Promise<Scene> => {
    const lying = await startLyingEndpoint(world.chain.url);
    const other = await startFaultyEndpoint(world.chain.url, {});
    const db = await engine.open();
    let passedMs = 0;
    const urls = [lying.url, other.url];
    const following = followWorld({ main: db, indexer: db }, world, { urls, clock: () => Date.now() + passedMs });
    t.after(async () => {
      following.reader.close();
      await lying.close();
      await other.close();
    });
    const pass = (ms: number) => {
      passedMs += ms;
    };
    await following.settle();
    return { ...following, db, lying, other, pass };
  };

  /** The same chain, followed through one endpoint that tells the truth. */
  const openHonest = async (): Promise<Following & { db: Database }> => {
    const db = await engine.open();
    const following = followWorld({ main: db, indexer: db }, world);
    await following.settle();
    return { ...following, db };
  };

  const storedOf = async (db: Database) => {
    await mergeChanges({ main: db, indexer: db, clock: Date.now }, MERGE_LIMITS);
    return {
      events: await db.query(
        `select block_number, log_index, part, tx, kind, contract, token_id, account, details from main.chain_event order by 1, 2, 3`,
      ),
      holdings: await db.query(`select token_id, holder, quantity from main.holding order by 1, 2`),
      approvals: await db.query(`select owner, operator from main.operator_approval order by 1, 2`),
      tokens: await db.query(`select asset, owner, burned from indexer.token order by 1`),
      sales: await db.query(`select asset, tx, price_raw, seller, buyer from indexer.sale order by 1, 2`),
      sums: await db.query(`select volume_raw, sales from indexer.sale_total where sales > 0`),
      activity: await db.query(
        `select kind, asset, tx, from_account, to_account, price_raw from main.activity
         where voided_by is null and kind <> 'floor' and kind <> 'reorg' order by 1, 2, 3, 4, 5`,
      ),
    };
  };

  /** The first endpoint tells the lie while the other is down, and `act` mines blocks. Then both tell the truth, and more blocks follow. */
  const lieDuring = async ({ lying, other, settle }: Scene, lie: Lie, act: () => Promise<unknown>) => {
    other.set(DOWN);
    await lying.tell(lie);
    await act();
    await settle();
    await lying.tell('none');
    await mine(world.chain);
    await settle();
  };

  const trade = async (tokenId: bigint) => {
    const [seller, buyer, third] = world.people;
    const order = await world.sign(0, { tokenId, price: 1_000n });
    await world.act(world.fillCall(order, buyer));
    await world.act(callOf(buyer, world.nft, 'transferFrom', [buyer, third, tokenId]));
    await world.act(callOf(seller, world.nft, 'setApprovalForAll', [third, true]));
  };

  for (const [lie, tokenId] of [
    ['altered-logs', 1n],
    ['omits-a-log', 2n],
    ['altered-transactions', 4n],
  ] as const) {
    test(`new blocks are corrected when a second endpoint is back (${lie})`, async (t) => {
      const scene = await open(t);
      const honest = await openHonest();
      for (const { db, settle } of [scene, honest]) {
        await follow(db, world);
        await settle();
      }
      await lieDuring(scene, lie, () => trade(tokenId));
      await honest.settle();
      assert.notDeepEqual(await storedOf(scene.db), await storedOf(honest.db), 'the lie was not stored');
      const [range] = await listRereadRanges(scene.db);
      assert.ok(range && range.to > range.from, 'the blocks are not remembered');
      scene.other.set(UP);
      scene.pass(MINUTE_MS);
      await mine(world.chain);
      for (const { settle } of [scene, honest]) await settle();
      assert.deepEqual(await storedOf(scene.db), await storedOf(honest.db));
      assert.deepEqual(await listRereadRanges(scene.db), []);
    });
  }

  test('the status names the blocks that wait', async (t) => {
    const scene = await open(t);
    await follow(scene.db, world);
    await scene.settle();
    await lieDuring(scene, 'none', () => mine(world.chain));
    const [range] = await listRereadRanges(scene.db);
    const context = toContext(scene.db, { settings: { RPC_URL_ETHEREUM: scene.lying.url }, clock: Date.now });
    t.after(() => context.followed.close());
    const [status] = await readChainStatus(context);
    assert.deepEqual(status?.toReadAgain, [
      { from: range?.from, to: range?.to, since: new Date(range?.since ?? 0).toISOString() },
    ]);
  });

  test('past blocks of a backfill are corrected when a second endpoint is back', async (t) => {
    const scene = await open(t);
    const honest = await openHonest();
    await follow(honest.db, world);
    await honest.settle();
    scene.other.set(DOWN);
    await scene.lying.tell('altered-logs');
    await follow(scene.db, world);
    await scene.settle();
    assert.equal((await listFollows(scene.db))[0]?.joined, false, 'the backfill did not wait for the second endpoint');
    scene.pass(MINUTE_MS);
    await scene.settle();
    assert.equal((await listFollows(scene.db))[0]?.joined, true);
    await scene.lying.tell('none');
    scene.other.set(UP);
    scene.pass(MINUTE_MS);
    await scene.settle();
    const { activity: _, ...stored } = await storedOf(scene.db);
    const { activity: __, ...expected } = await storedOf(honest.db);
    assert.deepEqual(stored, expected);
    assert.deepEqual(await listRereadRanges(scene.db), []);
  });

  test('blocks that were right stay as they are, and nothing is taken back', async (t) => {
    const scene = await open(t);
    await follow(scene.db, world);
    await scene.settle();
    await lieDuring(scene, 'none', () => trade(5n));
    assert.equal((await listRereadRanges(scene.db)).length, 1);
    const sequence = () => scene.db.query(`select seq from main.chain_event order by seq`);
    const [before, stored] = [await sequence(), await storedOf(scene.db)];
    scene.other.set(UP);
    scene.pass(MINUTE_MS);
    await scene.settle();
    assert.deepEqual(await listRereadRanges(scene.db), []);
    assert.deepEqual([await sequence(), await storedOf(scene.db)], [before, stored]);
    assert.deepEqual(await scene.db.query(`select from main.chain_reorg`), []);
  });

  test('while the endpoints disagree, and while one of them fails, the stored blocks stay and wait', async (t) => {
    const scene = await open(t);
    await follow(scene.db, world);
    await scene.settle();
    await lieDuring(scene, 'none', () => trade(6n));
    const stored = await storedOf(scene.db);
    for (const lie of ['altered-logs', 'omits-logs'] as const) {
      await scene.lying.tell(lie);
      scene.pass(MINUTE_MS);
      await scene.settle();
      scene.other.set(UP);
      scene.pass(MINUTE_MS);
      await scene.settle();
      scene.other.set(DOWN);
      assert.deepEqual(await storedOf(scene.db), stored, lie);
      assert.equal((await listRereadRanges(scene.db)).length, 1, lie);
    }
  });

  test('a reorganisation removes its blocks from those that are read again', async (t) => {
    const scene = await open(t);
    await follow(scene.db, world);
    await scene.settle();
    const { call } = world.chain.rpc;
    const snapshot = await call('evm_snapshot');
    await lieDuring(scene, 'none', () => mine(world.chain));
    assert.equal((await listRereadRanges(scene.db)).length, 1);
    await call('evm_revert', snapshot);
    await call('anvil_setCoinbase', world.people[1]);
    scene.other.set(UP);
    scene.pass(MINUTE_MS);
    for (let blocks = 0; blocks < 5; blocks += 1) await mine(world.chain);
    await scene.settle();
    assert.deepEqual(await listRereadRanges(scene.db), []);
  });
});
