// Who asks, and whether they may: the key from the header, its rate limit, its scope, in this order, before anything else of
// a request is looked at. A refusal never tells whether a key exists.

import type { FastifyReply, FastifyRequest } from 'fastify';
import type { Scope } from '../../domain/scope.ts';
import { ServiceError } from '../../errors.ts';
import type { Caller } from '../../store/store.ts';
import type { Refusal } from '../rate-limit.ts';
import { toRefusalHeaders } from '../rate-limit.ts';
import type { StoreContext } from './context.ts';

const BEARER = /^Bearer +(\S{1,200})$/i;

const callers = new WeakMap<FastifyRequest, Caller>();

/** An `onRequest` hook that lets only callers with the scope through. */
export function authorize(context: StoreContext, scope: Scope) {
  return async (request: FastifyRequest, reply: FastifyReply): Promise<void> => {
    const caller = await identify(context, request, reply);
    const refusal = context.limiter('key', caller.keyId);
    if (refusal) throw tooMany(context, refusal, reply);
    if (!caller.scopes.has(scope)) throw new ServiceError('forbidden', `This key lacks the scope ${scope}`);
    callers.set(request, caller);
  };
}

/** The caller that the hook let through. */
export function callerOf(request: FastifyRequest): Caller {
  const caller = callers.get(request);
  if (!caller) throw new Error(`${request.method} ${request.url} has no authorize hook`);
  return caller;
}

async function identify(context: StoreContext, request: FastifyRequest, reply: FastifyReply): Promise<Caller> {
  const [, secret] = BEARER.exec(request.headers.authorization ?? '') ?? [];
  const caller = secret === undefined ? null : await context.keys.verify(secret);
  if (caller) return caller;
  const refusal = context.limiter('failure', context.clientAddress(request.raw));
  if (refusal) throw tooMany(context, refusal, reply);
  reply.header('www-authenticate', 'Bearer');
  throw new ServiceError('unauthorized', 'Missing or invalid API key');
}

function tooMany({ store }: StoreContext, refusal: Refusal, reply: FastifyReply): ServiceError {
  const headers = toRefusalHeaders(refusal, store.clock());
  reply.headers(headers);
  return new ServiceError('rate_limited', `Too many requests, try again in ${headers['retry-after']} s`);
}
