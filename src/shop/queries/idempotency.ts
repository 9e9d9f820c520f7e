// Stored responses to requests with an idempotency key. A response is stored in the transaction of the change.

import type { Queryable } from '../../database/port.ts';
import { bytes, column, integer, rowDecoder, text } from '../../database/rows.ts';

export type StoredResponse = { requestDigest: Buffer; status: number; headers: Record<string, string>; body: string };

/** An idempotency key, which belongs to the API key that sent it. */
export type IdempotencyKey = { keyId: string; key: string };

const decodeResponse = rowDecoder('idempotency', {
  requestDigest: column('request_digest', bytes),
  status: integer,
  headers: text,
  body: text,
});

/** Claims the key until the transaction ends. Returns false while another transaction holds the key. */
export async function claimIdempotencyKey(tx: Queryable, { keyId, key }: IdempotencyKey): Promise<boolean> {
  const rows = await tx.query(
    `select 1 where pg_try_advisory_xact_lock(hashtextextended($1::text || ' ' || $2::text, 1))`,
    [keyId, key],
  );
  return rows.length > 0;
}

/** The response stored at or after `since` (milliseconds), or null. */
export async function findStoredResponse(
  tx: Queryable,
  { keyId, key }: IdempotencyKey,
  since: number,
): Promise<StoredResponse | null> {
  const [row] = await tx.query(
    `select request_digest, status, headers, body from main.idempotency
     where key_id = $1 and idempotency_key = $2 and created_at >= $3`,
    [keyId, key, new Date(since)],
  );
  if (!row) return null;
  const stored = decodeResponse(row);
  return { ...stored, headers: parseHeaders(stored.headers) };
}

/** Stores a response. Replaces a response of the same key that is too old to be repeated. */
export async function upsertStoredResponse(
  tx: Queryable,
  { keyId, key }: IdempotencyKey,
  response: StoredResponse,
  now: number,
): Promise<void> {
  const { requestDigest, status, headers, body } = response;
  await tx.query(
    `insert into main.idempotency (key_id, idempotency_key, request_digest, status, headers, body, created_at)
     values ($1, $2, $3, $4, $5, $6, $7)
     on conflict (key_id, idempotency_key) do update set request_digest = excluded.request_digest,
       status = excluded.status, headers = excluded.headers, body = excluded.body, created_at = excluded.created_at`,
    [keyId, key, requestDigest, status, JSON.stringify(headers), body, new Date(now)],
  );
}

/** Deletes up to `limit` responses stored before `before`. Returns their number. */
export async function deleteStoredResponses(db: Queryable, before: number, limit: number): Promise<number> {
  const rows = await db.query(
    `delete from main.idempotency where (key_id, idempotency_key) in (
       select key_id, idempotency_key from main.idempotency where created_at < $1 limit $2
     ) returning key_id`,
    [new Date(before), limit],
  );
  return rows.length;
}

function parseHeaders(json: string): Record<string, string> {
  return Object.fromEntries(Object.entries(JSON.parse(json) as object).map(([name, value]) => [name, String(value)]));
}
