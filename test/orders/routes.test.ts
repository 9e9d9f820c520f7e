// /intake/v1 by operation and status, on the public server with keys and on the local socket without keys. Every response is
// checked against the OpenAPI document that the service serves.

import assert from 'node:assert/strict';
import { request } from 'node:http';
import { text as readText } from 'node:stream/consumers';
import { after, before, describe, test } from 'node:test';
import type { Address } from '../../src/core/address.ts';
import type { SeaportOrder } from '../../src/orders/seaport/order.ts';
import { hashOrder } from '../../src/orders/seaport/order.ts';
import { createOpenApiContract } from '../support/service/contract.ts';
import { EVM, NOW, toNdjson, token } from '../support/service/intake.ts';
import type { TestEngine } from '../support/engines/each-engine.ts';
import { forEachEngine } from '../support/engines/each-engine.ts';
import type { TestResponse, TestService } from '../support/service/service.ts';
import { startTestService } from '../support/service/service.ts';
import type { AskOptions } from '../support/chain/signed-orders.ts';
import { accountOf, SEAPORT_1_6, signOrder, toAsk, toParameters } from '../support/chain/signed-orders.ts';

const OFFERER = accountOf(1).lower;
const START = NOW / 1_000 - 60;
const EXTRA = '0x00000000000000000000000000000000005ea907';

type Options = { body?: unknown; key?: string | null; headers?: Record<string, string> };
type IntakeClient = {
  service: TestService;
  document: any;
  keys: Record<'orders' | 'intake' | 'store', string>;
  send(method: string, path: string, options?: Options): Promise<TestResponse>;
  advance(ms: number): void;
};

async function startIntake(engine: TestEngine): Promise<IntakeClient> {
  let now = NOW;
  const settings = { ...(await engine.settings()), SEAPORT_ADDRESSES: `ethereum=${EXTRA}@1.6` };
  const service = await startTestService({ settings, clock: () => now });
  const document: any = await (await fetch(`${service.url}/intake/v1/openapi.json`)).json();
  const contract = createOpenApiContract(document);
  const keyOf = async (input: object): Promise<string> => {
    const { status, body } = await service.operate('keys.create', { ...input });
    assert.equal(status, 200, JSON.stringify(body));
    return body.result.secret;
  };
  await service.operate('shops.create', { name: 's' });
  const keys = {
    orders: await keyOf({ scopes: ['orders:write'] }),
    intake: await keyOf({ scopes: ['intake:write'] }),
    store: await keyOf({ shop: 's', scopes: ['products:read'] }),
  };
  return {
    service,
    document,
    keys,
    advance: (ms) => void (now += ms),
    send: async (method, path, { body, key = keys.orders, headers = {} } = {}) => {
      const response = await fetch(`${service.url}/intake/v1${path}`, {
        method,
        headers: {
          ...(key !== null && { authorization: `Bearer ${key}` }),
          ...(body !== undefined && { 'content-type': 'application/json' }),
          ...headers,
        },
        ...(body !== undefined && { body: typeof body === 'string' ? body : JSON.stringify(body) }),
      });
      const text = await response.text();
      const received = {
        status: response.status,
        headers: response.headers,
        text,
        body: text === '' ? null : JSON.parse(text),
      };
      contract.check(method, `/intake/v1${path}`, received);
      assert.equal(response.headers.get('cache-control'), 'no-store');
      return received;
    },
  };
}

const ask = (more: Partial<AskOptions> = {}) =>
  toAsk({ offerer: OFFERER, contract: EVM, tokenId: 1n, price: 1_000n, start: START, end: START + 3_600, ...more });
async function submissionOf(order: SeaportOrder, more: object = {}) {
  return {
    chain: 'ethereum',
    order: { parameters: toParameters(order), signature: await signOrder(1, order) },
    ...more,
  };
}

