// Tests mirrored listings on a followed chain with the real Seaport. The chain decides whether the service serves a listing, even if the
// marketplace reports another state. The result does not depend on whether the chain event or the report of the marketplace arrives first.
// The primary and the indexer are two databases.

import assert from 'node:assert/strict';
import { after, before, beforeEach, test } from 'node:test';
import type { Address, AssetId } from '../../../src/platform/core/address.ts';
import type { Database } from '../../../src/platform/database/port.ts';
import { judgeNext } from '../../../src/sources/chains/judge-listings.ts';
import { followOnce } from '../../../src/sources/chains/follower.ts';
import { readFloor } from '../../../src/market/reads/floors/floor.ts';
import { readListingWindow } from '../../../src/market/reads/listing-window.ts';
import { listFigureDifferences } from '../../../src/market/index/queries/figure-recount.ts';
import { resolveCollection } from '../../../src/market/reads/resolve-collection.ts';
import { readToken } from '../../../src/market/reads/token.ts';
import { createUnreadChainsTask } from '../../../src/sources/chains/unread-chains.ts';
import type { ServiceContext } from '../../../src/service/context.ts';
import { createCollectionOperations } from '../../../src/service/workers/follow-operations.ts';
import { callOf, mine, readChain, rollBack } from '../../../devnet/chain.ts';
import type { SignedOrder } from '../../../devnet/orders.ts';
import { forOneEngine } from '../../support/engines/each-engine.ts';
import type { LocalWorld } from '../../support/chain/followed-collection.ts';
import { follow, followWorld, startLocalWorld } from '../../support/chain/followed-collection.ts';
import { toContext } from '../../support/service/intake.ts';
import { importAll, toListingRecord, toMirrorContext } from '../../support/chain/mirrored-listing.ts';

