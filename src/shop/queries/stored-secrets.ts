// Statements that count the stored secrets by the key that encrypted them, and that replace the stored form of secrets.

import type { Queryable } from '../../platform/database/port.ts';
import { bytes, column, integer, list, nullable, oneOf, rowDecoder, text } from '../../platform/database/rows.ts';
import { SHARED_SECRET_BYTES } from '../../platform/database/secrets.ts';

/**
 * `service`: secrets of the service, such as the secret that authenticates cursors. `webhook`: current and previous secrets of webhooks.
 * `response`: stored responses to requests with an Idempotency-Key that contain the secret of a webhook.
 */
const SECRET_KINDS = ['service', 'webhook', 'response'] as const;

const decodeCount = rowDecoder('stored secrets', {
  kind: oneOf(SECRET_KINDS),
  /** The key that encrypted the values. Null: the values are not encrypted. */
  keyId: column('key_id', nullable(text)),
  count: integer,
});

export type SecretCount = ReturnType<typeof decodeCount>;

/** SQL expression: the id of the key that encrypted a text; null for a text without encryption. */
const keyIdOf = (value: string) => `case when starts_with(${value}, 'enc:') then split_part(${value}, ':', 2) end`;

/**
 * SQL condition: the response contains the secret of a webhook. Only such responses are encrypted. In a response without encryption, text
 * inside a JSON string cannot be mistaken for the field `secret`, because the quotes in such text are escaped.
 */
const HAS_SECRET = `(starts_with(body, 'enc:') or strpos(body, '"secret":"whsec_') > 0)`;

/** The numbers of secrets by kind and key. Stored responses are counted only if `responses` is true, because they are many. */
export async function countSecrets(db: Queryable, { responses }: { responses: boolean }): Promise<SecretCount[]> {
  const rows = await db.query(
    `select kind, key_id, count(*)::int as count from (
       select 'service' as kind,
         case when length(value) > ${SHARED_SECRET_BYTES} then split_part(convert_from(value, 'UTF8'), ':', 2) end as key_id
       from main.secret
       union all
       select 'webhook', ${keyIdOf('stored')} from main.webhook
       cross join lateral unnest(array[secret, previous_secret] || earlier_secrets) as one (stored) where stored is not null
       union all
       select 'response', ${keyIdOf('body')} from main.idempotency where $1 and ${HAS_SECRET}
     ) as stored
     group by kind, key_id order by kind collate "C", key_id collate "C" nulls first`,
    [responses],
  );
  return rows.map(decodeCount);
}

/** SQL condition: the text is not encrypted with the key $1. If $1 is null: the text is encrypted. */
const isOutdated = (value: string) =>
  `case when $1::text is null then starts_with(${value}, 'enc:') else not starts_with(${value}, 'enc:' || $1 || ':') end`;

const decodeShared = rowDecoder('secret', { name: text, value: bytes });

/** All secrets of the service, locked until the transaction ends. A service has only a few. */
export async function listSharedSecretsForUpdate(tx: Queryable): Promise<ReturnType<typeof decodeShared>[]> {
  return (await tx.query(`select name, value from main.secret order by name for update`)).map(decodeShared);
}

export async function updateSharedSecret(tx: Queryable, name: string, value: Buffer): Promise<void> {
  await tx.query(`update main.secret set value = $2 where name = $1`, [name, value]);
}

const decodeWebhookSecrets = rowDecoder('webhook', {
  id: text,
  secret: text,
  previousSecret: column('previous_secret', nullable(text)),
  earlierSecrets: column('earlier_secrets', list(text)),
});

type WebhookSecrets = ReturnType<typeof decodeWebhookSecrets>;

/** Up to `limit` webhooks with an outdated secret, locked until the transaction ends. */
export async function listOutdatedWebhooksForUpdate(
  tx: Queryable,
  keyId: string | null,
  limit: number,
): Promise<WebhookSecrets[]> {
  const rows = await tx.query(
    `select id, secret, previous_secret, earlier_secrets from main.webhook
     where ${isOutdated('secret')} or (previous_secret is not null and ${isOutdated('previous_secret')})
       or exists (select from unnest(earlier_secrets) as one (stored) where ${isOutdated('stored')})
     order by id limit $2 for no key update`,
    [keyId, limit],
  );
  return rows.map(decodeWebhookSecrets);
}

/** Replaces the stored form of secrets. The version of the webhooks stays, because their shops see no change. */
export async function updateStoredWebhookSecrets(tx: Queryable, secrets: readonly WebhookSecrets[]): Promise<void> {
  await tx.query(
    `update main.webhook as webhook set secret = incoming.secret, previous_secret = incoming.previous_secret,
       earlier_secrets = array(select jsonb_array_elements_text(incoming.earlier_secrets))
     from unnest($1::text[], $2::text[], $3::text[], $4::jsonb[]) as incoming (id, secret, previous_secret, earlier_secrets)
     where webhook.id = incoming.id`,
    [
      secrets.map(({ id }) => id),
      secrets.map(({ secret }) => secret),
      secrets.map(({ previousSecret }) => previousSecret),
      secrets.map(({ earlierSecrets }) => JSON.stringify(earlierSecrets)),
    ],
  );
}

const decodeBody = rowDecoder('idempotency', {
  keyId: column('key_id', text),
  key: column('idempotency_key', text),
  body: text,
});

type StoredBody = ReturnType<typeof decodeBody>;

/** Up to `limit` stored responses with an outdated secret, locked until the transaction ends. */
export async function listOutdatedResponsesForUpdate(
  tx: Queryable,
  keyId: string | null,
  limit: number,
): Promise<StoredBody[]> {
  const rows = await tx.query(
    `select key_id, idempotency_key, body from main.idempotency
     where ${HAS_SECRET} and ${isOutdated('body')}
     order by key_id, idempotency_key limit $2 for no key update`,
    [keyId, limit],
  );
  return rows.map(decodeBody);
}

export async function updateStoredBodies(tx: Queryable, responses: readonly StoredBody[]): Promise<void> {
  await tx.query(
    `update main.idempotency as response set body = incoming.body
     from unnest($1::text[], $2::text[], $3::text[]) as incoming (key_id, idempotency_key, body)
     where response.key_id = incoming.key_id and response.idempotency_key = incoming.idempotency_key`,
    [responses.map(({ keyId }) => keyId), responses.map(({ key }) => key), responses.map(({ body }) => body)],
  );
}
