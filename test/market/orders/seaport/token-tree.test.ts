// The Merkle tree of a set of tokens has the root and the proofs of seaport-js, in the service and in the client.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { MerkleTree } from '@opensea/seaport-js/lib/utils/merkletree.js';
import fc from 'fast-check';
import { keccak256 } from 'viem';
import { toTokenRoot as toRootInClient } from '../../../../client/src/seaport.ts';
import type { AssetId } from '../../../../src/platform/core/address.ts';
import { toTokenProof, toTokenRoot } from '../../../../src/market/orders/seaport/token-tree.ts';

const toIds = (ids: readonly bigint[]) => ids.map((id) => id.toString() as AssetId);

test('root and proofs are those of seaport-js, for sets of any size and in any order', () => {
  const ids = fc.uniqueArray(fc.oneof(fc.bigInt(0n, 40n), fc.bigInt(0n, 2n ** 256n - 1n)), {
    minLength: 1,
    maxLength: 70,
  });
  fc.assert(
    fc.property(ids, (set) => {
      const tree = new MerkleTree(set.map(String));
      const tokens = toIds(set);
      assert.equal(toTokenRoot(tokens), tree.getRoot());
      assert.equal(toTokenRoot(tokens.toReversed()), tree.getRoot());
      assert.equal(toRootInClient(set, keccak256), tree.getRoot());
      for (const token of tokens) assert.deepEqual(toTokenProof(tokens, token), tree.getProof(token));
    }),
    { numRuns: 60 },
  );
});

test('a token that is not in the set has no proof', () => {
  assert.equal(toTokenProof(toIds([1n, 2n, 3n]), '4' as AssetId), null);
  assert.deepEqual(toTokenProof(toIds([7n]), '7' as AssetId), []);
});