forOneEngine('mirrored listings on a followed chain', (engine) => {
  let world: LocalWorld;
  let databases: { main: Database; indexer: Database };
  before(async () => {
    world = await startLocalWorld();
    databases = { main: await engine.open(), indexer: await engine.open() };
  });
  beforeEach(() => emptyAll(databases));
  after(() => world.chain.stop());

  const open = async () => {
    const context = toMirrorContext(databases);
    const { context: follower, projection, settle } = followWorld(databases, world);
    await importAll(context, {
      kind: 'collection',
      chain: 'ethereum',
      contractAddress: world.nft.address,
      name: 'Lamps',
    });
    await settle();
    await follow(databases.main, world);
    await settle();
    const { indexer } = databases;
    const list = async (order: SignedOrder, fields: object = {}) =>
      importAll(context, toListingRecord(world, order, fields));
    return {
      ...databases,
      context,
      follower,
      projection,
      settle,
      list,
      stateOf: (order: SignedOrder) => stateOf(indexer, order),
      pending: async () => (await indexer.query(`select from indexer.listing where dormant = 'pending'`)).length,
    };
  };
  type Opened = Awaited<ReturnType<typeof open>>;

  const stateOf = async (indexer: Database, { hash }: SignedOrder) => {
    const [row] = await indexer.query<{ state: string }>(
      `select concat_ws(' ', status, dormant, case when tx is not null then 'tx' end) as state
       from indexer.listing where order_hash = $1`,
      [hash],
    );
    return row?.state;
  };
  const tokenOf = ({ context }: Opened, tokenId: bigint) => {
    const chain = context.chains.get('ethereum') ?? assert.fail();
    const asset = tokenId.toString() as AssetId;
    return readToken(context.market, { chain, contractAddress: world.nft.address as Address, asset });
  };
  /** The listed token ids, cheapest first, followed by the ask floor and the buyer floor. */
  const served = async ({ context, indexer }: Opened) => {
    const id = `ethereum_${world.nft.address}`;
    const window = await readListingWindow(context.market, await resolveCollection(context.market, id));
    const { askFloorRaw, buyerFloorRaw } = await readFloor(context.market, id);
    const differences = await listFigureDifferences(indexer, { prefix: '', now: Date.now(), limit: 10 });
    assert.deepEqual(differences, [], 'a maintained figure differs from its count');
    return { assets: window.listings.map(({ asset }) => BigInt(asset)), floors: [askFloorRaw, buyerFloorRaw] };
  };
  let nextToken = 0n;
  const mintTo = async (person: 0 | 1 | 2) => {
    nextToken += 1n;
    await world.mint(world.people[person], nextToken);
    await world.approve(world.people[person]);
    return nextToken;
  };
  const signed = async (person: 0 | 1 | 2, price: bigint, tokenId?: bigint) => {
    const counter = (await readChain(world.chain, world.protocol.seaport, 'getCounter', [
      world.people[person],
    ])) as bigint;
    return world.sign(person, { tokenId: tokenId ?? (await mintTo(person)), price, counter });
  };
  const tokenIdOf = (order: SignedOrder) => order.components.offer[0]?.identifierOrCriteria ?? assert.fail();
  const transfer = (from: 0 | 1 | 2, to: 0 | 1 | 2, order: SignedOrder) =>
    callOf(world.people[from], world.nft, 'transferFrom', [world.people[from], world.people[to], tokenIdOf(order)]);

  test('a listing whose seller does not hold the token is never served and sets no floor', async () => {
    const opened = await open();
    const real = await signed(0, 500n);
    const phantom = await signed(1, 1n, tokenIdOf(real));
    await opened.settle();
    await opened.list(phantom);
    assert.deepEqual(
      await served(opened),
      { assets: [], floors: [null, null] },
      'a listing was served before it was judged',
    );
    await opened.list(real);
    await opened.settle();
    assert.deepEqual(await served(opened), { assets: [tokenIdOf(real)], floors: [500n, 500n] });
    assert.equal(await opened.stateOf(phantom), 'active no-balance');
    const token = await tokenOf(opened, tokenIdOf(real));
    assert.deepEqual([token.owner.address, token.listing?.raw], [world.people[0], 500n]);
  });

  test('a transfer hides a listing until the token returns', async () => {
    const opened = await open();
    const order = await signed(0, 70n);
    await opened.settle();
    await opened.list(order);
    await opened.settle();
    assert.equal(await opened.stateOf(order), 'active');
    await world.act(transfer(0, 1, order));
    await opened.settle();
    assert.deepEqual([await opened.stateOf(order), (await served(opened)).assets], ['active no-balance', []]);
    assert.equal((await tokenOf(opened, tokenIdOf(order))).owner.address, world.people[1]);
    await opened.list(order, { priceRaw: '60', timestamp: new Date().toISOString() });
    await opened.settle();
    assert.equal(await opened.stateOf(order), 'active no-balance', 'a later report listed the token again');
    await world.act(transfer(1, 0, order));
    await opened.settle();
    assert.deepEqual((await served(opened)).floors, [60n, 60n]);
  });

  test('when a seller revokes the approval of an operator, only the listings with this operator are hidden', async () => {
    const opened = await open();
    const [known, unknown] = [await signed(2, 30n), await signed(2, 40n)];
    await opened.settle();
    await opened.list(known);
    await opened.list(unknown, { operator: null });
    await opened.settle();
    await world.approve(world.people[2], false);
    await opened.settle();
    assert.deepEqual([await opened.stateOf(known), await opened.stateOf(unknown)], ['active not-approved', 'active']);
    await world.approve(world.people[2]);
    await opened.settle();
    assert.equal(await opened.stateOf(known), 'active');
  });

  for (const isCompleteFirst of [true, false]) {
    const when = isCompleteFirst ? 'earlier' : 'later';
    test(`a listing without operator and counter is judged by the operator and the counter that another marketplace reports ${when} for the same order`, async () => {
      const opened = await open();
      const [revoked, raised] = [await signed(2, 30n), await signed(1, 31n)];
      const complete = { source: 'opensea' };
      const incomplete = { source: 'magic-eden', operator: null, counter: null, protocolAddress: null };
      await opened.settle();
      for (const order of [revoked, raised]) {
        await opened.list(order, isCompleteFirst ? complete : incomplete);
        await opened.settle();
        await opened.list(order, isCompleteFirst ? incomplete : complete);
        await opened.settle();
      }
      for (const order of [revoked, raised]) {
        await opened.list(order, { ...incomplete, timestamp: new Date().toISOString() });
        assert.equal(await opened.pending(), 0, 'a later report without operator and counter removed the stored ones');
      }
      await opened.settle();
      assert.deepEqual((await served(opened)).assets, [tokenIdOf(revoked), tokenIdOf(raised)]);
      await world.approve(world.people[2], false);
      await world.act(callOf(world.people[1], world.protocol.seaport, 'incrementCounter'));
      await opened.settle();
      assert.deepEqual((await served(opened)).assets, []);
      await world.approve(world.people[2]);
      await opened.settle();
      assert.deepEqual((await served(opened)).assets, [tokenIdOf(revoked)]);
    });
  }

  test('no report revives a listing that a fill, a cancel or a raised counter has ended', async () => {
    const opened = await open();
    const orders = [await signed(0, 11n), await signed(0, 12n), await signed(0, 13n)] as const;
    await opened.settle();
    for (const order of orders) await opened.list(order);
    await opened.settle();
    const states = () => Promise.all(orders.map(opened.stateOf));
    assert.deepEqual(await states(), ['active', 'active', 'active']);
    await world.act(world.fillCall(orders[0], world.people[1]), world.cancelCall(orders[1]));
    await opened.settle();
    assert.deepEqual(await states(), ['filled tx', 'cancelled tx', 'active']);
    await world.act(callOf(world.people[0], world.protocol.seaport, 'incrementCounter'));
    await opened.settle();
    assert.deepEqual(await states(), ['filled tx', 'cancelled tx', 'cancelled tx']);
    for (const order of orders) await opened.list(order, { timestamp: new Date().toISOString() });
    await opened.settle();
    assert.deepEqual(await states(), ['filled tx', 'cancelled tx', 'cancelled tx']);
    const [sale] = await opened.indexer.query<{ listing_id: string }>(
      `select listing_id from indexer.sale where asset = $1`,
      [tokenIdOf(orders[0]).toString()],
    );
    assert.equal(sale?.listing_id, `opensea_${orders[0].hash.slice(2, 18)}`, 'the sale does not name the listing');
  });

  for (const name of ['fill', 'cancel', 'counter', 'transfer', 'approval'] as const) {
    const event = { counter: 'raised counter', approval: 'revoked approval' }[name as string] ?? name;
    test(`when a reorganisation removes a ${event}, the affected listings are listed again`, async () => {
      const opened = await open();
      const [order, reported] = [await signed(2, 90n), await signed(2, 91n)];
      const buyer = world.people[1];
      const [seller] = [world.people[2]];
      await opened.settle();
      await opened.list(order);
      await opened.list(reported);
      await opened.settle();
      const sales = await countSales(opened.indexer);
      const calls = {
        fill: (one: SignedOrder) => [world.fillCall(one, buyer)],
        cancel: (one: SignedOrder) => [world.cancelCall(one)],
        counter: () => [callOf(seller, world.protocol.seaport, 'incrementCounter')],
        transfer: (one: SignedOrder) => [transfer(2, 0, one)],
        approval: () => [callOf(seller, world.nft, 'setApprovalForAll', [world.protocol.seaport.address, false])],
      }[name];
      await world.act(...calls(order), ...(name === 'counter' || name === 'approval' ? [] : calls(reported)));
      const status = { fill: 'filled', cancel: 'cancelled', counter: 'cancelled', transfer: null, approval: null }[
        name
      ];
      if (status) await opened.list(reported, { status });
      await opened.settle();
      for (const one of [order, reported]) assert.notEqual(await opened.stateOf(one), 'active');
      assert.equal(await countSales(opened.indexer), name === 'fill' ? sales + 2 : sales);
      await rollBack(world.chain, 1);
      for (let blocks = 0; blocks < 2; blocks += 1) await mine(world.chain);
      await opened.settle();
      for (const one of [order, reported]) assert.equal(await opened.stateOf(one), 'active');
      assert.deepEqual((await served(opened)).assets, [tokenIdOf(order), tokenIdOf(reported)]);
      assert.equal(await countSales(opened.indexer), sales);
    });
  }

  test('a listing is judged again when a reorganisation removes the event that decided its state', async () => {
    const opened = await open();
    const [filled, moved] = [await signed(2, 90n), await signed(2, 91n)];
    await opened.settle();
    await world.act(world.fillCall(filled, world.people[1]), transfer(2, 0, moved));
    await followOnce(opened.follower);
    await opened.list(filled);
    await opened.list(moved);
    while (await judgeNext(opened.projection));
    assert.deepEqual([await opened.stateOf(filled), await opened.stateOf(moved)], ['filled tx', 'active no-balance']);
    await rollBack(world.chain, 1);
    for (let blocks = 0; blocks < 2; blocks += 1) await mine(world.chain);
    await opened.settle();
    assert.deepEqual([await opened.stateOf(filled), await opened.stateOf(moved)], ['active', 'active']);
  });

  test('a listing that arrives after its fill, its cancel or the transfer of its token is never listed', async () => {
    const opened = await open();
    const orders = [await signed(0, 21n), await signed(0, 22n), await signed(0, 23n)] as const;
    await opened.settle();
    await world.act(world.fillCall(orders[0], world.people[1]), world.cancelCall(orders[1]), transfer(0, 2, orders[2]));
    await opened.settle();
    for (const order of orders) await opened.list(order);
    assert.deepEqual((await served(opened)).assets, []);
    await opened.settle();
    assert.deepEqual(await Promise.all(orders.map(opened.stateOf)), ['filled tx', 'cancelled tx', 'active no-balance']);
    const [sale] = await opened.indexer.query<{ listing_id: string }>(
      `select listing_id from indexer.sale where asset = $1`,
      [tokenIdOf(orders[0]).toString()],
    );
    assert.equal(sale?.listing_id, `opensea_${orders[0].hash.slice(2, 18)}`, 'the sale does not name the listing');
  });

  test('the stored listings of a collection are judged only while the collection is followed', async () => {
    const context = toMirrorContext(databases);
    const [real, phantom, filled, cancelled] = [
      await signed(0, 500n),
      await signed(1, 1n, nextToken),
      await signed(0, 2n),
      await signed(0, 3n),
    ];
    await world.act(world.fillCall(filled, world.people[2]), world.cancelCall(cancelled));
    for (const order of [real, phantom, filled, cancelled]) await importAll(context, toListingRecord(world, order));
    const following = followWorld(databases, world);
    await following.settle();
    await follow(databases.main, world);
    await following.settle();
    const states = () =>
      Promise.all([real, phantom, filled, cancelled].map((order) => stateOf(databases.indexer, order)));
    assert.deepEqual(await states(), ['active', 'active no-balance', 'filled tx', 'cancelled tx']);
    const operations = createCollectionOperations({ ...context, onFollowed: async () => undefined });
    await operations['collections.remove']({ id: `ethereum_${world.nft.address}` });
    await following.settle();
    assert.deepEqual(await states(), ['active', 'active', 'filled tx', 'cancelled tx']);
    const late = await signed(1, 4n, nextToken);
    await importAll(context, toListingRecord(world, late));
    assert.equal(
      await stateOf(databases.indexer, late),
      'active',
      'a listing of a collection that is not followed was judged',
    );
    await follow(databases.main, world);
    await following.settle();
    assert.deepEqual(
      [...(await states()), await stateOf(databases.indexer, late)],
      ['active', 'active no-balance', 'filled tx', 'cancelled tx', 'active no-balance'],
    );
  });

  test('without an endpoint of the chain, a new listing is judged by the stored log; on a frozen chain, listings are not judged', async () => {
    const opened = await open();
    const real = await signed(0, 500n);
    const phantom = await signed(1, 1n, tokenIdOf(real));
    await opened.settle();
    await opened.list(real);
    await opened.list(phantom);
    const run = async (context: ServiceContext) => {
      const task = createUnreadChainsTask({ ...context, ...databases });
      await task.run(new AbortController().signal, () => undefined, { isFull: false });
    };
    await run(opened.context);
    assert.deepEqual([await opened.stateOf(real), await opened.stateOf(phantom)], ['active', 'active no-balance']);
    await run(toContext(databases.main, { settings: { FROZEN_CHAINS: 'ethereum' } }));
    assert.deepEqual([await opened.stateOf(real), await opened.stateOf(phantom)], ['active', 'active']);
    await opened.settle();
    assert.equal(
      await opened.stateOf(phantom),
      'active no-balance',
      'the listing was not judged when its chain was read again',
    );
  });

  test('after a stop between the writes to the log and to the indexer, the next start writes what is missing', async () => {
    const opened = await open();
    const [order, bought] = [await signed(0, 70n), await signed(0, 71n)];
    await opened.settle();
    await opened.list(order);
    await opened.list(bought);
    await opened.settle();
    await world.act(transfer(0, 1, order), world.fillCall(bought, world.people[1]));
    await followOnce(opened.follower);
    assert.equal(await opened.stateOf(order), 'active');
    const restarted = followWorld(opened, world);
    await restarted.settle();
    assert.deepEqual([await opened.stateOf(order), await opened.stateOf(bought)], ['active no-balance', 'filled tx']);
  });
});

async function countSales(indexer: Database): Promise<number> {
  const [row] = await indexer.query<{ count: number }>(`select count(*)::int as count from indexer.sale`);
  return row?.count ?? 0;
}

/** Empties all tables except those that the service needs to start. */
async function emptyAll(databases: Record<'main' | 'indexer', Database>): Promise<void> {
  for (const schema of ['main', 'indexer'] as const) {
    const tables = await databases[schema].query<{ name: string }>(
      `select schemaname || '.' || tablename as name from pg_tables where schemaname = $1 and tablename not in ('migration', 'secret')`,
      [schema],
    );
    await databases[schema].query(`truncate ${tables.map(({ name }) => name).join(', ')}`);
  }
}
