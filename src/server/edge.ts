// Handles every request before the router does: normalises its URL, counts it against the rate limit, checks it against the rules of
// HTTP/1.1, and responds from the response cache if it can.

import type { IncomingMessage, RequestListener, ServerResponse } from 'node:http';
import type { Clock } from '../platform/core/clock.ts';
import { ServiceError } from '../platform/core/errors.ts';
import { writeCachedResponse } from '../platform/http/cached-response.ts';
import { sendErrorResponse, toErrorResponse } from '../platform/http/error-response.ts';
import type { Counted, RateLimitExceeded } from '../platform/http/rate-limit.ts';
import { toRateLimitError } from '../platform/http/rate-limit.ts';
import { parseRequestTarget, pathOf } from '../platform/http/request-target.ts';
import type { ResponseCache } from '../platform/http/response-cache.ts';
import { REQUEST_ID_HEADER, requestIdOf } from './request-id.ts';
import { corsHeadersOf, errorFieldsOf } from './public-interfaces.ts';
import type { Observation } from './request-observer.ts';
import { observeEnd } from './request-observer.ts';
import type { RequestCounter } from './request-counter.ts';
import type { RouteTable } from './route-table.ts';
import type { UnreadBytes } from './unread-bytes.ts';
import { UNREAD } from './unread-bytes.ts';

export type EdgeOptions = {
  routes: Pick<RouteTable, 'bucketOf'>;
  requests: Pick<RequestCounter, 'count'>;
  responses: Pick<ResponseCache, 'peek'>;
  unread: Pick<UnreadBytes, 'isFull' | 'onRejected'>;
  clock: Clock;
  baseUrl: () => string;
  /** Null: requests are not observed. */
  observation: Observation | null;
};

/**
 * Returns a listener that responds to rejected requests, and to GET and HEAD requests whose cached response is fresh. It passes all other
 * requests to `route`. If a client disconnects while its request is counted, the request is dropped.
 */
export function createEdge(options: EdgeOptions, route: RequestListener): RequestListener {
  return (request, response) => {
    const startedAt = options.observation ? performance.now() : 0;
    const id = requestIdOf(request);
    const target = parseRequestTarget(request.url ?? '');
    const arrived = { request, response, id, target, startedAt };
    const exceeded = countRequest(options, request, target);
    if (!(exceeded instanceof Promise)) return handle(options, { ...arrived, exceeded }, route);
    void exceeded.then((counted) => {
      const isConnected = !request.socket.destroyed;
      if (isConnected) handle(options, { ...arrived, exceeded: counted }, route);
    });
  };
}

/** A request after counting. `target` is null if it cannot be parsed. `exceeded` is null if the request is within its limit. */
type CountedRequest = {
  request: IncomingMessage;
  response: ServerResponse;
  id: string;
  target: string | null;
  /** By `performance.now()`. 0 unless requests are observed. */
  startedAt: number;
  exceeded: RateLimitExceeded | null;
};

function handle(options: EdgeOptions, counted: CountedRequest, route: RequestListener): void {
  const { request, response, id, target, startedAt } = counted;
  const { responses, clock, observation } = options;
  const rejection = findRejection(options, counted);
  const isRead = request.method === 'GET' || request.method === 'HEAD';
  const cached = isRead && !rejection && target !== null ? responses.peek(target) : undefined;
  if (cached) {
    writeCachedResponse(request, response, cached, { now: clock(), extraHeaders: [REQUEST_ID_HEADER, id] });
    // The request is observed here and not at the end of its response, because waiting for the end would take more time than writing the
    // cached response.
    observation?.observe({
      request,
      id,
      target,
      route: cached.route,
      status: response.statusCode,
      seconds: (performance.now() - startedAt) / 1_000,
      isAborted: false,
    });
    return;
  }
  if (observation) observeEnd(response, { request, id, target, startedAt }, observation);
  response.setHeader(REQUEST_ID_HEADER, id);
  if (rejection) return sendRejection(options, { request, response }, rejection);
  request.url = target ?? '';
  route(request, response);
}

type Rejection = { error: ServiceError; headers?: Readonly<Record<string, string>> };

function findRejection({ unread }: EdgeOptions, { request, target, exceeded }: CountedRequest): Rejection | null {
  if (exceeded) return toRateLimitError(exceeded);
  if (target === null) return { error: UNREADABLE_TARGET };
  if (unread.isFull(request)) {
    unread.onRejected();
    return { error: UNREAD };
  }
  const violation = findViolation(request);
  if (violation === null) return null;
  // Client and server may disagree about the start of the next request, so the connection is closed.
  return { error: new ServiceError('bad_request', violation), headers: { connection: 'close' } };
}

const UNREADABLE_TARGET = new ServiceError('bad_request', 'The request target cannot be read');

/** Counts the request, unless its method is OPTIONS. A request with an unreadable target counts in the bucket `single`. */
function countRequest({ routes, requests }: EdgeOptions, request: IncomingMessage, target: string | null): Counted {
  if (request.method === 'OPTIONS') return null;
  const bucket = target === null ? 'single' : routes.bucketOf(request.method ?? '', pathOf(target));
  return bucket && requests.count(bucket, request);
}

const HOST = /^[\w.~!$&'()*+,;=%:[\]-]*$/;

/**
 * The public message about a violation of HTTP, or null. Transfer codings other than `chunked` and HTTP versions other than 1.0 and 1.1 are
 * violations. In HTTP/1.1, a missing, repeated or malformed Host header is a violation too (RFC 9112).
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

function sendRejection(
  { baseUrl }: EdgeOptions,
  { request, response }: { request: IncomingMessage; response: ServerResponse },
  { error, headers }: Rejection,
): void {
  const { url = '' } = request;
  const rejected = toErrorResponse(error, errorFieldsOf(url, baseUrl()));
  sendErrorResponse(request, response, rejected, { ...headers, ...corsHeadersOf(url) });
}
