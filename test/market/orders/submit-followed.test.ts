// An order on a chain with endpoints is checked against the stored data of its followed collection, and against the chain itself.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { updateCounters } from '../../../src/market/chain-log/queries/approvals.ts';
import { findChainCursor } from '../../../src/market/chain-log/queries/chain-cursors.ts';
import { updateHoldings } from '../../../src/market/chain-log/queries/holdings.ts';
import { updateFollowProgress } from '../../../src/market/follows/queries/follows.ts';
import type { Address } from '../../../src/platform/core/address.ts';
import type { Hex } from '../../../src/platform/core/evm.ts';
import { hashOrder } from '../../../src/market/orders/seaport/order.ts';
import { SEAPORT_1_6, signOrder } from '../../support/chain/signed-orders.ts';
import { forEachEngine } from '../../support/engines/each-engine.ts';
import { EVM } from '../../support/service/intake.ts';
import { until } from '../../support/until.ts';
import { ask, COLLECTION, eventAt, OFFERER, outcomeOf, TestOrders } from './test-orders.ts';

forEachEngine('orders on a followed chain', (engine) => {
  const orders = new TestOrders(engine);

  test('an order is accepted only for a collection whose past blocks have been read', async () => {
    assert.equal(await outcomeOf(orders.submitSigned(orders.contextOf({}))), 'collection_not_followed');
    await orders.follow();
    await updateFollowProgress(orders.db, COLLECTION, { readToBlock: 50, joined: false });
    assert.equal(await outcomeOf(orders.submitSigned(orders.contextOf({}))), 'collection_not_followed');
    await updateFollowProgress(orders.db, COLLECTION, { readToBlock: 100, joined: true });
    assert.equal(await outcomeOf(orders.submitSigned(orders.contextOf({}))), 'accepted');
  });

  test('nothing is called for a collection that is not followed', async () => {
    const called: unknown[] = [];
    const noting =
      <T>(name: string, result: T) =>
      async (): Promise<T> => {
        called.push(name);
        return result;
      };
    const context = orders.contextOf({
      isValidSignature: noting('isValidSignature', true),
      getCounter: noting('getCounter', 0n),
      getOrderStatus: noting('getOrderStatus', null),
    });
    const ofContract = `0x${'ab'.repeat(130)}`;
    const submitBoth = async () => [
      await outcomeOf(orders.submit(context, ask(), ofContract)),
      await outcomeOf(orders.submitSigned(context)),
    ];
    assert.deepEqual(await submitBoth(), ['collection_not_followed', 'collection_not_followed']);
    await orders.follow();
    await updateFollowProgress(orders.db, COLLECTION, { readToBlock: 50, joined: false });
    assert.deepEqual(await submitBoth(), ['collection_not_followed', 'collection_not_followed']);
    assert.deepEqual(called, []);
    await updateFollowProgress(orders.db, COLLECTION, { readToBlock: 100, joined: true });
    assert.deepEqual(await submitBoth(), ['accepted', 'accepted']);
    assert.deepEqual(new Set(called), new Set(['isValidSignature', 'getCounter', 'getOrderStatus']));
  });

  test('the offerer must hold the token and have approved the operator of the order', async () => {
    await orders.follow({ held: 0n });
    assert.equal(await outcomeOf(orders.submitSigned(orders.contextOf({}))), 'not_the_owner');
    await orders.changeBalance(1n);
    assert.equal(await outcomeOf(orders.submitSigned(orders.contextOf({}))), 'accepted');
    const conduitKey: Hex = '0x0000007b02230091a7ed01230072f7006a004d60a8d4e71d599b8104250f0000';
    assert.equal(await outcomeOf(orders.submitSigned(orders.contextOf({}), ask({}, { conduitKey }))), 'not_approved');
    await orders.approve('0x1e0049783f008a0085193e00003d00cd54003c71');
    assert.equal(await outcomeOf(orders.submitSigned(orders.contextOf({}), ask({}, { conduitKey }))), 'accepted');
  });

  test('an order that waits for a block to be applied is checked against the state after the block', async () => {
    await orders.follow();
    const order = ask();
    const signature = await signOrder(1, order);
    let outcome: string | null = null;
    let submitted: Promise<unknown> = Promise.resolve();
    await orders.db.transaction(async (tx) => {
      await findChainCursor(tx, 'ethereum', 'for update');
      submitted = outcomeOf(orders.submit(orders.contextOf({}), order, signature)).then((code) => (outcome = code));
      // The embedded engine has one connection. On this engine the submission always waits for the block.
      if (engine.name === 'postgresql') {
        const isWaiting = async () =>
          outcome !== null || (await orders.db.query('select 1 from pg_locks where not granted')).length > 0;
        await until(isWaiting, 5_000, 'the submission neither waited nor ended');
      }
      await updateHoldings(tx, [{ collectionId: COLLECTION, tokenId: '1', holder: OFFERER, quantity: -1n }]);
    });
    await submitted;
    assert.equal(outcome, 'not_the_owner');
  });

  test('an order is rejected when the chain log shows that it was filled or cancelled, or that its counter is wrong', async () => {
    await orders.follow();
    const [filled, cancelled] = [ask(), ask()];
    const item = { itemType: 2, token: EVM as Address, identifier: 1n, amount: 1n };
    await orders.insertEvent({
      ...eventAt(1),
      kind: 'order-fulfilled',
      orderHash: hashOrder(filled),
      zone: EVM as Address,
      recipient: EVM as Address,
      offer: [item],
      consideration: [],
    });
    await orders.insertEvent({ ...eventAt(2), kind: 'order-cancelled', orderHash: hashOrder(cancelled) });
    assert.equal(await outcomeOf(orders.submitSigned(orders.contextOf({}), filled)), 'already_filled');
    assert.equal(await outcomeOf(orders.submitSigned(orders.contextOf({}), cancelled)), 'already_cancelled');
    assert.equal(await outcomeOf(orders.submitSigned(orders.contextOf({}))), 'accepted');
    await orders.insertEvent({ ...eventAt(3), kind: 'counter-incremented', counter: 7n });
    await updateCounters(orders.db, 'ethereum', [{ protocol: SEAPORT_1_6.address, offerer: OFFERER }]);
    assert.equal(await outcomeOf(orders.submitSigned(orders.contextOf({}))), 'wrong_counter');
    const next = orders.contextOf({ getCounter: async () => 7n });
    assert.equal(await outcomeOf(orders.submitSigned(next, ask({}, { counter: 7n }))), 'accepted');
    const ahead = orders.contextOf({ getCounter: async () => null });
    assert.equal(await outcomeOf(orders.submitSigned(ahead, ask({}, { counter: 8n }))), 'wrong_counter');
  });

  test('an order that ended before its collection was followed is rejected', async () => {
    await orders.follow();
    const done = (more: object) => ({ cancelled: false, totalFilled: 0n, totalSize: 0n, ...more });
    const status = (more: object) => orders.contextOf({ getOrderStatus: async () => done(more) });
    assert.equal(await outcomeOf(orders.submitSigned(status({ cancelled: true }))), 'already_cancelled');
    assert.equal(await outcomeOf(orders.submitSigned(status({ totalFilled: 1n, totalSize: 1n }))), 'already_filled');
    assert.equal(await outcomeOf(orders.submitSigned(status({ totalFilled: 1n, totalSize: 2n }))), 'already_filled');
    assert.equal(
      await outcomeOf(orders.submitSigned(orders.contextOf({ getCounter: async () => 5n }))),
      'wrong_counter',
    );
  });

  test('an order is checked on its chain again when a block was applied between the check and the insert', async () => {
    await orders.follow();
    let reads = 0;
    const context = orders.contextOf({
      getOrderStatus: async () => {
        reads += 1;
        const cancelled = reads > 1;
        if (reads === 1) {
          await orders.db.query(
            `update main.chain_cursor set block_number = block_number + 1, block_hash = block_hash || '1'`,
          );
        }
        return { cancelled, totalFilled: 0n, totalSize: 0n };
      },
    });
    assert.equal(await outcomeOf(orders.submitSigned(context)), 'already_cancelled');
    assert.equal(reads, 2);
  });
});
