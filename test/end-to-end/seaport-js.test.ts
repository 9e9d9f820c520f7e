// Tests orders of OpenSea's seaport-js library on two local chains, with one real service that follows both. The service accepts the
// orders as the library signs them. A fill or cancel on one chain changes only the order on that chain. The contracts have the same
// addresses on both chains, so that a test fails if the service confuses the chains.

import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import type { OrderWithCounter } from '@opensea/seaport-js/lib/types.js';
import { buyListing } from '../../client/examples/buy-listing.ts';
import { postListing } from '../../client/examples/post-listing.ts';
import { createMarketClient } from '../../client/src/market.ts';
import { callOf, transact } from '../../devnet/chain.ts';
import type { Contract } from '../../devnet/protocol.ts';
import { startTestDevnet } from '../support/chain/devnet.ts';
import type { FollowedService } from './followed-service.ts';
import { eventually, startFollowedService } from './followed-service.ts';
import type { Name, Scene, Signed } from './seaport-js-orders.ts';
import { askFor, callAsWallet, LATE_TOKEN, setScene, sign, signListingsOfAll } from './seaport-js-orders.ts';

/** A token that is traded only by the examples of the client. */
const EXAMPLE_TOKEN = 401n;
const NETWORKS: readonly string[] = ['ethereum', 'base'];
const SIZE = { people: 2, collections: 1, tokens: 4, editions: 1 };

/** The scene of one chain, and the orders that were listed on this chain, with their ids. */
type Stage = Scene & {
  chain: string;
  book: Map<Name, Signed & { id: string; hash: string }>;
  /** Two orders that are submitted only after they have ended. The first is ended by a cancel, the second by a raised counter. */
  keptBack: OrderWithCounter[];
};

const cleanups: (() => Promise<unknown> | void)[] = [];
const stages: Stage[] = [];
let service: FollowedService;

before(async () => {
  const devnet = await startTestDevnet({ networks: NETWORKS, size: SIZE });
  cleanups.push(devnet.stop);
  for (const scene of await Promise.all(devnet.networks.map(({ world }) => setScene(world)))) {
    cleanups.push(scene.end);
    stages.push({ ...scene, chain: scene.world.chain.id, book: new Map(), keptBack: [] });
  }
  const addresses = stages.map(({ nft, editions, wallet }) => [nft, editions, wallet].map(({ address }) => address));
  assert.deepEqual(addresses[0], addresses[1]);
  service = await startFollowedService(stages.map(({ world }) => world));
  cleanups.push(service.stop);
});
after(async () => {
  for (const clean of cleanups.toReversed()) await clean();
});

const testOnEachChain = (name: string, act: (stage: Stage) => Promise<void>) =>
  test(name, async () => void (await Promise.all(stages.map(act))));

const listedAs = ({ book }: Stage, name: Name) => book.get(name) ?? assert.fail(`${name} was not listed`);
const readOrder = async (stage: Stage, name: Name, more = '') => {
  const { status, body } = await service.intake('GET', `/orders/${listedAs(stage, name).id}${more}`);
  assert.equal(status, 200, `${stage.chain} ${name}`);
  return body;
};
const explain = async (stage: Stage, name: Name) => (await readOrder(stage, name, '/explain')).data;
/** The order's status, and the transaction that caused it. */
const stateOf = async (stage: Stage, name: Name) => {
  const { data } = await readOrder(stage, name);
  return [data.status, data.tx];
};
const readCollection = async ({ chain }: Stage, { address }: Contract, what: string) =>
  (await service.read(`/v1/collections/${chain}_${address}/${what}`)).data;
const readToken = async ({ chain, nft }: Stage, id: bigint) =>
  (await service.read(`/v1/tokens/${chain}/${nft.address}/${id}`)).data;
const floorOf = async (stage: Stage, contract: Contract) =>
  (await readCollection(stage, contract, 'floor')).askFloor?.raw ?? null;
const listedIds = async (stage: Stage, contract: Contract): Promise<string[]> =>
  (await readCollection(stage, contract, 'listings')).map(({ orderId }: any) => orderId).sort();
const idsOf = (stage: Stage, ...names: Name[]) => names.map((name) => listedAs(stage, name).id).sort();

/** Submits the order as the library returned it, with the name of the chain. */
const post = (chain: string, order: OrderWithCounter) =>
  service.intake('POST', '/orders', JSON.stringify({ chain, order }));
const rejectionOf = async (chain: string, order: OrderWithCounter) => {
  const { status, body } = await post(chain, order);
  return [status, body.error?.code];
};

