// Tests which blocks of a chain stay stored, and that these blocks are enough to process a reorganisation of hundreds of blocks.

import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import {
  deleteOldChainBlocks,
  findChainCursor,
  listChainBlocks,
  upsertChainBlocks,
} from '../../../src/market/chain-log/queries/chain-cursors.ts';
import { callOf, mine, readHeight } from '../../../devnet/chain.ts';
import { forOneEngine } from '../../support/engines/each-engine.ts';
import type { LocalWorld } from '../../support/chain/followed-collection.ts';
import { follow, followWorld, startLocalWorld } from '../../support/chain/followed-collection.ts';

const DEPTH = 600;

forOneEngine('blocks kept for reorganisations', (engine) => {
  let world: LocalWorld;
  before(async () => {
    world = await startLocalWorld();
  });
  after(() => world.chain.stop());

  test('after a reorganisation of more than 512 blocks, the orphaned blocks are undone back to a stored block', async () => {
    const db = await engine.open();
    const { settle } = followWorld({ main: db, indexer: db }, world);
    const [first, second] = world.people;
    await settle();
    await follow(db, world);
    await world.mint(first, 1n);
    await settle();
    const kept = await readHeight(world.chain);
    const { call } = world.chain.rpc;
    const snapshot = await call('evm_snapshot');
    await world.act(callOf(first, world.nft, 'transferFrom', [first, second, 1n]));
    for (let blocks = 0; blocks < DEPTH; blocks += 1) {
      await mine(world.chain);
      if (blocks % 200 === 0) await settle();
    }
    await settle();
    const owner = async () => (await db.query(`select owner from indexer.token where asset = '1'`))[0]?.['owner'];
    assert.equal(await owner(), second);
    await call('evm_revert', snapshot);
    // The new blocks get another miner, so that their hashes differ from those of the reverted blocks.
    await call('anvil_setCoinbase', second);
    for (let blocks = 0; blocks < DEPTH + 5; blocks += 1) await mine(world.chain);
    await settle();
    assert.equal(await owner(), first);
    const cursor = await findChainCursor(db, 'ethereum');
    assert.deepEqual([cursor?.number, cursor?.reorgs, cursor?.note], [kept + DEPTH + 5, 1, null]);
  });

  test('after a reorganisation that replaces the first stored block, the follower continues on the new chain', async () => {
    const { call } = world.chain.rpc;
    const [first] = world.people;
    await mine(world.chain);
    const snapshot = await call('evm_snapshot');
    await mine(world.chain);
    const db = await engine.open();
    const { settle } = followWorld({ main: db, indexer: db }, world);
    await settle();
    await call('evm_revert', snapshot);
    // The reverted blocks have the miner that the earlier test set. The new blocks get another miner, so that their hashes differ.
    await call('anvil_setCoinbase', first);
    for (let blocks = 0; blocks < 3; blocks += 1) await mine(world.chain);
    await settle();
    const cursor = await findChainCursor(db, 'ethereum');
    assert.deepEqual([cursor?.number, cursor?.reorgs, cursor?.note], [await readHeight(world.chain), 1, null]);
  });

  test('after a reorganisation of 60 blocks right after the start, the follower continues on the new chain', async () => {
    const { call } = world.chain.rpc;
    const snapshot = await call('evm_snapshot');
    for (let blocks = 0; blocks < 60; blocks += 1) await mine(world.chain);
    const db = await engine.open();
    const { settle } = followWorld({ main: db, indexer: db }, world);
    await settle();
    await call('evm_revert', snapshot);
    await call('anvil_setCoinbase', world.people[2]);
    for (let blocks = 0; blocks < 61; blocks += 1) await mine(world.chain);
    await settle();
    const cursor = await findChainCursor(db, 'ethereum');
    assert.deepEqual([cursor?.number, cursor?.reorgs, cursor?.note], [await readHeight(world.chain), 1, null]);
  });

  test('all recent blocks are kept, one older block in each interval is kept, and blocks that are too old are deleted', async () => {
    const db = await engine.open();
    const blocks = Array.from({ length: 100 }, (_, number) => ({
      number,
      hash: `0x${number.toString(16)}` as const,
      time: number * 1_000,
    }));
    await upsertChainBlocks(db, 'ethereum', blocks, 0);
    await deleteOldChainBlocks(db, 'ethereum', { number: 95, denseSince: 90_000, since: 35_000, interval: 20 });
    const stored = await listChainBlocks(db, 'ethereum', { upTo: 100 });
    assert.deepEqual(
      stored.map(({ number }) => number),
      [99, 98, 97, 96, 95, 94, 93, 92, 91, 90, 80, 60, 40],
    );
  });
});
