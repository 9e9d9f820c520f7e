// Creates Node's HTTP server. The server limits the time, the header bytes and the idle connections of clients. Input that is not HTTP or is
// too slow gets an error response in the usual envelope, after the responses to earlier requests.

import type { IncomingMessage, RequestListener, Server, ServerResponse } from 'node:http';
import { createServer } from 'node:http';
import type { Duplex } from 'node:stream';
import { ServiceError } from '../platform/core/errors.ts';
import { limitBodyTime } from '../platform/http/body-time.ts';
import { toErrorResponse } from '../platform/http/error-response.ts';
import { createResponseClass } from './draining.ts';
import type { UnreadBytes } from './unread-bytes.ts';
import { limitUnread } from './unread-bytes.ts';

export type ClientLimits = {
  /** The longest time from the first byte of a request to the end of its headers. A new connection may be silent for the same time. */
  headersTimeoutMs: number;
  /** The period at which the timeout above is checked. */
  checkPeriodMs: number;
  /** The longest time from the end of the headers to the end of the body, unless the route reads a long body (platform/http/body-time.ts). */
  bodyTimeoutMs: number;
  /** The longest time between a response and the next request. */
  keepAliveTimeoutMs: number;
  /** The longest time without a byte in either direction. A response that a client does not read occupies memory. */
  stallTimeoutMs: number;
  /** The largest size of request line and headers together. */
  headersBytesMax: number;
};

export const CLIENT_LIMITS: ClientLimits = {
  headersTimeoutMs: 8_000,
  checkPeriodMs: 1_000,
  bodyTimeoutMs: 15_000,
  keepAliveTimeoutMs: 65_000,
  stallTimeoutMs: 30_000,
  headersBytesMax: 16_384,
};

/** A client may take this long to read the last response before its connection is destroyed. */
const LINGER_MS = 2_000;

/** The code of Node's error for headers that take too long. */
const LATE_CODE = 'ERR_HTTP_REQUEST_TIMEOUT';

class LateBody extends Error {
  readonly code = LATE_CODE;
}

type RequestInProgress = { request: IncomingMessage; response: ServerResponse };

/**
 * While `isDraining` returns true, each response closes its connection. `unread`: limits the unread bytes of each client. By default they are
 * not limited.
 */
export function createNodeServer(
  listener: RequestListener,
  {
    limits = CLIENT_LIMITS,
    isDraining = () => false,
    unread = null,
  }: { limits?: ClientLimits; isDraining?: () => boolean; unread?: UnreadBytes | null } = {},
): Server {
  const Response = createResponseClass(isDraining);
  const newest = new WeakMap<Duplex, RequestInProgress>();
  const failed = new WeakSet<Duplex>();
  const listen: RequestListener = (request, response) => {
    newest.set(request.socket, { request, response });
    limitBodyTime(request, limits.bodyTimeoutMs, () => fail(new LateBody(), request.socket));
    listener(request, response);
  };
  const fail = (error: NodeJS.ErrnoException, socket: Duplex): void => {
    // One malformed input may cause several errors. It gets one response.
    if (failed.has(socket)) return;
    failed.add(socket);
    respondToClientError(error, socket, newest.get(socket));
  };
  const server = createServer(
    {
      headersTimeout: limits.headersTimeoutMs,
      // Node's own limit for complete requests cannot be ended for one request.
      requestTimeout: 0,
      connectionsCheckingInterval: limits.checkPeriodMs,
      keepAliveTimeout: limits.keepAliveTimeoutMs,
      maxHeaderSize: limits.headersBytesMax,
      // The edge rejects a missing Host header with the usual envelope.
      requireHostHeader: false,
      ServerResponse: unread ? limitUnread(Response, unread) : Response,
    },
    listen,
  );
  server.timeout = limits.stallTimeoutMs;
  return server.on('checkExpectation', listen).on('connect', rejectTunnel).on('clientError', fail);
}

function respondToClientError(
  error: NodeJS.ErrnoException,
  socket: Duplex,
  newest: RequestInProgress | undefined,
): void {
  if (error.code === 'ECONNRESET') {
    socket.destroy();
    return;
  }
  const errorResponse = toRawResponse(CLIENT_ERRORS[error.code ?? ''] ?? UNREADABLE);
  if (!newest) return closeWith(socket, errorResponse);
  const { request, response } = newest;
  const hasNoResponse = !response.headersSent && response.socket !== null;
  if (request.complete) afterResponse(response, () => closeWith(socket, errorResponse));
  // The malformed input is the body of the newest request. The error becomes the response to this request, unless its response has begun.
  else if (hasNoResponse) closeWith(socket, errorResponse);
  else afterResponse(response, () => closeWith(socket, ''));
}

/** Calls `proceed` after the response in progress, because a client reads responses in the order of its requests. */
function afterResponse(response: ServerResponse, proceed: () => void): void {
  if (response.closed || response.writableFinished) proceed();
  else response.once('close', proceed);
}

function closeWith(socket: Duplex, lastBytes: string): void {
  if (!socket.writable) {
    socket.destroy();
    return;
  }
  socket.end(lastBytes);
  const timer = setTimeout(() => socket.destroy(), LINGER_MS).unref();
  socket.once('close', () => clearTimeout(timer));
}

/** Answers CONNECT, for which Node passes the socket without a response object. */
function rejectTunnel(_request: IncomingMessage, socket: Duplex): void {
  socket.on('error', () => socket.destroy());
  closeWith(socket, toRawResponse({ status: '405 Method Not Allowed', error: TUNNEL }));
}

const TUNNEL = new ServiceError('method_not_allowed', 'Method CONNECT is not allowed here');
const UNREADABLE = {
  status: '400 Bad Request',
  error: new ServiceError('bad_request', 'The request cannot be read'),
};
const CLIENT_ERRORS: Record<string, typeof UNREADABLE> = {
  HPE_HEADER_OVERFLOW: {
    status: '431 Request Header Fields Too Large',
    error: new ServiceError('bad_request', 'The request line and headers are too large'),
  },
  [LATE_CODE]: {
    status: '408 Request Timeout',
    error: new ServiceError('bad_request', 'The request took too long to arrive'),
  },
};

function toRawResponse({ status, error }: typeof UNREADABLE): string {
  const { headers, envelope } = toErrorResponse(error);
  const body = JSON.stringify(envelope);
  const lines = Object.entries({
    ...headers,
    ...(error.code === 'method_not_allowed' && { allow: 'GET, HEAD, OPTIONS' }),
    'content-length': Buffer.byteLength(body),
    connection: 'close',
  }).map(([name, value]) => `${name}: ${value}\r\n`);
  return `HTTP/1.1 ${status}\r\n${lines.join('')}\r\n${body}`;
}
