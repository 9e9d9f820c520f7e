// One of the two endpoints of a chain lies about past blocks or about the state of contracts. Nothing that only this endpoint reports is stored,
// and no order is accepted because of its responses. When the endpoints agree again, the data is complete.

import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import type { TestContext } from 'node:test';
import { callOf, mine } from '../../../devnet/chain.ts';
import type { SignedOrder } from '../../../devnet/orders.ts';
import { toWireComponents } from '../../../devnet/orders.ts';
import { findChainCursor } from '../../../src/market/chain-log/queries/chain-cursors.ts';
import { backfillOnce } from '../../../src/sources/chains/backfill.ts';
import { followOnce } from '../../../src/sources/chains/follower.ts';
import { readChainStatus } from '../../../src/sources/chains/chain-status.ts';
import type { Address } from '../../../src/platform/core/address.ts';
import { judgeDisputes } from '../../../src/cli/doctor/disputes.ts';
import { createChains } from '../../../src/platform/core/chains.ts';
import type { Database } from '../../../src/platform/database/port.ts';
import { listFollows } from '../../../src/market/follows/queries/follows.ts';
import { GaugeTable } from '../../../src/service/metrics/gauge-table.ts';
import { setChainMetrics } from '../../../src/service/metrics/task-metrics.ts';
import { submitOrder } from '../../../src/market/orders/submit.ts';
import type { Following, LocalWorld } from '../../support/chain/followed-collection.ts';
import { follow, followWorld, startLocalWorld } from '../../support/chain/followed-collection.ts';
import { startFaultyEndpoint } from '../../support/chain/faulty-endpoint.ts';
import type { Lie, LyingEndpoint } from '../../support/chain/lying-endpoint.ts';
import { startLyingEndpoint } from '../../support/chain/lying-endpoint.ts';
import { forOneEngine } from '../../support/engines/each-engine.ts';
import { toContext } from '../../support/service/intake.ts';

/** More blocks than the follower reads one by one. */
const GAP_BLOCKS = 40;
const LIES: readonly Lie[] = ['omits-a-log', 'added-logs', 'altered-logs', 'other-hashes'];

