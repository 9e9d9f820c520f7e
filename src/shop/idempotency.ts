// A request that is repeated with the same idempotency key is not executed again, and gets the first response.

import { ServiceError } from '../core/errors.ts';
import type { SecretKeys } from '../core/secret-keys.ts';
import type { Queryable } from '../database/port.ts';
import type { IdempotencyKey, StoredResponse } from './queries/idempotency.ts';
import { claimIdempotencyKey, findStoredResponse, upsertStoredResponse } from './queries/idempotency.ts';
import { toResponsePlace } from './stored-secrets.ts';

/** A response is kept, and can be repeated, for this long. */
export const IDEMPOTENCY_KEPT_MS = 24 * 60 * 60_000;

export type RepeatableResponse = Omit<StoredResponse, 'requestDigest'> & {
  /** Whether the body contains a secret. It is then stored encrypted. */
  hasSecret: boolean;
};

/**
 * If a response is stored for the key, returns it. Otherwise runs `work` and stores its response in the same transaction. Throws `conflict`
 * while another transaction holds the key. Throws `unprocessable` if the key was used for another request. An error of `work` is not
 * stored.
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