testOnEachChain('an order is accepted as the library signed it, and is listed', async (stage) => {
  const { chain, nft, editions, seller, wallet, book, keptBack } = stage;
  const signed = await signListingsOfAll(stage);
  for (const amount of [1n, 2n]) keptBack.push(await sign(seller, askFor(stage, LATE_TOKEN, amount)));
  await service.settle();
  for (const [name, listed] of signed) {
    const { status, body } = await post(chain, listed.order);
    assert.equal(status, 201, `${chain} ${name} was rejected: ${JSON.stringify(body)}`);
    const { data, order } = body;
    book.set(name, { ...listed, id: data.orderId, hash: seller.seaport.getOrderHash(listed.order.parameters) });
    const { contract, tokenId, ask, total, offerer, units, ends } = listed;
    assert.deepEqual(
      [data.chain, data.contractAddress, data.tokenId, data.price.raw, data.seller, data.marketplace, data.status],
      [chain, contract.address, String(tokenId), String(ask), offerer, 'MERCAT', 'active'],
    );
    assert.deepEqual(
      [order.orderHash, order.buyerTotal?.raw ?? String(ask), order.standard, order.quantity, order.filledQuantity],
      [listedAs(stage, name).hash, String(total), units > 1n ? 'erc1155' : 'erc721', String(units), '0'],
    );
    assert.equal(data.expiresAt !== null, ends);
  }
  const single = [...book.keys()].filter((name) => name !== 'edition');
  assert.deepEqual(await listedIds(stage, nft), idsOf(stage, ...single));
  assert.deepEqual(await listedIds(stage, editions), idsOf(stage, 'edition'));
  assert.equal(await floorOf(stage, nft), String(listedAs(stage, 'bulk0').ask));
  assert.equal(await floorOf(stage, editions), String(listedAs(stage, 'edition').ask));
  for (const name of ['wallet', 'fees'] as const) {
    const { tokenId, ask, id } = listedAs(stage, name);
    const { owner, listing } = await readToken(stage, tokenId);
    const holder = name === 'wallet' ? wallet.address : seller.address;
    assert.deepEqual([owner.address, listing.orderId, listing.price.raw], [holder, id, String(ask)]);
  }
});

/** The hexadecimal text with the lowest bit of one byte inverted. */
function flip(hex: string, byte: number): string {
  const start = 2 + 2 * byte;
  const inverted = (Number.parseInt(hex.slice(start, start + 2), 16) ^ 1).toString(16).padStart(2, '0');
  return hex.slice(0, start) + inverted + hex.slice(start + 2);
}

testOnEachChain(
  'an order is rejected when it was submitted before, differs from the signed order, or is for the other chain',
  async (stage) => {
    const { chain, nft } = stage;
    const before = await listedIds(stage, nft);
    const other = NETWORKS.find((network) => network !== chain) ?? assert.fail();
    for (const [name, { order }] of stage.book) {
      const { parameters, signature } = order;
      assert.deepEqual(await rejectionOf(chain, order), [409, 'duplicate'], name);
      // Each chain has its own wrapped currency, so the currency is rejected before the signature is checked.
      const codeOnOther = name === 'wrapped' ? 'unsupported_currency' : 'signature_invalid';
      assert.deepEqual(
        await rejectionOf(other, order),
        [422, codeOnOther],
        `${name} was not rejected on ${other} with the expected code`,
      );
      // The chain is in the domain of each signature, so the same changes on the second chain would test the same code again.
      if (chain !== NETWORKS[0]) continue;
      // The changed bytes are in r, s and v, and in the index and the proof of a bulk order.
      const size = signature.length / 2 - 1;
      for (const byte of [0, 32, 63, 64, 66, size - 1].filter((at) => at < size)) {
        const changed = { parameters, signature: flip(signature, byte) };
        assert.deepEqual(
          await rejectionOf(chain, changed),
          [422, 'signature_invalid'],
          `${name} was accepted with byte ${byte} changed`,
        );
      }
      const { offer, consideration, salt, endTime, counter, offerer, zone, conduitKey, orderType } = parameters;
      const [offered] = offer;
      assert.ok(offered);
      const raise = (amount: unknown) => String(BigInt(String(amount)) + 1n);
      const higherPriced = consideration.map((item) => {
        const amount = raise(item.startAmount);
        return { ...item, startAmount: amount, endAmount: amount };
      });
      const changes: [Partial<OrderWithCounter['parameters']>, string][] = [
        [{ salt: flip(salt, 31) }, 'signature_invalid'],
        [{ endTime: String(BigInt(String(endTime)) - 1n) }, 'signature_invalid'],
        [{ consideration: higherPriced }, 'signature_invalid'],
        [{ counter: raise(counter) }, 'signature_invalid'],
        [{ offer: [{ ...offered, identifierOrCriteria: raise(offered.identifierOrCriteria) }] }, 'signature_invalid'],
        [{ zone: flip(zone, 19) }, 'signature_invalid'],
        [{ offerer: flip(offerer, 19) }, 'fees_over_limit'],
        [{ conduitKey: flip(conduitKey, 31) }, 'signature_invalid'],
        [{ orderType: orderType + 2 }, 'extra_data_not_supported'],
      ];
      for (const [change, code] of changes) {
        const changed = { parameters: { ...parameters, ...change }, signature };
        assert.deepEqual(await rejectionOf(chain, changed), [422, code], `${name}: ${JSON.stringify(change)}`);
      }
    }
    assert.deepEqual(await listedIds(stage, nft), before);
  },
);