forOneEngine('a lying endpoint beside a truthful one', (engine) => {
  let world: LocalWorld;
  before(async () => {
    world = await startLocalWorld();
    await world.mint(world.people[0], 1n, 2n, 3n, 4n);
    await world.approve(world.people[0]);
    // The reader also checks a response with the bloom filter of the last block. Here the last block has no logs, so that only the comparison
    // of the two endpoints can detect missing logs.
    await mine(world.chain);
  });
  after(() => world.chain.stop());

  type Scene = Following & { db: Database; lying: LyingEndpoint };
  const open = async (t: TestContext): Promise<Scene> => {
    const lying = await startLyingEndpoint(world.chain.url);
    const db = await engine.open();
    const following = followWorld({ main: db, indexer: db }, world, { urls: [lying.url, world.chain.url] });
    t.after(async () => {
      following.reader.close();
      await lying.close();
    });
    await following.settle();
    return { ...following, db, lying };
  };
  const storedOf = (db: Database) =>
    Promise.all([
      db.query('select kind, tx, log_index, block_time from main.chain_event order by tx, log_index, part'),
      db.query('select asset, owner, burned from indexer.token order by 1'),
    ]);
  const disputeOf = ({ reader }: Scene) => reader.comparison.status().disputed;
  const honestDump = async () => {
    const db = await engine.open();
    const { settle } = followWorld({ main: db, indexer: db }, world);
    await settle();
    await follow(db, world);
    await settle();
    return storedOf(db);
  };

  test('a backfill stores nothing of a range about which an endpoint lies', async (t) => {
    const scene = await open(t);
    const { db, context, lying, settle } = scene;
    await follow(db, world);
    const height = (await findChainCursor(db, 'ethereum'))?.number;
    for (const lie of LIES) {
      await lying.tell(lie);
      assert.deepEqual(await backfillOnce(context), { changed: new Set(), more: false }, lie);
      assert.equal((await listFollows(db))[0]?.readToBlock, null, lie);
      assert.deepEqual(await storedOf(db), [[], []], lie);
      assert.deepEqual([disputeOf(scene)?.kind, disputeOf(scene)?.block], ['past', height], lie);
    }
    await lying.tell('none');
    await settle();
    assert.deepEqual(await storedOf(db), await honestDump());
    assert.equal(disputeOf(scene), null);
  });

  test('blocks that the follower has missed are not stored while an endpoint lies about them', async (t) => {
    const scene = await open(t);
    const { db, context, lying, settle } = scene;
    await follow(db, world);
    await settle();
    const before = await storedOf(db);
    const cursor = await findChainCursor(db, 'ethereum');
    const [seller, buyer] = world.people;
    await world.act(callOf(seller, world.nft, 'transferFrom', [seller, buyer, 4n]));
    await world.chain.rpc.call('anvil_mine', `0x${GAP_BLOCKS.toString(16)}`);
    for (const lie of LIES.filter((each) => each !== 'other-hashes')) {
      await lying.tell(lie);
      await assert.rejects(followOnce(context), { name: 'RpcFailure', kind: 'contradicted' }, lie);
      assert.deepEqual([await findChainCursor(db, 'ethereum'), await storedOf(db)], [cursor, before], lie);
      assert.equal(disputeOf(scene)?.kind, 'past', lie);
    }
    await lying.tell('none');
    await settle();
    assert.deepEqual(await storedOf(db), await honestDump());
  });

  test('the lying endpoint alone does not cause a revert of stored blocks, while the truthful endpoint has no newer block', async (t) => {
    const late = await startFaultyEndpoint(world.chain.url, { lag: 0 });
    const lying = await startLyingEndpoint(world.chain.url);
    const db = await engine.open();
    const { reader, context, settle } = followWorld({ main: db, indexer: db }, world, { urls: [lying.url, late.url] });
    t.after(async () => {
      reader.close();
      await lying.close();
      await late.close();
    });
    await settle();
    await follow(db, world);
    await settle();
    const before = [await findChainCursor(db, 'ethereum'), await storedOf(db)];
    late.set({ lag: 1 });
    await mine(world.chain);
    await lying.tell('other-hashes');
    assert.deepEqual(await followOnce(context), { changed: new Set(), more: false });
    assert.deepEqual([await findChainCursor(db, 'ethereum'), await storedOf(db)], before);
    await lying.tell('none');
    late.set({ lag: 0 });
    await settle();
    assert.deepEqual(await storedOf(db), await honestDump());
  });

  test('a disputed backfill does not delay new blocks or the backfills of other collections', async (t) => {
    const scene = await open(t);
    const { db, context, lying, settle } = scene;
    const quiet = { ...world.nft, address: world.people[2] };
    await follow(db, world);
    await follow(db, world, quiet);
    await lying.tell('added-logs');
    await mine(world.chain);
    while ((await followOnce(context)).more);
    while ((await backfillOnce(context)).more);
    const joined = new Map((await listFollows(db)).map((one) => [one.contractAddress as string, one.joined]));
    assert.deepEqual([joined.get(world.nft.address), joined.get(quiet.address)], [false, true]);
    await lying.tell('none');
    await settle();
    assert.ok((await listFollows(db)).every((one) => one.joined));
  });

  const submit = ({ db, reader }: Scene, { components, signature }: SignedOrder) => {
    const chain = createChains().get('ethereum') ?? assert.fail('there is no chain');
    const context = { ...toContext(db, { clock: Date.now }), checksOf: () => reader.contracts };
    const order = { parameters: toWireComponents(components), signature };
    return submitOrder(context, { chain, protocolAddress: null, order });
  };
  const ordersOf = async (db: Database) => (await db.query('select id from main.book_order')).length;

  test('an order is not accepted while an endpoint lies about the status of the order or the counter of the offerer', async (t) => {
    const scene = await open(t);
    const { db, lying, settle } = scene;
    await follow(db, world);
    await settle();
    const cancelled = await world.sign(0, { tokenId: 1n, price: 100n });
    await world.act(world.cancelCall(cancelled));
    await settle();
    // Simulates a service that did not log the cancel, because the order was not stored then and its offerer held no token.
    await db.query("delete from main.chain_event where kind = 'order-cancelled'");
    await lying.tell('empty-calls');
    await assert.rejects(submit(scene, cancelled), { code: 'chain_unavailable' });
    assert.deepEqual([await ordersOf(db), disputeOf(scene)?.kind], [0, 'call']);
    await lying.tell('none');
    await assert.rejects(submit(scene, cancelled), { code: 'already_cancelled' });

    await world.act(callOf(world.people[0], world.protocol.seaport, 'incrementCounter'));
    await settle();
    await db.query('delete from main.offerer_counter');
    const outdated = await world.sign(0, { tokenId: 2n, price: 100n });
    await lying.tell('empty-calls');
    await assert.rejects(submit(scene, outdated), { code: 'chain_unavailable' });
    await lying.tell('none');
    await assert.rejects(submit(scene, outdated), { code: 'wrong_counter' });
    assert.equal(await ordersOf(db), 0);
  });

  test('the status, the metrics and mercat doctor show a dispute, and how many blocks and calls were accepted without a comparison', async (t) => {
    const lying = await startLyingEndpoint(world.chain.url);
    t.after(() => lying.close());
    const read = async (urls: string[]) => {
      const db = await engine.open();
      const context = toContext(db, { settings: { RPC_URL_ETHEREUM: urls.join() }, clock: Date.now });
      t.after(() => context.followed.close());
      const reader = context.followed.readerOf('ethereum') ?? assert.fail('there is no reader');
      const { address } = world.protocol.seaport;
      await reader.contracts.getCounter(address as Address, world.people[0] as Address, 3).catch(() => undefined);
      await reader.events.ofRange(0, 3, { protocols: context.followed.protocolsOf('ethereum'), contracts: [] });
      const status = await readChainStatus(context);
      const gauges = new GaugeTable();
      setChainMetrics(gauges, status);
      const comparison = status[0]?.comparison ?? assert.fail('there is no status');
      return { comparison, metrics: await gauges.registry.metrics(), findings: judgeDisputes(status) };
    };
    const alone = await read([world.chain.url]);
    assert.deepEqual(alone.comparison, { compared: 'one-endpoint', uncompared: 4, uncomparedCalls: 1, disputed: null });
    assert.match(alone.metrics, /^mercat_chain_disputed\{chain="ethereum"\} 0$/m);
    assert.match(alone.metrics, /^mercat_chain_uncompared_blocks_total\{chain="ethereum"\} 4$/m);
    assert.match(alone.metrics, /^mercat_chain_uncompared_calls_total\{chain="ethereum"\} 1$/m);
    assert.deepEqual(alone.findings, []);
    await lying.tell('altered-calls');
    const disputed = await read([lying.url, world.chain.url]);
    const { compared, uncompared, uncomparedCalls } = disputed.comparison;
    assert.deepEqual([compared, uncompared, uncomparedCalls], ['all', 0, 0]);
    assert.deepEqual([disputed.comparison.disputed?.kind, disputed.comparison.disputed?.block], ['call', 3]);
    assert.match(disputed.metrics, /^mercat_chain_disputed\{chain="ethereum"\} 1$/m);
    const [finding] = disputed.findings;
    assert.deepEqual([finding?.name, finding?.level], ['ethereum endpoints', 'warn']);
    assert.match(
      finding?.message ?? '',
      /^the endpoints have disagreed about the state of a contract at block 3 since /,
    );
    assert.match(finding?.mend ?? '', /RPC_URL_ETHEREUM/);
  });
});
