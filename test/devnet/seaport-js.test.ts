// OpenSea's library seaport-js works on a local chain. It creates, fills and cancels orders at the contract addresses that it uses by default.

import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import type { OrderWithCounter } from '@opensea/seaport-js/lib/types.js';
import type { Hex } from 'viem';
import { callOf, mine, readChain, setAutomine, transact } from '../../devnet/chain.ts';
import type { LocalNetwork } from '../../devnet/devnet.ts';
import { fromWireComponents, hashOrder } from '../../devnet/orders.ts';
import type { TestDevnet } from '../support/chain/devnet.ts';
import { createSeaportJs, startTestDevnet } from '../support/chain/devnet.ts';

const SIZE = { people: 2, collections: 1, tokens: 4, editions: 0 };
/** Indexes of accounts that do not trade in the simulated world. These accounts have neither tokens nor approvals at the start. */
const SELLER = 0;
const BUYER = 1;
const ERC721 = 2;
const TOKENS = [101n, 102n, 103n, 104n, 105n, 106n];
const DAY_S = 86_400;

let devnet: TestDevnet;
let network: LocalNetwork;
before(async () => {
  devnet = await startTestDevnet({ size: SIZE });
  network = devnet.networks[0] ?? assert.fail();
  await setAutomine(network.world.chain, true);
});
after(() => devnet.stop());

test('orders that seaport-js signs, one by one and in bulk, can be bought and cancelled', async (t) => {
  const { chain, protocol, collections } = network.world;
  const [collection] = collections;
  assert.ok(collection);
  const seller = createSeaportJs(chain, SELLER);
  const buyer = createSeaportJs(chain, BUYER);
  t.after(seller.end);
  t.after(buyer.end);
  await transact(
    chain,
    TOKENS.map((tokenId) => callOf(seller.address, collection, 'mint', [seller.address, tokenId])),
  );
  const toInput = (tokenId: bigint) => ({
    offer: [{ itemType: ERC721, token: collection.address, identifier: tokenId.toString() }],
    consideration: [{ amount: '1000000', recipient: seller.address }],
    fees: [{ recipient: network.world.fees.own.to, basisPoints: 200 }],
    endTime: Math.floor(chain.clock() / 1000) + DAY_S,
  });
  const [first = 0n, second = 0n, third = 0n, ...bulk] = TOKENS;
  const viaConduit = { ...toInput(third), conduitKey: protocol.conduit.key };
  const orders: OrderWithCounter[] = [];
  for (const input of [toInput(first), toInput(second), viaConduit]) {
    const { executeAllActions } = await seller.seaport.createOrder(input, seller.address);
    orders.push(await executeAllActions());
  }
  const { executeAllActions } = await seller.seaport.createBulkOrders(bulk.map(toInput), seller.address);
  orders.push(...(await executeAllActions()));
  // A bulk signature consists of a signature of 64 bytes, the index of the order in 3 bytes, and a proof of two hashes of 32 bytes. The proof has
  // two hashes, because the tree of three orders has four leaves.
  const sizes = orders.map(({ signature }) => (signature.length - 2) / 2);
  assert.deepEqual(sizes, [64, 64, 64, 131, 131, 131]);

  const hashes = orders.map(({ parameters }) => seller.seaport.getOrderHash(parameters) as Hex);
  for (const [index, { parameters }] of orders.entries()) {
    const components = fromWireComponents({ ...parameters });
    assert.equal(hashOrder(components), hashes[index]);
  }
  const [one, two, conduit, bulkOne] = orders;
  assert.ok(one && two && conduit && bulkOne);
  for (const order of [one, conduit, bulkOne]) {
    const fulfilment = await buyer.seaport.fulfillOrder({ order, accountAddress: buyer.address });
    const transaction = await fulfilment.executeAllActions();
    await transaction.wait();
  }
  await (await seller.seaport.cancelOrders([two.parameters], seller.address).transact()).wait();
  await (await seller.seaport.bulkCancelOrders(seller.address).transact()).wait();
  await mine(chain);

  const ownerOf = async (tokenId: bigint) =>
    String(await readChain(chain, collection, 'ownerOf', [tokenId])).toLowerCase();
  assert.deepEqual(await Promise.all([first, second, third, bulk[0] ?? 0n].map(ownerOf)), [
    buyer.address,
    seller.address,
    buyer.address,
    buyer.address,
  ]);
  const [, isCancelled] = (await readChain(chain, protocol.seaport, 'getOrderStatus', [hashes[1]])) as boolean[];
  assert.equal(isCancelled, true);
  assert.notEqual(await readChain(chain, protocol.seaport, 'getCounter', [seller.address]), 0n);
});
