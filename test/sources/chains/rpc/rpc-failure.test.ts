// Tests how the errors that endpoints return are classified.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { toRpcFailure } from '../../../../src/sources/chains/rpc/rpc-failure.ts';
import type { RpcFailureKind } from '../../../../src/sources/chains/rpc/rpc-failure.ts';

/** Error messages of endpoints, from their documentation and from public issues. */
const MESSAGES: [RpcFailureKind, number, string, unknown?][] = [
  ['range-too-large', -32_005, 'query returned more than 10000 results'],
  ['range-too-large', -32_602, 'range 1000000 exceeds limit of 10000'],
  ['range-too-large', -32_602, 'invalid params', { payload: 'range 9009594 is bigger than range limit 2000' }],
  ['range-too-large', -32_600, 'Block range limit exceeded. Exceeds the maximum'],
  ['range-too-large', -32_047, "Invalid eth_getLogs request. 'fromBlock'-'toBlock' range too large. Max range: 800."],
  ['range-too-large', -32_000, 'maximum [from, to] blocks distance: 1000'],
  ['range-too-large', 35, 'ranges over 10000 blocks are not supported on freetier'],
  ['rate-limited', -32_005, 'daily request count exceeded, request rate limited'],
  ['rate-limited', -32_005, 'project ID request rate exceeded'],
  ['rate-limited', 429, 'Your app has exceeded its compute units per second capacity'],
  ['rate-limited', -32_007, '50/second request limit reached - reduce calls per second or upgrade'],
  ['rate-limited', -32_097, 'Rate limit reached'],
  ['not-found', -32_000, 'unknown block'],
  ['not-found', -32_000, 'header not found'],
  ['not-found', -32_001, 'block not found: 0x123'],
  ['not-found', -32_000, 'block range extends beyond current head block'],
  ['not-found', -32_000, 'One of the blocks specified in filter (fromBlock, toBlock or blockHash) cannot be found.'],
  ['no-state', -32_000, 'missing trie node 00ff (path ) state 0x00ff is not available, not found'],
  ['no-state', -32_000, 'distance to target block exceeds maximum proof window'],
  ['no-state', -32_000, 'project not able to execute request: this request requires an archive node'],
  ['no-state', 4_444, 'pruned history unavailable'],
  ['reverted', 3, 'execution reverted: ERC721: invalid token ID', '0x08c379a0'],
  ['reverted', -32_000, 'execution reverted'],
  ['reverted', -32_015, 'VM execution error.', 'Reverted 0x'],
  ['reverted', -32_000, 'invalid opcode: INVALID'],
  ['unsupported', -32_601, 'the method eth_foo does not exist/is not available'],
  ['unsupported', -32_000, 'method not supported'],
  ['batch-rejected', 31, 'Batch of more than 3 requests are not allowed on free tier'],
  ['rpc-error', -32_603, 'internal error'],
  ['rpc-error', -32_000, ''],
];

for (const [kind, code, message, data] of MESSAGES)
  test(`the error «${message}» (${code}) is classified as ${kind}`, () => {
    assert.equal(toRpcFailure({ code, message, data }, (text) => text).kind, kind);
  });

test('an error without code and message is classified as rpc-error', () => {
  for (const error of [true, 'no', 7, [], {}, { code: 'x', message: 5 }])
    assert.equal(toRpcFailure(error, (text) => text).kind, 'rpc-error');
});
