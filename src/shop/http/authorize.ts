// Whether whoever asks may: the key, its rate limit, its scope, in this order, before anything else of a request is looked at.

import type { FastifyReply, FastifyRequest } from 'fastify';
import type { StoreScope } from '../keys/scopes.ts';
import type { Caller, ShopCaller, Store } from '../context.ts';
import { identifyCaller, lacksScope } from './authenticate.ts';
import type { StoreContext } from './context.ts';
import { REQUEST_TIMEOUT_MS } from './context.ts';

type Visit = { caller: ShopCaller; store: Store };

const visits = new WeakMap<FastifyRequest, Visit>();

/** An `onRequest` hook that lets only callers with the scope through. */
export function authorize(context: StoreContext, scope: StoreScope) {
  return async (request: FastifyRequest, reply: FastifyReply): Promise<void> => {
    const deadline = performance.now() + REQUEST_TIMEOUT_MS;
    const caller = await identifyCaller(context, request, reply);
    if (!caller.scopes.has(scope) || !isInShop(caller)) throw lacksScope(scope);
    const main = context.store.main.within(deadline - performance.now());
    visits.set(request, { caller, store: { ...context.store, main } });
  };
}

/** The caller that the hook let through. */
export function callerOf(request: FastifyRequest): ShopCaller {
  return visitOf(request).caller;
}

/** The store for as long as this request may take. */
export function storeOf(request: FastifyRequest): Store {
  return visitOf(request).store;
}

function visitOf(request: FastifyRequest): Visit {
  const visit = visits.get(request);
  if (!visit) throw new Error(`${request.method} ${request.url} has no authorize hook`);
  return visit;
}

function isInShop(caller: Caller): caller is ShopCaller {
  return caller.shopId !== null;
}