forEachEngine('the intake interface', (engine) => {
  describe('service', () => {
    const intake = {} as IntakeClient;
    before(async () => void Object.assign(intake, await startIntake(engine)));
    after(() => intake.service.close());
    const submit = async (order = ask(), more: object = {}) =>
      intake.send('POST', '/orders', { body: await submissionOf(order, more) });
    const errorOf = ({ status, body }: TestResponse) => [status, body.error?.code];

    describe('submitOrder', () => {
      test('201 with the listed order and its location', async () => {
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
          'the order is listed at once',
        );
        assert.deepEqual((await intake.send('GET', `/orders/${data.orderId}`)).body, body);
      });

      test('201 for large JSON numbers, and for a deployment of the settings', async () => {
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

      test('400 for a malformed request, with the field', async () => {
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

      test('401 and 403 before the body is parsed', async () => {
        assert.deepEqual(errorOf(await intake.send('POST', '/orders', { body: '{', key: null })), [
          401,
          'unauthorized',
        ]);
        for (const key of [intake.keys.store, intake.keys.intake]) {
          assert.deepEqual(errorOf(await intake.send('POST', '/orders', { body: '{', key })), [403, 'forbidden']);
        }
      });

      test('409 for an order that is already stored', async () => {
        const order = ask();
        assert.equal((await submit(order)).status, 201);
        assert.deepEqual(errorOf(await submit(order)), [409, 'duplicate']);
      });

      test('422 with the check that failed', async () => {
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
      test('200 for an order, 404 for an unknown id, 401 and 403 without a key or its scope', async () => {
        const { orderId } = (await submit()).body.data;
        for (const path of [`/orders/${orderId}`, `/orders/${orderId}/explain`]) {
          for (const key of [intake.keys.orders, intake.keys.intake]) {
            assert.equal((await intake.send('GET', path, { key })).status, 200);
          }
          assert.deepEqual(errorOf(await intake.send('GET', path, { key: null })), [401, 'unauthorized']);
          assert.deepEqual(errorOf(await intake.send('GET', path, { key: intake.keys.store })), [403, 'forbidden']);
        }
        // Text that no database can store is not an id.
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

    describe('cancelOrder', () => {
      const signCancel = (n: number, orderHash: `0x${string}`) =>
        accountOf(n).signTypedData({
          domain: { name: 'Mercat', version: '1', chainId: 1 },
          types: { CancelOrder: [{ name: 'orderHash', type: 'bytes32' }] },
          primaryType: 'CancelOrder',
          message: { orderHash },
        });

      test('200 with the signature of the offerer, and the order is no longer listed', async () => {
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
          [explained.status, explained.cancel.word, explained.cancel.signature],
          ['cancelled', 'offerer', body.signature],
        );
      });

      test('200 without a signature, for a key of the operator', async () => {
        const { orderId } = (await submit()).body.data;
        const path = `/orders/${orderId}/cancel`;
        assert.deepEqual(errorOf(await intake.send('POST', path)), [403, 'forbidden']);
        assert.equal((await intake.send('POST', path, { key: intake.keys.intake })).body.data.status, 'cancelled');
      });

      test('400, 401, 404 and 409 for a cancel that is not possible', async () => {
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

    describe('importRecords', () => {
      const stream = async (body: string, query = '', key: string | null = intake.keys.intake) => {
        const response = await fetch(`${intake.service.url}/intake/v1/records${query}`, {
          method: 'POST',
          body,
          headers: { 'content-type': 'application/x-ndjson', ...(key !== null && { authorization: `Bearer ${key}` }) },
        });
        const lines = (await response.text()).trim().split('\n');
        return { status: response.status, events: lines.map((line) => JSON.parse(line)) };
      };

      test('200 with one event on each line: rejections, progress and the counts', async () => {
        const { status, events } = await stream(toNdjson([token(), token({ tokenId: '-1' }), token({ tokenId: '2' })]));
        assert.equal(status, 200);
        assert.match(events.find(({ event }) => event === 'refused').reason, /^tokenId/);
        const done = events.at(-1);
        assert.deepEqual([done.event, done.read, done.inserted, done.refused], ['done', 3, 2, 1]);
        const again = await stream(toNdjson([token()]), '?format=ndjson&dryRun=true');
        assert.equal(again.events.at(-1).unchanged, 1);
      });

      test('400, 401 and 403 before the body is read', async () => {
        for (const query of ['?format=xml', '?nope=1', '?dryRun=true&dryRun=true', '?format=csv']) {
          const { status, events } = await stream('', query);
          assert.deepEqual([status, events[0].error.code], [400, 'bad_request'], query);
        }
        assert.equal((await stream('', '', null)).status, 401);
        assert.equal((await stream('', '', intake.keys.orders)).status, 403);
      });
    });

    test('the local socket has the same routes without a key', async () => {
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

    test('the document names every status of each operation', () => {
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
