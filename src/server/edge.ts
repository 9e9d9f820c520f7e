// The stages that every request passes before the router: the canonical spelling of its target, its rate limit, the rules of
// HTTP/1.1, and the response cache.

import type { IncomingMessage, RequestListener, ServerResponse } from 'node:http';
import type { Clock } from '../core/clock.ts';
import { ServiceError } from '../core/errors.ts';
import { CORS_HEADERS, writeCachedResponse } from '../http/cached-response.ts';
import { sendErrorResponse, toErrorResponse } from '../http/error-response.ts';
import type { RateLimitBucket, RateLimitExceeded, RateLimiter } from '../http/rate-limit.ts';
import { toRateLimitError } from '../http/rate-limit.ts';
import { parseRequestTarget, pathOf } from '../http/request-target.ts';
import type { ResponseCache } from '../http/response-cache.ts';
import { MARKETPLACE_PREFIX } from '../market/http/routes.ts';

export type EdgeOptions = {
  /** The rate limit bucket of a path. Null when requests to the path are not counted by client address. */
  bucketOf: (path: string) => RateLimitBucket | null;
  limiter: RateLimiter;
  clientAddress: (request: IncomingMessage) => string;
  responses: Pick<ResponseCache, 'peek'>;
  clock: Clock;
};

/**
 * Returns a listener that responds to a rejected request with the error, and to a GET or HEAD request with its cached response if
 * that is fresh. It passes all other requests to `route`. A client that disconnects while its request is counted gets no response.
 */
export function createEdge(options: EdgeOptions, route: RequestListener): RequestListener {
  return (request, response) => {
    const target = parseRequestTarget(request.url ?? '');
    const exceeded = countRequest(options, request, target);
    if (!(exceeded instanceof Promise)) return handle(options, { request, response, target, exceeded }, route);
    void exceeded.then((counted) => {
      const isConnected = !request.socket.destroyed;
      if (isConnected) handle(options, { request, response, target, exceeded: counted }, route);
    });
  };
}

/** A request after counting. `target` is null when it cannot be parsed; `exceeded` is null when the request is within its limit. */
type CountedRequest = {
  request: IncomingMessage;
  response: ServerResponse;
  target: string | null;
  exceeded: RateLimitExceeded | null;
};

function handle(
  { responses, clock }: EdgeOptions,
  { request, response, target, exceeded }: CountedRequest,
  route: RequestListener,
): void {
  if (exceeded) {
    const { error, headers } = toRateLimitError(exceeded);
    return sendError(request, response, error, headers);
  }
  if (target === null) return sendError(request, response, UNREADABLE_TARGET);
  const violation = findViolation(request);
  if (violation !== null) {
    // Client and server may disagree on where the next request begins, so the connection is closed.
    return sendError(request, response, new ServiceError('bad_request', violation), { connection: 'close' });
  }
  request.url = target;
  const isRead = request.method === 'GET' || request.method === 'HEAD';
  const cached = isRead ? responses.peek(target) : undefined;
  return cached ? writeCachedResponse(request, response, cached, clock()) : route(request, response);
}

const UNREADABLE_TARGET = new ServiceError('bad_request', 'The request target cannot be read');

/** Counts the request, unless its method is OPTIONS. A request with an unreadable target counts in the `single` bucket. */
function countRequest(
  { bucketOf, limiter, clientAddress }: EdgeOptions,
  request: IncomingMessage,
  target: string | null,
): ReturnType<RateLimiter['count']> {
  if (request.method === 'OPTIONS') return null;
  const bucket = target === null ? 'single' : bucketOf(pathOf(target));
  return bucket && limiter.count(bucket, clientAddress(request));
}

const HOST = /^[\w.~!$&'()*+,;=%:[\]-]*$/;

/**
 * The public message about a violation of HTTP, or null. Rejected are a transfer coding other than `chunked`, HTTP versions other
 * than 1.0 and 1.1, and in HTTP/1.1 a Host header that is missing, repeated or malformed (RFC 9112).
 */
function findViolation({ httpVersion, headers, rawHeaders }: IncomingMessage): string | null {
  const coding = headers['transfer-encoding'];
  if (coding !== undefined && coding.toLowerCase() !== 'chunked') return 'The Transfer-Encoding is not supported';
  if (httpVersion === '1.0') return null;
  if (httpVersion !== '1.1') return 'This HTTP version is not supported';
  let hosts = 0;
  for (let index = 0; index < rawHeaders.length; index += 2) {
    const name = rawHeaders[index];
    if (name?.length !== 4 || name.toLowerCase() !== 'host') continue;
    hosts += 1;
    if (hosts > 1) return 'The Host header is given more than once';
    if (!HOST.test(rawHeaders[index + 1] ?? '')) return 'The Host header is malformed';
  }
  return hosts === 1 ? null : 'The Host header is missing';
}

function sendError(
  request: IncomingMessage,
  response: ServerResponse,
  error: ServiceError,
  extraHeaders: Readonly<Record<string, string>> = {},
): void {
  const cors = request.url?.startsWith(MARKETPLACE_PREFIX) ? CORS_HEADERS : {};
  sendErrorResponse(request, response, toErrorResponse(error), { ...extraHeaders, ...cors });
}
