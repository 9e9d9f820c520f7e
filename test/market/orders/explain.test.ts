// Tests the explanation of the state of an order.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Address, AssetId } from '../../../src/platform/core/address.ts';
import { explainOrder } from '../../../src/market/orders/explain.ts';
import { forOneEngine } from '../../support/engines/each-engine.ts';
import { EVM, NOW } from '../../support/service/intake.ts';
import { SEAPORT_1_6 } from '../../support/chain/signed-orders.ts';
import { ask, eventAt, OFFERER, TestOrders } from './test-orders.ts';

const OTHER = `0x${'0e'.repeat(20)}`;

forOneEngine('the explanation of an order', (engine) => {
  const orders = new TestOrders(engine);

  test('an explanation contains the failed checks, the events of the token, and the transitions of the order', async () => {
    await orders.follow();
    const { orderId, orderHash } = await orders.submitSigned(orders.contextOf({}));
    const { protocol: _protocol, offerer: _offerer, ...where } = eventAt(4);
    const moved = {
      contract: EVM as Address,
      tokenId: '1' as AssetId,
      from: OFFERER,
      to: EVM as Address,
      quantity: 1n,
    };
    await orders.insertEvent({ ...where, kind: 'transfer', ...moved });
    await orders.changeBalance(-1n);
    const explained = await explainOrder(orders.offline, orderId);
    assert.equal(explained?.derived?.dormant, 'no-balance');
    assert.deepEqual(
      explained?.checks.filter(({ ok }) => ok === false).map(({ check }) => check),
      ['balance', 'stored_state'],
    );
    assert.deepEqual(
      explained?.tokenEvents.map(({ kind, logIndex }) => [kind, logIndex]),
      [['transfer', 4]],
    );
    assert.equal(explained?.readTo?.number, 100);
    assert.equal(explained?.order.signed?.orderHash, orderHash);
    assert.deepEqual(
      explained?.transitions.map(({ to }) => to),
      ['active', 'dormant'],
    );
  });

  test('an explanation has the increments of the counter that end the order, and no earlier one', async () => {
    await orders.follow();
    const { orderId } = await orders.submitSigned(
      orders.contextOf({ getCounter: async () => 7n }),
      ask({}, { counter: 7n }),
    );
    const incrementTo = (counter: bigint) =>
      orders.insertEvent({ ...eventAt(Number(counter)), kind: 'counter-incremented', counter });
    const eventsOf = async () => (await explainOrder(orders.offline, orderId))?.events.map(({ logIndex }) => logIndex);
    await incrementTo(6n);
    await incrementTo(7n);
    assert.deepEqual(await eventsOf(), []);
    await incrementTo(10n);
    assert.deepEqual(await eventsOf(), [10]);
  });

  test('an explanation states since when an order is dormant: since the newest event that took the token away', async () => {
    await orders.follow();
    const { orderId } = await orders.submitSigned(orders.contextOf({}));
    await orders.changeBalance(-1n);
    const dormancy = async () => (await explainOrder(orders.offline, orderId))?.transitions.at(-1);
    assert.deepEqual(await dormancy(), { at: NOW, to: 'dormant', because: 'no-balance', tx: null });
    const insertTransfer = (logIndex: number, minutes: number, [from, to]: readonly [string, string]) => {
      const { protocol: _protocol, offerer: _offerer, ...where } = eventAt(logIndex);
      const token = { contract: EVM as Address, tokenId: '1' as AssetId, quantity: 1n };
      const parties = { from: from as Address, to: to as Address };
      const blockTime = NOW + minutes * 60_000;
      const tx = `0x${String(logIndex).padStart(64, '0')}` as const;
      return orders.insertEvent({ ...where, blockTime, tx, kind: 'transfer', ...token, ...parties });
    };
    await insertTransfer(1, 1, [OFFERER, EVM]);
    await insertTransfer(2, 2, [EVM, OFFERER]);
    await insertTransfer(3, 3, [OFFERER, EVM]);
    await insertTransfer(4, 4, [EVM, OTHER]);
    const tx = `0x${'3'.padStart(64, '0')}`;
    assert.deepEqual(await dormancy(), { at: NOW + 180_000, to: 'dormant', because: 'no-balance', tx });
    for (let n = 5; n < 55; n += 1) await insertTransfer(n, n, [OTHER, OTHER]);
    assert.deepEqual(await dormancy(), { at: null, to: 'dormant', because: 'no-balance', tx: null });
  });

  test('an explanation states since when an order is dormant: since the newest event that took the approval away', async () => {
    await orders.follow();
    const { orderId } = await orders.submitSigned(orders.contextOf({}));
    await orders.approve(SEAPORT_1_6.address, false);
    const approval = (logIndex: number, operator: string, approved: boolean) => {
      const { protocol: _protocol, offerer: owner, ...where } = eventAt(logIndex);
      const blockTime = NOW + logIndex * 60_000;
      const account = { contract: EVM as Address, owner, operator: operator as Address };
      return orders.insertEvent({ ...where, blockTime, kind: 'approval-for-all', ...account, approved });
    };
    await approval(1, SEAPORT_1_6.address, true);
    await approval(2, SEAPORT_1_6.address, false);
    await approval(3, OTHER, false);
    const explained = await explainOrder(orders.offline, orderId);
    const { at, because } = explained?.transitions.at(-1) ?? {};
    assert.deepEqual({ at, because }, { at: NOW + 120_000, because: 'not-approved' });
  });

  test("the check `balance` compares the offerer's balance with the units that a fill needs", async () => {
    await orders.follow({ held: 3n });
    const order = ask({ standard: 'erc1155', quantity: 3n });
    const { orderId } = await orders.submitSigned(orders.contextOf({}), order);
    const balanceCheck = async () => {
      const explained = await explainOrder(orders.offline, orderId);
      return explained?.checks.find(({ check }) => check === 'balance');
    };
    assert.equal((await balanceCheck())?.ok, true);
    await orders.changeBalance(-1n);
    assert.deepEqual(await balanceCheck(), {
      check: 'balance',
      ok: false,
      detail: 'the offerer holds 2, a fill needs 3',
    });
  });

  test('a balance below zero is unknown, because transfers before the first block that was read are missing', async () => {
    await orders.follow({ standard: 'erc1155' });
    const order = ask({ standard: 'erc1155', quantity: 1n });
    const { orderId } = await orders.submitSigned(orders.contextOf({}), order);
    await orders.changeBalance(-3n);
    const explained = await explainOrder(orders.offline, orderId);
    const found = explained?.checks.find(({ check }) => check === 'balance');
    assert.deepEqual(
      [found?.ok, found?.detail],
      [null, 'unknown: the log of the collection does not begin with its first transfer'],
    );
    // An order is hidden only if it is known that its offerer does not hold the token.
    assert.deepEqual([explained?.derived?.status, explained?.derived?.dormant], ['active', null]);
    await orders.changeBalance(2n);
    assert.equal((await explainOrder(orders.offline, orderId))?.derived?.dormant, 'no-balance');
  });

  test('an account that has transferred the only unit of a token more often than it was read to receive it holds none', async () => {
    await orders.follow();
    const { orderId } = await orders.submitSigned(orders.contextOf({}));
    await orders.changeBalance(-2n);
    const explained = await explainOrder(orders.offline, orderId);
    const found = explained?.checks.find(({ check }) => check === 'balance');
    assert.deepEqual([found?.ok, found?.detail], [false, 'the offerer holds 0, a fill needs 1']);
    assert.equal(explained?.derived?.dormant, 'no-balance');
  });
});
