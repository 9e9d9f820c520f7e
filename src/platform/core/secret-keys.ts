// Encrypts secrets for the database with AES-256-GCM. A stored value names its key, so that keys can be replaced one after another.

import { createCipheriv, createDecipheriv, createHash, randomBytes } from 'node:crypto';
import { OperatorError } from './errors.ts';

const CIPHER = 'aes-256-gcm';
export const SECRET_KEY_BYTES = 32;
const NONCE_BYTES = 12;
const TAG_BYTES = 16;
const KEY_ID_BYTES = 4;

/** The prefix of each encrypted value. The complete value is `enc:<key id>:<base64url of nonce, ciphertext and tag>`. */
const ENCRYPTED = 'enc:';

/** The keys of the setting SECRETS_KEY. Without a key, secrets are stored in clear. */
export class SecretKeys {
  /** The id of the key that encrypts. Null: new secrets are stored in clear. */
  readonly currentId: string | null;
  readonly #keys: ReadonlyMap<string, Buffer>;

  /** The first key encrypts. The other keys only decrypt values that were encrypted before the first key was added. */
  constructor(keys: readonly Buffer[]) {
    this.#keys = new Map(keys.map((key) => [toKeyId(key), key]));
    this.currentId = this.#keys.keys().next().value ?? null;
  }

  has(keyId: string): boolean {
    return this.#keys.has(keyId);
  }

  /**
   * Encrypts a secret with the current key. Without a key, returns the secret itself. `place` names the row that stores the value, such as
   * `webhook <id>`. A value that was copied to another row cannot be decrypted.
   */
  encrypt(secret: string, place: string): string {
    if (this.currentId === null) return secret;
    const nonce = randomBytes(NONCE_BYTES);
    const cipher = createCipheriv(CIPHER, this.#keyOf(this.currentId), nonce);
    cipher.setAAD(Buffer.from(place));
    const sealed = Buffer.concat([nonce, cipher.update(secret, 'utf8'), cipher.final(), cipher.getAuthTag()]);
    return `${ENCRYPTED}${this.currentId}:${sealed.toString('base64url')}`;
  }

  /** A value in clear is returned unchanged. Throws OperatorError if the key of the value is missing, or if the value was altered. */
  decrypt(stored: string, place: string): string {
    const keyId = readKeyId(stored);
    if (keyId === null) return stored;
    const key = this.#keyOf(keyId);
    const sealed = Buffer.from(stored.slice(`${ENCRYPTED}${keyId}:`.length), 'base64url');
    try {
      const decipher = createDecipheriv(CIPHER, key, sealed.subarray(0, NONCE_BYTES), { authTagLength: TAG_BYTES });
      decipher.setAAD(Buffer.from(place));
      decipher.setAuthTag(sealed.subarray(-TAG_BYTES));
      const secret = decipher.update(sealed.subarray(NONCE_BYTES, -TAG_BYTES));
      return Buffer.concat([secret, decipher.final()]).toString('utf8');
    } catch (error) {
      throw new OperatorError(`the stored secret of ${place} was altered, or belongs to another row`, { cause: error });
    }
  }

  #keyOf(keyId: string): Buffer {
    const key = this.#keys.get(keyId);
    if (key) return key;
    throw new OperatorError(describeMissingKeys([keyId]), { exitCode: 2 });
  }
}

/** Returns the id of a key. The id is derived from the key, so that operators need not choose ids. */
export function toKeyId(key: Buffer): string {
  return createHash('sha256')
    .update('mercat secrets key\n')
    .update(key)
    .digest('hex')
    .slice(0, 2 * KEY_ID_BYTES);
}

/** The id of the key that encrypted a stored value. Null for a value in clear. */
export function readKeyId(stored: string): string | null {
  if (!stored.startsWith(ENCRYPTED)) return null;
  return stored.slice(ENCRYPTED.length).split(':', 1)[0] ?? null;
}

export function describeMissingKeys(keyIds: readonly string[]): string {
  const keys = keyIds.length === 1 ? `the key ${keyIds[0]}` : `the keys ${keyIds.join(', ')}`;
  return `secrets in the database are encrypted with ${keys}: add ${keyIds.length === 1 ? 'this key' : 'these keys'} to SECRETS_KEY`;
}
