// Limits how many bytes of responses may wait in memory because clients do not read them: for each address, and for all of them together. The
// operating system takes the bytes of a client that reads, so only responses to slow clients count.

import type { IncomingMessage, OutgoingHttpHeader, OutgoingHttpHeaders, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { ServiceError } from '../platform/core/errors.ts';
import { toErrorResponse } from '../platform/http/error-response.ts';
import { isBelow } from '../platform/http/request-target.ts';
import { INTAKE_PREFIX } from '../intake/http/routes.ts';
import { STORE_PREFIX } from '../shop/http/routes.ts';
import { corsHeadersOf } from './public-interfaces.ts';
import { REQUEST_ID_HEADER } from './request-id.ts';

/**
 * The limit for one client address in one process. Behind one address there may be many clients on slow lines: each of them leaves at most some
 * hundred kilobytes unread, because responses are compressed and the operating system buffers the beginning.
 */
export const UNREAD_BYTES_MAX = 8 * 1024 * 1024;

/** The limit for all clients of one process. Beyond it, the connections of the address with the most unread bytes are closed. */
const ALL_UNREAD_BYTES_MAX = 16 * 1024 * 1024;
/** The unread bytes of all clients are counted when this share of the limit may have been added. */
const COUNT_SHARE = 1 / 8;

export const UNREAD = new ServiceError(
  'unavailable',
  'Too many bytes of earlier responses to this address are unread: read them, then try again',
);

export type UnreadBytesOptions = {
  /** The address under which a request is counted for rate limits. */
  clientAddress: (request: IncomingMessage) => string;
  bytesMax?: number;
  allBytesMax?: number;
  /** Called for each request that a limit rejects, and for each connection that a limit closes. */
  onRejected: () => void;
};

export class UnreadBytes {
  readonly onRejected: () => void;
  readonly #clientAddress: (request: IncomingMessage) => string;
  readonly #bytesMax: number;
  readonly #allBytesMax: number;
  /** The most bytes that can have been added since the unread bytes of all clients were counted. */
  #added = 0;
  /** The responses with unread bytes, by client address. A client that reads everything is not in the map. */
  readonly #byClient = new Map<string, Set<ServerResponse>>();
  readonly #watched = new WeakSet<Socket>();

  constructor({
    clientAddress,
    bytesMax = UNREAD_BYTES_MAX,
    allBytesMax = ALL_UNREAD_BYTES_MAX,
    onRejected,
  }: UnreadBytesOptions) {
    this.#clientAddress = clientAddress;
    this.#bytesMax = bytesMax;
    this.#allBytesMax = allBytesMax;
    this.onRejected = onRejected;
  }

  /** The bytes that the clients of this address have not read. */
  of(client: string): number {
    let sum = 0;
    for (const response of this.#byClient.get(client) ?? []) sum += response.writableLength;
    return sum;
  }

  /** Whether a request must be rejected before work is done for it. */
  isFull(request: IncomingMessage): boolean {
    return this.#byClient.size > 0 && this.of(this.#clientAddress(request)) >= this.#bytesMax;
  }

  /** Whether a response of this size may be sent. A client without unread bytes may get a response of any size. */
  hasRoomFor(request: IncomingMessage, bytes: number): boolean {
    if (this.#byClient.size === 0) return true;
    const unread = this.of(this.#clientAddress(request));
    return unread === 0 || unread + bytes <= this.#bytesMax;
  }

  /** Must be called after each write that the operating system has not taken completely. Forgets the response when it is closed. */
  track(response: ServerResponse): void {
    const { socket } = response.req;
    if (socket.destroyed) return;
    this.#follow(response);
    this.#added += response.writableLength;
    if (this.#added < COUNT_SHARE * this.#allBytesMax) return;
    this.#added = 0;
    this.#endLargest();
  }

  #follow(response: ServerResponse): void {
    const { socket } = response.req;
    const client = this.#clientAddress(response.req);
    const responses = this.#byClient.get(client) ?? new Set();
    if (responses.has(response)) return;
    responses.add(response);
    this.#byClient.set(client, responses);
    const forget = (isForgotten: (one: ServerResponse) => boolean) => {
      for (const one of responses) if (isForgotten(one)) responses.delete(one);
      if (responses.size === 0 && this.#byClient.get(client) === responses) this.#byClient.delete(client);
    };
    response.once('close', () => forget((one) => one === response));
    if (this.#watched.has(socket)) return;
    this.#watched.add(socket);
    // Responses to pipelined requests that wait for an earlier response are not closed with their connection.
    socket.once('close', () => forget((one) => one.req.socket === socket));
  }

  /** If the unread bytes of all clients exceed their limit, closes connections of the address with the most unread bytes, the largest response first. */
  #endLargest(): void {
    const clients = [...this.#byClient].map(([client, responses]) => ({ bytes: this.of(client), responses }));
    let sum = clients.reduce((bytes, client) => bytes + client.bytes, 0);
    for (const { responses } of clients.sort((a, b) => b.bytes - a.bytes)) {
      for (const response of [...responses].sort((a, b) => b.writableLength - a.writableLength)) {
        if (sum <= this.#allBytesMax) return;
        const { socket } = response.req;
        if (socket.destroyed) continue;
        // A response that waits for an earlier one of its connection would keep its bytes until the connection is closed.
        for (const one of responses) if (one.req.socket === socket) sum -= one.writableLength;
        this.onRejected();
        socket.destroy();
      }
    }
  }
}

type Headers = OutgoingHttpHeaders | OutgoingHttpHeader[];

/**
 * Returns a class of responses that counts unread bytes. It sends a 503 instead of a response for which the client has no room, because only
 * then the size is known. The response to a change is always sent, because the client must learn that the change was made.
 */
export function limitUnread(Response: typeof ServerResponse, unread: UnreadBytes): typeof ServerResponse {
  return class<Request extends IncomingMessage> extends Response<Request> {
    /** The body that replaces the body of a rejected response. */
    #replacement: string | null = null;

    override writeHead(statusCode: number, messageOrHeaders?: string | Headers, headers?: Headers): this {
      const all = typeof messageOrHeaders === 'string' ? headers : messageOrHeaders;
      const bytes = Number(findHeader(all, 'content-length') ?? this.getHeader('content-length') ?? 0);
      if (isChange(this.req) || this.req.method === 'HEAD' || unread.hasRoomFor(this.req, bytes)) {
        return typeof messageOrHeaders === 'string'
          ? super.writeHead(statusCode, messageOrHeaders, headers)
          : super.writeHead(statusCode, messageOrHeaders);
      }
      unread.onRejected();
      const { status, headers: errorHeaders, envelope } = toErrorResponse(UNREAD);
      this.#replacement = JSON.stringify(envelope);
      const id = findHeader(all, REQUEST_ID_HEADER) ?? this.getHeader(REQUEST_ID_HEADER);
      for (const name of this.getHeaderNames()) this.removeHeader(name);
      return super.writeHead(status, {
        ...corsHeadersOf(this.req.url ?? ''),
        ...errorHeaders,
        ...(id !== undefined && { [REQUEST_ID_HEADER]: id }),
        'content-length': Buffer.byteLength(this.#replacement),
      });
    }

    override write(...args: unknown[]): boolean {
      if (this.#replacement !== null) return true;
      const isTaken = super.write(...(args as Parameters<ServerResponse['write']>));
      this.#track();
      return isTaken;
    }

    override end(...args: unknown[]): this {
      if (this.#replacement === null) super.end(...(args as Parameters<ServerResponse['end']>));
      else super.end(this.#replacement);
      this.#track();
      return this;
    }

    #track(): void {
      if (this.writableLength > 0) unread.track(this);
    }
  };
}

/** Only the store and the intake change anything. */
function isChange({ method, url = '' }: IncomingMessage): boolean {
  return method !== 'GET' && (isBelow(url, STORE_PREFIX) || isBelow(url, INTAKE_PREFIX));
}

/** A list of headers contains each name, followed by its value. */
function findHeader(headers: Headers | undefined, name: string): OutgoingHttpHeader | undefined {
  if (headers === undefined) return undefined;
  if (!Array.isArray(headers)) return headers[name];
  const index = headers.indexOf(name);
  return index < 0 ? undefined : headers[index + 1];
}
