// What comes back over HTTP, held against the questions: every question answered once, under its own id, or a failure that
// says why not. Nothing here knows what the questions were about.

import type { Exchange } from '../../resilience/exchange.ts';
import { lie, RpcFailure, toRpcFailure } from './rpc-failure.ts';

export type Call = { method: string; params: readonly unknown[] };

type Redact = (text: string) => string;

const STATUS_LIMITED = 429;
const STATUS_TOO_LARGE = 413;

/** The results of `count` questions with ids from `firstId`, in their order. Throws RpcFailure. */
export function readAnswers(answer: Exchange, firstId: number, count: number, redact: Redact): unknown[] {
  const body = parseJson(answer.body);
  if (answer.status === STATUS_LIMITED) throw new RpcFailure('limited', null, { retryAfterMs: retryAfterMs(answer) });
  // Many answer a failed question with a status of its own; what they say in the body is more exact.
  const refusal = count > 1 && isObject(body) ? body['error'] : undefined;
  if (refusal !== undefined) throw asOfBatch(toRpcFailure(refusal, redact));
  const errorInBody = isObject(body) && isObject(body['error']);
  if ((answer.status < 200 || answer.status > 299) && !errorInBody) throw toStatusFailure(answer.status);
  if (body === undefined) throw lie('not JSON');
  const answers = count === 1 ? [body] : body;
  if (!Array.isArray(answers) || answers.length !== count) throw lie('not an answer to each question');
  const results = Array.from<unknown>({ length: count });
  const answered = new Set<number>();
  for (const one of answers) {
    if (!isObject(one)) throw lie('an answer is not an object');
    const index = toIndex(one['id'], firstId, one['error'] !== undefined && count === 1);
    if (index < 0 || index >= count || answered.has(index)) throw lie('an id that was not asked');
    answered.add(index);
    if (one['error'] !== undefined && one['error'] !== null) throw toRpcFailure(one['error'], redact);
    if (!('result' in one)) throw lie('neither result nor error');
    results[index] = one['result'];
  }
  return results;
}

/** Errors before the question was read carry a null id. */
function toIndex(id: unknown, firstId: number, isError: boolean): number {
  if (isError && (id === null || id === undefined)) return 0;
  const number = typeof id === 'string' && /^\d{1,15}$/.test(id) ? Number(id) : id;
  return typeof number === 'number' && Number.isInteger(number) ? number - firstId : -1;
}

/** One error to a whole batch. What is not said clearly may well be about its being a batch. */
function asOfBatch(failure: RpcFailure): RpcFailure {
  return failure.kind === 'limited' || failure.kind === 'server' ? failure : new RpcFailure('batch', failure.message);
}

function toStatusFailure(status: number): RpcFailure {
  if (status === STATUS_TOO_LARGE) return new RpcFailure('too-large', `status ${status}`);
  return new RpcFailure(status >= 500 ? 'server' : 'refused', `status ${status}`);
}

/** `Retry-After` in seconds, or a date. Null where it says neither. */
function retryAfterMs({ headers }: Exchange): number | null {
  const text = headers.get('retry-after')?.trim() ?? '';
  if (/^\d{1,9}$/.test(text)) return Number(text) * 1000;
  const date = Date.parse(text);
  const now = Date.parse(headers.get('date') ?? '');
  return Number.isNaN(date) || Number.isNaN(now) ? null : Math.max(0, date - now);
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
