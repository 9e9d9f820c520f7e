// Who asks: the key from the header and its rate limit, before anything else of a request is looked at. A refusal never tells
// whether a key exists. What the key may do is for each interface to say.

import type { IncomingMessage } from 'node:http';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { ServiceError } from '../../core/errors.ts';
import type { KeyRing } from '../keys/keys.ts';
import type { Caller } from '../context.ts';
import type { RateLimiter, RateLimitExceeded } from '../../http/rate-limit.ts';
import { toRateLimitHeaders } from '../../http/rate-limit.ts';

export type KeyAccess = {
  keys: KeyRing;
  clientAddress: (request: IncomingMessage) => string;
  /** Counts requests by key, and failed authentications by client address. */
  limiter: RateLimiter<'key' | 'failure'>;
};

const BEARER = /^Bearer +(\S{1,200})$/i;

/** The caller whose key the request carries, within its rate limit. */
export async function identifyCaller(door: KeyAccess, request: FastifyRequest, reply: FastifyReply): Promise<Caller> {
  const [, secret] = BEARER.exec(request.headers.authorization ?? '') ?? [];
  const caller = secret === undefined ? null : await door.keys.verify(secret);
  const verdict = caller ? door.limiter('key', caller.keyId) : door.limiter('failure', door.clientAddress(request.raw));
  const refusal = verdict instanceof Promise ? await verdict : verdict;
  if (refusal) throw tooMany(refusal, reply);
  if (caller) return caller;
  reply.header('www-authenticate', 'Bearer');
  throw new ServiceError('unauthorized', 'Missing or invalid API key');
}

export function lacksScope(scope: string): ServiceError {
  return new ServiceError('forbidden', `This key lacks the scope ${scope}`);
}

function tooMany(refusal: RateLimitExceeded, reply: FastifyReply): ServiceError {
  const headers = toRateLimitHeaders(refusal);
  reply.headers(headers);
  return new ServiceError('rate_limited', `Too many requests, try again in ${headers['retry-after']} s`);
}
