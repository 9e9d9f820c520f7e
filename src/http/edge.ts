// The first stages of every request, before any route: is it readable, may it pass, is its answer at hand? What goes on
// from here is the router's.

import type { IncomingMessage, RequestListener, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { ServiceError } from '../errors.ts';
import type { Answer } from './answer.ts';
import { CORS_HEADERS, writeAnswer } from './answer.ts';
import type { ErrorEnvelope } from './errors.ts';
import { toErrorAnswer } from './errors.ts';
import type { Bucket, RateLimiter, Refusal } from './rate-limit.ts';

export type EdgeOptions = {
  /** The bucket that a path counts in; null: not counted. */
  bucketOf: (path: string) => Bucket | null;
  limiter: RateLimiter;
  clientAddress: (request: IncomingMessage) => string;
  /** A fresh answer to a request spelt so, if there is one. */
  peek: (url: string) => Answer | undefined;
  clock: () => number;
};

export function createEdge(options: EdgeOptions, route: RequestListener): RequestListener {
  return (request, response) => {
    const url = request.url ?? '/';
    const query = url.indexOf('?');
    const path = query < 0 ? url : url.slice(0, query);
    const refusal = admit(options, request, path);
    if (refusal) return refuse(response, request, refusal, options.clock());
    if (!isReadable(path)) return send(response, request, new ServiceError('bad_request', 'The path does not decode'));
    const answer = request.method === 'GET' || request.method === 'HEAD' ? options.peek(url) : undefined;
    if (answer) return writeAnswer(request, response, answer, options.clock());
    return route(request, response);
  };
}

/** Every answered request counts but a preflight. */
function admit(options: EdgeOptions, request: IncomingMessage, path: string): Refusal | null {
  if (request.method === 'OPTIONS') return null;
  const bucket = options.bucketOf(path);
  return bucket && options.limiter(bucket, options.clientAddress(request));
}

/** Printable ASCII whose percent-encoding decodes to UTF-8. */
function isReadable(path: string): boolean {
  if (!/^[\x21-\x7e]*$/.test(path)) return false;
  if (!path.includes('%')) return true;
  try {
    decodeURIComponent(path);
    return true;
  } catch {
    return false;
  }
}

function refuse(response: ServerResponse, request: IncomingMessage, refusal: Refusal, now: number): void {
  const afterS = Math.max(1, Math.ceil((refusal.resetAt - now) / 1_000));
  response.setHeader('x-ratelimit-limit', refusal.limit);
  response.setHeader('x-ratelimit-remaining', 0);
  response.setHeader('x-ratelimit-reset', new Date(refusal.resetAt).toISOString());
  response.setHeader('retry-after', afterS);
  send(response, request, new ServiceError('rate_limited', `Too many requests, try again in ${afterS} s`));
}

function send(response: ServerResponse, request: IncomingMessage, error: ServiceError): void {
  const { status, headers, envelope } = toErrorAnswer(error);
  const body = JSON.stringify(envelope);
  response.writeHead(status, { ...headers, ...CORS_HEADERS, 'content-length': Buffer.byteLength(body) });
  response.end(request.method === 'HEAD' ? undefined : body);
}

const CLIENT_ERRORS: Record<string, { status: string; message: string }> = {
  HPE_HEADER_OVERFLOW: { status: '431 Request Header Fields Too Large', message: 'The request headers are too large' },
  ERR_HTTP_REQUEST_TIMEOUT: { status: '408 Request Timeout', message: 'The request took too long to arrive' },
};
const BAD_REQUEST = { status: '400 Bad Request', message: 'The request cannot be read' };

/** Answers what is not even HTTP, or came too slowly, in the same envelope, and hangs up. */
export function answerClientError(error: NodeJS.ErrnoException, socket: Socket): void {
  if (error.code === 'ECONNRESET' || !socket.writable) {
    socket.destroy();
    return;
  }
  const { status, message } = CLIENT_ERRORS[error.code ?? ''] ?? BAD_REQUEST;
  const envelope: ErrorEnvelope = { error: { code: 'bad_request', message } };
  const body = JSON.stringify(envelope);
  socket.end(
    `HTTP/1.1 ${status}\r\nContent-Type: application/json; charset=utf-8\r\nCache-Control: no-store\r\n` +
      `Content-Length: ${Buffer.byteLength(body)}\r\nConnection: close\r\n\r\n${body}`,
  );
}
