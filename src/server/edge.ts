// The first stages of every request, before any route: is it readable, may it pass, is its answer at hand? What goes on
// from here is the router's.

import type { IncomingMessage, RequestListener, ServerResponse } from 'node:http';
import { ServiceError } from '../core/errors.ts';
import type { CachedResponse } from '../http/cached-response.ts';
import { CORS_HEADERS, writeCachedResponse } from '../http/cached-response.ts';
import { toErrorResponse } from '../http/error-response.ts';
import { MARKETPLACE_PREFIX } from '../market/http/paths.ts';
import type { RateLimitBucket, RateLimiter, RateLimitExceeded } from '../http/rate-limit.ts';
import { toRateLimitHeaders } from '../http/rate-limit.ts';
import { pathOf, readTarget } from '../http/request-target.ts';

export type EdgeOptions = {
  /** The bucket that a path counts in; null: not counted. */
  bucketOf: (path: string) => RateLimitBucket | null;
  limiter: RateLimiter;
  clientAddress: (request: IncomingMessage) => string;
  /** A fresh answer to a request spelt so, if there is one. */
  peek: (url: string) => CachedResponse | undefined;
  clock: () => number;
};

export function createEdge(options: EdgeOptions, route: RequestListener): RequestListener {
  const proceed = (
    request: IncomingMessage,
    response: ServerResponse,
    target: string | null,
    refusal: RateLimitExceeded | null,
  ): void => {
    if (refusal) return refuse(request, response, refusal);
    if (target === null) return send(request, response, new ServiceError('bad_request', UNREADABLE));
    const mistake = findMistake(request);
    if (mistake !== null) {
      // Whoever talks so may mean something else by what follows.
      response.setHeader('connection', 'close');
      return send(request, response, new ServiceError('bad_request', mistake));
    }
    request.url = target;
    const answer = request.method === 'GET' || request.method === 'HEAD' ? options.peek(target) : undefined;
    if (answer) return writeCachedResponse(request, response, answer, options.clock());
    return route(request, response);
  };
  return (request, response) => {
    const target = readTarget(request.url ?? '');
    const verdict = admit(options, request, target);
    if (!(verdict instanceof Promise)) return proceed(request, response, target, verdict);
    void verdict.then((refusal) => {
      // Whoever hung up meanwhile is owed nothing.
      if (!request.socket.destroyed) proceed(request, response, target, refusal);
    });
  };
}

const UNREADABLE = 'The request target cannot be read';

/** Every answered request counts but a preflight; one that cannot be read counts as a single. */
function admit(options: EdgeOptions, request: IncomingMessage, target: string | null): ReturnType<RateLimiter> {
  if (request.method === 'OPTIONS') return null;
  const bucket = target === null ? 'single' : options.bucketOf(pathOf(target));
  return bucket && options.limiter(bucket, options.clientAddress(request));
}

const HOST = /^[\w.~!$&'()*+,;=%:[\]-]*$/;

/**
 * What RFC 9112 wants refused: another version of HTTP, a body whose length cannot be known, and since 1.1 anything but
 * one well-formed Host.
 */
function findMistake({ httpVersion, headers, rawHeaders }: IncomingMessage): string | null {
  const coding = headers['transfer-encoding'];
  if (coding !== undefined && coding.toLowerCase() !== 'chunked') return 'The Transfer-Encoding cannot be read';
  if (httpVersion === '1.0') return null;
  if (httpVersion !== '1.1') return 'This version of HTTP is not spoken here';
  let hosts = 0;
  for (let index = 0; index < rawHeaders.length; index += 2) {
    const name = rawHeaders[index];
    if (name?.length !== 4 || name.toLowerCase() !== 'host') continue;
    hosts += 1;
    if (hosts > 1 || !HOST.test(rawHeaders[index + 1] ?? '')) return 'The Host header cannot be read';
  }
  return hosts === 1 ? null : 'The Host header is missing';
}

function refuse(request: IncomingMessage, response: ServerResponse, refusal: RateLimitExceeded): void {
  const headers = toRateLimitHeaders(refusal);
  for (const [name, value] of Object.entries(headers)) response.setHeader(name, value);
  const message = `Too many requests, try again in ${headers['retry-after']} s`;
  send(request, response, new ServiceError('rate_limited', message));
}

function send(request: IncomingMessage, response: ServerResponse, error: ServiceError): void {
  const { status, headers, envelope } = toErrorResponse(error);
  const body = JSON.stringify(envelope);
  const isOpen = request.url?.startsWith(MARKETPLACE_PREFIX);
  const length = Buffer.byteLength(body);
  response.writeHead(status, { ...headers, ...(isOpen && CORS_HEADERS), 'content-length': length });
  response.end(request.method === 'HEAD' ? undefined : body);
}
