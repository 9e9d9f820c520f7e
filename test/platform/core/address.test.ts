// Tests that addresses and token ids are converted to their canonical form, and that other text is refused.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { base58 } from '@scure/base';
import fc from 'fast-check';
import type { Address, AssetId } from '../../../src/platform/core/address.ts';
import { parseAddress, parseAnyAddress, parseAssetId, toAssetNames } from '../../../src/platform/core/address.ts';
import { toSolanaAddress } from '../../../sample/random.ts';

const EVM = '0x5Af0D9827E0c53E4799BB226655A1de152A425a5';
const SOL = 'So11111111111111111111111111111111111111112';
const hex = (length: number) =>
  fc.string({ unit: fc.constantFrom(...'0123456789abcdefABCDEF'.split('')), minLength: length, maxLength: length });

test('an EVM address in any letter case becomes lower case', () => {
  fc.assert(fc.property(hex(40), (digits) => parseAddress('evm', `0x${digits}`) === `0x${digits.toLowerCase()}`));
});

test('the letter case of a Solana address is kept', () => {
  assert.equal(parseAddress('solana', SOL), SOL);
  fc.assert(
    fc.property(fc.string(), (name) => {
      const address: string = toSolanaAddress(name);
      return parseAddress('solana', address) === address && parseAssetId('solana', address) === address;
    }),
  );
});

test('text that is not an address of the family is refused', () => {
  const evm = ['', '0x', EVM.slice(0, -1), `${EVM}0`, EVM.slice(2), EVM.replace('5', 'g'), ` ${EVM}`, `${EVM}\n`, SOL];
  for (const text of evm) assert.equal(parseAddress('evm', text), null, JSON.stringify(text));
  const solana = [
    '',
    SOL.slice(0, 31),
    SOL + SOL,
    `${SOL} `,
    EVM,
    `0${SOL.slice(1)}`,
    `${SOL.slice(0, -1)}l`,
    `I${SOL.slice(1)}`,
  ];
  for (const text of solana) assert.equal(parseAddress('solana', text), null, JSON.stringify(text));
});

test('only base58 text of exactly 32 bytes is a Solana address', () => {
  const edges = [new Uint8Array(32), new Uint8Array(32).fill(0xff), Uint8Array.of(...new Uint8Array(31), 1)];
  for (const bytes of edges) assert.equal(parseAddress('solana', base58.encode(bytes)), base58.encode(bytes));
  const bytesOf = (size: number) => fc.uint8Array({ minLength: size, maxLength: size });
  // A leading zero byte takes one base58 character, and any other byte about 1.4. So a text that is as long as an address can encode fewer or more
  // than 32 bytes.
  const sized = fc
    .integer({ min: 24, max: 44 })
    .chain((size) =>
      fc.tuple(fc.integer({ min: 0, max: size }), bytesOf(size)).map(([zeros, bytes]) => bytes.fill(0, 0, zeros)),
    );
  fc.assert(
    fc.property(fc.oneof(bytesOf(32), bytesOf(33), sized), (bytes) => {
      const text = base58.encode(bytes);
      return parseAddress('solana', text) === (bytes.length === 32 ? text : null);
    }),
    { numRuns: 1_000 },
  );
  assert.equal(parseAssetId('solana', base58.encode(new Uint8Array(33).fill(1))), null);
});

test('the family of an address is recognized from its form', () => {
  assert.equal(parseAnyAddress(EVM), EVM.toLowerCase());
  assert.equal(parseAnyAddress(SOL), SOL);
  for (const text of ['', 'milady', '0x12', 'ethereum_0x12']) assert.equal(parseAnyAddress(text), null);
});

test('an EVM token id is an integer from 0 to 2^256-1 without leading zeros', () => {
  fc.assert(
    fc.property(fc.bigInt({ min: 0n, max: 2n ** 256n - 1n }), (id) => parseAssetId('evm', `${id}`) === id.toString()),
  );
  const refused = [
    '',
    '00',
    '01',
    '-1',
    '+1',
    '1.0',
    '1e3',
    '0x1',
    ' 1',
    '1 ',
    '1\n',
    `${2n ** 256n}`,
    '9'.repeat(78),
    SOL,
  ];
  for (const text of refused) assert.equal(parseAssetId('evm', text), null, JSON.stringify(text));
  for (const text of ['', '7', EVM]) assert.equal(parseAssetId('solana', text), null, text);
});

test('an asset is named by contract and token id on EVM, and by the mint alone on Solana', () => {
  assert.deepEqual(toAssetNames('evm', EVM as Address, '7' as AssetId), {
    contractAddress: EVM,
    tokenId: '7',
    mint: null,
  });
  assert.deepEqual(toAssetNames('solana', SOL as Address, SOL as AssetId), {
    contractAddress: null,
    tokenId: null,
    mint: SOL,
  });
});
