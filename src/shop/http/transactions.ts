// Makes the change of a request in a transaction. If the Idempotency-Key of the request was used before, the request is not executed again.

import { createHash } from 'node:crypto';
import type { FastifyReply, FastifyRequest } from 'fastify';
import type { Queryable } from '../../platform/database/port.ts';
import { repeatAborted } from '../../platform/database/port.ts';
import { ServiceError } from '../../platform/core/errors.ts';
import { bodyOf } from '../../platform/http/json-body.ts';
import type { ShopContext } from '../context.ts';
import type { OnceRequest, OnceResponse, RepeatableResponse } from '../idempotency.ts';
import { runOnce, toFirstResponse } from '../idempotency.ts';
import { callerOf, shopContextOf } from './authorize.ts';

export type WriteResponse = {
  status: number;
  headers?: Record<string, string>;
  body: object;
  /** Whether the body contains a secret. Default: false. */
  hasSecret?: boolean;
};

/** Makes the change of a request in the transaction, and returns the response. */
export type Write = (tx: Queryable) => Promise<WriteResponse>;

const IDEMPOTENCY_KEY_LENGTH_MAX = 255;

/**
 * Runs `write` in a transaction and sends its response. If the Idempotency-Key of the request was used before, sends the stored response
 * instead. An error rolls the transaction back and is not stored. A transaction that the database aborted because of another transaction is
 * repeated, so `write` must change nothing but the database. If the request changes a product, `shop` is the result of `productContextOf`.
 */
export async function sendInTransaction(
  request: FastifyRequest,
  reply: FastifyReply,
  write: Write,
  shop: ShopContext = shopContextOf(request),
): Promise<FastifyReply> {
  const once = onceRequestOf(request);
  const made = await repeatAborted(() =>
    shop.main.transaction(async (tx) => {
      const work = async () => toRepeatable(await write(tx));
      if (once === null) return toFirstResponse(await work());
      const { clock, secretKeys } = shopContextOf(request);
      return runOnce(tx, { ...once, now: clock(), secretKeys }, work);
    }),
  );
  return sendOnce(reply, made);
}

export function sendOnce(reply: FastifyReply, { response, isReplayed }: OnceResponse): FastifyReply {
  if (isReplayed) reply.header('idempotent-replayed', 'true');
  return reply
    .code(response.status)
    .headers(response.headers)
    .type('application/json; charset=utf-8')
    .send(response.body);
}

/** Identifies a request by its Idempotency-Key. The response must be stored in the transaction that makes the change. Null without a key. */
export function onceRequestOf(request: FastifyRequest): OnceRequest | null {
  const key = readIdempotencyKey(request);
  return key === null ? null : { id: { keyId: callerOf(request).keyId, key }, digest: digestOf(request) };
}

export function toRepeatable({ status, headers = {}, body, hasSecret = false }: WriteResponse): RepeatableResponse {
  return { status, headers, body: JSON.stringify(body), hasSecret };
}

function readIdempotencyKey(request: FastifyRequest): string | null {
  const key = request.headers['idempotency-key'];
  if (key === undefined) return null;
  if (typeof key === 'string' && key.length > 0 && key.length <= IDEMPOTENCY_KEY_LENGTH_MAX) return key;
  throw new ServiceError('bad_request', `Idempotency-Key must have 1 to ${IDEMPOTENCY_KEY_LENGTH_MAX} characters`);
}

/** Identifies a request by its method, its path with the query, and the bytes of its body. */
function digestOf(request: FastifyRequest): Buffer {
  return createHash('sha256').update(`${request.method} ${request.url}\n`).update(bodyOf(request).raw).digest();
}
