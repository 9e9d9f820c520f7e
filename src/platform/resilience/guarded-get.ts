// Sends a GET request to a host that a third party may have chosen. Checks the addresses of the host, unless the operator chose the host.
// Limits the time of the request and the size of the body. A redirect is returned, not followed: the caller must check its target.

import http from 'node:http';
import https from 'node:https';
import type { LookupFunction } from 'node:net';
import { PrivateAddressError } from './checked-lookup.ts';
import { DeadlineSignal } from './deadline.ts';

export type GuardedGet = {
  /** Checks the addresses of the host. Null if the operator chose the host: its addresses are then not checked. */
  lookup: LookupFunction | null;
  timeoutMs: number;
  /** The largest body accepted, in bytes. */
  bytesMax: number;
  headers: Readonly<Record<string, string>>;
  signal: AbortSignal;
};

export type GuardedResponse = { status: number; headers: http.IncomingHttpHeaders; body: Buffer };

/** The message names no URL and no address, because an address could reveal the operator's network. */
export class GuardedFailure extends Error {
  override readonly name = 'GuardedFailure';
  readonly reason: 'private-address' | 'unreachable' | 'timeout' | 'too-large' | 'aborted';

  constructor(reason: GuardedFailure['reason'], options?: { cause?: unknown }) {
    super(reason, options);
    this.reason = reason;
  }
}

/** Reads the body of a response only if the status is a success. Throws GuardedFailure. */
export async function guardedGet(url: URL, options: GuardedGet): Promise<GuardedResponse> {
  using deadline = new DeadlineSignal(options.timeoutMs, options.signal);
  try {
    return await get(url, options, deadline.signal);
  } catch (error) {
    if (error instanceof GuardedFailure) throw error;
    if (options.signal.aborted) throw new GuardedFailure('aborted', { cause: error });
    if (deadline.hasPassed) throw new GuardedFailure('timeout', { cause: error });
    const reason = isPrivate(error) ? 'private-address' : 'unreachable';
    throw new GuardedFailure(reason, { cause: error });
  }
}

function isPrivate(error: unknown): boolean {
  const failure: unknown = error instanceof AggregateError ? error.errors[0] : error;
  return failure instanceof PrivateAddressError;
}

function get(url: URL, { lookup, bytesMax, headers }: GuardedGet, signal: AbortSignal): Promise<GuardedResponse> {
  const { promise, resolve, reject } = Promise.withResolvers<GuardedResponse>();
  // `agent: false` gives each request a connection of its own. The address of a reused connection would not be checked again.
  const request = (url.protocol === 'https:' ? https : http).request(url, {
    agent: false,
    signal,
    headers: { 'accept-encoding': 'identity', ...headers },
    ...(lookup && { lookup }),
  });
  request.once('response', (response) => {
    const status = response.statusCode ?? 0;
    const chunks: Buffer[] = [];
    let size = 0;
    const finish = () => resolve({ status, headers: response.headers, body: Buffer.concat(chunks) });
    if (status < 200 || status > 299) {
      finish();
      request.destroy();
      return;
    }
    response.on('data', (chunk: Buffer) => {
      size += chunk.length;
      if (size <= bytesMax) chunks.push(chunk);
      else {
        reject(new GuardedFailure('too-large'));
        request.destroy();
      }
    });
    response.once('end', finish);
    response.once('error', reject);
    response.once('close', () => reject(new GuardedFailure('unreachable')));
  });
  request.on('error', reject);
  // For `101 Switching Protocols`, Node emits `upgrade` instead of `response` and hands over the socket.
  request.once('upgrade', (_response, socket) => {
    socket.destroy();
    reject(new GuardedFailure('unreachable'));
  });
  request.end();
  return promise;
}
