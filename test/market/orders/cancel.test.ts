// Tests that an order can be cancelled off-chain: by its offerer with a signature, or by the operator of the service.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Hex } from '../../../src/platform/core/evm.ts';
import { cancelOrder } from '../../../src/market/orders/cancel.ts';
import { explainOrder } from '../../../src/market/orders/explain.ts';
import { hashOrder } from '../../../src/market/orders/seaport/order.ts';
import { accountOf } from '../../support/chain/signed-orders.ts';
import { forOneEngine } from '../../support/engines/each-engine.ts';
import { NOW } from '../../support/service/intake.ts';
import { ask, HOUR, outcomeOf, TestOrders } from './test-orders.ts';

forOneEngine('off-chain cancels', (engine) => {
  const orders = new TestOrders(engine);

  const signCancel = (n: number, orderHash: Hex, chainId = 1) =>
    accountOf(n).signTypedData({
      domain: { name: 'Mercat', version: '1', chainId },
      types: { CancelOrder: [{ name: 'orderHash', type: 'bytes32' }] },
      primaryType: 'CancelOrder',
      message: { orderHash },
    });

  test('the offerer can cancel an order only with a signature of the order hash and the chain id', async () => {
    const { orderId, orderHash } = await orders.submitSigned(orders.offline);
    const cancel = async (signature: unknown) =>
      outcomeOf(cancelOrder(orders.offline, orderId, { cancelledBy: 'offerer', signature }));
    assert.equal(await cancel(await signCancel(2, orderHash)), 'signature_invalid');
    assert.equal(await cancel(await signCancel(1, orderHash, 137)), 'signature_invalid');
    assert.equal(await cancel(await signCancel(1, hashOrder(ask()))), 'signature_invalid');
    assert.equal(await cancel('0x1234'), 'signature_unverifiable');
    assert.equal(await cancel(undefined), 'malformed_order');
    const withoutChain = { ...orders.offline, chains: new Map() };
    const signed = { cancelledBy: 'offerer', signature: await signCancel(1, orderHash) } as const;
    assert.equal(await outcomeOf(cancelOrder(withoutChain, orderId, signed)), 'chain_unavailable');
    const cancelled = await cancelOrder(orders.offline, orderId, {
      cancelledBy: 'offerer',
      signature: await signCancel(1, orderHash),
    });
    assert.deepEqual([cancelled?.status, cancelled?.endedAt, cancelled?.tx], ['cancelled', NOW, null]);
    assert.equal(await cancel(await signCancel(1, orderHash)), 'accepted');
    const { cancel: stored } = (await explainOrder(orders.offline, orderId)) ?? {};
    assert.deepEqual([stored?.cancelledBy, stored?.createdAt], ['offerer', NOW]);
  });

  test('concurrent cancels of one order all succeed', async () => {
    const { orderId } = await orders.submitSigned(orders.offline);
    const later = orders.contextOf(null, NOW + 2 * HOUR * 1_000);
    assert.equal(await outcomeOf(cancelOrder(later, orderId, { cancelledBy: 'operator' })), 'expired');
    const all = await Promise.all(
      Array.from({ length: 4 }, () => cancelOrder(orders.offline, orderId, { cancelledBy: 'operator' })),
    );
    assert.ok(all.every((order) => order?.status === 'cancelled'));
    assert.equal(await cancelOrder(orders.offline, 'nothing', { cancelledBy: 'operator' }), null);
    await orders.db.query(`update main.book_order set status = 'filled'`);
    assert.equal(await outcomeOf(cancelOrder(orders.offline, orderId, { cancelledBy: 'operator' })), 'already_filled');
  });
});
