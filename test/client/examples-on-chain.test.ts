// The examples of the client that sell and buy a token, on a local chain with Seaport that a service follows.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { zeroHash } from 'viem';
import { buyListing } from '../../client/examples/buy-listing.ts';
import { postListing } from '../../client/examples/post-listing.ts';
import { createMarketClient } from '../../client/src/market.ts';
import { setAutomine } from '../../devnet/chain.ts';
import { keyOf } from '../../devnet/chain-state.ts';
import { eventually, startFollowedService } from '../end-to-end/followed-service.ts';
import { startTestDevnet } from '../support/chain/devnet.ts';

const PRICE = 10n ** 17n;
const TOKEN_IDS = [1n, 2n, 3n, 4n, 5n, 6n];

test('a token that the example post-listing lists is bought by the example buy-listing', async (context) => {
  const size = { people: 3, collections: 1, tokens: TOKEN_IDS.length, editions: 0 };
  const devnet = await startTestDevnet({ size });
  context.after(() => devnet.stop());
  const { world, state } = devnet.networks[0] ?? assert.fail();
  const { address: contract } = world.collections[0] ?? assert.fail();
  // Their tokens are transferred by Seaport itself, which they have approved.
  const sellers = world.people.filter(({ conduitKey }) => conduitKey === zeroHash);
  const ownerOf = (tokenId: bigint) => state.owners.get(keyOf({ contract, tokenId }));
  const tokenId = TOKEN_IDS.find((id) => sellers.some(({ address }) => address === ownerOf(id))) ?? assert.fail();
  const seller = sellers.find(({ address }) => address === ownerOf(tokenId)) ?? assert.fail();
  const buyer = world.people.find((person) => person !== seller) ?? assert.fail();
  const service = await startFollowedService([world]);
  context.after(() => service.stop());

  const connection = { baseUrl: service.url, rpcUrl: world.chain.url };
  const sale = { chain: world.chain.id, contract, tokenId, price: PRICE };
  const { data: listing } = await postListing(sale, { ...connection, apiKey: service.key, seller: seller.account });
  assert.deepEqual([listing.price.raw, listing.seller], [PRICE, seller.address]);

  await setAutomine(world.chain, true);
  const orderId = listing.orderId ?? '';
  const tx = await buyListing(orderId, { ...connection, buyer: buyer.account });
  await service.settle();
  const market = createMarketClient(connection);
  const { data: order } = await market.getOrder({ orderId });
  assert.deepEqual([order.status, order.listing.tx], ['filled', tx]);
  // The owners of tokens follow from the blocks in the background.
  await eventually(async () => {
    const { data: token } = await market.getToken({ chain: sale.chain, address: contract, tokenId: String(tokenId) });
    assert.equal(token.owner.address, buyer.address);
  });
  await assert.rejects(buyListing(orderId, { ...connection, buyer: buyer.account }), /the order is filled/);
});
