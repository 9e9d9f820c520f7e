// First answers to idempotency keys, stored in the transaction of their effect.

import type { Queryable } from '../../database/port.ts';

export type StoredResponse = { requestDigest: Buffer; status: number; headers: Record<string, string>; body: string };

/** The idempotency key of one API key's request. */
export type IdempotencyKey = { keyId: string; key: string };

/** Takes the key for this transaction; false while another transaction holds it. */
export async function claimIdempotencyKey(tx: Queryable, { keyId, key }: IdempotencyKey): Promise<boolean> {
  const [row] = await tx.query<{ taken: boolean }>(
    `select pg_try_advisory_xact_lock(hashtextextended($1 || ' ' || $2, 1)) as taken`,
    [keyId, key],
  );
  return row?.taken === true;
}

/** The answer kept at or after `since` (milliseconds), or null. */
export async function findStoredResponse(
  tx: Queryable,
  { keyId, key }: IdempotencyKey,
  since: number,
): Promise<StoredResponse | null> {
  const [row] = await tx.query<{ request_digest: Buffer; status: number; headers: string; body: string }>(
    `select request_digest, status, headers, body from main.idempotency
     where key_id = $1 and idempotency_key = $2 and created_at >= $3`,
    [keyId, key, new Date(since)],
  );
  if (!row) return null;
  const headers = JSON.parse(row.headers) as Record<string, string>;
  return { requestDigest: Buffer.from(row.request_digest), status: row.status, headers, body: row.body };
}

/** Keeps an answer, in the place of one that is too old to count. */
export async function upsertStoredResponse(
  tx: Queryable,
  { keyId, key }: IdempotencyKey,
  answer: StoredResponse,
  now: number,
): Promise<void> {
  await tx.query(
    `insert into main.idempotency (key_id, idempotency_key, request_digest, status, headers, body, created_at)
     values ($1, $2, $3, $4, $5, $6, $7)
     on conflict (key_id, idempotency_key) do update set request_digest = excluded.request_digest,
       status = excluded.status, headers = excluded.headers, body = excluded.body, created_at = excluded.created_at`,
    [keyId, key, answer.requestDigest, answer.status, JSON.stringify(answer.headers), answer.body, new Date(now)],
  );
}

/** Forgets answers older than `before`, a batch at a time; returns how many. */
export async function deleteStoredResponses(db: Queryable, before: number, limit: number): Promise<number> {
  const rows = await db.query(
    `delete from main.idempotency where (key_id, idempotency_key) in (
       select key_id, idempotency_key from main.idempotency where created_at < $1 limit $2
     ) returning key_id`,
    [new Date(before), limit],
  );
  return rows.length;
}