/** The buyer fills the order, using only the data that the service serves. Resolves to the transaction hash. */
async function fill(stage: Stage, name: Name, unitsToFill?: bigint): Promise<string> {
  const { seaport, address } = stage.buyer;
  const { order } = await readOrder(stage, name);
  const units = unitsToFill !== undefined && { unitsToFill };
  const { executeAllActions } = await seaport.fulfillOrder({ order: order.seaport, accountAddress: address, ...units });
  const transaction = await executeAllActions();
  await transaction.wait();
  return transaction.hash;
}

testOnEachChain(
  'after a fill through the library, the order is filled, the price of the sale is the buyer total of the order, and the buyer owns the token',
  async (stage) => {
    const { chain, nft, buyer } = stage;
    const names = ['plain', 'fees', 'wrapped', 'conduit', 'wallet', 'bulk0'] as const;
    const txs = new Map<Name, string>();
    for (const name of names) txs.set(name, await fill(stage, name));
    await service.settle();
    await eventually(async () => assert.equal((await readCollection(stage, nft, 'sales')).length, names.length));
    const sales = await readCollection(stage, nft, 'sales');
    for (const name of names) {
      const tx = txs.get(name);
      const { id, hash, tokenId, total, offerer, order } = listedAs(stage, name);
      const sale = sales.find((one: any) => one.tx === tx) ?? assert.fail(`${chain} ${name}: no sale by ${tx}`);
      assert.deepEqual(
        [
          sale.chain,
          sale.tokenId,
          sale.price.raw,
          sale.seller,
          sale.buyer,
          sale.marketplace,
          sale.status,
          sale.orderId,
        ],
        [chain, String(tokenId), String(total), offerer, buyer.address, 'MERCAT', 'sold', id],
      );
      assert.deepEqual(await stateOf(stage, name), ['filled', tx]);
      const { status, events, transitions } = await explain(stage, name);
      const fills = events.filter(({ kind }: any) => kind === 'order-fulfilled');
      assert.deepEqual([status, fills.length, fills[0]?.tx, fills[0]?.details.orderHash], ['filled', 1, tx, hash]);
      assert.deepEqual(
        transitions.map(({ to, tx: by }: any) => `${to} ${by}`),
        ['active null', `filled ${tx}`],
      );
      const { owner, listing, lastSale } = await readToken(stage, tokenId);
      assert.deepEqual([owner.address, listing, lastSale.price.raw], [buyer.address, null, String(total)]);
      assert.deepEqual(await rejectionOf(chain, order), [422, 'already_filled']);
    }
    assert.deepEqual(await listedIds(stage, nft), idsOf(stage, 'wallet2', 'bulk1', 'bulk2'));
    assert.equal(await floorOf(stage, nft), String(listedAs(stage, 'bulk1').ask));
  },
);

testOnEachChain('a partly filled order stays listed with its remaining units until these are sold', async (stage) => {
  const { editions, seller, buyer } = stage;
  const { units, ask, id } = listedAs(stage, 'edition');
  const first = { units: 4n, tx: await fill(stage, 'edition', 4n) };
  await service.settle();
  const { data, order } = await readOrder(stage, 'edition');
  assert.deepEqual([data.status, order.quantity, order.filledQuantity], ['active', String(units), '4']);
  assert.deepEqual(await listedIds(stage, editions), [id]);
  assert.equal(await floorOf(stage, editions), String(ask), 'the price of a unit has changed');

  const second = { units: units - 4n, tx: await fill(stage, 'edition', units - 4n) };
  await service.settle();
  assert.deepEqual(await stateOf(stage, 'edition'), ['filled', second.tx]);
  assert.deepEqual([await listedIds(stage, editions), await floorOf(stage, editions)], [[], null]);
  const { transitions } = await explain(stage, 'edition');
  const steps = transitions.map(({ to, because }: any) => `${to}: ${because}`);
  assert.deepEqual(steps, ['active: stored', 'active: 4 filled', 'filled: all units were filled']);
  await eventually(async () => {
    const sales = await readCollection(stage, editions, 'sales');
    const toText = ({ tx, price, seller: from, buyer: to, orderId }: any) =>
      [price.raw, tx, from, to, orderId].join(' ');
    // The price of a sale is the amount that was paid for all units of the sale.
    const parts = [first, second].map((part) => ({ tx: part.tx, price: { raw: String(part.units * ask) } }));
    const expected = parts.map((part) =>
      toText({ ...part, seller: seller.address, buyer: buyer.address, orderId: id }),
    );
    assert.deepEqual(sales.map(toText).sort(), expected.sort());
  });
});

