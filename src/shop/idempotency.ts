// Idempotency keys. A request that is repeated with the same key is not executed again, and gets the first response.

import { ServiceError } from '../core/errors.ts';
import type { Queryable } from '../database/port.ts';
import type { IdempotencyKey, StoredResponse } from './queries/idempotency.ts';
import { claimIdempotencyKey, findStoredResponse, upsertStoredResponse } from './queries/idempotency.ts';

/** How long a response is kept and repeated. */
export const IDEMPOTENCY_KEPT_MS = 24 * 60 * 60_000;

export type RepeatableResponse = Omit<StoredResponse, 'requestDigest'>;

/**
 * If a response is stored for the key, returns this response. Otherwise runs `work` and stores its response in the same transaction.
 * Throws `conflict` while another transaction holds the key, and `unprocessable` when the key was used for a request with another
 * digest. An error that `work` throws is not stored.
 */
export async function runOnce(
  tx: Queryable,
  request: { id: IdempotencyKey; digest: Buffer; now: number },
  work: () => Promise<RepeatableResponse>,
): Promise<{ response: RepeatableResponse; isReplayed: boolean }> {
  const { id, digest, now } = request;
  if (!(await claimIdempotencyKey(tx, id))) {
    throw new ServiceError('conflict', 'A request with this Idempotency-Key is still running');
  }
  const stored = await findStoredResponse(tx, id, now - IDEMPOTENCY_KEPT_MS);
  if (stored) {
    if (stored.requestDigest.equals(digest)) return { response: stored, isReplayed: true };
    throw new ServiceError('unprocessable', 'This Idempotency-Key was used for another request');
  }
  const response = await work();
  await upsertStoredResponse(tx, id, { ...response, requestDigest: digest }, now);
  return { response, isReplayed: false };
}
