// Tests the history of a followed collection on a local chain with the real Seaport. After each step, the served history must equal the
// history that is computed from the activity log alone. The primary and the indexer are two databases.

import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { mergeChanges } from '../../../src/market/activity/merge.ts';
import { ACTIVITY_COLUMNS, decodeActivity } from '../../../src/market/activity/queries/activity-rows.ts';
import type { Chain } from '../../../src/platform/core/chains.ts';
import { readHistory } from '../../../src/market/explore/history.ts';
import { copyCatalog } from '../../../src/market/index/catalog.ts';
import { readFloor } from '../../../src/market/reads/floors/floor.ts';
import { submitOrder } from '../../../src/market/orders/submit.ts';
import { sweepExpired } from '../../../src/service/workers/expiry.ts';
import { callOf, mine, rollBack } from '../../../devnet/chain.ts';
import type { SignedOrder } from '../../../devnet/orders.ts';
import { toWireComponents } from '../../../devnet/orders.ts';
import { ExpectedListed, countListedNow, toExpectedHistory } from '../../support/chain/expected-history.ts';
import type { LocalWorld } from '../../support/chain/followed-collection.ts';
import { follow, followWorld, startLocalWorld } from '../../support/chain/followed-collection.ts';
import { importAll, toListingRecord, toMirrorContext } from '../../support/chain/mirrored-listing.ts';
import { forOneEngine } from '../../support/engines/each-engine.ts';

const LIMITS = { timeoutMs: 60_000, batchesMax: 100 };
const HOUR_MS = 60 * 60_000;

