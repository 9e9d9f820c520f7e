// Checks an HTTP response against the JSON-RPC requests it responds to: each has exactly one result, under its own id, or the
// response becomes an RpcFailure that says why not. What the results mean is not known here.

import { parseRetryAfter } from '../../resilience/backoff.ts';
import type { Exchange } from '../../resilience/http-exchange.ts';
import { invalidResponse, RpcFailure, toRpcFailure } from './rpc-failure.ts';

export type RpcRequest = { method: string; params: readonly unknown[] };

type Redact = (text: string) => string;

const STATUS_RATE_LIMITED = 429;
const STATUS_TOO_LARGE = 413;

/** The results of `count` requests with ids from `firstId`, in their order. Throws RpcFailure. */
export function readResults(response: Exchange, firstId: number, count: number, redact: Redact): unknown[] {
  const { status } = response;
  const body = parseJson(response.body);
  if (status === STATUS_RATE_LIMITED) {
    throw new RpcFailure('rate-limited', null, { retryAfterMs: retryAfterMs(response) });
  }
  // Many endpoints send a failed request with an error status; the error in the body is more exact.
  const batchError = count > 1 && isObject(body) ? body['error'] : undefined;
  if (batchError !== undefined) throw toBatchFailure(toRpcFailure(batchError, redact));
  const hasError = isObject(body) && isObject(body['error']);
  if ((status < 200 || status > 299) && !hasError) throw toStatusFailure(status);
  if (body === undefined) throw invalidResponse('not JSON');
  const responses = count === 1 ? [body] : body;
  if (!Array.isArray(responses) || responses.length !== count)
    throw invalidResponse('not one response for each request');
  const results = Array.from<unknown>({ length: count });
  const seen = new Set<number>();
  for (const one of responses) {
    if (!isObject(one)) throw invalidResponse('not an object');
    const index = toIndex(one['id'], firstId, one['error'] !== undefined && count === 1);
    if (index < 0 || index >= count || seen.has(index)) throw invalidResponse('an id without a request');
    seen.add(index);
    if (one['error'] !== undefined && one['error'] !== null) throw toRpcFailure(one['error'], redact);
    if (!('result' in one)) throw invalidResponse('neither result nor error');
    results[index] = one['result'];
  }
  return results;
}

/** Errors found before the request was parsed have a null id. */
function toIndex(id: unknown, firstId: number, isError: boolean): number {
  if (isError && (id === null || id === undefined)) return 0;
  const number = typeof id === 'string' && /^\d{1,15}$/.test(id) ? Number(id) : id;
  return typeof number === 'number' && Number.isInteger(number) ? number - firstId : -1;
}

/** One error for a complete batch. Unless it clearly has another reason, the batch itself may be the reason. */
function toBatchFailure(failure: RpcFailure): RpcFailure {
  const isOther = failure.kind === 'rate-limited' || failure.kind === 'server-error';
  return isOther ? failure : new RpcFailure('batch-rejected', failure.message);
}

function toStatusFailure(status: number): RpcFailure {
  if (status === STATUS_TOO_LARGE) return new RpcFailure('too-large', `status ${status}`);
  return new RpcFailure(status >= 500 ? 'server-error' : 'rejected', `status ${status}`);
}

/** `Retry-After` in seconds or as a date, which is compared with the server's own `Date`. Null where either is missing. */
function retryAfterMs({ headers }: Exchange): number | null {
  const waitMs = parseRetryAfter(headers.get('retry-after'), Date.parse(headers.get('date') ?? ''));
  return Number.isNaN(waitMs) ? null : waitMs;
}

function parseJson(body: Buffer): unknown {
  try {
    return JSON.parse(body.toString('utf8'));
  } catch {
    return undefined;
  }
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
