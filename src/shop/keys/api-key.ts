// The text of API keys: `<service>_live_`, 30 random base62 characters, and a checksum of 6 characters. The checksum rejects a mistyped key
// without a query. Only a SHA-256 hash of the key is stored: the key is random, so a slow password hash is not needed.

import { hash } from 'node:crypto';
import { crc32 } from 'node:zlib';

const ALPHABET = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';
const RANDOM_LENGTH = 30;
const CHECKSUM_LENGTH = 6;
const PREFIX_RANDOM_LENGTH = 6;
/** Random bytes above this value are skipped. Modulo 62, they would make the first characters of the alphabet more likely. */
const UNBIASED_BYTE_MAX = 256 - (256 % ALPHABET.length) - 1;

const KEY = /^[a-z0-9]{2,16}_live_[0-9A-Za-z]{36}$/;

/** Creates a key. `randomBytes` must be cryptographically secure. */
export function createApiKey(serviceName: string, randomBytes: (size: number) => Uint8Array): string {
  let random = '';
  while (random.length < RANDOM_LENGTH) {
    for (const byte of randomBytes(RANDOM_LENGTH)) {
      if (byte <= UNBIASED_BYTE_MAX && random.length < RANDOM_LENGTH) random += ALPHABET[byte % ALPHABET.length];
    }
  }
  const body = `${serviceName}_live_${random}`;
  return body + checksumOf(body);
}

/** Whether the text has the form of a key of this service and a correct checksum. */
export function isWellFormedKey(serviceName: string, text: string): boolean {
  if (!KEY.test(text) || !text.startsWith(`${serviceName}_live_`)) return false;
  const body = text.slice(0, -CHECKSUM_LENGTH);
  return text.slice(-CHECKSUM_LENGTH) === checksumOf(body);
}

/** The SHA-256 hash of a key, as hexadecimal text. */
export function hashApiKey(secret: string): string {
  return hash('sha256', secret);
}

/** The beginning of a key. It is stored and listed in clear text, so that the operator can distinguish keys. */
export function toKeyPrefix(secret: string): string {
  return secret.slice(0, secret.length - RANDOM_LENGTH - CHECKSUM_LENGTH + PREFIX_RANDOM_LENGTH);
}

/** CRC-32 of the body, in base62. */
function checksumOf(body: string): string {
  let remainder = crc32(body);
  let text = '';
  for (let digit = 0; digit < CHECKSUM_LENGTH; digit += 1) {
    text = ALPHABET.charAt(remainder % ALPHABET.length) + text;
    remainder = Math.floor(remainder / ALPHABET.length);
  }
  return text;
}
