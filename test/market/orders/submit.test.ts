// Tests the submission of orders: which signatures and listings are accepted on a chain without an RPC endpoint, what happens to
// duplicates, and how the signatures of contracts are checked.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Address } from '../../../src/platform/core/address.ts';
import type { Chain } from '../../../src/platform/core/chains.ts';
import type { Hex } from '../../../src/platform/core/evm.ts';
import { hashOrder, orderDigest } from '../../../src/market/orders/seaport/order.ts';
import type { ChainChecks } from '../../../src/market/orders/signatures.ts';
import { submitOrder } from '../../../src/market/orders/submit.ts';
import {
  accountOf,
  SEAPORT_1_6,
  signBulk,
  signOrder,
  toCompact,
  toParameters,
} from '../../support/chain/signed-orders.ts';
import { forOneEngine } from '../../support/engines/each-engine.ts';
import { EVM, NOW } from '../../support/service/intake.ts';
import { ask, chains, COLLECTION, ethereum, OFFERER, outcomeOf, START, TestOrders } from './test-orders.ts';

forOneEngine('submitted orders', (engine) => {
  const orders = new TestOrders(engine);

  test('an order is accepted with a valid signature of any form', async () => {
    const full = ask({ fees: [{ recipient: accountOf(9).lower, amount: 30n }] });
    const stored = await orders.submitSigned(orders.offline, full);
    assert.equal(stored.orderId, `ethereum_${EVM}_1_${NOW}`);
    assert.deepEqual([stored.raw, stored.buyerTotalRaw, stored.seller], [1_000n, 1_030n, OFFERER]);
    assert.equal(stored.orderHash, hashOrder(full));
    assert.equal(stored.protocolAddress, SEAPORT_1_6.address);
    const compact = ask();
    await orders.submit(orders.offline, compact, toCompact(await signOrder(1, compact)));
    const bulk = [ask(), ask({ tokenId: 2n })] as const;
    for (const [index, signature] of (await signBulk(1, bulk, { height: 1 })).entries()) {
      await orders.submit(orders.offline, bulk[index] ?? ask(), signature);
    }
    assert.equal(await orders.count(), 4);
    assert.deepEqual(new Set(orders.changed), new Set([COLLECTION]));
  });

  test('an order is stored with the Seaport deployment for which it was signed', async () => {
    const order = ask();
    const old = { ...SEAPORT_1_6, version: '1.5', address: '0x00000000000000adc04c56bf30ac9d3c0aaf14dc' as Address };
    const signature = await signOrder(1, order, old);
    assert.equal(
      await outcomeOf(orders.submit(orders.offline, order, signature, { protocolAddress: SEAPORT_1_6.address })),
      'signature_invalid',
    );
    assert.equal(
      await outcomeOf(orders.submit(orders.offline, order, signature, { protocolAddress: EVM })),
      'unknown_protocol',
    );
    assert.equal(
      (
        await orders.submit(orders.offline, order, signature, {
          protocolAddress: old.address.toUpperCase().replace('0X', '0x'),
        })
      ).protocolAddress,
      old.address,
    );
  });

  test('an order that is malformed, not a listing, or not signed by its offerer is rejected', async () => {
    const signature = await signOrder(1, ask());
    const raw = (order: unknown) =>
      outcomeOf(submitOrder(orders.offline, { chain: ethereum, protocolAddress: null, order: order as never }));
    assert.equal(await raw({ parameters: {}, signature }), 'malformed_order');
    assert.equal(await raw({ parameters: toParameters(ask()), signature: 'no' }), 'malformed_order');
    assert.equal(await outcomeOf(orders.submit(orders.offline, ask(), signature)), 'signature_invalid');
    // Without an endpoint, the service cannot know whether the offerer is a contract that accepts this signature.
    await assert.rejects(orders.submit(orders.offline, ask(), signature), /needs an endpoint of the chain/);
    assert.equal(
      await outcomeOf(orders.submit(orders.offline, ask(), `0x${'ab'.repeat(200)}`)),
      'signature_unverifiable',
    );
    assert.equal(await outcomeOf(orders.submitSigned(orders.offline, ask({ price: 0n }))), 'price_not_positive');
    assert.equal(await outcomeOf(orders.submitSigned(orders.offline, ask({ end: START + 60 }))), 'expired');
    const solana = { chain: chains.get('solana') as Chain, protocolAddress: null };
    const order = { parameters: toParameters(ask()), signature };
    assert.equal(await outcomeOf(submitOrder(orders.offline, { ...solana, order })), 'unknown_protocol');
    assert.equal(await orders.count(), 0);
    assert.deepEqual(orders.changed, []);
  });

  test('the same order is stored once, even when it is submitted several times concurrently', async () => {
    const order = ask();
    const signature = await signOrder(1, order);
    const codes = await Promise.all(
      Array.from({ length: 8 }, () => outcomeOf(orders.submit(orders.offline, order, signature))),
    );
    assert.deepEqual(codes.toSorted(), ['accepted', ...Array.from({ length: 7 }, () => 'duplicate')]);
    assert.equal(await outcomeOf(orders.submit(orders.contextOf(null, NOW + 1), order, signature)), 'duplicate');
    assert.equal(await orders.count(), 1);
  });

  test('orders of one token that are submitted in the same millisecond have different ids', async () => {
    const stored = await Promise.all(Array.from({ length: 12 }, () => orders.submitSigned(orders.offline)));
    const ids = stored.map((order) => order.orderId);
    assert.deepEqual(
      ids.toSorted(),
      Array.from({ length: 12 }, (_, index) => `ethereum_${EVM}_1_${NOW + index}`).toSorted(),
    );
  });

  test('an order of a contract is accepted when the contract accepts the signature', async () => {
    await orders.follow();
    const order = ask();
    const reads: unknown[] = [];
    const signature: Hex = `0x${'ab'.repeat(130)}`;
    const isValidSignature: ChainChecks['isValidSignature'] = async (...args) => {
      reads.push(args);
      return args[1] === orderDigest(SEAPORT_1_6, hashOrder(order));
    };
    const stored = await orders.submit(orders.contextOf({ isValidSignature }), order, signature);
    assert.equal(stored.protocolAddress, SEAPORT_1_6.address);
    assert.equal(stored.seaport.signature, signature);
    assert.deepEqual(reads.at(-1), [OFFERER, orderDigest(SEAPORT_1_6, hashOrder(order)), signature, 'latest']);
    assert.equal(await outcomeOf(orders.submit(orders.contextOf({}), ask(), signature)), 'signature_invalid');
  });

  test('an order is checked on its chain at the last block that the follower has read', async () => {
    await orders.follow();
    const blocks: unknown[] = [];
    const getOrderStatus: ChainChecks['getOrderStatus'] = async (_protocol, _hash, at) => {
      blocks.push(at);
      return null;
    };
    const getCounter: ChainChecks['getCounter'] = async (_protocol, _offerer, at) => {
      blocks.push(at);
      return null;
    };
    await orders.submitSigned(orders.contextOf({ getOrderStatus, getCounter }));
    assert.deepEqual(blocks, [100, 100]);
  });

  test('an order is rejected with chain_unavailable when the chain cannot be read', async () => {
    await orders.follow();
    const unreachable = () => Promise.reject(new Error('no endpoint responds'));
    assert.equal(
      await outcomeOf(orders.submit(orders.contextOf({ isValidSignature: unreachable }), ask(), '0xabcd')),
      'chain_unavailable',
    );
    assert.equal(
      await outcomeOf(orders.submitSigned(orders.contextOf({ getCounter: unreachable }))),
      'chain_unavailable',
    );
    assert.equal(
      await outcomeOf(orders.submitSigned(orders.contextOf({ getOrderStatus: unreachable }))),
      'chain_unavailable',
    );
    assert.equal(await orders.count(), 0);
  });
});
