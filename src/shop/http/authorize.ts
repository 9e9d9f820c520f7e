// Authorizes requests to the store interface. The key, the rate limit and the scope are checked in this order, before the query and the
// body are read.

import type { FastifyReply, FastifyRequest } from 'fastify';
import { Deadline } from '../../platform/core/deadline.ts';
import type { StoreScope } from '../keys/scopes.ts';
import type { Statements } from '../../platform/database/port.ts';
import type { ShopCaller, ShopContext } from '../context.ts';
import { authenticate, hasScope, isBatch, lacksScope } from './authenticate.ts';
import type { StoreRoutesContext } from './context.ts';
import { BATCH_TIMEOUT_MS, BATCH_WAIT_MAX_MS, REQUEST_TIMEOUT_MS } from './shares.ts';

type StatementsOptions = { productId?: string; startBy?: Deadline };
type Authorized = { caller: ShopCaller; shop: ShopContext; toStatements: (options?: StatementsOptions) => Statements };

const authorizedRequests = new WeakMap<FastifyRequest, Authorized>();

/**
 * An `onRequest` hook that admits a request only if its key has one of the scopes and belongs to a shop. A batch may use the database for longer than
 * other requests.
 */
export function authorize(context: StoreRoutesContext, ...scopes: StoreScope[]) {
  return async (request: FastifyRequest, reply: FastifyReply): Promise<void> => {
    const deadline = Deadline.after(isBatch(request) ? BATCH_TIMEOUT_MS : REQUEST_TIMEOUT_MS);
    const caller = await authenticate(context, request, reply);
    if (!hasScope(caller, ...scopes)) throw lacksScope(scopes.join(' or '));
    const { shopId } = caller;
    const timeoutMs = deadline.leftMs;
    const wait = isBatch(request) ? { startBy: Deadline.after(BATCH_WAIT_MAX_MS) } : {};
    const toStatements = (options?: StatementsOptions) =>
      context.shares.statementsOf(shopId, { timeoutMs, ...wait, ...options });
    authorizedRequests.set(request, { caller, shop: { ...context.shop, main: toStatements() }, toStatements });
  };
}

/** The caller of a request that the `authorize` hook admitted. */
export function callerOf(request: FastifyRequest): ShopCaller {
  return authorizedOf(request).caller;
}

/** The shop context of this request. Its statements run when it is the turn of the shop. They share one time limit. */
export function shopContextOf(request: FastifyRequest): ShopContext {
  return authorizedOf(request).shop;
}

/** A shop context for one page of a long response. Each page has its own time limit. `startBy`: the end of the wait for a turn. */
export function pageContextOf(request: FastifyRequest, startBy?: Deadline): ShopContext {
  const { shop, toStatements } = authorizedOf(request);
  return { ...shop, main: toStatements(startBy === undefined ? {} : { startBy }) };
}

/** The shop context of a request that changes the product. Its statements wait for the request's turn among the changes of this product. */
export function productContextOf(request: FastifyRequest, productId: string): ShopContext {
  const { shop, toStatements } = authorizedOf(request);
  return { ...shop, main: toStatements({ productId }) };
}

function authorizedOf(request: FastifyRequest): Authorized {
  const authorized = authorizedRequests.get(request);
  if (!authorized) throw new Error(`${request.method} ${request.url} has no authorize hook`);
  return authorized;
}
