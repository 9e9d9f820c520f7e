// API keys: `<service>_live_` + 30 random base62 characters + a checksum of 6. The checksum tells a mistyped key from an
// unknown one without asking anybody. Only a SHA-256 hash is kept: the secret is random, so a slow hash would add nothing.

import { createHash } from 'node:crypto';
import { crc32 } from 'node:zlib';

const ALPHABET = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';
const RANDOM_LENGTH = 30;
const CHECKSUM_LENGTH = 6;
/** Characters of the random part that are shown beside a key's name. */
const SHOWN_LENGTH = 6;
/** Above it a byte would make some characters likelier than others. */
const FAIR_BYTE_MAX = 256 - (256 % ALPHABET.length) - 1;

const KEY = /^[a-z0-9]{2,16}_live_[0-9A-Za-z]{36}$/;

/** A new secret. `randomBytes` is the system's source of randomness. */
export function createApiKey(serviceName: string, randomBytes: (size: number) => Uint8Array): string {
  let random = '';
  while (random.length < RANDOM_LENGTH) {
    for (const byte of randomBytes(RANDOM_LENGTH)) {
      if (byte <= FAIR_BYTE_MAX && random.length < RANDOM_LENGTH) random += ALPHABET[byte % ALPHABET.length];
    }
  }
  const body = `${serviceName}_live_${random}`;
  return body + checksumOf(body);
}

/** True when the text has the form of a key of this service and its checksum is right. */
export function isWellFormedKey(serviceName: string, text: string): boolean {
  if (!KEY.test(text) || !text.startsWith(`${serviceName}_live_`)) return false;
  const body = text.slice(0, -CHECKSUM_LENGTH);
  return text.slice(-CHECKSUM_LENGTH) === checksumOf(body);
}

export function hashApiKey(secret: string): Buffer {
  return createHash('sha256').update(secret).digest();
}

/** What of a key may be shown, so that people can tell their keys apart. */
export function prefixOf(secret: string): string {
  return secret.slice(0, secret.length - RANDOM_LENGTH - CHECKSUM_LENGTH + SHOWN_LENGTH);
}

function checksumOf(body: string): string {
  let rest = crc32(body);
  let text = '';
  for (let place = 0; place < CHECKSUM_LENGTH; place += 1) {
    text = ALPHABET.charAt(rest % ALPHABET.length) + text;
    rest = Math.floor(rest / ALPHABET.length);
  }
  return text;
}
