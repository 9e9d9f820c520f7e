// One POST to a receiver that somebody else chose. Bounded in time and in what is read; never follows a redirect, never
// connects to an address that was not checked, and never throws: what went wrong is the outcome.

import dns from 'node:dns';
import http from 'node:http';
import https from 'node:https';
import type { LookupFunction } from 'node:net';
import { isPublicAddress, parseTarget } from './target.ts';
import type { Outcome } from './delivery.ts';
import type { Resolve } from './resolve.ts';
import { createResolve } from './resolve.ts';

export type SendRequest = { url: string; headers: Record<string, string>; body: string };

export type Sender = {
  send(request: SendRequest, signal: AbortSignal): Promise<Outcome>;
  /** Closes the connections that are kept for the next request. */
  close(): void;
};

export type SenderOptions = {
  /** http and addresses that are not public are allowed. */
  allowPrivate: boolean;
  resolve?: Resolve;
  timeoutMs?: number;
};

/** From the name's resolution to the last byte of the answer. */
export const SEND_TIMEOUT_MS = 15_000;
/** What is read of an answer; nothing of it is kept. */
export const RESPONSE_BYTES_MAX = 64 * 1024;
/** How long a connection is kept for the next delivery to the same receiver, and how many. */
const IDLE_MS = 4_000;
const IDLE_CONNECTIONS_MAX = 64;
const USER_AGENT = 'Mercat-Webhooks/1';

/** Words for the shop. They never name an address: that would tell what only the operator's network knows. */
const REASONS: Record<string, string> = {
  ENOTFOUND: 'the host name does not resolve',
  ENODATA: 'the host name does not resolve',
  ECONNREFUSED: 'the connection was refused',
  ECONNRESET: 'the connection was cut off',
  EPIPE: 'the connection was cut off',
  EHOSTUNREACH: 'the host cannot be reached',
  ENETUNREACH: 'the host cannot be reached',
  ETIMEDOUT: 'the host cannot be reached',
};

class Refusal extends Error {}

export function createSender(options: SenderOptions): Sender {
  const { allowPrivate, timeoutMs = SEND_TIMEOUT_MS, resolve = createResolve(allowPrivate) } = options;
  const agentOptions = { keepAlive: true, timeout: IDLE_MS, maxFreeSockets: IDLE_CONNECTIONS_MAX };
  const agents = { 'http:': new http.Agent(agentOptions), 'https:': new https.Agent(agentOptions) };
  const lookup = createCheckedLookup(resolve, allowPrivate);
  return {
    close: () => {
      for (const agent of Object.values(agents)) agent.destroy();
    },
    send: async ({ url, headers, body }, signal) => {
      const began = performance.now();
      const finish = (answer: Partial<Outcome>): Outcome => {
        const durationMs = Math.round(performance.now() - began);
        return { status: null, retryAfter: null, error: null, ...answer, durationMs };
      };
      const target = parseTarget(url, allowPrivate);
      if ('refusal' in target) return finish({ error: `the URL ${target.refusal}` });
      const timer = new AbortController();
      const timeout = setTimeout(() => timer.abort(), timeoutMs);
      const ended = AbortSignal.any([signal, timer.signal]);
      const agent = target.url.protocol === 'https:' ? agents['https:'] : agents['http:'];
      try {
        return finish(await post(target.url, { headers, body, lookup, agent, signal: ended }));
      } catch (error) {
        const late = timer.signal.aborted && !signal.aborted;
        return finish({ error: late ? `there was no whole answer within ${timeoutMs / 1_000} s` : describe(error) });
      } finally {
        clearTimeout(timeout);
      }
    },
  };
}

type Post = {
  headers: Record<string, string>;
  body: string;
  lookup: LookupFunction;
  agent: http.Agent;
  signal: AbortSignal;
};

type Answer = Pick<Outcome, 'status' | 'retryAfter'>;

/** A kept connection that the receiver closes as it is used says nothing about the receiver: a new one is made then. */
async function post(url: URL, options: Post): Promise<Answer> {
  try {
    return await postOnce(url, options, true);
  } catch (error) {
    if (!(error instanceof StaleConnection)) throw error;
    return postOnce(url, options, false);
  }
}

class StaleConnection extends Error {}

function postOnce(url: URL, { headers, body, lookup, agent, signal }: Post, mayReuse: boolean): Promise<Answer> {
  const { promise, resolve, reject } = Promise.withResolvers<Answer>();
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
    const answer = { status: response.statusCode ?? null, retryAfter: response.headers['retry-after'] ?? null };
    let size = 0;
    response.on('data', (chunk: Buffer) => {
      size += chunk.length;
      if (size <= RESPONSE_BYTES_MAX) return;
      resolve(answer);
      request.destroy();
    });
    response.once('end', () => resolve(answer));
    response.once('error', reject);
    response.once('close', () => reject(new Refusal('the answer was cut off')));
  });
  request.on('error', (error: NodeJS.ErrnoException) => {
    const isCut = error.code === 'ECONNRESET' || error.code === 'EPIPE';
    reject(mayReuse && request.reusedSocket && isCut ? new StaleConnection('', { cause: error }) : error);
  });
  // An answer of `101 Switching Protocols` hands the socket over; there is nothing to switch to.
  request.once('upgrade', (response, socket) => {
    socket.destroy();
    resolve({ status: response.statusCode ?? null, retryAfter: null });
  });
  request.end(body);
  return promise;
}

/** The lookup of a connection: it dials what this returns and nothing else, so a name cannot change its mind in between. */
export function createCheckedLookup(resolve: Resolve, allowPrivate: boolean): LookupFunction {
  return (hostname, { all, family }, callback) => {
    const find = async () => {
      const found = await resolve(hostname);
      if (!allowPrivate && !found.every(({ address }) => isPublicAddress(address))) {
        throw new Refusal('the host has an address that is not public');
      }
      const usable = family === 4 || family === 6 ? found.filter((one) => one.family === family) : found;
      if (usable.length === 0) throw Object.assign(new Error('no address'), { code: dns.NOTFOUND });
      return usable;
    };
    find().then(
      (found) => (all ? callback(null, found) : callback(null, found[0]?.address ?? '', found[0]?.family ?? 0)),
      (error: NodeJS.ErrnoException) => callback(error, []),
    );
  };
}

function describe(error: unknown): string {
  if (error instanceof Refusal) return error.message;
  const failure = error instanceof AggregateError ? (error.errors[0] as unknown) : error;
  const code = (failure as NodeJS.ErrnoException).code ?? '';
  const known = REASONS[code];
  if (known !== undefined) return known;
  if (/^(ERR_TLS|ERR_SSL|CERT_|DEPTH_ZERO|SELF_SIGNED|UNABLE_TO)/.test(code)) {
    return `the TLS certificate was not accepted (${code})`;
  }
  return code.startsWith('HPE_') ? 'the answer is not HTTP' : `the request failed${code && ` (${code})`}`;
}
