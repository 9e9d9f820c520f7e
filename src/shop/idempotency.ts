// A request that is repeated with the same idempotency key is not executed again, and gets the first response.

import { ServiceError } from '../platform/core/errors.ts';
import type { SecretKeys } from '../platform/core/secret-keys.ts';
import type { Queryable } from '../platform/database/port.ts';
import type { IdempotencyKey, StoredResponse } from './queries/idempotency.ts';
import { claimIdempotencyKeys, listStoredResponses, upsertStoredResponses } from './queries/idempotency.ts';
import { toResponsePlace } from './stored-secrets.ts';

/** A response is kept, and can be repeated, for this long. */
export const IDEMPOTENCY_KEPT_MS = 24 * 60 * 60_000;

/** A request with an idempotency key. The digest identifies the request. */
export type OnceRequest = { id: IdempotencyKey; digest: Buffer };

type OnceContext = { now: number; secretKeys: SecretKeys };

export type RepeatableResponse = Omit<StoredResponse, 'requestDigest'> & {
  /** Whether the body contains a secret. If so, the body is stored encrypted. */
  hasSecret: boolean;
};

export type OnceResponse = { response: Omit<StoredResponse, 'requestDigest'>; isReplayed: boolean };

/**
 * If a response is stored for the key, returns this response. Otherwise runs `work` and stores its response in the same transaction. Throws
 * `conflict` if no response is stored and another transaction holds the key. Throws `unprocessable` if the key was used for another
 * request. An error that `work` throws is not stored.
 */
export async function runOnce(
  tx: Queryable,
  request: OnceRequest & OnceContext,
  work: () => Promise<RepeatableResponse>,
): Promise<OnceResponse> {
  const [claim = 'new'] = await claimRequests(tx, [request], request);
  if (claim instanceof ServiceError) throw claim;
  if (claim !== 'new') return claim;
  const response = await work();
  await keepResponses(tx, [{ request, response }], request);
  return toFirstResponse(response);
}

/**
 * Claims the keys of requests until the transaction ends. For each request, returns the stored response, an error that `runOnce` would
 * throw, or `new` if the request must be executed. If two of the requests have the same key, and no response is stored for the key, the
 * second request gets the error `conflict`.
 */
export async function claimRequests(
  tx: Queryable,
  requests: readonly OnceRequest[],
  { now, secretKeys }: OnceContext,
): Promise<(OnceResponse | ServiceError | 'new')[]> {
  const ids = requests.map(({ id }) => id);
  const names = ids.map(({ keyId, key }) => `${keyId} ${key}`);
  const claimed = await claimIdempotencyKeys(tx, ids);
  const stored = await listStoredResponses(tx, ids, now - IDEMPOTENCY_KEPT_MS);
  return requests.map(({ id, digest }, index) => {
    const first = stored[index];
    if (!first) {
      const isRunning = !claimed[index] || names.indexOf(names[index] ?? '') < index;
      return isRunning ? new ServiceError('conflict', 'A request with this Idempotency-Key is still running') : 'new';
    }
    if (!first.requestDigest.equals(digest)) {
      return new ServiceError('unprocessable', 'This Idempotency-Key was used for another request');
    }
    return { response: { ...first, body: secretKeys.decrypt(first.body, toResponsePlace(id)) }, isReplayed: true };
  });
}

/** Stores the responses of claimed requests. */
export async function keepResponses(
  tx: Queryable,
  responses: readonly { request: OnceRequest; response: RepeatableResponse }[],
  { now, secretKeys }: OnceContext,
): Promise<void> {
  const stored = responses.map(({ request: { id, digest }, response: { hasSecret, ...response } }) => {
    const body = hasSecret ? secretKeys.encrypt(response.body, toResponsePlace(id)) : response.body;
    return { ...response, body, id, requestDigest: digest };
  });
  await upsertStoredResponses(tx, stored, now);
}

export function toFirstResponse({ status, headers, body }: RepeatableResponse): OnceResponse {
  return { response: { status, headers, body }, isReplayed: false };
}
