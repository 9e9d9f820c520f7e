// Checks an HTTP response against the JSON-RPC requests that were sent. Each request must have exactly one result, with its id. Otherwise
// an RpcFailure with the reason is thrown.

import { parseRetryAfter } from '../../../platform/resilience/backoff.ts';
import type { Exchange } from '../../../platform/resilience/http-exchange.ts';
import type { RpcFailureKind } from './rpc-failure.ts';
import { invalidResponse, RpcFailure, toRpcFailure } from './rpc-failure.ts';

export type RpcRequest = { method: string; params: readonly unknown[] };

/** The result of a reverted call if `keepsFailedCalls` is set. JSON has no undefined, so no endpoint can send this value. */
export const REVERTED = undefined;

/** The result of a call that the endpoint could not execute, if `keepsFailedCalls` is set. JSON has no symbols. */
export const CALL_FAILED = Symbol('call failed');

export type ReadOptions = {
  /**
   * If true, a reverted call has the result REVERTED. A call has the result CALL_FAILED if its error is of another kind and concerns this
   * call only. If false, each of these errors fails the complete batch. Default: false.
   */
  keepsFailedCalls?: boolean;
};

/**
 * The kinds of errors that concern one call only: its gas, its stack, its execution time or the size of its result. Each endpoint has its
 * own texts for these errors. So most of these errors are not recognised, and have the kind `rpc-error`.
 */
const OF_CALL: ReadonlySet<RpcFailureKind> = new Set(['rpc-error', 'range-too-large']);

type Redact = (text: string) => string;

const STATUS_RATE_LIMITED = 429;
const STATUS_TOO_LARGE = 413;

/** The results of `count` requests with ids from `firstId`, in their order. Throws RpcFailure. */
export function readResults(
  response: Exchange,
  {
    firstId,
    count,
    redact,
    keepsFailedCalls = false,
  }: ReadOptions & { firstId: number; count: number; redact: Redact },
): unknown[] {
  const { status } = response;
  const body = parseJson(response.body);
  if (status === STATUS_RATE_LIMITED) {
    throw new RpcFailure('rate-limited', null, { retryAfterMs: retryAfterMs(response) });
  }
  // Many endpoints send a JSON-RPC error with an HTTP error status. The error is more exact than the status.
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
    if (one['error'] !== undefined && one['error'] !== null) {
      const failure = toRpcFailure(one['error'], redact);
      const isOfCall = failure.kind === 'reverted' || OF_CALL.has(failure.kind);
      if (!keepsFailedCalls || !isOfCall) throw failure;
      results[index] = failure.kind === 'reverted' ? REVERTED : CALL_FAILED;
      continue;
    }
    if (!('result' in one)) throw invalidResponse('neither result nor error');
    results[index] = one['result'];
  }
  return results;
}

/**
 * The index of the request that a response belongs to, or -1. An endpoint that cannot parse a request sends an error with a null id.
 * `isError`: the response is an error and there is only one request, so an error with a null id belongs to this request.
 */
function toIndex(id: unknown, firstId: number, isError: boolean): number {
  if (isError && (id === null || id === undefined)) return 0;
  const number = typeof id === 'string' && /^\d{1,15}$/.test(id) ? Number(id) : id;
  return typeof number === 'number' && Number.isInteger(number) ? number - firstId : -1;
}

/**
 * Converts the single error that an endpoint sent for a complete batch. A rate limit or a server error keeps its kind. Any other error
 * becomes `batch-rejected`, because the endpoint may reject only the batch and not its calls.
 */
function toBatchFailure(failure: RpcFailure): RpcFailure {
  const keepsKind = failure.kind === 'rate-limited' || failure.kind === 'server-error';
  return keepsKind ? failure : new RpcFailure('batch-rejected', failure.message);
}

function toStatusFailure(status: number): RpcFailure {
  if (status === STATUS_TOO_LARGE) return new RpcFailure('too-large', `status ${status}`);
  return new RpcFailure(status >= 500 ? 'server-error' : 'rejected', `status ${status}`);
}

/**
 * How long the client must wait according to `Retry-After`, in milliseconds. The header has a number of seconds or a date. A date is
 * compared with the server's own `Date` header. Null when `Retry-After` is missing, or is a date without a `Date` header.
 */
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
