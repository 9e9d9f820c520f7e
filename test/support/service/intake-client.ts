// A client of /intake/v1, and functions that make orders to submit. The client checks each response against the OpenAPI document
// that the service serves.

import assert from 'node:assert/strict';
import type { SeaportOrder } from '../../../src/market/orders/seaport/order.ts';
import { createOpenApiContract } from './contract.ts';
import { EVM, NOW } from './intake.ts';
import type { TestEngine } from '../engines/each-engine.ts';
import type { TestResponse, TestService } from './service.ts';
import { startTestService } from './service.ts';
import type { AskOptions } from '../chain/signed-orders.ts';
import { accountOf, signOrder, toAsk, toParameters } from '../chain/signed-orders.ts';

export const OFFERER = accountOf(1).lower;
export const START = NOW / 1_000 - 60;
/** A Seaport deployment that is added by the settings of the service. */
export const EXTRA = '0x00000000000000000000000000000000005ea907';

type Options = { body?: unknown; key?: string | null; headers?: Record<string, string> };
export type IntakeClient = {
  service: TestService;
  document: any;
  keys: Record<'orders' | 'intake' | 'store', string>;
  send(method: string, path: string, options?: Options): Promise<TestResponse>;
  advance(ms: number): void;
};

/** Starts a service with a key for each scope of the intake, and a key of a shop. `more` are further settings. */
export async function startIntake(engine: TestEngine, more: Record<string, string> = {}): Promise<IntakeClient> {
  let now = NOW;
  const settings = { ...(await engine.settings()), SEAPORT_ADDRESSES: `ethereum=${EXTRA}@1.6`, ...more };
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

/** An ask of `OFFERER` that is valid now. */
export const ask = (more: Partial<AskOptions> = {}) =>
  toAsk({ offerer: OFFERER, contract: EVM, tokenId: 1n, price: 1_000n, start: START, end: START + 3_600, ...more });

/** The body of a submission of the order, signed by `OFFERER`. */
export async function submissionOf(order: SeaportOrder, more: object = {}) {
  return {
    chain: 'ethereum',
    order: { parameters: toParameters(order), signature: await signOrder(1, order) },
    ...more,
  };
}
