// Authenticates requests by API key, with rate limits. This happens before the query and the body are read, and no error reveals whether a
// key exists. Each interface checks the scopes itself.

import type { IncomingMessage } from 'node:http';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { ServiceError } from '../../platform/core/errors.ts';
import type { KeyVerifier } from '../keys/key-verifier.ts';
import type { StoreScope } from '../keys/scopes.ts';
import type { Caller, ShopCaller } from '../context.ts';
import type { RateLimiter } from '../../platform/http/rate-limit.ts';
import { toRateLimitError } from '../../platform/http/rate-limit.ts';

export type KeyAccess = {
  keys: KeyVerifier;
  clientAddress: (request: IncomingMessage) => string;
  /** Counts requests by key, batches apart from the others, and failed authentications by client address. */
  limiter: RateLimiter<'key' | 'batch' | 'failure'>;
};

/** The limit of failed authentications a minute for one client address. */
export const FAILURES_A_MINUTE_MAX = 60;
/** The limit of batches a minute for one key. */
export const BATCHES_A_MINUTE_MAX = 60;

const BEARER = /^Bearer +(\S{1,200})$/i;

const callers = new WeakMap<IncomingMessage, Caller>();

/** Notes whose key a request carries, for the access log and the metrics. */
export function noteCaller(request: IncomingMessage, caller: Caller): void {
  callers.set(request, caller);
}

/** The caller whose key the request carried, also if the request was rejected afterwards. Null for a request without a usable key. */
export function findCaller(request: IncomingMessage): Caller | null {
  return callers.get(request) ?? null;
}

/**
 * Returns the caller of the request. Throws `unauthorized` if the request has no usable key. Throws `rate_limited` if the key or the client
 * address has exceeded its limit.
 */
export async function authenticate(access: KeyAccess, request: FastifyRequest, reply: FastifyReply): Promise<Caller> {
  const secret = secretOf(request.raw);
  const caller = secret === null ? null : await access.keys.verify(secret);
  if (caller) noteCaller(request.raw, caller);
  const counted = caller
    ? access.limiter.count(isBatch(request) ? 'batch' : 'key', caller.keyId)
    : access.limiter.count('failure', access.clientAddress(request.raw));
  // Awaited only if it is a promise: a limiter in this process returns the result itself, and an await would delay the request.
  const exceeded = counted instanceof Promise ? await counted : counted;
  if (exceeded) {
    const { error, headers } = toRateLimitError(exceeded);
    reply.headers(headers);
    throw error;
  }
  if (caller) return caller;
  reply.header('www-authenticate', 'Bearer');
  throw new ServiceError('unauthorized', 'Missing or invalid API key');
}

/** Whether the route of the request takes batches. */
export function isBatch({ routeOptions }: FastifyRequest): boolean {
  return routeOptions.config.bucket === 'batch';
}

/** Whether the key of the caller has one of the scopes. A key without a shop has no scope of the store interface. */
export function hasScope(caller: Caller, ...scopes: StoreScope[]): caller is ShopCaller {
  return scopes.some((scope) => caller.scopes.has(scope)) && caller.shopId !== null;
}

const AUTHORIZATION = 'authorization';

/** The secret in the header `Authorization`. Null if the header is missing, has another form, or occurs more than once. */
export function secretOf({ headers, rawHeaders }: IncomingMessage): string | null {
  let count = 0;
  for (let index = 0; index < rawHeaders.length; index += 2) {
    const name = rawHeaders[index];
    if (name?.length === AUTHORIZATION.length && name.toLowerCase() === AUTHORIZATION) count += 1;
  }
  return (count === 1 && BEARER.exec(headers.authorization ?? '')?.[1]) || null;
}

export function lacksScope(scope: string): ServiceError {
  return new ServiceError('forbidden', `This key lacks the scope ${scope}`);
}
