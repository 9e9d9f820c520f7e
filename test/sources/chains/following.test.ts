// The follower on a real chain with the real Seaport. Events take effect, and a reorganisation reverts them. When a collection is
// added after the follower has started, a backfill reads its past blocks.

import { toContext } from '../../support/service/intake.ts';
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { listFollows } from '../../../src/market/follows/queries/follows.ts';
import { backfillOnce } from '../../../src/sources/chains/backfill.ts';
import { createCollectionOperations } from '../../../src/service/workers/follow-operations.ts';
import type { Database } from '../../../src/platform/database/port.ts';
import { callOf, mine, readChain, rollBack } from '../../../devnet/chain.ts';
import { findChainCursor } from '../../../src/market/chain-log/queries/chain-cursors.ts';
import { startFaultyEndpoint } from '../../support/chain/faulty-endpoint.ts';
import { startLyingEndpoint } from '../../support/chain/lying-endpoint.ts';
import { forEachEngine } from '../../support/engines/each-engine.ts';
import type { LocalWorld } from '../../support/chain/followed-collection.ts';
import { follow, followWorld, insertOrder, startLocalWorld } from '../../support/chain/followed-collection.ts';

forEachEngine('following a chain', (engine) => {
  let world: LocalWorld;
  before(async () => {
    world = await startLocalWorld();
  });
  after(() => world.chain.stop());

  const open = async () => {
    const db = await engine.open();
    const following = followWorld({ main: db, indexer: db }, world);
    await following.settle();
    await follow(db, world);
    await following.settle();
    return { db, settle: following.settle };
  };
  const stateOf = async (db: Database, id: string) => {
    const [row] = await db.query<{ state: string }>(
      `select concat_ws(' ', status, dormant) as state from main.book_order where id = $1`,
      [id],
    );
    return row?.state;
  };
  const ownerOf = async (db: Database, tokenId: bigint) => {
    const [row] = await db.query<{ owner: string | null; burned: boolean }>(
      `select owner, burned from indexer.token where asset = $1`,
      [tokenId.toString()],
    );
    return row && (row.burned ? 'burned' : row.owner);
  };
  const salesOf = (db: Database) =>
    db.query<{ asset: string; price: string; seller: string; buyer: string; listing_id: string | null }>(
      `select asset, price, seller, buyer, listing_id from indexer.sale order by block_number, log_index`,
    );
  let nextToken = 0n;
  const mintTo = async (person: 0 | 1 | 2) => {
    nextToken += 1n;
    await world.mint(world.people[person], nextToken);
    await world.approve(world.people[person]);
    return nextToken;
  };

  test('a fill ends the order, moves the token and is recorded as a sale', async () => {
    const { db, settle } = await open();
    const tokenId = await mintTo(0);
    await settle();
    const order = await world.sign(0, { tokenId, price: 100n });
    const id = await insertOrder(db, world, order);
    assert.equal(await stateOf(db, id), 'active');
    await world.act(world.fillCall(order, world.people[1]));
    await settle();
    assert.equal(await stateOf(db, id), 'filled');
    assert.equal(await ownerOf(db, tokenId), world.people[1]);
    const [seller, buyer] = world.people;
    const sold = (await salesOf(db)).filter((sale) => sale.asset === tokenId.toString());
    assert.deepEqual(sold, [{ asset: tokenId.toString(), price: '100', seller, buyer, listing_id: id }]);
  });

  test('a cancel or a raised counter ends an order, and a transfer or a revoked approval makes it dormant', async () => {
    const { db, settle } = await open();
    const { people, nft, protocol } = world;
    const ids: string[] = [];
    const orders = [];
    for (const person of [0, 0, 2] as const) {
      const order = await world.sign(person, { tokenId: await mintTo(person), price: 100n });
      orders.push(order);
      ids.push(await insertOrder(db, world, order));
    }
    await settle();
    const states = () => Promise.all(ids.map((id) => stateOf(db, id)));
    assert.deepEqual(await states(), ['active', 'active', 'active']);
    await world.act(world.cancelCall(orders[0] ?? assert.fail()));
    await world.act(callOf(people[0], nft, 'transferFrom', [people[0], people[1], nextToken - 1n]));
    await world.approve(people[2], false);
    await settle();
    assert.deepEqual(await states(), ['cancelled', 'active no-balance', 'active not-approved']);
    await world.act(callOf(people[1], nft, 'transferFrom', [people[1], people[0], nextToken - 1n]));
    await world.act(callOf(people[2], nft, 'approve', [protocol.seaport.address, nextToken]));
    await settle();
    assert.deepEqual(await states(), ['cancelled', 'active', 'active']);
    await world.act(callOf(people[0], protocol.seaport, 'incrementCounter'));
    await settle();
    assert.deepEqual(await states(), ['cancelled', 'cancelled', 'active']);
  });

  test('a reorganisation reverts the fill, the sale, the owner and the mint', async () => {
    const { db, settle } = await open();
    const tokenId = await mintTo(2);
    const order = await world.sign(2, { tokenId, price: 500n });
    const id = await insertOrder(db, world, order);
    await world.act(world.fillCall(order, world.people[1]));
    await world.mint(world.people[1], 1_000n + tokenId);
    await settle();
    assert.equal(await stateOf(db, id), 'filled');
    assert.equal(await ownerOf(db, 1_000n + tokenId), world.people[1]);
    const before = (await salesOf(db)).length;
    await rollBack(world.chain, 2);
    for (let blocks = 0; blocks < 3; blocks += 1) await mine(world.chain);
    await settle();
    assert.equal(await stateOf(db, id), 'active');
    assert.equal(await ownerOf(db, tokenId), world.people[2]);
    assert.equal(await ownerOf(db, 1_000n + tokenId), undefined, 'the orphaned mint is still stored');
    assert.equal((await salesOf(db)).length, before - 1);
    const [sums] = await db.query<{ volume: string; sales: string; summed: string; counted: string }>(
      `select (select sum(volume_raw) from indexer.sale_total) as volume, (select sum(sales) from indexer.sale_total) as sales,
         (select sum(price_raw) from indexer.sale) as summed, (select count(*) from indexer.sale) as counted`,
    );
    assert.deepEqual([sums?.volume, sums?.sales], [sums?.summed, sums?.counted]);
    await world.act(world.cancelCall(order));
    await settle();
    assert.equal(await stateOf(db, id), 'cancelled');
  });

  test('blocks about which the endpoints disagree have no effect', async (t) => {
    const lying = await startLyingEndpoint(world.chain.url);
    t.after(() => lying.close());
    const db = await engine.open();
    const { settle } = followWorld({ main: db, indexer: db }, world, { urls: [lying.url, world.chain.url] });
    const readTo = async () => (await findChainCursor(db, world.chain.id))?.number ?? null;
    await lying.tell('other-hashes');
    await settle();
    assert.equal(await readTo(), null, 'the follower began with a block about which the endpoints disagree');
    await lying.tell('none');
    await settle();
    await follow(db, world);
    await settle();
    const tokenId = await mintTo(2);
    await settle();
    const order = await world.sign(2, { tokenId, price: 100n });
    const id = await insertOrder(db, world, order);
    const before = await readTo();
    await lying.tell('new-fork');
    await world.act(world.fillCall(order, world.people[1]));
    await settle();
    assert.deepEqual([await readTo(), await stateOf(db, id)], [before, 'active']);
    await lying.tell('none');
    await settle();
    assert.equal(await stateOf(db, id), 'filled');
  });

  test('a backfill waits while no block of its chain is stored', async () => {
    const db = await engine.open();
    const { context } = followWorld({ main: db, indexer: db }, world);
    await follow(db, world);
    assert.deepEqual(await backfillOnce(context), { changed: new Set(), more: false });
  });

  test('a backfill that is interrupted after a slice continues with the next slice', async (t) => {
    const narrow = await startFaultyEndpoint(world.chain.url, { rangeMax: 4 });
    t.after(() => narrow.close());
    await world.chain.rpc.call('anvil_mine', '0x60');
    const db = await engine.open();
    const databases = { main: db, indexer: db };
    const slices: { from: number; to: number }[] = [];
    const restart = () => {
      const following = followWorld(databases, world, { urls: [narrow.url] });
      const { events } = following.reader;
      const ofRange = events.ofRange.bind(events);
      events.ofRange = async (from, to, filter) => {
        const range = await ofRange(from, to, filter);
        if (filter.contracts.length > 0) slices.push({ from, to: range.to });
        return range;
      };
      return following;
    };
    await restart().settle();
    await follow(db, world);
    for (let steps = 0; steps < 3; steps += 1) {
      await backfillOnce(restart().context);
      const [row] = await listFollows(db);
      assert.ok(
        row?.readToBlock !== null && row?.joined === false,
        'the backfill is not between its start and its end',
      );
    }
    const last = restart();
    await last.settle();
    const expectedStarts = [0, ...slices.map(({ to }) => to + 1)];
    assert.deepEqual(
      [...slices.map(({ from }) => from), ((await findChainCursor(db, world.chain.id))?.number ?? 0) + 1],
      expectedStarts,
      'a block was read twice, or not at all',
    );
    assert.ok(slices.length > 3, 'the interruptions were not between slices');
    const complete = await open();
    const holdings = (from: Database) => from.query(`select * from main.holding order by 1, 2, 3`);
    assert.deepEqual(await holdings(db), await holdings(complete.db));
  });

  test('a collection that is added later gets the same data as if it had been followed from the start', async () => {
    const early = await open();
    const tokenId = await mintTo(0);
    const counter = await counterOf(world, 0);
    await world.act(world.fillCall(await world.sign(0, { tokenId, price: 9n, counter }), world.people[2]));
    await world.act(callOf(world.people[2], world.nft, 'burn', [tokenId]));
    await early.settle();
    const addedLater = await open();
    const dump = (db: Database) =>
      Promise.all([
        db.query(`select * from main.holding order by 1, 2, 3`),
        db.query(`select * from main.operator_approval order by 1, 2, 3`),
        db.query(`select asset, owner, burned from indexer.token order by 1`),
        db.query(`select asset, price, seller, buyer, tx, log_index from indexer.sale order by tx, log_index`),
      ]);
    assert.deepEqual(await dump(addedLater.db), await dump(early.db));
    assert.equal(await ownerOf(addedLater.db, tokenId), 'burned');
    assert.deepEqual(
      (await listFollows(addedLater.db)).map(({ joined }) => joined),
      [true],
    );
  });

  test('when a collection is no longer followed, its dormant orders become active', async () => {
    const { db, settle } = await open();
    const tokenId = await mintTo(2);
    await settle();
    const id = await insertOrder(db, world, await world.sign(2, { tokenId, price: 7n }));
    await world.act(callOf(world.people[2], world.nft, 'transferFrom', [world.people[2], world.people[1], tokenId]));
    await settle();
    assert.equal(await stateOf(db, id), 'active no-balance');
    const changed: string[] = [];
    const { clock } = followWorld({ main: db, indexer: db }, world).projection;
    const operations = createCollectionOperations({
      ...toContext(db, { clock }),
      onChanged: ({ collectionIds }) => void changed.push(...collectionIds),
      onFollowed: async () => undefined,
    });
    const collectionId = `ethereum_${world.nft.address}`;
    await operations['collections.remove']({ id: collectionId });
    assert.deepEqual([await stateOf(db, id), changed], ['active', [collectionId]]);
    await follow(db, world);
    await settle();
    assert.equal(
      await stateOf(db, id),
      'active no-balance',
      'the holders are unknown although the collection is followed again',
    );
  });
});

async function counterOf({ protocol, people, chain }: LocalWorld, person: 0 | 1 | 2): Promise<bigint> {
  return (await readChain(chain, protocol.seaport, 'getCounter', [people[person]])) as bigint;
}
