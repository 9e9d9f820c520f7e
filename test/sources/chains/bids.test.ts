// Bids on a real chain with the real Seaport: the balance and the allowance of bidders are followed, a reorganisation reverts them, and bids of each kind
// can be accepted while they are active.

import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { zeroAddress } from 'viem';
import type { Call } from '../../../devnet/chain.ts';
import { callOf, deploy, mine, readChain, rollBack } from '../../../devnet/chain.ts';
import { readContract } from '../../../devnet/artifacts.ts';
import type { Contract } from '../../../devnet/protocol.ts';
import type { SignedOrder } from '../../../devnet/orders.ts';
import { signOrder, toOrder, toWireComponents } from '../../../devnet/orders.ts';
import type { SeaportOrder as Components } from '../../../client/src/seaport.ts';
import { listTokensOfSet } from '../../../src/market/orders/queries/token-sets.ts';
import { toTokenProof, toTokenRoot } from '../../../src/market/orders/seaport/token-tree.ts';
import type { Offer, OfferPosition } from '../../../src/market/explore/queries/bids.ts';
import { listOffers } from '../../../src/market/explore/queries/bids.ts';
import { submitOrder } from '../../../src/market/orders/submit.ts';
import type { Address, AssetId } from '../../../src/platform/core/address.ts';
import { createChains } from '../../../src/platform/core/chains.ts';
import type { Hex } from '../../../src/platform/core/evm.ts';
import { ZERO_HASH } from '../../../src/platform/core/evm.ts';
import type { Database } from '../../../src/platform/database/port.ts';
import { createAuditOperations } from '../../../src/sources/chains/audit/audit.ts';
import { followOnce } from '../../../src/sources/chains/follower.ts';
import { RpcFailure } from '../../../src/sources/chains/rpc/rpc-failure.ts';
import type { Following, LocalWorld } from '../../support/chain/followed-collection.ts';
import { follow, followWorld, startLocalWorld } from '../../support/chain/followed-collection.ts';
import type { BidOptions } from '../../support/chain/signed-orders.ts';
import { toBid } from '../../support/chain/signed-orders.ts';
import { forEachEngine } from '../../support/engines/each-engine.ts';
import { toContext } from '../../support/service/intake.ts';

const PRICE = 1_000n;
const HOUR_S = 3_600;
const [BIDDER, SELLER, OTHER] = [0, 1, 2] as const;

type Scene = { db: Database; following: Following };
type Money = 'deposit' | 'withdraw' | 'transfer' | 'approve';

