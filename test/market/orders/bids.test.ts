// Tests the submission of bids, and how their status follows from the funds of the bidder and from the chain log.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { listBookDifferences } from '../../../src/market/orders/queries/book-recount.ts';
import { listOwnBooks, refreshTopBids } from '../../../src/market/orders/queries/book-figures.ts';
import { findStoredOrder } from '../../../src/market/orders/queries/stored-orders.ts';
import { listTokensOfSet } from '../../../src/market/orders/queries/token-sets.ts';
import { evaluateCollectionOrders } from '../../../src/market/orders/evaluate.ts';
import { explainOrder } from '../../../src/market/orders/explain.ts';
import { expireOrders } from '../../../src/market/orders/book.ts';
import { cancelOrder } from '../../../src/market/orders/cancel.ts';
import { sideOf } from '../../../src/market/orders/order-id.ts';
import { upsertFunds } from '../../../src/market/orders/queries/funds.ts';
import { hashOrder } from '../../../src/market/orders/seaport/order.ts';
import { toTokenRoot } from '../../../src/market/orders/seaport/token-tree.ts';
import type { Address, AssetId } from '../../../src/platform/core/address.ts';
import { ZERO_ADDRESS } from '../../../src/platform/core/evm.ts';
import { accountOf, SEAPORT_1_6 } from '../../support/chain/signed-orders.ts';
import { forEachEngine } from '../../support/engines/each-engine.ts';
import { EVM, NOW } from '../../support/service/intake.ts';
import { ask, bid, COLLECTION, eventAt, HOUR, OFFERER, outcomeOf, TestOrders, WETH } from './test-orders.ts';

const TOKENS = ['3', '5', '8'] as AssetId[];
const ROOT = toTokenRoot(TOKENS);

