// Paging cursors: a client cannot create or change a cursor, and cannot use it at another endpoint.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { openCursor, sealCursor } from '../../../src/platform/core/cursor.ts';

const SECRET = Buffer.alloc(32, 7);
const ALPHABET = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_';
const payload = fc.string({ unit: 'binary', minLength: 1, maxLength: 100 }).filter((text) => text.isWellFormed());
const scope = fc.string({ maxLength: 50 });

test('a cursor opens to its payload with the scope and secret that it was made with', () => {
  fc.assert(
    fc.property(scope, payload, (anyScope, text) => {
      const cursor = sealCursor(SECRET, anyScope, text);
      return openCursor(SECRET, anyScope, cursor) === text && /^[\w-]+$/.test(cursor);
    }),
  );
});

test('a cursor with any changed, added or missing character is refused', () => {
  const cursor = sealCursor(SECRET, 'listings a', '25');
  for (let at = 0; at < cursor.length; at += 1) {
    for (const other of `${ALPHABET}=+/ \0é`) {
      const changed = cursor.slice(0, at) + other + cursor.slice(at + 1);
      if (changed !== cursor) assert.equal(openCursor(SECRET, 'listings a', changed), null, changed);
      assert.equal(openCursor(SECRET, 'listings a', cursor.slice(0, at) + other + cursor.slice(at)), null);
    }
    assert.equal(openCursor(SECRET, 'listings a', cursor.slice(0, at) + cursor.slice(at + 1)), null);
    assert.equal(openCursor(SECRET, 'listings a', cursor.slice(0, at)), null);
  }
  for (const end of ['=', '==', 'A', 'AA', ' ', '\n', '%3D'])
    assert.equal(openCursor(SECRET, 'listings a', cursor + end), null);
});

test('making a cursor from a payload that is too long throws an error', () => {
  const longest = '語'.repeat(594) + 'ab';
  assert.equal(openCursor(SECRET, 'a', sealCursor(SECRET, 'a', longest)), longest);
  assert.throws(() => sealCursor(SECRET, 'a', `${longest}c`), RangeError);
});

test('a cursor of another scope or another secret is refused', () => {
  fc.assert(
    fc.property(scope, scope, payload, (one, other, text) => {
      fc.pre(one !== other);
      return openCursor(SECRET, other, sealCursor(SECRET, one, text)) === null;
    }),
  );
  assert.equal(openCursor(Buffer.alloc(32, 8), 'a', sealCursor(SECRET, 'a', '1')), null);
});

test('a cursor is refused when a character is moved from its payload to the scope', () => {
  // The forged cursor has the payload '1', with the authentication tag of the scope 'sales' and the payload ' 1'. It is opened with the
  // scope 'sales '. If the tag covered only the joined text of scope and payload, the tag would match.
  const tag = Buffer.from(sealCursor(SECRET, 'sales', ' 1'), 'base64url').subarray(0, 16);
  const shifted = Buffer.concat([tag, Buffer.from('1')]).toString('base64url');
  assert.equal(openCursor(SECRET, 'sales ', shifted), null);
  assert.notEqual(sealCursor(SECRET, 'sales ', '1').slice(0, 16), shifted.slice(0, 16));
});

test('any text that was not issued as a cursor is refused', () => {
  fc.assert(fc.property(fc.string({ unit: 'binary' }), (text) => openCursor(SECRET, 'a', text) === null));
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: 200 }), (bytes) => {
      return openCursor(SECRET, 'a', Buffer.from(bytes).toString('base64url')) === null;
    }),
  );
  for (const text of ['', '0', 'null', 'A'.repeat(1_000), 'A'.repeat(100_000)])
    assert.equal(openCursor(SECRET, 'a', text), null);
});
