// GET /explore/v1/orders/{orderId}.

import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { hashOrder } from '../../../src/market/orders/seaport/order.ts';
import { SEAPORT_1_6, toParameters } from '../../support/chain/signed-orders.ts';
import { forOneEngine } from '../../support/engines/each-engine.ts';
import { EVM } from '../../support/service/intake.ts';
import type { IntakeClient } from '../../support/service/intake-client.ts';
import { OFFERER, START, ask, startIntake, submissionOf } from '../../support/service/intake-client.ts';
import { newCollection, withoutDecimals } from '../../support/service/market.ts';
import { until } from '../../support/until.ts';

const pathOf = (orderId: string) => `/explore/v1/orders/${orderId}`;
const BUYER = '0x00000000000000000000000000000000000000b1';
const WAIT_MS = 60_000;
const TX = `0x${'7a'.repeat(32)}`;

forOneEngine('orders', (engine) => {
  describe('service', () => {
    const intake = {} as IntakeClient;
    before(async () => void Object.assign(intake, await startIntake(engine)));
    after(() => intake.service.close());
    const read = async (orderId: string) => (await intake.service.ok(pathOf(orderId))).data;

    test('an own order is found by its id and by its hash, and has the parameters and signature with which a buyer fills it', async () => {
      const signed = ask({ tokenId: 41n });
      const submission = await submissionOf(signed);
      const { body } = await intake.send('POST', '/orders', { body: submission });
      const { orderId } = body.data;
      const order = await read(orderId);
      assert.deepEqual([order.orderId, order.status, order.dormant], [orderId, 'active', null]);
      assert.equal(order.orderHash, hashOrder(signed));
      assert.deepEqual(order.fulfilment, {
        protocolAddress: SEAPORT_1_6.address,
        parameters: toParameters(signed),
        signature: submission.order.signature,
        criteriaProof: null,
      });
      assert.deepEqual([order.listing.tokenId, order.listing.seller, order.listing.price.raw], ['41', OFFERER, '1000']);
      assert.deepEqual(order.evidence, []);
      for (const hash of [order.orderHash, order.orderHash.toUpperCase().replace('0X', '0x')])
        assert.deepEqual(await read(hash), order);
    });

    test('an order has the total that a buyer pays, and the parts of the total as far as they are known', async () => {
      const split = async (orderId: string) => {
        const { buyerPrice } = await read(orderId);
        return buyerPrice && Object.values(buyerPrice).map((price: any) => price && Number(price.raw));
      };
      const subject = newCollection({ slug: 'orders-price', royaltyBps: 500 });
      await intake.service.load([
        subject.collection(),
        subject.order('1', 1_001),
        subject.listing('2', 900, { buyerTotalRaw: '950' }),
        subject.listing('3', 1_200),
        subject.listing('4', 1_300, { buyerTotalRaw: '1299' }),
      ]);
      const { data } = await intake.service.ok(`${subject.path}/listings`);
      const prices = new Map<string, unknown>();
      for (const { tokenId, orderId } of data) prices.set(tokenId, await split(orderId));
      // The platform fee is 2 %, and the royalty is 5 %. Both are rounded up.
      assert.deepEqual(prices.get('1'), [1_001, 21, 51, 72, 1_073], 'an own order that does not include the fees');
      assert.deepEqual(prices.get('2'), [900, null, null, 50, 950], 'a listing whose total is stated');
      assert.deepEqual(prices.get('3'), [1_200, null, null, 0, 1_200], 'a listing without a total');
      assert.deepEqual(
        prices.get('4'),
        [1_300, null, null, 0, 1_300],
        'a listing whose stated total is less than the ask',
      );
      const floor = await intake.service.ok(`${subject.path}/floor`);
      assert.equal(floor.data.buyerFloor.raw, '950');

      const fees = [{ recipient: BUYER, amount: 40n }];
      const { body } = await intake.send('POST', '/orders', {
        body: await submissionOf(ask({ tokenId: 44n, price: 1_000n, fees })),
      });
      assert.deepEqual(await split(body.data.orderId), [1_000, null, null, 40, 1_040], 'an order that includes fees');
    });

    test('an order that has not started is dormant', async () => {
      const order = ask({ tokenId: 43n, start: START + 1_800 });
      const { body } = await intake.send('POST', '/orders', { body: await submissionOf(order) });
      const { status, dormant } = await read(body.data.orderId);
      assert.deepEqual([status, dormant], ['active', { reasons: ['not-started'] }]);
      const listed = await intake.service.walk(`/explore/v1/orders?maker=${OFFERER}&status=dormant`);
      assert.deepEqual(
        listed.map((row) => [row.orderId, row.dormant]),
        [[body.data.orderId, dormant]],
      );
      const active = await intake.service.walk(`/explore/v1/orders?maker=${OFFERER}`);
      assert.ok(active.length > 0 && active.every((row) => row.orderId !== body.data.orderId));
    });

    test('an own order of several units has their number, the price of one and the price of all', async () => {
      const order = ask({ tokenId: 45n, standard: 'erc1155', quantity: 3n, price: 3_000n });
      const { body } = await intake.send('POST', '/orders', { body: await submissionOf(order) });
      const { listing } = await read(body.data.orderId);
      assert.deepEqual(
        [listing.price.raw, listing.quantity, listing.remaining, listing.total.raw],
        ['1000', '3', '3', '3000'],
      );
    });

    test('an order that was cancelled off-chain has the cancel as evidence, and its `fulfilment` is null', async () => {
      const { body } = await intake.send('POST', '/orders', { body: await submissionOf(ask({ tokenId: 42n })) });
      const { orderId } = body.data;
      assert.equal((await intake.send('POST', `/orders/${orderId}/cancel`, { key: intake.keys.intake })).status, 200);
      const order = await read(orderId);
      assert.deepEqual([order.status, order.listing.status, order.fulfilment], ['cancelled', 'cancelled', null]);
      assert.deepEqual(
        order.evidence.map(({ kind, block, tx }: any) => [kind, block, tx]),
        [['off-chain-cancel', null, null]],
      );
    });

    test('a mirrored listing has the same orderId in every list, in its order and in the activity, and its order hash beside it', async () => {
      const subject = newCollection({ slug: 'orders-mirrored' });
      const hash = `0x${'5e'.repeat(32)}`;
      await intake.service.load([subject.collection(), subject.listing('1', 7, { orderHash: hash })]);
      const { data } = await intake.service.ok(`${subject.path}/listings`);
      const order = await read(data[0].orderId);
      assert.deepEqual([order.status, order.orderHash, order.fulfilment], ['active', hash, null]);
      const units = { quantity: '1', remaining: '1', total: data[0].price, buyerTotal: data[0].price };
      assert.deepEqual(withoutDecimals(order.listing), withoutDecimals({ ...data[0], orderHash: hash, ...units }));
      assert.deepEqual(await read(hash), order);
      const explored = '/explore/v1';
      const [token] = (await intake.service.ok(`${explored}/collections/${subject.id}/tokens`)).data;
      const [sold] = (await intake.service.ok(`${explored}/wallets/${data[0].seller}/listings`)).data;
      const tokens = [{ chain: 'ethereum', address: subject.address, tokenId: '1' }];
      const batch = await intake.service.get(`${explored}/tokens/batch`, {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify({ tokens }),
      });
      const activity = `${explored}/activity?collection=${subject.id}&kinds=list`;
      await until(async () => (await intake.service.ok(activity)).data.length > 0, WAIT_MS, 'no event was logged');
      const [event] = (await intake.service.ok(activity)).data;
      for (const listing of [token.listing, sold, batch.body.data[0].listing]) {
        assert.deepEqual([listing.orderId, listing.orderHash], [data[0].orderId, hash]);
      }
      assert.equal(event.orderId, data[0].orderId);
      const single = await intake.service.ok(`/v1/tokens/ethereum/${subject.address}/1`);
      assert.equal(single.data.listing.orderId, hash);
      await intake.service.load([subject.listing('1', 7, { orderHash: hash, status: 'filled', tx: TX })]);
      const ended = await read(data[0].orderId);
      assert.deepEqual([ended.status, ended.listing.tx], ['filled', TX]);
    });

    test('an order that does not exist is a 404', async () => {
      for (const orderId of ['nothing', `ethereum_${EVM}_1_1`, 'x'.repeat(600), '%00'])
        assert.equal((await intake.service.get(pathOf(orderId))).status, 404, orderId);
    });
  });
});