forEachEngine('bids on a chain', (engine) => {
  let world: LocalWorld;
  /** An ERC-20 currency that the settings name, with the code of the wrapped native one. */
  let other: Contract;
  before(async () => {
    world = await startLocalWorld();
    const artifact = readContract('DevnetWrapped');
    const address = await deploy(world.chain, artifact, []);
    other = { address: address.toLowerCase() as Hex, abi: artifact.abi };
  });
  after(() => world.chain.stop());

  const open = async (): Promise<Scene> => {
    const db = await engine.open();
    const following = followWorld({ main: db, indexer: db }, world);
    await follow(db, world);
    await following.settle();
    return { db, following };
  };
  const moneyOf = (currency: Contract, call: Money, person: 0 | 1 | 2, ...args: unknown[]): Call =>
    call === 'deposit'
      ? callOf(world.people[person], currency, call, [], args[0] as bigint)
      : callOf(world.people[person], currency, call, args);
  const money = (call: Money, person: 0 | 1 | 2, ...args: unknown[]): Call =>
    moneyOf(world.protocol.wrapped, call, person, ...args);
  /** Gives the person exactly this balance, and this allowance for Seaport. */
  const fund = async (person: 0 | 1 | 2, balance: bigint, allowance = balance, currency = world.protocol.wrapped) => {
    const now = (await readChain(world.chain, currency, 'balanceOf', [world.people[person]])) as bigint;
    await world.act(
      ...(now > balance ? [moneyOf(currency, 'withdraw', person, now - balance)] : []),
      ...(now < balance ? [moneyOf(currency, 'deposit', person, balance - now)] : []),
      moneyOf(currency, 'approve', person, world.protocol.seaport.address, allowance),
    );
  };
  let nextToken = 0n;
  const mintTo = async (person: 0 | 1 | 2) => {
    nextToken += 1n;
    await world.mint(world.people[person], nextToken);
    await world.approve(world.people[person]);
    return nextToken;
  };
  const signBid = (more: Partial<BidOptions>, person: 0 | 1 | 2 = BIDDER): Promise<SignedOrder> => {
    const account = world.chain.accounts[person + 1] ?? assert.fail();
    const now = Math.floor(Date.now() / 1_000);
    const order = toBid({
      offerer: world.people[person] as Address,
      contract: world.nft.address,
      wanted: 'any',
      currency: world.protocol.wrapped.address,
      price: PRICE,
      start: now - 60,
      end: now + HOUR_S,
      ...more,
    });
    return signOrder(account, world.chain.chainId, order as Components);
  };
  const submit = async (
    { db, following }: Scene,
    { components, signature }: SignedOrder,
    tokenIds?: readonly string[],
  ) => {
    const currency = { address: other.address as Address, symbol: 'OTHER', decimals: 6 };
    const chain =
      createChains(null, [{ chain: 'ethereum', currency }]).get('ethereum') ?? assert.fail('there is no chain');
    const context = { ...toContext(db, { clock: Date.now }), checksOf: () => following.reader.contracts };
    const order = { parameters: toWireComponents(components), signature };
    const criteria = tokenIds ? { tokenIds } : null;
    const { orderId } = await submitOrder(context, { chain, protocolAddress: null, order, criteria });
    return orderId;
  };
  const stateOf = async ({ db }: Scene, id: string) => {
    const [row] = await db.query<{ state: string }>(
      `select concat_ws(' ', status, dormant) as state from main.book_order where id = $1`,
      [id],
    );
    return row?.state;
  };
  /** The holder of the token accepts the bid, for one of its units. */
  const accept = (
    bid: SignedOrder,
    seller: 0 | 1 | 2,
    tokenId: bigint,
    { proof = [], units = 1n }: { proof?: readonly Hex[]; units?: bigint } = {},
  ) => {
    const [wanted] = bid.components.consideration;
    const isAnyOf = (wanted?.itemType ?? 0) > 3;
    const resolvers = isAnyOf
      ? [{ orderIndex: 0n, side: 1, index: 0n, identifier: tokenId, criteriaProof: proof }]
      : [];
    const order = { ...toOrder(bid), numerator: 1n, denominator: units, extraData: '0x' };
    const args = [order, resolvers, ZERO_HASH, zeroAddress];
    return callOf(world.people[seller], world.protocol.seaport, 'fulfillAdvancedOrder', args);
  };

  test('the audit compares the status, the counter and the funds of bids with the chain', async () => {
    const scene = await open();
    const { db, following } = scene;
    await fund(BIDDER, 2n * PRICE);
    await following.settle();
    const id = await submit(scene, await signBid({}));
    await submit(scene, await signBid({ wanted: { tokenId: 77_777n } }));
    const poor = await submit(scene, await signBid({ price: 2n * PRICE }));
    await world.act(money('withdraw', BIDDER, PRICE));
    await following.settle();
    assert.equal(await stateOf(scene, poor), 'active no-balance');
    const context = toContext(db, { clock: Date.now, settings: { RPC_URL_ETHEREUM: world.chain.url } });
    const audit = async () => {
      const report = await createAuditOperations(context, { pauseMs: 1 }).audit({ sample: 0, chain: 'ethereum' });
      return [report.orders, report.differences.map(({ field }) => field).toSorted((a, b) => (a < b ? -1 : 1))];
    };
    assert.deepEqual(await audit(), [3, []]);
    await db.query(`update main.book_order set status = 'cancelled' where id = $1`, [id]);
    await db.query(`update main.funds set balance = balance - 1, allowance = 0`);
    const fields = ['approved', 'approved', 'approved', 'balance', 'balance', 'balance', 'status'];
    assert.deepEqual(await audit(), [3, fields]);
    await db.query(`update main.book_order set dormant = null where id = $1`, [poor]);
    assert.deepEqual((await audit())[1], [...fields.slice(0, 6), 'dormant', 'status']);
  });

  test('a bid is dormant while the bidder lacks the money or the approval, and active again afterwards', async () => {
    const scene = await open();
    await fund(BIDDER, PRICE);
    await scene.following.settle();
    const id = await submit(scene, await signBid({}));
    const half = await submit(scene, await signBid({ price: PRICE / 2n }));
    const states = async () => {
      await scene.following.settle();
      return [await stateOf(scene, id), await stateOf(scene, half)];
    };
    assert.deepEqual(await states(), ['active', 'active']);
    const { seaport } = world.protocol;
    const steps: [Call, string, string][] = [
      [money('withdraw', BIDDER, 1n), 'active no-balance', 'active'],
      [money('deposit', BIDDER, 1n), 'active', 'active'],
      [money('transfer', BIDDER, world.people[OTHER], PRICE), 'active no-balance', 'active no-balance'],
      [money('deposit', OTHER, PRICE), 'active no-balance', 'active no-balance'],
      [money('transfer', OTHER, world.people[BIDDER], PRICE), 'active', 'active'],
      [money('approve', BIDDER, seaport.address, PRICE - 1n), 'active not-approved', 'active'],
      [money('approve', BIDDER, seaport.address, 0n), 'active not-approved', 'active not-approved'],
      [money('approve', BIDDER, seaport.address, PRICE), 'active', 'active'],
    ];
    for (const [call, first, second] of steps) {
      await world.act(call);
      assert.deepEqual(await states(), [first, second]);
    }
  });

  test('an accepted bid is filled and is a sale with its id, and the other bids of the bidder are covered by what is left', async () => {
    const scene = await open();
    const tokenId = await mintTo(SELLER);
    await fund(BIDDER, PRICE * 2n - 1n, PRICE * 2n);
    await scene.following.settle();
    const item = await signBid({ wanted: { tokenId } });
    const id = await submit(scene, item);
    const other = await submit(scene, await signBid({}));
    await world.act(accept(item, SELLER, tokenId));
    await scene.following.settle();
    assert.deepEqual([await stateOf(scene, id), await stateOf(scene, other)], ['filled', 'active no-balance']);
    const sales = await scene.db.query(
      `select asset, price, seller, buyer, listing_id from indexer.sale where asset = $1`,
      [tokenId.toString()],
    );
    const [buyer, seller] = world.people;
    assert.deepEqual(sales, [{ asset: tokenId.toString(), price: PRICE.toString(), seller, buyer, listing_id: id }]);
  });

  test('a bid for several tokens is accepted in parts, and is dormant when the money for the next one is missing', async () => {
    const scene = await open();
    const tokens = [await mintTo(SELLER), await mintTo(SELLER)] as const;
    await fund(BIDDER, PRICE * 2n, PRICE * 5n);
    await scene.following.settle();
    const bid = await signBid({ quantity: 4n, price: PRICE * 4n });
    const id = await submit(scene, bid);
    await world.act(accept(bid, SELLER, tokens[0], { units: 4n }));
    await scene.following.settle();
    const [row] = await scene.db.query('select filled_quantity::int as filled from main.book_order where id = $1', [
      id,
    ]);
    assert.deepEqual([await stateOf(scene, id), row], ['active', { filled: 1 }]);
    await world.act(accept(bid, SELLER, tokens[1], { units: 4n }));
    await scene.following.settle();
    assert.equal(await stateOf(scene, id), 'active no-balance');
  });

  test('the proof of each token of a set is accepted by Seaport, and a token outside of the set has none', async () => {
    const scene = await open();
    const held = [await mintTo(SELLER), await mintTo(SELLER), await mintTo(SELLER)];
    const set = [...held.slice(0, 2).map(String), '70001', '70002', '70003', '70004'] as AssetId[];
    await fund(BIDDER, PRICE * 2n);
    await scene.following.settle();
    const bid = await signBid({ wanted: { root: toTokenRoot(set) }, quantity: 2n, price: PRICE * 2n });
    const id = await submit(scene, bid, set);
    const proofOf = (tokenId: bigint | undefined) => toTokenProof(set, String(tokenId) as AssetId);
    assert.equal(proofOf(held[2]), null);
    const wrong = accept(bid, SELLER, held[2] ?? 0n, { proof: proofOf(held[0]) ?? [], units: 2n });
    await assert.rejects(world.act(wrong), /InvalidProof|a transaction failed/);
    for (const tokenId of held.slice(0, 2)) {
      await world.act(accept(bid, SELLER, tokenId, { proof: proofOf(tokenId) ?? [], units: 2n }));
    }
    await scene.following.settle();
    assert.equal(await stateOf(scene, id), 'filled');
  });

  test('Seaport accepts the proof of each token of a large set', async () => {
    const scene = await open();
    const first = nextToken + 1n;
    nextToken += 40n;
    const held = Array.from({ length: 40 }, (_, index) => first + BigInt(index));
    await world.mint(world.people[SELLER], ...held);
    await world.approve(world.people[SELLER]);
    const others = Array.from({ length: 961 }, (_, index) => (BigInt(index) + 2n) ** 20n);
    const set = [...held, ...others].map((id) => id.toString() as AssetId);
    await fund(BIDDER, PRICE);
    await scene.following.settle();
    const bid = await signBid({ wanted: { root: toTokenRoot(set) } });
    await submit(scene, bid, set);
    const stored = await listTokensOfSet(scene.db, `ethereum_${world.nft.address}`, toTokenRoot(set));
    const simulate = ({ from, to, data }: Call) => world.chain.rpc.call('eth_call', { from, to, data }, 'latest');
    for (const tokenId of held) {
      const proof = toTokenProof(stored, tokenId.toString() as AssetId) ?? assert.fail(`no proof of ${tokenId}`);
      await simulate(accept(bid, SELLER, tokenId, { proof }));
      await assert.rejects(simulate(accept(bid, SELLER, tokenId, { proof: proof.slice(1) })));
    }
  });

  test('a bid in another currency follows the balance and the allowance of this currency, and not those of the wrapped native one', async () => {
    const scene = await open();
    await fund(BIDDER, PRICE);
    await fund(BIDDER, PRICE, PRICE, other);
    await scene.following.settle();
    const native = await submit(scene, await signBid({}));
    const id = await submit(scene, await signBid({ currency: other.address }));
    const poor = await signBid({ currency: other.address, price: PRICE + 1n });
    await assert.rejects(submit(scene, poor), { code: 'no_funds' });
    const states = async () => {
      await scene.following.settle();
      return [await stateOf(scene, native), await stateOf(scene, id)];
    };
    assert.deepEqual(await states(), ['active', 'active']);
    const { seaport } = world.protocol;
    const inOther = (call: Money, ...args: unknown[]) => moneyOf(other, call, BIDDER, ...args);
    const steps: [Call, string, string][] = [
      [inOther('withdraw', 1n), 'active', 'active no-balance'],
      [money('withdraw', BIDDER, 1n), 'active no-balance', 'active no-balance'],
      [inOther('deposit', 1n), 'active no-balance', 'active'],
      [money('deposit', BIDDER, 1n), 'active', 'active'],
      [inOther('approve', seaport.address, PRICE - 1n), 'active', 'active not-approved'],
      [inOther('approve', seaport.address, PRICE), 'active', 'active'],
      [money('approve', BIDDER, seaport.address, 0n), 'active not-approved', 'active'],
      [inOther('transfer', world.people[OTHER], PRICE), 'active not-approved', 'active no-balance'],
    ];
    for (const [call, first, second] of steps) {
      await world.act(call);
      assert.deepEqual(await states(), [first, second]);
    }
    await rollBack(world.chain, 1);
    for (let blocks = 0; blocks < 2; blocks += 1) await mine(world.chain);
    assert.deepEqual(await states(), ['active not-approved', 'active']);
    await world.act(inOther('withdraw', 1n));
    await world.chain.rpc.call('anvil_mine', '0x80');
    assert.deepEqual(await states(), ['active not-approved', 'active no-balance']);
    const context = toContext(scene.db, { clock: Date.now, settings: { RPC_URL_ETHEREUM: world.chain.url } });
    const audit = () => createAuditOperations(context, { pauseMs: 1 }).audit({ sample: 0, chain: 'ethereum' });
    assert.deepEqual((await audit()).differences, []);
    await scene.db.query(`update main.funds set balance = balance + 1 where currency <> ''`);
    assert.deepEqual(
      (await audit()).differences.map(({ subject, field }) => [subject.includes(id), field]),
      [[true, 'balance']],
    );
  });

  test('Seaport fills a bid in another currency, and its sale and its changes have this currency and no native price', async () => {
    const scene = await open();
    const tokenId = await mintTo(SELLER);
    await fund(BIDDER, 0n);
    await fund(BIDDER, PRICE, PRICE, other);
    await scene.following.settle();
    const fee = { recipient: world.people[OTHER] as Address, amount: 25n };
    const item = await signBid({ wanted: { tokenId }, currency: other.address, fees: [fee] });
    const id = await submit(scene, item);
    await world.act(moneyOf(other, 'approve', SELLER, world.protocol.seaport.address, fee.amount));
    await world.act(accept(item, SELLER, tokenId));
    await scene.following.settle();
    assert.equal(await stateOf(scene, id), 'filled');
    const paid = await readChain(world.chain, other, 'balanceOf', [world.people[BIDDER]]);
    assert.equal(paid, 0n);
    const sales = await scene.db.query(`select price_raw, price, listing_id from indexer.sale where asset = $1`, [
      tokenId.toString(),
    ]);
    assert.deepEqual(sales, [{ price_raw: null, price: `${PRICE} of ${other.address}`, listing_id: id }]);
    const changes = await scene.db.query(
      `select kind, price_raw, payment from main.activity where order_id = $1 and origin = 'main'
       union all select kind, price_raw, payment from main.market_change where order_id = $1 order by kind`,
      [id],
    );
    assert.deepEqual(
      changes,
      ['bid', 'fill'].map((kind) => ({ kind, price_raw: null, payment: `${PRICE} of ${other.address}` })),
    );
  });

  test('a reorganisation reverts the funds of a bidder, and the acceptance of a bid', async () => {
    const scene = await open();
    const tokenId = await mintTo(SELLER);
    await fund(BIDDER, PRICE);
    await scene.following.settle();
    const bid = await signBid({ wanted: { tokenId } });
    const id = await submit(scene, bid);
    await world.act(money('withdraw', BIDDER, 1n));
    await scene.following.settle();
    assert.equal(await stateOf(scene, id), 'active no-balance');
    await rollBack(world.chain, 1);
    for (let blocks = 0; blocks < 2; blocks += 1) await mine(world.chain);
    await scene.following.settle();
    assert.equal(await stateOf(scene, id), 'active');

    await world.act(accept(bid, SELLER, tokenId));
    await scene.following.settle();
    assert.equal(await stateOf(scene, id), 'filled');
    await rollBack(world.chain, 1);
    await world.act(money('approve', BIDDER, world.protocol.seaport.address, 0n));
    await mine(world.chain);
    await scene.following.settle();
    assert.equal(await stateOf(scene, id), 'active not-approved');
  });

  test('the funds from before a bid was submitted are read again after a reorganisation', async () => {
    const scene = await open();
    await fund(BIDDER, PRICE);
    await fund(BIDDER, PRICE + 1n);
    await scene.following.settle();
    const id = await submit(scene, await signBid({ price: PRICE + 1n }));
    await rollBack(world.chain, 1);
    for (let blocks = 0; blocks < 2; blocks += 1) await mine(world.chain);
    await scene.following.settle();
    assert.equal(await stateOf(scene, id), 'active no-balance');
  });

  test('money that moves between two blocks and a submission is not missed', async () => {
    const scene = await open();
    await fund(BIDDER, PRICE);
    await scene.following.settle();
    await world.act(money('withdraw', BIDDER, 1n));
    // The bid is submitted after the events of the new block were requested, when its account was not followed yet.
    const { blocks, events } = scene.following.reader;
    const ofBlock = events.ofBlock.bind(events);
    let id = '';
    const reader = Object.create(scene.following.reader, {
      blocks: { value: blocks },
      events: {
        value: Object.assign(Object.create(events), {
          ofBlock: async (...args: Parameters<typeof ofBlock>) => {
            const found = await ofBlock(...args);
            id ||= await submit(scene, await signBid({}));
            return found;
          },
        }),
      },
    });
    await followOnce({ ...scene.following.context, reader });
    assert.notEqual(id, '');
    await scene.following.settle();
    assert.equal(await stateOf(scene, id), 'active no-balance');
  });

  test('funds that are read for a new bid judge the other bids of the bidder too, if they could not be read before', async () => {
    const scene = await open();
    await fund(BIDDER, PRICE);
    await scene.following.settle();
    const id = await submit(scene, await signBid({}));
    await world.act(money('withdraw', BIDDER, 1n));
    await scene.following.settle();
    await world.act(money('deposit', BIDDER, 1n));
    const { contracts } = scene.following.reader;
    const failing = Object.assign(Object.create(contracts), {
      funds: () => Promise.reject(new RpcFailure('call-failed')),
    });
    const reader = Object.create(scene.following.reader, { contracts: { value: failing } });
    await followOnce({ ...scene.following.context, reader });
    assert.equal(await stateOf(scene, id), 'active no-balance');
    await submit(scene, await signBid({ price: 1n }));
    assert.equal(await stateOf(scene, id), 'active');
  });

  test('the funds of bidders are read after many blocks were read at once, and are followed as long as a bid is open', async () => {
    const scene = await open();
    await fund(BIDDER, PRICE);
    await scene.following.settle();
    const id = await submit(scene, await signBid({}));
    await world.act(money('withdraw', BIDDER, PRICE));
    await world.chain.rpc.call('anvil_mine', '0x80');
    await scene.following.settle();
    assert.equal(await stateOf(scene, id), 'active no-balance');
    const unread = await scene.db.query('select from main.funds where balance is null');
    assert.equal(unread.length, 0);
  });

  test('what is offered for the tokens of a wallet has one row for each token, with the best bid of another account', async () => {
    const scene = await open();
    const [first, second] = [await mintTo(SELLER), await mintTo(SELLER)];
    await fund(BIDDER, PRICE * 10n);
    await fund(SELLER, PRICE * 10n);
    await scene.following.settle();
    const best = await submit(scene, await signBid({ wanted: { tokenId: second }, price: PRICE * 3n }));
    const lower = await submit(scene, await signBid({ price: PRICE }));
    await submit(scene, await signBid({ wanted: { tokenId: first }, price: PRICE * 5n }, SELLER));
    await fund(BIDDER, PRICE * 10n, PRICE * 10n, other);
    await scene.following.settle();
    await submit(scene, await signBid({ wanted: { tokenId: second }, price: PRICE * 9n, currency: other.address }));
    const query = { account: world.people[SELLER], chains: ['ethereum'], limit: 1_000, now: Date.now() };
    const offers = await listOffers(scene.db, { ...query, after: null });
    const held = await scene.db.query('select from main.holding where holder = $1', [world.people[SELLER]]);
    assert.equal(offers.length, held.length);
    assert.deepEqual([offers[0]?.asset, offers[0]?.bid.orderId], [second.toString(), best]);
    assert.deepEqual(new Set(offers.slice(1).map(({ bid }) => bid.orderId)), new Set([lower]));
    const pages: string[] = [];
    for (let after: OfferPosition | null = null; ;) {
      const [row]: Offer[] = await listOffers(scene.db, { ...query, after, limit: 1 });
      if (!row) break;
      pages.push(row.asset);
      after = {
        chain: row.chain,
        proceeds: row.bid.proceeds.toString(),
        collectionId: row.collectionId,
        asset: row.asset,
      };
    }
    assert.deepEqual(
      pages,
      offers.map(({ asset }) => asset),
    );
    assert.deepEqual(await listOffers(scene.db, { ...query, chains: ['base'], after: null }), []);
  });
});
