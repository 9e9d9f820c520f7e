// Changes of the market that a followed chain causes, with the real Seaport. The primary and the indexer are two databases.

import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { mergeChanges } from '../../../src/market/activity/merge.ts';
import type { ActivityRow } from '../../../src/market/activity/queries/activity-rows.ts';
import { ACTIVITY_COLUMNS, decodeActivity } from '../../../src/market/activity/queries/activity-rows.ts';
import { copyCatalog } from '../../../src/market/index/catalog.ts';
import { followOnce } from '../../../src/sources/chains/follower.ts';
import { callOf, mine, rollBack } from '../../../devnet/chain.ts';
import { forOneEngine } from '../../support/engines/each-engine.ts';
import type { LocalWorld } from '../../support/chain/followed-collection.ts';
import { follow, followWorld, startLocalWorld } from '../../support/chain/followed-collection.ts';
import { importAll, toListingRecord, toMirrorContext } from '../../support/chain/mirrored-listing.ts';

const LIMITS = { timeoutMs: 60_000, batchesMax: 100 };

forOneEngine('changes of the market on a followed chain', (engine) => {
  let world: LocalWorld;
  before(async () => {
    world = await startLocalWorld();
  });
  after(() => world.chain.stop());

  test('transfers, fills and sales are recorded; a reorganisation takes back the transfers and sales of the removed blocks and the floors recorded since these blocks were applied, and revalidates the orders', async () => {
    const databases = { main: await engine.open(), indexer: await engine.open() };
    const context = toMirrorContext(databases);
    const { settle, context: following } = followWorld(databases, world);
    const [seller, buyer] = world.people;
    const readNew = async (beforeMerge = async () => {}) => {
      await settle();
      await copyCatalog(context, LIMITS);
      await beforeMerge();
      await mergeChanges(context, LIMITS);
      const rows = await databases.main.query(
        `select ${ACTIVITY_COLUMNS} from main.activity where position > $1 order by position`,
        [read],
      );
      const changes = rows.map(decodeActivity);
      read = changes.at(-1)?.position ?? read;
      return changes;
    };
    let read = 0;
    const kindsOf = (changes: readonly ActivityRow[]) =>
      changes
        .filter(({ kind }) => kind !== 'floor')
        .map(({ kind, asset, reason }) => [kind, asset, reason].filter((part) => part !== null).join(' '));

    await world.mint(seller, 1n, 2n);
    await world.approve(seller);
    await importAll(context, {
      kind: 'collection',
      chain: 'ethereum',
      contractAddress: world.nft.address,
      name: 'Lamps',
    });
    await settle();
    await follow(databases.main, world);
    assert.deepEqual(kindsOf(await readNew()), [], 'changes were recorded for blocks that the backfill read');

    // A reader of the log reads the token after its mint. So the mint is in the log only when the indexer has the token.
    await world.mint(seller, 3n);
    while ((await followOnce(following)).more);
    await mergeChanges(context, LIMITS);
    assert.deepEqual(await databases.main.query(`select from main.activity where kind = 'mint'`), []);
    assert.deepEqual(kindsOf(await readNew()), ['mint 3']);
    assert.deepEqual(await databases.indexer.query(`select owner from indexer.token where asset = '3'`), [
      { owner: seller },
    ]);

    const sold = await world.sign(0, { tokenId: 1n, price: 500n });
    const moved = await world.sign(0, { tokenId: 2n, price: 700n });
    const phantom = await world.sign(1, { tokenId: 2n, price: 9n });
    for (const order of [sold, moved, phantom]) await importAll(context, toListingRecord(world, order));
    assert.deepEqual(kindsOf(await readNew()).toSorted(), ['invalidate 2 owner', 'list 1', 'list 2']);

    // The buyer then holds token 2, which the phantom order sells, but has approved nobody.
    await world.act(world.fillCall(sold, buyer), callOf(seller, world.nft, 'transferFrom', [seller, buyer, 2n]));
    const caused = await readNew();
    assert.deepEqual(kindsOf(caused).toSorted(), [
      'fill 1',
      'invalidate 2 approval',
      'invalidate 2 owner',
      'sale 1',
      'transfer 1',
      'transfer 2',
    ]);
    const sale = caused.find(({ kind }) => kind === 'sale');
    assert.deepEqual([sale?.priceRaw, sale?.from, sale?.to, sale?.origin], [500n, seller, buyer, 'indexer']);
    for (const change of caused.filter(({ kind }) => kind === 'sale' || kind === 'transfer')) {
      assert.equal(change.quantity, 1n);
      assert.ok(change.block !== null && change.logIndex !== null, change.kind);
    }

    await rollBack(world.chain, 1);
    await mine(world.chain);
    await mine(world.chain);
    const reverted = await readNew(async () => {
      // A `reorg` with a block number must have no facts. If it had facts, processes of earlier versions of the service would not take back
      // the changes of the blocks after this block.
      const reorgs = await databases.indexer.query(
        `select facts from indexer.market_change where kind = 'reorg' and block_number is not null`,
      );
      assert.deepEqual(reorgs, [{ facts: null }]);
    });
    assert.deepEqual(kindsOf(reverted).toSorted(), ['invalidate 2 owner', 'reorg', 'revalidate 1', 'revalidate 2']);
    for (const { kind, reorgIds } of reverted)
      assert.deepEqual(reorgIds, kind === 'reorg' ? [`ethereum_${world.nft.address}`] : null);
    const voids = reverted.flatMap((change) => change.voids ?? []);
    const ofBlock = caused.filter(({ kind }) => kind === 'transfer' || kind === 'sale' || kind === 'floor');
    assert.deepEqual(
      voids.toSorted((a, b) => a - b),
      ofBlock.map(({ position }) => position),
    );
  });
});
