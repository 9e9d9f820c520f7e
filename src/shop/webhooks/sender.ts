// Sends a webhook request to a URL that a shop chose. Time and response size are limited. Redirects are not followed. Connections are
// opened only to checked addresses. `send` does not throw: errors are part of its result.

import http from 'node:http';
import https from 'node:https';
import type { LookupFunction } from 'node:net';
import { DeadlineSignal } from '../../platform/resilience/deadline.ts';
import { createCheckedLookup, PrivateAddressError } from '../../platform/resilience/checked-lookup.ts';
import { parseTarget } from '../../platform/resilience/public-target.ts';
import type { Resolve } from '../../platform/resilience/resolve-host.ts';
import { createResolve } from '../../platform/resilience/resolve-host.ts';
import type { AttemptResult } from './attempt.ts';

export type WebhookRequest = { url: string; headers: Record<string, string>; body: string };

export type SenderOptions = {
  /** Whether webhook URLs may use http and addresses that are not public. */
  allowPrivate: boolean;
  resolve?: Resolve;
  timeoutMs?: number;
};

/** The time limit of a send, from the resolution of the host name to the last byte of the response. */
const SEND_TIMEOUT_MS = 15_000;
/** At most this many bytes of a response body are read. Their content is discarded. */
export const WEBHOOK_RESPONSE_BYTES_MAX = 64 * 1024;
/** An idle connection is kept this long for the next delivery to the same receiver. */
const IDLE_MS = 4_000;
const IDLE_CONNECTIONS_MAX = 64;
const USER_AGENT = 'Mercat-Webhooks/1';

export class WebhookSender {
  readonly #allowPrivate: boolean;
  readonly #timeoutMs: number;
  readonly #lookup: LookupFunction;
  readonly #agents: { 'http:': http.Agent; 'https:': https.Agent };

  constructor({ allowPrivate, timeoutMs = SEND_TIMEOUT_MS, resolve = createResolve(allowPrivate) }: SenderOptions) {
    const agentOptions = { keepAlive: true, timeout: IDLE_MS, maxFreeSockets: IDLE_CONNECTIONS_MAX };
    this.#allowPrivate = allowPrivate;
    this.#timeoutMs = timeoutMs;
    this.#lookup = createCheckedLookup(resolve, allowPrivate);
    this.#agents = { 'http:': new http.Agent(agentOptions), 'https:': new https.Agent(agentOptions) };
  }

  /** Sends a request. If `signal` aborts, the send ends and the result has no status. */
  async send({ url, headers, body }: WebhookRequest, signal: AbortSignal): Promise<AttemptResult> {
    const startedAt = performance.now();
    const finish = (result: Partial<AttemptResult>): AttemptResult => {
      const durationMs = Math.round(performance.now() - startedAt);
      return { status: null, retryAfter: null, error: null, ...result, durationMs };
    };
    const target = parseTarget(url, this.#allowPrivate);
    if ('error' in target) return finish({ error: `the URL ${target.error}` });
    using deadline = new DeadlineSignal(this.#timeoutMs, signal);
    const agent = target.url.protocol === 'https:' ? this.#agents['https:'] : this.#agents['http:'];
    try {
      return finish(await post(target.url, { headers, body, lookup: this.#lookup, agent, signal: deadline.signal }));
    } catch (error) {
      const hasTimedOut = deadline.hasPassed && !signal.aborted;
      return finish({
        error: hasTimedOut ? `no complete response within ${this.#timeoutMs / 1_000} s` : describeFailure(error),
      });
    }
  }

  /** Closes the idle connections. */
  close(): void {
    for (const agent of Object.values(this.#agents)) agent.destroy();
  }
}

type Post = {
  headers: Record<string, string>;
  body: string;
  lookup: LookupFunction;
  agent: http.Agent;
  signal: AbortSignal;
};

type Response = Pick<AttemptResult, 'status' | 'retryAfter'>;

/** Posts on an idle connection if there is one. If the receiver has closed this connection, posts once more on a new connection. */
async function post(url: URL, options: Post): Promise<Response> {
  try {
    return await postOnce(url, options, true);
  } catch (error) {
    if (!(error instanceof StaleConnection)) throw error;
    return postOnce(url, options, false);
  }
}

class StaleConnection extends Error {}

function postOnce(url: URL, { headers, body, lookup, agent, signal }: Post, mayReuse: boolean): Promise<Response> {
  const { promise, resolve, reject } = Promise.withResolvers<Response>();
  const request = (url.protocol === 'https:' ? https : http).request(url, {
    method: 'POST',
    agent: mayReuse ? agent : false,
    lookup,
    signal,
    headers: {
      'content-type': 'application/json',
      'content-length': Buffer.byteLength(body),
      'user-agent': USER_AGENT,
      ...headers,
    },
  });
  request.once('response', (response) => {
    const result = { status: response.statusCode ?? null, retryAfter: response.headers['retry-after'] ?? null };
    let size = 0;
    response.on('data', (chunk: Buffer) => {
      size += chunk.length;
      if (size <= WEBHOOK_RESPONSE_BYTES_MAX) return;
      resolve(result);
      request.destroy();
    });
    response.once('end', () => resolve(result));
    response.once('error', reject);
    response.once('close', () => {
      if (!response.complete) reject(new SendFailure('the response was cut off'));
    });
  });
  request.on('error', (error: NodeJS.ErrnoException) => {
    const isClosed = error.code === 'ECONNRESET' || error.code === 'EPIPE';
    reject(mayReuse && request.reusedSocket && isClosed ? new StaleConnection('', { cause: error }) : error);
  });
  // For `101 Switching Protocols`, Node emits `upgrade` instead of `response` and hands over the socket.
  request.once('upgrade', (response, socket) => {
    socket.destroy();
    resolve({ status: response.statusCode ?? null, retryAfter: null });
  });
  request.end(body);
  return promise;
}

/** A failure whose message may be shown to the shop. */
class SendFailure extends Error {}

/** Messages for the shop, by error code. They contain no address, because an address could reveal the operator's network. */
const MESSAGES: Record<string, string> = {
  ENOTFOUND: 'the host name does not resolve',
  ENODATA: 'the host name does not resolve',
  ECONNREFUSED: 'the connection was refused',
  ECONNRESET: 'the connection was cut off',
  EPIPE: 'the connection was cut off',
  EHOSTUNREACH: 'the host cannot be reached',
  ENETUNREACH: 'the host cannot be reached',
  ETIMEDOUT: 'the host cannot be reached',
};

function describeFailure(error: unknown): string {
  if (error instanceof SendFailure || error instanceof PrivateAddressError) return error.message;
  const failure: unknown = error instanceof AggregateError ? error.errors[0] : error;
  const code = failure instanceof Error && 'code' in failure ? String(failure.code) : '';
  const message = MESSAGES[code];
  if (message !== undefined) return message;
  if (/^(ERR_TLS|ERR_SSL|CERT_|DEPTH_ZERO|SELF_SIGNED|UNABLE_TO)/.test(code)) {
    return `the TLS certificate was not accepted (${code})`;
  }
  return code.startsWith('HPE_') ? 'the response is not HTTP' : `the request failed${code && ` (${code})`}`;
}
