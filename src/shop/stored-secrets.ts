// The operations behind `mercat secrets`: report how secrets are stored, and encrypt or decrypt the stored secrets.

import type { SecretKeys } from '../platform/core/secret-keys.ts';
import { describeMissingKeys } from '../platform/core/secret-keys.ts';
import { OperatorError } from '../platform/core/errors.ts';
import type { Database, Queryable } from '../platform/database/port.ts';
import { decryptSharedSecret, encryptSharedSecret, readSharedKeyId } from '../platform/database/secrets.ts';
import type { Operations } from './operations.ts';
import type { IdempotencyKey } from './queries/idempotency.ts';
import type { SecretCount } from './queries/stored-secrets.ts';
import {
  countSecrets,
  listOutdatedResponsesForUpdate,
  listOutdatedWebhooksForUpdate,
  listSharedSecretsForUpdate,
  updateSharedSecret,
  updateStoredBodies,
  updateStoredWebhookSecrets,
} from './queries/stored-secrets.ts';

/** The most rows that one transaction changes. */
const BATCH_SIZE = 500;

type StoredSecretsContext = { main: Database; secretKeys: SecretKeys };

/** The result of the operation `secrets.list`. */
export type SecretsReport = {
  /** The key that encrypts new secrets. Null if SECRETS_KEY is empty. */
  currentKeyId: string | null;
  stored: (SecretCount & {
    /** True if the settings have the key, or if the secrets are stored in clear. */
    readable: boolean;
  })[];
};

export function createSecretOperations(context: StoredSecretsContext): Operations {
  return {
    'secrets.list': () => reportSecrets(context),
    'secrets.encrypt': async () => {
      if (context.secretKeys.currentId === null) {
        throw new OperatorError('SECRETS_KEY is empty: set it to a key first', { exitCode: 2 });
      }
      return { changed: await storeAgain(context, context.secretKeys) };
    },
    'secrets.decrypt': async () => ({ changed: await storeAgain(context, null) }),
  };
}

export async function reportSecrets({ main, secretKeys }: StoredSecretsContext): Promise<SecretsReport> {
  const counts = await countSecrets(main, { responses: true });
  return {
    currentKeyId: secretKeys.currentId,
    stored: counts.map((count) => ({ ...count, readable: count.keyId === null || secretKeys.has(count.keyId) })),
  };
}

/** Throws OperatorError if a secret of the service or of a webhook is encrypted with a key that is not in the settings. */
export async function requireSecretKeys({ main, secretKeys }: StoredSecretsContext): Promise<void> {
  const counts = await countSecrets(main, { responses: false });
  const missing = counts.flatMap(({ keyId }) => (keyId === null || secretKeys.has(keyId) ? [] : [keyId]));
  if (missing.length > 0) throw new OperatorError(describeMissingKeys([...new Set(missing)]), { exitCode: 2 });
}

/**
 * The text by which `SecretKeys` binds an encrypted secret to its webhook. The secret cannot be decrypted with another text. The current and the
 * previous secret have the same text.
 */
export const toWebhookPlace = (id: string) => `webhook ${id}`;

/** The text by which `SecretKeys` binds an encrypted response to its row. */
export const toResponsePlace = ({ keyId, key }: IdempotencyKey) => `response ${keyId} ${key}`;

/**
 * Converts the stored secrets: to encryption with the current key of `target`, or to clear text if `target` is null. Returns the number of
 * changed rows. Secrets that are stored in this form already are not changed. After an interruption, a second call changes the remaining rows.
 */
async function storeAgain({ main, secretKeys }: StoredSecretsContext, target: SecretKeys | null): Promise<number> {
  const keyId = target?.currentId ?? null;
  const convert = (stored: string, place: string) => {
    const secret = secretKeys.decrypt(stored, place);
    return target ? target.encrypt(secret, place) : secret;
  };
  const convertWebhooks = async (tx: Queryable) => {
    const webhooks = await listOutdatedWebhooksForUpdate(tx, keyId, BATCH_SIZE);
    const converted = webhooks.map(({ id, secret, previousSecret, earlierSecrets }) => ({
      id,
      secret: convert(secret, toWebhookPlace(id)),
      previousSecret: previousSecret === null ? null : convert(previousSecret, toWebhookPlace(id)),
      earlierSecrets: earlierSecrets.map((earlier) => convert(earlier, toWebhookPlace(id))),
    }));
    await updateStoredWebhookSecrets(tx, converted);
    return converted.length;
  };
  const convertResponses = async (tx: Queryable) => {
    const responses = await listOutdatedResponsesForUpdate(tx, keyId, BATCH_SIZE);
    await updateStoredBodies(
      tx,
      responses.map((response) => ({ ...response, body: convert(response.body, toResponsePlace(response)) })),
    );
    return responses.length;
  };
  let changed = await main.transaction((tx) => convertSharedSecrets(tx, secretKeys, target));
  for (const convertBatch of [convertWebhooks, convertResponses]) {
    let batch: number;
    do {
      batch = await main.transaction(convertBatch);
      changed += batch;
    } while (batch === BATCH_SIZE);
  }
  return changed;
}

async function convertSharedSecrets(tx: Queryable, keys: SecretKeys, target: SecretKeys | null): Promise<number> {
  const secrets = await listSharedSecretsForUpdate(tx);
  const outdated = secrets.filter(({ value }) => readSharedKeyId(value) !== (target?.currentId ?? null));
  for (const { name, value } of outdated) {
    const secret = decryptSharedSecret(keys, name, value);
    await updateSharedSecret(tx, name, target ? encryptSharedSecret(target, name, secret) : secret);
  }
  return outdated.length;
}
