// Compares call data, and the texts that are decoded from the results of calls, with viem's encoding of the same values.

import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import fc from 'fast-check';
import { encodeAbiParameters, encodeFunctionData, parseAbi } from 'viem';
import type { Address } from '../../../../src/platform/core/address.ts';
import type { Hex } from '../../../../src/platform/core/evm.ts';
import { textAt, UndecodableData } from '../../../../src/sources/chains/protocols/abi-words.ts';
import {
  addressWord,
  bytesWord,
  encodeCall,
  encodeCallWithBytes,
  uintWord,
} from '../../../../src/sources/chains/rpc/call-data.ts';

const ABI = parseAbi([
  'function balanceOf(address, uint256)',
  'function supportsInterface(bytes4)',
  'function isValidSignature(bytes32, bytes)',
]);

const bytes = (minLength: number, maxLength: number) =>
  fc.uint8Array({ minLength, maxLength }).map((array): Hex => `0x${Buffer.from(array).toString('hex')}`);

describe('call data', () => {
  test('numbers and addresses are aligned to the right', () => {
    fc.assert(
      fc.property(bytes(20, 20), fc.bigInt({ min: 0n, max: 2n ** 256n - 1n }), (owner, tokenId) => {
        const data = encodeCall('balanceOf(address,uint256)', [addressWord(owner as Address), uintWord(tokenId)]);
        assert.equal(data, encodeFunctionData({ abi: ABI, functionName: 'balanceOf', args: [owner, tokenId] }));
      }),
    );
  });

  test('bytes of a fixed size are aligned to the left', () => {
    const data = encodeCall('supportsInterface(bytes4)', [bytesWord('0x80ac58cd')]);
    assert.equal(data, encodeFunctionData({ abi: ABI, functionName: 'supportsInterface', args: ['0x80ac58cd'] }));
  });

  test('a byte string of any length is encoded as its offset, its length and its bytes', () => {
    fc.assert(
      fc.property(bytes(32, 32), bytes(0, 100), (digest, signature) => {
        const data = encodeCallWithBytes('isValidSignature(bytes32,bytes)', [bytesWord(digest)], signature);
        const args = [digest, signature] as const;
        assert.equal(data, encodeFunctionData({ abi: ABI, functionName: 'isValidSignature', args }));
      }),
    );
  });

  test('a number that does not fit into 256 bits is rejected', () => {
    for (const value of [-1n, 2n ** 256n]) assert.throws(() => uintWord(value), RangeError);
  });
});

describe('a text that a call returns', () => {
  test('a returned text is read at its offset', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'grapheme', maxLength: 80 }), (text) => {
        const data = encodeAbiParameters([{ type: 'string' }, { type: 'string' }], ['before', text]);
        assert.equal(textAt(data, 1), text);
      }),
    );
  });

  test('a returned text is undecodable when it is cut off or its length is too large', () => {
    const data = encodeAbiParameters([{ type: 'string' }], ['Moons']);
    assert.equal(textAt(data, 0), 'Moons');
    for (const cut of ['0x', data.slice(0, 66), data.slice(0, 130), data.slice(0, 136)])
      assert.throws(() => textAt(cut as Hex, 0), UndecodableData);
    const endless = `${data.slice(0, 66)}${'f'.repeat(64)}${data.slice(130)}`;
    assert.throws(() => textAt(endless as Hex, 0), UndecodableData);
  });
});