forEachEngine('bids', (engine) => {
  const orders = new TestOrders(engine);
  const evaluate = (now = NOW) => orders.db.transaction((tx) => evaluateCollectionOrders(tx, COLLECTION, now));
  const setFunds = (block: number, balance: bigint, allowance = balance) =>
    upsertFunds(orders.db, { chain: 'ethereum', block }, [
      { account: OFFERER, operator: SEAPORT_1_6.address, currency: null, funds: { balance, allowance } },
    ]);
  const stateOf = async (orderId: string) => {
    const order = await findStoredOrder(orders.db, orderId);
    return [order?.status, order?.dormant].filter((part) => part !== null).join(' ');
  };
  const changes = async () =>
    (await orders.db.query(`select kind, reason, asset, quantity::text from main.market_change order by seq`)).map(
      (row) => Object.values(row).join(' ').trim(),
    );

  test('bids of the three kinds are stored with their terms and their tokens', async () => {
    const fees = [{ recipient: accountOf(9).lower, amount: 30n }];
    const item = await orders.submitSigned(orders.offline, bid({ fees }));
    const anyToken = await orders.submitSigned(orders.offline, bid({ wanted: 'any', quantity: 2n }));
    const set = await orders.submitSigned(orders.offline, bid({ wanted: { root: ROOT } }), { tokenIds: TOKENS });
    const stored = await Promise.all([item, anyToken, set].map(({ orderId }) => findStoredOrder(orders.db, orderId)));
    assert.deepEqual(
      stored.map((order) => order && [order.side, order.asset, order.root, order.raw, order.proceeds, order.seller]),
      [
        ['bid', '1', null, 1_000n, 970n, OFFERER],
        ['bid', null, null, 500n, 500n, OFFERER],
        ['bid', null, ROOT, 1_000n, 1_000n, OFFERER],
      ],
    );
    assert.deepEqual(
      [item, anyToken, set].map(({ orderId }) => sideOf(orderId)),
      ['bid', 'bid', 'bid'],
    );
    assert.deepEqual(await listTokensOfSet(orders.db, COLLECTION, ROOT), TOKENS);
    assert.deepEqual(await changes(), ['bid  1 1', 'bid   2', 'bid   1']);
    assert.deepEqual(new Set(orders.changed), new Set([COLLECTION]));
  });

  test('a set of tokens is accepted only if its Merkle root is the signed one', async () => {
    const ofRoot = bid({ wanted: { root: ROOT } });
    const outcome = (criteria: Parameters<typeof orders.submitSigned>[2], order = ofRoot, found: AssetId[] = []) =>
      outcomeOf(orders.submitSigned({ ...orders.offline, listTokensWithTraits: async () => found }, order, criteria));
    const traits = { traits: [{ name: 'Hat', value: 'Cap' }] };
    assert.equal(await outcome(null), 'criteria_not_valid');
    assert.equal(await outcome({ tokenIds: ['3', '5'] }), 'criteria_not_valid');
    assert.equal(await outcome({ tokenIds: ['3', '5', '8', '8'] }), 'criteria_not_valid');
    assert.equal(await outcome({ tokenIds: ['3', '5', '08'] }), 'criteria_not_valid');
    assert.equal(await outcome(traits), 'criteria_not_valid');
    assert.equal(await outcome(traits, ofRoot, ['3', '5'] as AssetId[]), 'criteria_not_valid');
    assert.equal(await outcome({ tokenIds: TOKENS }, bid()), 'criteria_not_valid');
    assert.equal(await outcome({ tokenIds: TOKENS }, ask()), 'criteria_not_valid');
    assert.equal(await orders.count(), 0);
    assert.equal(await outcome(traits, ofRoot, TOKENS.toReversed()), 'accepted');
    assert.equal(await outcome({ tokenIds: TOKENS }, ofRoot), 'duplicate');
    const [set] = await orders.db.query('select tokens, traits from main.token_set');
    assert.deepEqual(set, { tokens: 3, traits: traits.traits });
  });

  test('a bid is in no figure and no list of listings', async () => {
    await orders.submitSigned(orders.offline, bid());
    await orders.submitSigned(orders.offline, bid({ wanted: 'any' }));
    const books = await listOwnBooks(orders.db, [COLLECTION], NOW);
    assert.deepEqual(books.get(COLLECTION), {
      ask: null,
      total: null,
      bareAsk: null,
      assets: 0,
      started: [],
      known: false,
    });
    await orders.submitSigned(orders.offline, ask({ price: 5_000n }));
    assert.equal((await listOwnBooks(orders.db, [COLLECTION], NOW)).get(COLLECTION)?.ask, 5_000n);
    const [book] = await orders.db.query('select listed_assets::int, floor_raw::int from main.collection_book');
    assert.deepEqual(book, { listed_assets: 1, floor_raw: 5_000 });
    assert.deepEqual(await listBookDifferences(orders.db, { prefix: '', now: NOW, limit: 9 }), []);
  });

  test('a bid in another currency is not the top bid of its collection', async () => {
    const native = await orders.submitSigned(orders.offline, bid({ wanted: 'any' }));
    const other = await orders.submitSigned(orders.offline, bid({ wanted: 'any', price: 5_000n }));
    const topAfter = async (orderId: string) => {
      await orders.db.query('update main.book_order set currency = case when id = $1 then $2 end', [orderId, EVM]);
      await refreshTopBids(orders.db, [COLLECTION], NOW);
      assert.deepEqual(await listBookDifferences(orders.db, { prefix: '', now: NOW, limit: 9 }), []);
      const [book] = await orders.db.query('select top_bid_raw::int as top from main.collection_book');
      return book?.['top'];
    };
    assert.equal(await topAfter(other.orderId), 1_000);
    assert.equal(await topAfter(native.orderId), 5_000);
  });

  test('on a followed chain, the bidder must have the funds and the counter of the bid', async () => {
    await orders.follow();
    const calls: unknown[] = [];
    const withFunds = (balance: bigint, allowance: bigint) =>
      orders.contextOf({
        funds: async (...args) => {
          calls.push(args);
          return [{ balance, allowance }];
        },
      });
    assert.equal(await outcomeOf(orders.submitSigned(withFunds(999n, 1_000n), bid())), 'no_funds');
    assert.equal(await outcomeOf(orders.submitSigned(withFunds(1_000n, 999n), bid())), 'not_approved');
    assert.equal(
      await outcomeOf(orders.submitSigned(orders.contextOf({ funds: async () => [null] }), bid())),
      'no_funds',
    );
    assert.equal(
      await outcomeOf(orders.submitSigned(orders.contextOf({ getCounter: async () => 5n }), bid())),
      'wrong_counter',
    );
    assert.equal(await outcomeOf(orders.submitSigned(withFunds(1_000n, 1_000n), bid())), 'accepted');
    assert.deepEqual(calls.at(-1), [WETH, [{ account: OFFERER, operator: SEAPORT_1_6.address }], 100]);
    // Of a bid that can be filled in parts, one unit must be covered.
    const parts = bid({ wanted: 'any', quantity: 10n, price: 10_000n });
    assert.equal(await outcomeOf(orders.submitSigned(withFunds(999n, 999n), parts)), 'no_funds');
    assert.equal(await outcomeOf(orders.submitSigned(withFunds(1_000n, 1_000n), parts)), 'accepted');
  });

  test('a bid is dormant while the newest funds do not cover it, and active again when they do', async () => {
    await orders.follow();
    const { orderId } = await orders.submitSigned(orders.contextOf({}), bid());
    assert.equal(await stateOf(orderId), 'active');
    const steps: [bigint, bigint, string][] = [
      [999n, 1_000n, 'active no-balance'],
      [1_000n, 999n, 'active not-approved'],
      [1_000n, 1_000n, 'active'],
    ];
    for (const [index, [balance, allowance, state]] of steps.entries()) {
      await setFunds(101 + index, balance, allowance);
      await evaluate();
      assert.equal(await stateOf(orderId), state);
      const explained = await explainOrder({ main: orders.db, clock: () => NOW }, orderId);
      assert.equal(explained?.checks.find(({ check }) => check === 'balance')?.ok, balance >= 1_000n);
      assert.equal(explained?.checks.find(({ check }) => check === 'stored_state')?.ok, true);
    }
    assert.deepEqual(await changes(), [
      'bid  1 1',
      'bid-invalidate balance 1 1',
      'bid-invalidate approval 1 1',
      'bid-revalidate  1 1',
    ]);
  });

  const fillOf = (orderHash: ReturnType<typeof hashOrder>, { log, units }: { log: number; units: bigint }) => ({
    ...eventAt(log),
    kind: 'order-fulfilled' as const,
    orderHash,
    zone: EVM as Address,
    recipient: EVM as Address,
    offer: [{ itemType: 1, token: WETH as Address, identifier: 0n, amount: 1_000n * units }],
    consideration: [
      { itemType: 1, token: WETH as Address, identifier: 0n, amount: 7n * units, recipient: EVM as Address },
      { itemType: 3, token: EVM as Address, identifier: 4n, amount: units, recipient: OFFERER },
    ],
  });

  test('a bid is filled by the units that its fills have delivered', async () => {
    await orders.follow({ standard: 'erc1155' });
    const fees = [{ recipient: accountOf(9).lower, amount: 21n }];
    const order = bid({ wanted: 'any', standard: 'erc1155', quantity: 3n, price: 3_000n, fees });
    const { orderId } = await orders.submitSigned(orders.contextOf({}), order);
    await orders.insertEvent(fillOf(hashOrder(order), { log: 1, units: 2n }));
    await evaluate();
    assert.equal((await findStoredOrder(orders.db, orderId))?.filledQuantity, 2n);
    assert.equal(await stateOf(orderId), 'active');
    await orders.insertEvent(fillOf(hashOrder(order), { log: 2, units: 1n }));
    await evaluate();
    assert.equal(await stateOf(orderId), 'filled');
    assert.deepEqual(await changes(), ['bid   3', 'bid   1', 'fill']);
  });

  test('a bid for a token ends when the token is burned, and not when the bidder becomes its owner', async () => {
    await orders.follow();
    const { orderId } = await orders.submitSigned(orders.contextOf({}), bid());
    const collectionBid = await orders.submitSigned(orders.contextOf({}), bid({ wanted: 'any' }));
    const { protocol: _protocol, offerer, ...position } = eventAt(1);
    const transfer = {
      ...position,
      kind: 'transfer' as const,
      contract: EVM as Address,
      tokenId: '1' as AssetId,
      quantity: 1n,
    };
    await orders.insertEvent({ ...transfer, from: EVM as Address, to: offerer });
    await evaluate();
    assert.equal(await stateOf(orderId), 'active');
    await orders.insertEvent({ ...transfer, logIndex: 2, from: offerer, to: ZERO_ADDRESS });
    await evaluate();
    assert.equal(await stateOf(orderId), 'cancelled');
    assert.equal(await stateOf(collectionBid.orderId), 'active');
    assert.equal(await outcomeOf(orders.submitSigned(orders.contextOf({}), bid())), 'token_burned');
    await orders.db.query(`delete from main.chain_event where log_index = 2`);
    await evaluate();
    assert.equal(await stateOf(orderId), 'active');
  });

  test('a bid ends by its cancel, by a raised counter, by a cancel off-chain, and by its expiry', async () => {
    await orders.follow();
    const submitted = [bid(), bid({ wanted: 'any' }), bid(), bid({ wanted: 'any', end: START_END })];
    const ids: string[] = [];
    for (const order of submitted) ids.push((await orders.submitSigned(orders.contextOf({}), order)).orderId);
    await orders.insertEvent({ ...eventAt(1), kind: 'order-cancelled', orderHash: hashOrder(submitted[0] ?? bid()) });
    await cancelOrder(orders.contextOf({}), ids[1] ?? '', { cancelledBy: 'operator' });
    await evaluate();
    assert.equal(await expireOrders(orders.db, START_END * 1_000, 9), 1);
    assert.deepEqual(await Promise.all(ids.map(stateOf)), ['cancelled', 'cancelled', 'active', 'expired']);
    await orders.insertEvent({ ...eventAt(2), kind: 'counter-incremented', counter: 1n });
    await evaluate();
    assert.equal(await stateOf(ids[2] ?? ''), 'cancelled');
    const ended = (await changes()).slice(4);
    assert.deepEqual(ended.slice(0, 3), ['bid-cancel', 'bid-cancel  1', 'bid-expire']);
    // The counter was raised before the expiry time. The changes of one statement are in the order of the ids, which contain the hashes of the orders.
    assert.deepEqual(new Set(ended.slice(3)), new Set(['bid-invalidate counter', 'bid-invalidate counter 1']));
  });
});

const START_END = NOW / 1_000 + HOUR / 2;
