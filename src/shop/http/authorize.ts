// Authorization of requests to the store interface. The key, the rate limit and the scope are checked in this order, before the query
// and the body are read.

import type { FastifyReply, FastifyRequest } from 'fastify';
import type { StoreScope } from '../keys/scopes.ts';
import type { Caller, ShopCaller, ShopContext } from '../context.ts';
import { authenticate, lacksScope } from './authenticate.ts';
import type { StoreRoutesContext } from './context.ts';
import { REQUEST_TIMEOUT_MS } from './context.ts';

type Authorized = { caller: ShopCaller; shop: ShopContext };

const authorizedRequests = new WeakMap<FastifyRequest, Authorized>();

/** An `onRequest` hook. It admits a request only if its key has the scope and belongs to a shop. */
export function authorize(context: StoreRoutesContext, scope: StoreScope) {
  return async (request: FastifyRequest, reply: FastifyReply): Promise<void> => {
    const deadline = performance.now() + REQUEST_TIMEOUT_MS;
    const caller = await authenticate(context, request, reply);
    if (!caller.scopes.has(scope) || !isInShop(caller)) throw lacksScope(scope);
    const main = context.shop.main.within(deadline - performance.now());
    authorizedRequests.set(request, { caller, shop: { ...context.shop, main } });
  };
}

/** The caller whose request the `authorize` hook admitted. */
export function callerOf(request: FastifyRequest): ShopCaller {
  return authorizedOf(request).caller;
}

/** The shop context of this request. Its database statements end at the deadline of the request. */
export function shopContextOf(request: FastifyRequest): ShopContext {
  return authorizedOf(request).shop;
}

function authorizedOf(request: FastifyRequest): Authorized {
  const authorized = authorizedRequests.get(request);
  if (!authorized) throw new Error(`${request.method} ${request.url} has no authorize hook`);
  return authorized;
}

function isInShop(caller: Caller): caller is ShopCaller {
  return caller.shopId !== null;
}
