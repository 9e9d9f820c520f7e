// Keccak-256 of bytes and of text, compared with viem's own implementation.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { keccak256 as keccak256OfViem, stringToHex } from 'viem';
import { keccak256, keccak256OfText } from '../../../src/platform/core/keccak.ts';

test('the Keccak-256 hash of the empty input is the published hash', () => {
  assert.equal(keccak256('0x'), '0xc5d2460186f7233c927e7db2dcc703c0e500b653ca82273b7bfad8045d85a470');
});

test('bytes and texts of any length have the hashes that viem computes', () => {
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: 400 }), (bytes) => {
      assert.equal(keccak256(`0x${Buffer.from(bytes).toString('hex')}`), keccak256OfViem(bytes));
    }),
  );
  fc.assert(
    fc.property(fc.string({ unit: 'grapheme' }), (text) => {
      assert.equal(keccak256OfText(text), keccak256OfViem(stringToHex(text)));
    }),
  );
});
