// Tests the encryption of secrets for the database.

import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { SecretKeys, readKeyId, toKeyId } from '../../../src/platform/core/secret-keys.ts';
import { readConfig } from '../../../src/service/config.ts';

const first = Buffer.alloc(32, 1);
const second = Buffer.alloc(32, 2);
const PLACE = 'webhook whk_1';

describe('an encrypted secret', () => {
  const stored = new SecretKeys([first]).encrypt('whsec_secret', PLACE);

  test('an encrypted secret is decrypted with its key, even if a newer key comes first in the list', () => {
    assert.equal(new SecretKeys([first]).decrypt(stored, PLACE), 'whsec_secret');
    assert.equal(new SecretKeys([second, first]).decrypt(stored, PLACE), 'whsec_secret');
  });

  test('an encrypted secret contains the id of its key, and not the secret', () => {
    assert.equal(readKeyId(stored), toKeyId(first));
    assert.doesNotMatch(stored, /whsec|secret/);
    assert.doesNotMatch(Buffer.from(stored.split(':')[2] ?? '', 'base64url').toString('latin1'), /whsec|secret/);
  });

  test('an encrypted secret differs each time, so that equal secrets cannot be recognised', () => {
    assert.notEqual(new SecretKeys([first]).encrypt('whsec_secret', PLACE), stored);
  });

  test('an encrypted secret cannot be decrypted without its key, and the error names the id of the key', () => {
    for (const keys of [[], [second]]) {
      assert.throws(() => new SecretKeys(keys).decrypt(stored, PLACE), {
        name: 'OperatorError',
        message: `secrets in the database are encrypted with the key ${toKeyId(first)}: add this key to SECRETS_KEY`,
      });
    }
  });

  test('an encrypted secret cannot be decrypted in another row', () => {
    assert.throws(() => new SecretKeys([first]).decrypt(stored, 'webhook whk_2'), /belongs to another row/);
  });

  test('an encrypted secret cannot be decrypted after any of its bytes was altered, or cut off', () => {
    const [start, keyId, sealed = ''] = stored.split(':');
    const bytes = Buffer.from(sealed, 'base64url');
    const spell = (altered: Buffer) => [start, keyId, altered.toString('base64url')].join(':');
    for (let index = 0; index < bytes.length; index += 1) {
      const altered = Buffer.from(bytes);
      altered[index] = (altered[index] ?? 0) ^ 1;
      for (const wrong of [altered, bytes.subarray(0, index)]) {
        assert.throws(() => new SecretKeys([first]).decrypt(spell(wrong), PLACE), /was altered/);
      }
    }
  });
});

test('without a key a secret is stored in clear', () => {
  assert.equal(new SecretKeys([]).encrypt('whsec_secret', PLACE), 'whsec_secret');
  assert.equal(new SecretKeys([first]).decrypt('whsec_secret', PLACE), 'whsec_secret');
});

test('SECRETS_KEY takes one or several different keys of 32 bytes, and the error about a wrong value never shows a key', () => {
  const spelt = [first, second].map((key) => key.toString('base64'));
  assert.deepEqual(readConfig({ SECRETS_KEY: spelt.join(', ') }).secretsKeys, [first, second]);
  assert.deepEqual(readConfig({}).secretsKeys, []);
  const short = Buffer.alloc(31, 7).toString('base64');
  for (const wrong of [short, 'hunter2', `${spelt[0]},`, `${spelt[0]},${spelt[0]}`, `${spelt[0]}!`]) {
    assert.throws(
      () => readConfig({ SECRETS_KEY: wrong }),
      (error: Error) =>
        error.message.startsWith('bad settings: SECRETS_KEY must be 32 random bytes') && !error.message.includes(wrong),
    );
  }
});
