// Idempotency keys. A request that is repeated with the same key is not executed again, and gets the first response.

import { ServiceError } from '../core/errors.ts';
import type { SecretKeys } from '../core/secret-keys.ts';
import type { Queryable } from '../database/port.ts';
import type { IdempotencyKey, StoredResponse } from './queries/idempotency.ts';
import { claimIdempotencyKey, findStoredResponse, upsertStoredResponse } from './queries/idempotency.ts';
import { toResponsePlace } from './stored-secrets.ts';

/** How long a response is kept and repeated. */
export const IDEMPOTENCY_KEPT_MS = 24 * 60 * 60_000;

export type RepeatableResponse = Omit<StoredResponse, 'requestDigest'> & {
  /** Whether the body contains a secret, so that it is stored encrypted. */
  hasSecret: boolean;
};

/**
 * If a response is stored for the key, returns this response. Otherwise runs `work` and stores its response in the same transaction.
 * Throws `conflict` while another transaction holds the key, and `unprocessable` when the key was used for a request with another
 * digest. An error that `work` throws is not stored.
 */
export async function runOnce(
  tx: Queryable,
  request: { id: IdempotencyKey; digest: Buffer; now: number; secretKeys: SecretKeys },
  work: () => Promise<RepeatableResponse>,
): Promise<{ response: Pick<StoredResponse, 'status' | 'headers' | 'body'>; isReplayed: boolean }> {
  const { id, digest, now, secretKeys } = request;
  const place = toResponsePlace(id);
  if (!(await claimIdempotencyKey(tx, id))) {
    throw new ServiceError('conflict', 'A request with this Idempotency-Key is still running');
  }
  const stored = await findStoredResponse(tx, id, now - IDEMPOTENCY_KEPT_MS);
  if (stored) {
    if (stored.requestDigest.equals(digest)) {
      return { response: { ...stored, body: secretKeys.decrypt(stored.body, place) }, isReplayed: true };
    }
    throw new ServiceError('unprocessable', 'This Idempotency-Key was used for another request');
  }
  const { hasSecret, ...response } = await work();
  const body = hasSecret ? secretKeys.encrypt(response.body, place) : response.body;
  await upsertStoredResponse(tx, id, { ...response, body, requestDigest: digest }, now);
  return { response, isReplayed: false };
}
