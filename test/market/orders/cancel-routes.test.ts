// POST /intake/v1/orders/{orderId}/cancel: the response statuses when the offerer cancels with a signature, and
// when the operator cancels without one.

import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { EVM } from '../../support/service/intake.ts';
import type { IntakeClient } from '../../support/service/intake-client.ts';
import { OFFERER, ask, startIntake, submissionOf } from '../../support/service/intake-client.ts';
import { forOneEngine } from '../../support/engines/each-engine.ts';
import type { TestResponse } from '../../support/service/service.ts';
import { accountOf } from '../../support/chain/signed-orders.ts';

forOneEngine('cancels in the intake interface', (engine) => {
  describe('service', () => {
    const intake = {} as IntakeClient;
    before(async () => {
      Object.assign(intake, await startIntake(engine));
      await intake.service.load([{ kind: 'collection', chain: 'ethereum', contractAddress: EVM, name: 'A' }]);
    });
    after(() => intake.service.close());
    const submit = async (order = ask(), more: object = {}) =>
      intake.send('POST', '/orders', { body: await submissionOf(order, more) });
    const errorOf = ({ status, body }: TestResponse) => [status, body.error?.code];

    describe('cancelOrder', () => {
      const signCancel = (n: number, orderHash: `0x${string}`) =>
        accountOf(n).signTypedData({
          domain: { name: 'Mercat', version: '1', chainId: 1 },
          types: { CancelOrder: [{ name: 'orderHash', type: 'bytes32' }] },
          primaryType: 'CancelOrder',
          message: { orderHash },
        });

      test('a cancel with the signature of the offerer gets a 200, and with the signature of another account a 422', async () => {
        const { data, order } = (await submit(ask({ tokenId: 21n }))).body;
        const path = `/orders/${data.orderId}/cancel`;
        assert.deepEqual(
          errorOf(await intake.send('POST', path, { body: { signature: await signCancel(2, order.orderHash) } })),
          [422, 'signature_invalid'],
        );
        const body = { signature: await signCancel(1, order.orderHash) };
        assert.equal((await intake.send('POST', path, { body })).body.data.status, 'cancelled');
        assert.equal((await intake.send('POST', path, { body })).status, 200);
        const listings = await intake.service.ok(`/v1/collections/ethereum_${EVM}/listings`);
        assert.ok(listings.data.every((item: any) => item.orderId !== data.orderId));
        const explained = (await intake.send('GET', `/orders/${data.orderId}/explain`)).body.data;
        assert.deepEqual(
          [explained.status, explained.cancel.cancelledBy, explained.cancel.signature],
          ['cancelled', 'offerer', body.signature],
        );
      });

      test('a cancel without a signature gets a 200 if the API key has the scope intake:write, and otherwise a 403', async () => {
        const { orderId } = (await submit()).body.data;
        const path = `/orders/${orderId}/cancel`;
        assert.deepEqual(errorOf(await intake.send('POST', path)), [403, 'forbidden']);
        assert.equal((await intake.send('POST', path, { key: intake.keys.intake })).body.data.status, 'cancelled');
      });

      test('a cancel that is not possible gets a 400, 401, 404 or 409', async () => {
        const { orderId } = (await submit()).body.data;
        const path = `/orders/${orderId}/cancel`;
        assert.deepEqual(errorOf(await intake.send('POST', path, { body: { signature: 'x' } })), [
          400,
          'malformed_order',
        ]);
        assert.deepEqual(errorOf(await intake.send('POST', path, { body: { word: 'x' } })), [400, 'bad_request']);
        assert.deepEqual(errorOf(await intake.send('POST', path, { key: null })), [401, 'unauthorized']);
        assert.deepEqual(errorOf(await intake.send('POST', '/orders/x/cancel', { key: intake.keys.intake })), [
          404,
          'not_found',
        ]);
        await intake.service.load([
          {
            kind: 'order',
            chain: 'ethereum',
            contractAddress: EVM,
            tokenId: '3',
            priceRaw: '5',
            seller: OFFERER,
            createdAt: '2026-05-01T00:00:00Z',
          },
        ]);
        const unsigned = `/orders/ethereum_${EVM}_3_${Date.UTC(2026, 4, 1)}`;
        assert.deepEqual(errorOf(await intake.send('POST', `${unsigned}/cancel`, { key: intake.keys.intake })), [
          409,
          'not_signed',
        ]);
        assert.equal((await intake.send('GET', unsigned)).body.order, null);
        assert.equal((await intake.send('GET', `${unsigned}/explain`)).status, 200);
        intake.advance(4_000_000);
        assert.deepEqual(errorOf(await intake.send('POST', path, { key: intake.keys.intake })), [409, 'expired']);
        assert.equal((await intake.send('GET', `/orders/${orderId}`)).body.data.status, 'expired');
        intake.advance(-4_000_000);
      });
    });
  });
});
