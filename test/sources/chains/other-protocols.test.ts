// LooksRare, Blur and pools of Sudoswap settle sales on a local chain. The service must read these sales from the blocks and serve them.

import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { callOf, mine, rollBack } from '../../../devnet/chain.ts';
import type { OtherProtocols } from '../../../devnet/other-protocols.ts';
import { createPool, installOtherProtocols } from '../../../devnet/other-protocols.ts';
import type { Database } from '../../../src/platform/database/port.ts';
import { readSales } from '../../../src/market/reads/sales.ts';
import type { LocalWorld } from '../../support/chain/followed-collection.ts';
import { follow, followWorld, startLocalWorld } from '../../support/chain/followed-collection.ts';
import { forOneEngine } from '../../support/engines/each-engine.ts';
import type { Hex } from '../../../src/platform/core/evm.ts';
import { collection, ingest, listing, sale, toContext } from '../../support/service/intake.ts';

const ORDER_HASH = `0x${'1a'.repeat(32)}`;

forOneEngine('sales on a local chain through protocols other than Seaport', (engine) => {
  let world: LocalWorld;
  let protocols: OtherProtocols;
  before(async () => {
    world = await startLocalWorld();
    protocols = await installOtherProtocols(world.chain);
  });
  after(() => world.chain.stop());

  const salesOf = async (db: Database) => {
    const { sales } = await readSales(toContext(db).market, `ethereum_${world.nft.address}`, {
      before: null,
      limit: 10,
    });
    const [total] = await db.query(`select volume_raw::int as volume, sales::int from indexer.sale_total`);
    return {
      sales: sales
        .map(({ source, asset, raw, seller, buyer, listingId }) => [source, asset, raw, seller, buyer, listingId])
        .toSorted((a, b) => Number(a[1]) - Number(b[1]) || Number(a[2]) - Number(b[2])),
      sums: Object.values(total ?? {}),
    };
  };

  test('a sale of LooksRare or Blur that OpenSea also reports is served once, and a reorganisation removes it', async () => {
    const [seller, buyer, other] = world.people;
    const { looksRare, blur } = protocols;
    const contractAddress = world.nft.address.toLowerCase();
    await world.mint(seller, 1n, 2n);
    await world.act(
      callOf(seller, world.nft, 'setApprovalForAll', [looksRare.address, true]),
      callOf(seller, world.nft, 'setApprovalForAll', [blur.address, true]),
    );
    const db = await engine.open();
    const { settle } = followWorld({ main: db, indexer: db }, world);
    await settle();
    await follow(db, world);
    await settle();
    const listed = { id: 'at-looksrare', source: 'looksrare', orderHash: ORDER_HASH, seller, expiresAt: null };
    await ingest(db, collection({ contractAddress }), listing({ contractAddress, tokenId: '1', ...listed }));
    const before = await salesOf(db);
    const order = { collection: world.nft.address, id: 1n, seller, orderHash: ORDER_HASH };
    const receipts = await world.act(
      callOf(buyer, looksRare, 'executeTakerBid', [order, buyer], 700n),
      callOf(other, blur, 'takeAskSingle', [world.nft.address, 2n, seller, buyer, `0x${'2b'.repeat(32)}`], 300n),
    );
    await settle();
    const expected = {
      sales: [
        ['looksrare', '1', 700n, seller, buyer, 'at-looksrare'],
        ['blur', '2', 300n, seller, buyer, null],
      ],
      sums: [1_000, 2],
    };
    assert.deepEqual(await salesOf(db), expected);
    const reports = receipts.map(({ transactionHash: tx }, index) =>
      sale({
        contractAddress,
        tokenId: `${index + 1}`,
        tx,
        price: '1',
        source: 'opensea',
        listingId: `reported-${index + 1}`,
      }),
    );
    await ingest(db, ...reports);
    const [first, second = []] = expected.sales;
    const named = { ...expected, sales: [first, [...second.slice(0, -1), 'reported-2']] };
    assert.deepEqual(await salesOf(db), named);
    const [ended] = await db.query(`select status from indexer.listing where id = 'at-looksrare'`);
    assert.equal(ended?.['status'], 'filled');
    await rollBack(world.chain, 1);
    await mine(world.chain);
    await mine(world.chain);
    await settle();
    assert.deepEqual(await salesOf(db), { ...before, sums: [0, 0] });
    const [again] = await db.query(`select status from indexer.listing where id = 'at-looksrare'`);
    assert.equal(again?.['status'], 'active');
  });

  test('a pool is the seller or the buyer of its swaps, and the same events of a contract that is no pool are not sales', async () => {
    const [owner, trader] = world.people;
    const { poolFactory } = protocols;
    const nftAddress = world.nft.address;
    const [pool, otherPool] = [
      await createPool(world.chain, poolFactory, { from: owner, collection: nftAddress, value: 10_000n }),
      await createPool(world.chain, poolFactory, { from: owner, collection: nftAddress, value: 10_000n }),
    ];
    const fake = { ...pool, address: '0x000000000000000000000000000000000000e721' } as const;
    await world.mint(owner, 11n, 12n, 13n, 14n);
    const db = await engine.open();
    const { settle } = followWorld({ main: db, indexer: db }, world);
    await settle();
    await follow(db, world);
    await settle();
    const give = (to: Hex, id: bigint) => callOf(owner, world.nft, 'transferFrom', [owner, to, id]);
    const buy = (from: typeof pool, ids: bigint[], value: bigint) =>
      callOf(trader, from, 'swapTokenForSpecificNFTs', [ids, 0n, trader, false, trader], value);
    await world.act(
      give(pool.address, 11n),
      give(pool.address, 12n),
      give(otherPool.address, 13n),
      give(fake.address, 14n),
      callOf(owner, world.nft, 'setApprovalForAll', [otherPool.address, true]),
    );
    await settle();
    assert.deepEqual((await salesOf(db)).sales, [], 'a deposit became a sale');
    const faked = buy(fake, [14n], 9_999n);
    const nft = `${'0'.repeat(80)}${nftAddress.slice(2)}${'0'.repeat(42)}` as const;
    await world.act(
      buy(pool, [11n], 700n),
      buy(otherPool, [13n], 500n),
      callOf(trader, world.nft, 'setApprovalForAll', [otherPool.address, true]),
      callOf(trader, otherPool, 'swapNFTsForToken', [[13n], 450n, trader, false, trader]),
      { ...faked, data: `${faked.data}${nft}` },
      buy(otherPool, [13n], 520n),
    );
    await settle();
    const expected = [
      ['sudoswap', '11', 700n, pool.address, trader, null],
      ['sudoswap', '13', 450n, trader, otherPool.address, null],
      ['sudoswap', '13', 500n, otherPool.address, trader, null],
      ['sudoswap', '13', 520n, otherPool.address, trader, null],
    ];
    assert.deepEqual(await salesOf(db), { sales: expected, sums: [2_170, 4] });
    const again = await engine.open();
    const second = followWorld({ main: again, indexer: again }, world);
    await second.settle();
    await follow(again, world);
    await second.settle();
    assert.deepEqual(
      (await salesOf(again)).sales.filter(([source]) => source === 'sudoswap'),
      expected,
    );
  });
});