forOneEngine('the history of a followed collection', (engine) => {
  let world: LocalWorld;
  before(async () => {
    world = await startLocalWorld();
  });
  after(() => world.chain.stop());

  test('the served history equals the history that is computed from the activity log, after each block and each reorganisation', async () => {
    let now = Date.now();
    const started = now;
    // Each call returns a later time, so that a change after a block has a later time than each change before the block.
    const clock = () => (now += 1);
    const databases = { main: await engine.open(), indexer: await engine.open() };
    const mirrorContext = toMirrorContext(databases, clock);
    const copy = () => copyCatalog(mirrorContext, LIMITS);
    const context = { ...mirrorContext, copyCatalog: async () => void (await copy()) };
    const { settle } = followWorld(databases, world, { clock });
    const id = `ethereum_${world.nft.address}`;
    const [seller, buyer] = world.people;
    const chain = context.chains.get('ethereum') as Chain;

    const listed = new ExpectedListed();
    /**
     * Compares the history with the expected history. Returns the closing floor, the number of sales and the listed count of each hour as
     * text.
     */
    const check = async (): Promise<string[]> => {
      await settle();
      await copy();
      await sweepExpired({ ...databases, chains: context.chains, clock });
      await copy();
      await mergeChanges(context, LIMITS);
      const stored = await databases.main.query(
        `select ${ACTIVITY_COLUMNS} from main.activity where collection_id = $1 order by position`,
        [id],
      );
      const rows = stored.map(decodeActivity);
      const { points } = await readHistory(context.market, id, { interval: 'hour', from: started, to: null });
      const expected = toExpectedHistory(rows, started, now);
      assert.deepEqual(
        points.map(({ from, floor, volumeRaw, sales }) => ({ from, floor, volumeRaw, sales })),
        expected,
      );
      listed.add(now, countListedNow(rows));
      assert.deepEqual(
        points.map((point) => point.listed),
        listed.toHours(started, now),
        'an hour does not end with the expected listed count',
      );
      const { askFloorRaw } = await readFloor(context.market, id);
      assert.equal(points.at(-1)?.floor.closeRaw, askFloorRaw, 'the history does not end with the served floor');
      return points.map((point) => `${point.floor.closeRaw ?? '-'} ${point.sales} ${point.listed ?? '?'}`);
    };
    const list = (order: SignedOrder) => importAll(context, toListingRecord(world, order));
    const submit = ({ components, signature }: SignedOrder) =>
      submitOrder(
        { ...context, checksOf: () => null },
        { chain, protocolAddress: null, order: { parameters: toWireComponents(components), signature } },
      );

    await world.mint(seller, 1n, 2n, 3n, 4n, 5n, 6n, 7n, 8n);
    await world.approve(seller);
    await importAll(context, {
      kind: 'collection',
      chain: 'ethereum',
      contractAddress: world.nft.address,
      name: 'Lamps',
    });
    await settle();
    await follow(databases.main, world);
    assert.deepEqual(await check(), ['- 0 ?']);

    const mirrored = await world.sign(0, { tokenId: 1n, price: 500n });
    const own = await world.sign(0, { tokenId: 2n, price: 400n });
    const dear = await world.sign(0, { tokenId: 3n, price: 900n });
    await list(mirrored);
    await check();
    await submit(own);
    await submit(dear);
    await check();

    now += HOUR_MS;
    const beforeFills = now;
    await world.act(world.fillCall(own, buyer));
    // A sale counts in the hour of its block. The time of a block is the time of the machine, so this sale counts in the first hour.
    const sold = await check();
    assert.deepEqual(
      sold.map((point) => point.split(' ').slice(0, 2)),
      [
        ['400', '1'],
        ['500', '0'],
      ],
    );
    await world.act(world.fillCall(mirrored, buyer));
    await check();
    now += HOUR_MS;
    assert.deepEqual(
      (await check()).map((point) => point.split(' ')[0]),
      ['400', '900', '900'],
    );

    // In a later hour, a reorganisation removes both fills. So the floor is 400 in all hours.
    await rollBack(world.chain, 2);
    listed.takeBackSince(beforeFills);
    await mine(world.chain);
    await mine(world.chain);
    await mine(world.chain);
    assert.deepEqual(
      (await check()).map((point) => point.split(' ').slice(0, 2)),
      [
        ['400', '0'],
        ['400', '0'],
        ['400', '0'],
      ],
    );

    // Two listings arrive, and then a transfer makes the cheapest order dormant. Then a cheaper listing arrives. An hour later, a
    // reorganisation removes the transfer. The hour of the transfer must lose the figures that were recorded in this hour after the
    // transfer, and the present hour must have the present figures.
    now += HOUR_MS;
    for (const tokenId of [5n, 6n]) {
      await list(await world.sign(0, { tokenId, price: 950n }));
      await check();
    }
    const beforeTransfer = now;
    await world.act(callOf(seller, world.nft, 'transferFrom', [seller, buyer, 2n]));
    await check();
    const cheap = await world.sign(0, { tokenId: 4n, price: 300n });
    await list(cheap);
    await check();
    now += HOUR_MS;
    await rollBack(world.chain, 1);
    listed.takeBackSince(beforeTransfer);
    await mine(world.chain);
    await mine(world.chain);
    assert.deepEqual((await check()).slice(-2), ['400 0 5', '300 0 6']);

    // This transfer moves a token that has no listing, and the listing that arrives after the transfer does not change the floor. So the
    // reorganisation takes back only the listed count, which is then recorded again.
    const beforeUnlisted = now;
    await world.act(callOf(seller, world.nft, 'transferFrom', [seller, buyer, 7n]));
    await check();
    await list(await world.sign(0, { tokenId: 8n, price: 960n }));
    await check();
    now += HOUR_MS;
    await rollBack(world.chain, 1);
    listed.takeBackSince(beforeUnlisted);
    await mine(world.chain);
    await mine(world.chain);
    assert.deepEqual((await check()).slice(-2), ['300 0 6', '300 0 7']);
    await world.act(world.fillCall(cheap, buyer), world.cancelCall(own));
    now += 5 * HOUR_MS;
    assert.equal((await check()).at(-1)?.split(' ')[0], '500');
  });
});