testOnEachChain(
  'orders that are cancelled through the library, singly or all at once, become cancelled, and other orders do not',
  async (stage) => {
    const { chain, seller, walletOwner, wallet, nft, keptBack } = stage;
    const [cancelledBefore, withOldCounter] = keptBack;
    assert.ok(cancelledBefore && withOldCounter);
    const some = [listedAs(stage, 'bulk1').order.parameters, cancelledBefore.parameters];
    const one = await seller.seaport.cancelOrders(some, seller.address).transact();
    await one.wait();
    await service.settle();
    assert.deepEqual(await stateOf(stage, 'bulk1'), ['cancelled', one.hash]);
    assert.deepEqual(await stateOf(stage, 'bulk2'), ['active', null]);
    assert.equal((await explain(stage, 'bulk1')).transitions.at(-1).because, 'cancelled on the chain');
    assert.deepEqual(await rejectionOf(chain, cancelledBefore), [422, 'already_cancelled']);

    const all = await seller.seaport.bulkCancelOrders(seller.address).transact();
    await all.wait();
    await service.settle();
    assert.deepEqual(await stateOf(stage, 'bulk2'), ['cancelled', all.hash]);
    assert.equal((await explain(stage, 'bulk2')).transitions.at(-1).because, 'the offerer raised the counter');
    assert.deepEqual(
      await stateOf(stage, 'bulk1'),
      ['cancelled', one.hash],
      'the order lost the transaction that first cancelled the order',
    );
    assert.equal((await stateOf(stage, 'plain'))[0], 'filled', 'a filled order is no longer filled');
    assert.deepEqual(await rejectionOf(chain, withOldCounter), [422, 'wrong_counter']);
    assert.deepEqual(await listedIds(stage, nft), idsOf(stage, 'wallet2'));
    const { status, body } = await post(chain, await sign(seller, askFor(stage, LATE_TOKEN, 3n)));
    assert.equal(status, 201, `an order under the new counter was rejected: ${JSON.stringify(body)}`);

    const { parameters } = listedAs(stage, 'wallet2').order;
    const { data } = await walletOwner.seaport.cancelOrders([parameters], wallet.address).buildTransaction();
    const tx = await callAsWallet(stage, data);
    await service.settle();
    assert.deepEqual(await stateOf(stage, 'wallet2'), ['cancelled', tx]);
    assert.deepEqual(await listedIds(stage, nft), [body.data.orderId]);
    assert.equal(await floorOf(stage, nft), '3');
  },
);

test('a token that the example post-listing.ts lists can be bought with the example buy-listing.ts', async () => {
  const { world, nft, seller: minter } = stages[0] ?? assert.fail();
  // The first person is the seller, because this person has approved Seaport.
  const [seller = assert.fail(), buyer = assert.fail()] = world.people;
  await transact(world.chain, [callOf(minter.address, nft, 'mint', [seller.address, EXAMPLE_TOKEN])]);
  await service.settle();
  const connection = { baseUrl: service.url, rpcUrl: world.chain.url };
  const sale = { chain: world.chain.id, contract: nft.address, tokenId: EXAMPLE_TOKEN, price: 10n ** 17n };
  const { data } = await postListing(sale, { ...connection, apiKey: service.key, seller: seller.account });
  assert.deepEqual([data.price.raw, data.seller], [sale.price, seller.address]);

  const orderId = data.orderId ?? '';
  const tx = await buyListing(orderId, { ...connection, buyer: buyer.account });
  const market = createMarketClient(connection);
  const token = { chain: sale.chain, address: nft.address, tokenId: String(EXAMPLE_TOKEN) };
  // The transaction may not be in a block yet. The service derives the owners of tokens from the blocks in the background.
  await eventually(async () => {
    const { data: order } = await market.getOrder({ orderId });
    const { data: bought } = await market.getToken(token);
    assert.deepEqual([order.status, order.listing.tx, bought.owner.address], ['filled', tx, buyer.address]);
  });
  await assert.rejects(buyListing(orderId, { ...connection, buyer: buyer.account }), /the order is filled/);
});
