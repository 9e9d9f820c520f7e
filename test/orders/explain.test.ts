// The explanation of the state of an order.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Address, AssetId } from '../../src/core/address.ts';
import { explainOrder } from '../../src/orders/explain.ts';
import { forEachEngine } from '../support/engines/each-engine.ts';
import { EVM } from '../support/service/intake.ts';
import { eventAt, OFFERER, TestOrders } from './test-orders.ts';

forEachEngine('the explanation of an order', (engine) => {
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
});
