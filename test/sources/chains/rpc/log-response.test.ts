// Responses to `eth_getLogs`: which logs are read, which responses are rejected, and when a bloom filter is used.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { keccak256 } from 'viem';
import { TOKEN_TOPICS } from '../../../../src/sources/chains/protocols/token-standards.ts';
import { readLogs } from '../../../../src/sources/chains/rpc/log-response.ts';
import { bloomContains, isBloomTooFull } from '../../../../src/sources/chains/rpc/log-bloom.ts';
import type { Hex } from '../../../../src/platform/core/evm.ts';

const hashOf = (digit: string): Hex => `0x${digit.repeat(64)}`;
const CONTRACT = '0x00000000000000000000000000000000000c0117';
const REQUEST = {
  addresses: new Set([CONTRACT]),
  topics: new Set<string>([TOKEN_TOPICS.transfer]),
  from: 10,
  to: 12,
  hashes: new Map([[12, hashOf('c')]]),
};
const LOG = {
  address: CONTRACT,
  topics: [TOKEN_TOPICS.transfer, hashOf('0'), hashOf('0'), hashOf('0')],
  data: '0x',
  blockNumber: '0xa',
  blockHash: hashOf('a'),
  blockTimestamp: '0x64',
  transactionHash: hashOf('1'),
  logIndex: '0x2',
  removed: false,
};
const LATER = { ...LOG, blockNumber: '0xc', blockHash: hashOf('c'), blockTimestamp: '0x70', logIndex: '0x0' };

test('a valid response is read, even in upper case and without optional fields', () => {
  const { removed: _removed, blockTimestamp: _time, ...sparse } = LOG;
  const upperCase = { ...sparse, address: CONTRACT.toUpperCase().replace('X', 'x'), blockHash: hashOf('A') };
  const [first, second] = readLogs([upperCase, LATER], REQUEST);
  assert.equal(first?.address, CONTRACT);
  assert.equal(first?.blockHash, hashOf('a'));
  assert.deepEqual([first?.time, second?.time], [null, 112_000]);
  assert.deepEqual(readLogs([], REQUEST), []);
});

const INVALID: Record<string, unknown> = {
  'an object in place of a list': { logs: [] },
  null: null,
  'null in place of a log': [null],
  'another contract': [{ ...LOG, address: CONTRACT.replace('c', 'd') }],
  'another topic': [{ ...LOG, topics: [TOKEN_TOPICS.approval] }],
  'no topics': [{ ...LOG, topics: [] }],
  'too many topics': [{ ...LOG, topics: [TOKEN_TOPICS.transfer, ...Array.from({ length: 4 }, () => hashOf('0'))] }],
  'a short topic': [{ ...LOG, topics: [TOKEN_TOPICS.transfer, '0x00'] }],
  'a log before the range': [{ ...LOG, blockNumber: '0x9' }],
  'a log after the range': [{ ...LATER, blockNumber: '0xd', blockHash: hashOf('d') }],
  'a removed log': [{ ...LOG, removed: true }],
  'a log twice': [LOG, LOG],
  'logs out of order': [LATER, LOG],
  'two hashes for one block': [LOG, { ...LOG, logIndex: '0x3', blockHash: hashOf('b') }],
  'a block hash that differs from the hash of the header': [{ ...LATER, blockHash: hashOf('d') }],
  'decreasing times': [LOG, { ...LATER, blockTimestamp: '0x1' }],
  'odd digits': [{ ...LOG, data: '0x123' }],
  'letters that are not hexadecimal': [{ ...LOG, data: '0xzz' }],
  'data that is a number': [{ ...LOG, data: 12 }],
  'no transaction': [{ ...LOG, transactionHash: null }],
  'no index': [{ ...LOG, logIndex: null }],
  'an index above the safe integers': [{ ...LOG, logIndex: '0xffffffffffffffff' }],
  'a pending log': [{ ...LOG, blockNumber: null, blockHash: null }],
};

for (const [name, result] of Object.entries(INVALID))
  test(`the complete response is rejected if it has this content: ${name}`, () => {
    assert.throws(() => readLogs(result, REQUEST), { name: 'RpcFailure', kind: 'invalid-response' });
  });

test('a system log without a transaction, as zkSync-style chains have, is skipped', () => {
  const system = { ...LOG, address: '0x0000000000000000000000000000000000008008', transactionHash: hashOf('0') };
  assert.equal(readLogs([system, LATER], REQUEST).length, 1);
});

test('a bloom filter contains its entries', () => {
  const entry: Hex = CONTRACT;
  const hash = keccak256(entry);
  let bloom = 0n;
  for (const from of [2, 6, 10]) bloom |= 1n << BigInt(Number.parseInt(hash.slice(from, from + 4), 16) % 2048);
  const toHex = (bits: bigint): Hex => `0x${bits.toString(16).padStart(512, '0')}`;
  assert.equal(bloomContains(toHex(bloom), entry), true);
  for (const from of [2, 6, 10]) {
    const missing = 1n << BigInt(Number.parseInt(hash.slice(from, from + 4), 16) % 2048);
    assert.equal(bloomContains(toHex(bloom & ~missing), entry), false);
  }
  assert.equal(bloomContains(toHex(0n), entry), false);
  const half = BigInt(`0b${'10'.repeat(1024)}`);
  assert.equal(
    isBloomTooFull(toHex(half), 1),
    false,
    'the bloom filter counts as too full for one entry, although false positives have a probability of only 1/8',
  );
  assert.equal(
    isBloomTooFull(toHex(half), 6),
    true,
    'the bloom filter does not count as too full for six entries, although a false positive is more probable than not',
  );
  assert.equal(isBloomTooFull(toHex(2n ** 2048n - 1n), 1), true);
});
