// Posts signed orders to the intake of a service, over its local socket or its URL.

import { once } from 'node:events';
import type { IncomingMessage } from 'node:http';
import http from 'node:http';
import https from 'node:https';
import { json } from 'node:stream/consumers';
import { setTimeout as delay } from 'node:timers/promises';
import type { Listing } from './chain-state.ts';
import type { Marketplace } from './simulation.ts';
import { toWireComponents } from './orders.ts';
import { SEAPORT_ADDRESS } from './protocol.ts';

/** The local socket of a service, or its URL with a key that has the scope `orders:write`. */
export type IntakeAddress = { socketPath: string } | { url: string; key: string };

const PATH = '/intake/v1/orders';
const CREATED = 201;
const TIMEOUT_MS = 30_000;
const RETRY_MS = 50;
/**
 * For how long an order is posted again if its rejection may be temporary. The service follows the chain with a delay, so it may accept the
 * order soon.
 */
const PATIENCE_MS = 30_000;
const TEMPORARY_CODES = new Set([
  'collection_not_followed',
  'not_the_owner',
  'not_approved',
  'wrong_counter',
  'chain_unavailable',
]);

/** Creates a client that posts orders. If a rejection may be temporary, the order is posted again for `patienceMs`. */
export function createIntakeClient(address: IntakeAddress, options: { patienceMs?: number } = {}): Marketplace {
  return {
    postOrder: async ({ chain, listing }) => {
      const deadline = performance.now() + (options.patienceMs ?? PATIENCE_MS);
      for (;;) {
        const rejection = await post(address, { chain, listing });
        if (rejection === null) return null;
        const isTemporary = TEMPORARY_CODES.has(rejection.code);
        if (!isTemporary || performance.now() > deadline) return `${rejection.code}: ${rejection.message}`;
        await delay(RETRY_MS);
      }
    },
  };
}

type Rejection = { code: string; message: string };

async function post(address: IntakeAddress, { chain, listing }: { chain: string; listing: Listing }) {
  const { components, signature } = listing;
  const order = { parameters: toWireComponents(components), signature };
  const body = JSON.stringify({ chain, protocolAddress: SEAPORT_ADDRESS, order });
  const request = open(address);
  request.end(body);
  const [response] = (await once(request, 'response')) as [IncomingMessage];
  const responseBody = (await json(response)) as { error?: Rejection };
  if (response.statusCode === CREATED) return null;
  return responseBody.error ?? { code: `status ${response.statusCode}`, message: 'without a reason' };
}

function open(address: IntakeAddress): http.ClientRequest {
  const signal = AbortSignal.timeout(TIMEOUT_MS);
  const headers = { 'content-type': 'application/json' };
  if ('socketPath' in address) {
    return http.request({ socketPath: address.socketPath, path: PATH, method: 'POST', headers, signal });
  }
  const { request } = address.url.startsWith('https:') ? https : http;
  const authorization = `Bearer ${address.key}`;
  return request(`${address.url}${PATH}`, { method: 'POST', headers: { ...headers, authorization }, signal });
}
