// Requests that change something: run in a transaction, once for each idempotency key, and answered from what was kept when
// they come again.

import { createHash } from 'node:crypto';
import type { FastifyReply, FastifyRequest } from 'fastify';
import type { Queryable } from '../../database/port.ts';
import type { StoredResponse } from '../queries/idempotency.ts';
import { claimIdempotencyKey, findStoredResponse, upsertStoredResponse } from '../queries/idempotency.ts';
import { ServiceError } from '../../core/errors.ts';
import { callerOf, storeOf } from './authorize.ts';
import { bodyOf } from '../../http/json-body.ts';
import type { StoreContext } from './context.ts';

export type Effect = { status: number; headers?: Record<string, string>; body: object };

const KEY_LENGTH_MAX = 255;
const KEPT_MS = 24 * 60 * 60_000;

/** Runs `work` in a transaction and sends its answer. Refusals are thrown: they undo everything and are not kept. */
export async function sendEffect(
  context: StoreContext,
  request: FastifyRequest,
  reply: FastifyReply,
  work: (tx: Queryable) => Promise<Effect>,
): Promise<FastifyReply> {
  const key = readIdempotencyKey(request);
  const answer = await storeOf(request).main.transaction((tx) =>
    key === null ? work(tx).then(toAnswer) : runOnce(context, tx, { request, key }, work),
  );
  return reply.code(answer.status).headers(answer.headers).type('application/json; charset=utf-8').send(answer.body);
}

/** Whether the answer has to be kept with its effect: a single statement needs a transaction only then. */
export function hasIdempotencyKey(request: FastifyRequest): boolean {
  return readIdempotencyKey(request) !== null;
}

type Answer = Omit<StoredResponse, 'requestDigest'>;

async function runOnce(
  context: StoreContext,
  tx: Queryable,
  subject: { request: FastifyRequest; key: string },
  work: (tx: Queryable) => Promise<Effect>,
): Promise<Answer> {
  const { request, key } = subject;
  const id = { keyId: callerOf(request).keyId, key };
  const now = context.store.clock();
  const requestDigest = digestOf(request);
  if (!(await claimIdempotencyKey(tx, id))) {
    throw new ServiceError('conflict', 'A request with this Idempotency-Key is still running');
  }
  const kept = await findStoredResponse(tx, id, now - KEPT_MS);
  if (kept && !kept.requestDigest.equals(requestDigest)) {
    throw new ServiceError('unprocessable', 'This Idempotency-Key was used for another request');
  }
  if (kept) return { ...kept, headers: { ...kept.headers, 'idempotent-replayed': 'true' } };
  const answer = toAnswer(await work(tx));
  await upsertStoredResponse(tx, id, { ...answer, requestDigest }, now);
  return answer;
}

function toAnswer({ status, headers = {}, body }: Effect): Answer {
  return { status, headers, body: JSON.stringify(body) };
}

function readIdempotencyKey(request: FastifyRequest): string | null {
  const key = request.headers['idempotency-key'];
  if (key === undefined) return null;
  if (typeof key === 'string' && key.length > 0 && key.length <= KEY_LENGTH_MAX) return key;
  throw new ServiceError('bad_request', `Idempotency-Key must have 1 to ${KEY_LENGTH_MAX} characters`);
}

/** The same request is the same method, path and bytes. */
function digestOf(request: FastifyRequest): Buffer {
  const path = request.url.split('?', 1)[0] ?? '';
  return createHash('sha256').update(`${request.method} ${path}\n`).update(bodyOf(request).raw).digest();
}
