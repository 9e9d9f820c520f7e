// The routes of /intake/v1 that submit, read and explain orders. They are tested on the public server with API keys, and on the
// local socket without keys. Each response status of an operation has a test.

import assert from 'node:assert/strict';
import { request } from 'node:http';
import { text as readText } from 'node:stream/consumers';
import { after, before, describe, test } from 'node:test';
import type { Address } from '../../../src/platform/core/address.ts';
import { hashOrder } from '../../../src/market/orders/seaport/order.ts';
import { EVM } from '../../support/service/intake.ts';
import type { IntakeClient } from '../../support/service/intake-client.ts';
import { EXTRA, OFFERER, START, ask, startIntake, submissionOf } from '../../support/service/intake-client.ts';
import { forOneEngine } from '../../support/engines/each-engine.ts';
import type { TestResponse } from '../../support/service/service.ts';
import { accountOf, SEAPORT_1_6, signOrder, toParameters } from '../../support/chain/signed-orders.ts';

forOneEngine('the intake interface', (engine) => {
  describe('service', () => {
    const intake = {} as IntakeClient;
    before(async () => void Object.assign(intake, await startIntake(engine)));
    after(() => intake.service.close());
    const submit = async (order = ask(), more: object = {}) =>
      intake.send('POST', '/orders', { body: await submissionOf(order, more) });
    const errorOf = ({ status, body }: TestResponse) => [status, body.error?.code];

    describe('submitOrder', () => {
      test('submitOrder responds with 201, the listed order and its location', async () => {
        await intake.service.load([{ kind: 'collection', chain: 'ethereum', contractAddress: EVM, name: 'A' }]);
        const order = ask({ tokenId: 7n, fees: [{ recipient: accountOf(9).lower, amount: 25n }] });
        const { status, body, headers } = await submit(order, { protocolAddress: null });
        assert.equal(status, 201);
        const { data } = body;
        assert.deepEqual(
          [data.chain, data.contractAddress, data.tokenId, data.price.raw, data.seller, data.marketplace, data.status],
          ['ethereum', EVM, '7', '1000', OFFERER, 'MERCAT', 'active'],
        );
        assert.equal(data.orderId, `ethereum_${EVM}_7_${Date.parse(data.timestamp)}`);
        assert.equal(headers.get('location'), `/intake/v1/orders/${data.orderId}`);
        assert.equal(body.order.orderHash, hashOrder(order));
        assert.equal(body.order.buyerTotal.raw, '1025');
        assert.deepEqual(body.order.seaport.parameters, toParameters(order));
        const listings = await intake.service.ok(`/v1/collections/ethereum_${EVM}/listings`);
        assert.ok(
          listings.data.some((item: any) => item.orderId === data.orderId),
          'the order is not listed immediately',
        );
        assert.deepEqual((await intake.send('GET', `/orders/${data.orderId}`)).body, body);
      });

      test('submitOrder accepts large JSON numbers, and an order that is signed for a deployment from the settings', async () => {
        const order = ask({ tokenId: 2n ** 200n + 1n });
        const text = JSON.stringify(await submissionOf(order)).replaceAll(/"(\d+)"/g, '$1');
        const { status, body } = await intake.send('POST', '/orders', { body: text });
        assert.equal(status, 201, JSON.stringify(body));
        assert.equal(body.data.tokenId, String(2n ** 200n + 1n));
        const other = ask();
        const signature = await signOrder(1, other, { ...SEAPORT_1_6, address: EXTRA as Address });
        const sent = { chain: 'ethereum', order: { parameters: toParameters(other), signature } };
        const response = await intake.send('POST', '/orders', { body: sent });
        assert.equal(response.body.order.protocolAddress, EXTRA);
      });

      test('submitOrder responds with 400 to a malformed request, and names the malformed field', async () => {
        const good = await submissionOf(ask());
        const wrong: [unknown, string, string | undefined][] = [
          ['{', 'bad_request', ''],
          [[], 'bad_request', ''],
          [{ ...good, chain: 'Ethereum' }, 'bad_request', 'chain'],
          [{ ...good, protocolAddress: 7 }, 'bad_request', 'protocolAddress'],
          [{ ...good, taker: EVM }, 'bad_request', 'taker'],
          [{ ...good, order: null }, 'bad_request', 'order'],
          [{ ...good, order: { ...good.order, parameters: 7 } }, 'malformed_order', 'order.parameters'],
          [
            { ...good, order: { ...good.order, parameters: { ...good.order.parameters, salt: 'x' } } },
            'malformed_order',
            'order.parameters.salt',
          ],
          [{ ...good, order: { ...good.order, signature: '0x' } }, 'malformed_order', 'order.signature'],
        ];
        for (const [body, code, path] of wrong) {
          const response = await intake.send('POST', '/orders', { body });
          assert.deepEqual(errorOf(response), [400, code], response.text);
          assert.equal(response.body.error.details[0].path, path, response.text);
        }
      });

      test('submitOrder responds with 401 without a key, and with 403 without the scope, before it parses the body', async () => {
        assert.deepEqual(errorOf(await intake.send('POST', '/orders', { body: '{', key: null })), [
          401,
          'unauthorized',
        ]);
        for (const key of [intake.keys.store, intake.keys.intake]) {
          assert.deepEqual(errorOf(await intake.send('POST', '/orders', { body: '{', key })), [403, 'forbidden']);
        }
      });

      test('submitOrder responds with 409 to an order that is already stored', async () => {
        const order = ask();
        assert.equal((await submit(order)).status, 201);
        assert.deepEqual(errorOf(await submit(order)), [409, 'duplicate']);
      });

      test('submitOrder responds with 422 and the code of the check that failed', async () => {
        assert.deepEqual(errorOf(await submit(ask({ end: START + 30 }))), [422, 'expired']);
        assert.deepEqual(errorOf(await submit(ask({ currency: EVM }))), [422, 'unsupported_currency']);
        assert.deepEqual(errorOf(await submit(ask(), { protocolAddress: EVM })), [422, 'unknown_protocol']);
        const signedByOther = {
          ...(await submissionOf(ask())),
          order: (await submissionOf(ask({ tokenId: 2n }))).order,
        };
        signedByOther.order.signature = await signOrder(2, ask());
        assert.deepEqual(errorOf(await intake.send('POST', '/orders', { body: signedByOther })), [
          422,
          'signature_invalid',
        ]);
      });
    });

    describe('getOrder and explainOrder', () => {
      test('getOrder and explainOrder respond with 200 to an order, 404 to an unknown id, 401 to no key, and 403 to a key without the scope', async () => {
        const { orderId } = (await submit()).body.data;
        for (const path of [`/orders/${orderId}`, `/orders/${orderId}/explain`]) {
          for (const key of [intake.keys.orders, intake.keys.intake]) {
            assert.equal((await intake.send('GET', path, { key })).status, 200);
          }
          assert.deepEqual(errorOf(await intake.send('GET', path, { key: null })), [401, 'unauthorized']);
          assert.deepEqual(errorOf(await intake.send('GET', path, { key: intake.keys.store })), [403, 'forbidden']);
        }
        // The second id is the character NUL, which the database cannot store.
        for (const none of ['none', '%00']) {
          assert.deepEqual(errorOf(await intake.send('GET', `/orders/${none}`)), [404, 'not_found'], none);
          assert.deepEqual(errorOf(await intake.send('GET', `/orders/${none}/explain`)), [404, 'not_found'], none);
          const cancel = await intake.send('POST', `/orders/${none}/cancel`, { key: intake.keys.intake });
          assert.deepEqual(errorOf(cancel), [404, 'not_found'], none);
        }
        const { data } = (await intake.send('GET', `/orders/${orderId}/explain`)).body;
        assert.equal(data.status, 'active');
        assert.deepEqual(
          data.checks.filter((check: any) => check.ok === false),
          [],
        );
        assert.deepEqual(
          data.transitions.map((transition: any) => transition.to),
          ['active'],
        );
        assert.equal(data.readTo, null);
      });
    });

    test('the local socket has the same routes, and they need no key', async () => {
      const { status, body } = await overSocket(
        intake.service.socketPath,
        'POST',
        '/intake/v1/orders',
        await submissionOf(ask()),
      );
      assert.equal(status, 201, JSON.stringify(body));
      const path = `/intake/v1/orders/${body.data.orderId}`;
      assert.equal((await overSocket(intake.service.socketPath, 'GET', path)).status, 200);
      assert.equal((await overSocket(intake.service.socketPath, 'GET', `${path}/explain`)).status, 200);
      assert.equal(
        (await overSocket(intake.service.socketPath, 'POST', `${path}/cancel`)).body.data.status,
        'cancelled',
      );
    });

    test('the OpenAPI document lists every response status of each operation', () => {
      const statuses = Object.values(intake.document.paths).flatMap((methods: any) =>
        Object.values(methods).map((operation: any) => [
          operation.operationId,
          Object.keys(operation.responses).join(' '),
        ]),
      );
      assert.deepEqual(Object.fromEntries(statuses), {
        submitOrder: '201 400 401 403 409 422 429 500 503',
        getOrder: '200 400 401 403 404 429 500 503',
        explainOrder: '200 400 401 403 404 429 500 503',
        cancelOrder: '200 400 401 403 404 409 422 429 500 503',
        importRecords: '200 400 401 403 429 500 503',
      });
    });
  });
});

function overSocket(
  socketPath: string,
  method: string,
  path: string,
  body?: unknown,
): Promise<{ status: number; body: any }> {
  return new Promise((resolve, reject) => {
    const headers = body === undefined ? {} : { 'content-type': 'application/json' };
    const call = request({ socketPath, path, method, headers }, (response) => {
      readText(response).then((text) => resolve({ status: response.statusCode ?? 0, body: JSON.parse(text) }), reject);
    });
    call.on('error', reject).end(body === undefined ? undefined : JSON.stringify(body));
  });
}
