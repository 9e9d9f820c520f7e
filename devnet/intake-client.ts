// Posts signed orders to the intake of a service, over its local socket or its URL.

import { once } from 'node:events';
import type { IncomingMessage } from 'node:http';
import http from 'node:http';
import https from 'node:https';
import { json } from 'node:stream/consumers';
import { setTimeout as delay } from 'node:timers/promises';
import type { Wanted } from './chain-state.ts';
import type { Marketplace } from './simulation.ts';
import type { SignedOrder } from './orders.ts';
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
  'no_funds',
  'token_burned',
  'wrong_counter',
  'chain_unavailable',
]);

/** Creates a client that posts orders. If a rejection may be temporary, the order is posted again for `patienceMs`. */
export function createIntakeClient(address: IntakeAddress, options: { patienceMs?: number } = {}): Marketplace {
  const postPatiently = async (posted: Posted) => {
    const deadline = performance.now() + (options.patienceMs ?? PATIENCE_MS);
    for (;;) {
      const rejection = await post(address, posted);
      if (rejection === null) return null;
      const isTemporary = TEMPORARY_CODES.has(rejection.code);
      if (!isTemporary || performance.now() > deadline) return `${rejection.code}: ${rejection.message}`;
      await delay(RETRY_MS);
    }
  };
  return {
    postOrder: ({ chain, listing }) => postPatiently({ chain, order: listing }),
    postBid: ({ chain, bid }) => postPatiently({ chain, order: bid, ...toCriteria(bid.wanted) }),
  };
}

/** The field of a submission that names the tokens of a set. Empty for a bid that names no set. */
export function toCriteria(wanted: Wanted): { criteria?: { tokenIds: string[] } } {
  return wanted.kind === 'trait' ? { criteria: { tokenIds: wanted.tokenIds.map(String) } } : {};
}

type Rejection = { code: string; message: string };
type Posted = { chain: string; order: SignedOrder } & ReturnType<typeof toCriteria>;

async function post(address: IntakeAddress, { order: { components, signature }, ...posted }: Posted) {
  const order = { parameters: toWireComponents(components), signature };
  const body = JSON.stringify({ ...posted, protocolAddress: SEAPORT_ADDRESS, order });
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
