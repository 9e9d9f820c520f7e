// Stores the responses to requests with an idempotency key, so that a repeated request gets the stored response. One transaction makes the
// change and stores the response.

import type { Queryable } from '../../platform/database/port.ts';
import { bytes, column, integer, rowDecoder, text } from '../../platform/database/rows.ts';

export type StoredResponse = { requestDigest: Buffer; status: number; headers: Record<string, string>; body: string };

/** An idempotency key, which belongs to the API key that sent it. */
export type IdempotencyKey = { keyId: string; key: string };

const decodeResponse = rowDecoder('idempotency', {
  number: integer,
  requestDigest: column('request_digest', bytes),
  status: integer,
  headers: text,
  body: text,
});

/** Claims keys until the transaction ends. Returns for each key whether it was claimed: false while another transaction holds the key. */
export async function claimIdempotencyKeys(tx: Queryable, ids: readonly IdempotencyKey[]): Promise<boolean[]> {
  const rows = await tx.query<{ claimed: boolean }>(
    `select pg_try_advisory_xact_lock(hashtextextended(key_id || ' ' || key, 1)) as claimed
     from unnest($1::text[], $2::text[]) with ordinality as wanted (key_id, key, number) order by number`,
    toColumns(ids),
  );
  return rows.map(({ claimed }) => claimed);
}

/** The responses stored at or after `since` (milliseconds), in the order of the keys. Null for a key without such a response. */
export async function listStoredResponses(
  tx: Queryable,
  ids: readonly IdempotencyKey[],
  since: number,
): Promise<(StoredResponse | null)[]> {
  const rows = await tx.query(
    `select wanted.number::integer as number, request_digest, status, headers, body
     from unnest($1::text[], $2::text[]) with ordinality as wanted (key_id, key, number)
     join main.idempotency as stored on stored.key_id = wanted.key_id and stored.idempotency_key = wanted.key
     where stored.created_at >= $3`,
    [...toColumns(ids), new Date(since)],
  );
  const found = new Map(rows.map(decodeResponse).map(({ number, ...stored }) => [number, stored]));
  return ids.map((_, index) => {
    const stored = found.get(index + 1);
    return stored ? { ...stored, headers: parseHeaders(stored.headers) } : null;
  });
}

/**
 * Stores responses, and replaces the stored responses of the same keys. The caller must have checked that the replaced responses are too
 * old to be sent again. Each key may occur only once.
 */
export async function upsertStoredResponses(
  tx: Queryable,
  responses: readonly (StoredResponse & { id: IdempotencyKey })[],
  now: number,
): Promise<void> {
  await tx.query(
    `insert into main.idempotency (key_id, idempotency_key, request_digest, status, headers, body, created_at)
     select *, $7 from unnest($1::text[], $2::text[], $3::bytea[], $4::integer[], $5::text[], $6::text[])
     on conflict (key_id, idempotency_key) do update set request_digest = excluded.request_digest,
       status = excluded.status, headers = excluded.headers, body = excluded.body, created_at = excluded.created_at`,
    [
      ...toColumns(responses.map(({ id }) => id)),
      responses.map(({ requestDigest }) => requestDigest),
      responses.map(({ status }) => status),
      responses.map(({ headers }) => JSON.stringify(headers)),
      responses.map(({ body }) => body),
      new Date(now),
    ],
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

function toColumns(ids: readonly IdempotencyKey[]): [string[], string[]] {
  return [ids.map(({ keyId }) => keyId), ids.map(({ key }) => key)];
}

function parseHeaders(json: string): Record<string, string> {
  return Object.fromEntries(Object.entries(JSON.parse(json) as object).map(([name, value]) => [name, String(value)]));
}
