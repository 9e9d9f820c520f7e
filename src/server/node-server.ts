// Node's HTTP server with a bound on everything that a client may take: time, headers, a connection. What is not HTTP, or
// comes too slowly, is answered in the envelope too, but never in the place of another request's answer.

import type { IncomingMessage, RequestListener, Server, ServerResponse } from 'node:http';
import { createServer } from 'node:http';
import type { Duplex } from 'node:stream';
import { ServiceError } from '../core/errors.ts';
import { toErrorResponse } from '../http/error-response.ts';

export type ClientLimits = {
  /** From the first byte, or the opening of the connection, to the end of the headers. */
  headersTimeoutMs: number;
  /** To the end of the whole request. */
  requestTimeoutMs: number;
  /** How often the two above are looked at. */
  checkPeriodMs: number;
  /** Between an answer and the next request. */
  keepAliveTimeoutMs: number;
  /** Without a byte in either direction: a client that does not read its answers holds their memory. */
  stallTimeoutMs: number;
  /** Request line and headers together. */
  headersBytesMax: number;
};

export const CLIENT_LIMITS: ClientLimits = {
  headersTimeoutMs: 8_000,
  requestTimeoutMs: 15_000,
  checkPeriodMs: 1_000,
  keepAliveTimeoutMs: 65_000,
  stallTimeoutMs: 30_000,
  headersBytesMax: 16_384,
};

/** How long a client that is hung up on may take to read the reason. */
const FAREWELL_MS = 2_000;

type Exchange = { request: IncomingMessage; response: ServerResponse };

export function createNodeServer(listener: RequestListener, limits: ClientLimits = CLIENT_LIMITS): Server {
  const newest = new WeakMap<Duplex, Exchange>();
  const refused = new WeakSet<Duplex>();
  const listen: RequestListener = (request, response) => {
    newest.set(request.socket, { request, response });
    listener(request, response);
  };
  const refuse = (error: NodeJS.ErrnoException, socket: Duplex): void => {
    // What follows the first error on a connection is more of the same.
    if (refused.has(socket)) return;
    refused.add(socket);
    answerClientError(error, socket, newest.get(socket));
  };
  const server = createServer(
    {
      headersTimeout: limits.headersTimeoutMs,
      requestTimeout: limits.requestTimeoutMs,
      connectionsCheckingInterval: limits.checkPeriodMs,
      keepAliveTimeout: limits.keepAliveTimeoutMs,
      maxHeaderSize: limits.headersBytesMax,
      // The edge refuses a request without it, in the envelope.
      requireHostHeader: false,
    },
    listen,
  );
  server.timeout = limits.stallTimeoutMs;
  return server.on('checkExpectation', listen).on('connect', refuseTunnel).on('clientError', refuse);
}

function answerClientError(error: NodeJS.ErrnoException, socket: Duplex, exchange: Exchange | undefined): void {
  if (error.code === 'ECONNRESET') {
    socket.destroy();
    return;
  }
  const answer = toRawAnswer(CLIENT_ERRORS[error.code ?? ''] ?? UNREADABLE);
  if (!exchange) return hangUp(socket, answer);
  const { request, response } = exchange;
  const isUnanswered = !response.headersSent && response.socket !== null;
  if (request.complete) whenAnswered(response, () => hangUp(socket, answer));
  // The body of the newest request is what cannot be read: it gets one answer, not two.
  else if (isUnanswered) hangUp(socket, answer);
  else whenAnswered(response, () => hangUp(socket, ''));
}

/** A request that came before is answered first: a client takes answers in the order of its requests. */
function whenAnswered(response: ServerResponse, proceed: () => void): void {
  if (response.closed || response.writableFinished) proceed();
  else response.once('close', proceed);
}

function hangUp(socket: Duplex, answer: string): void {
  if (!socket.writable) {
    socket.destroy();
    return;
  }
  socket.end(answer);
  const timer = setTimeout(() => socket.destroy(), FAREWELL_MS).unref();
  socket.once('close', () => clearTimeout(timer));
}

/** Node hands a tunnel's bare connection over, and would close it without a word. */
function refuseTunnel(_request: IncomingMessage, socket: Duplex): void {
  socket.on('error', () => socket.destroy());
  hangUp(socket, toRawAnswer({ status: '405 Method Not Allowed', error: TUNNEL }));
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
  ERR_HTTP_REQUEST_TIMEOUT: {
    status: '408 Request Timeout',
    error: new ServiceError('bad_request', 'The request took too long to arrive'),
  },
};

function toRawAnswer({ status, error }: typeof UNREADABLE): string {
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
