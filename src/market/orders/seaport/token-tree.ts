// The Merkle tree of the tokens that meet a bid. The leaves are the hashes of the token ids in the order of the hashes, and each pair is hashed in the order
// of its two hashes. A node without a neighbour moves up unchanged. This is the tree of seaport-js, and Seaport verifies its proofs.

import type { AssetId } from '../../../platform/core/address.ts';
import type { Hex } from '../../../platform/core/evm.ts';
import { keccak256 } from '../../../platform/core/keccak.ts';

/** `tokenIds` must not be empty. */
export function toTokenRoot(tokenIds: readonly AssetId[]): Hex {
  const [root] = toLevels(tokenIds).at(-1) ?? [];
  if (root === undefined) throw new TypeError('a tree has at least one token');
  return root;
}

/** The hashes with which Seaport computes the root from the token. Null if the token is not one of the set. */
export function toTokenProof(tokenIds: readonly AssetId[], tokenId: AssetId): Hex[] | null {
  const levels = toLevels(tokenIds);
  let index = levels[0]?.indexOf(toLeaf(tokenId)) ?? -1;
  if (index < 0) return null;
  const proof: Hex[] = [];
  for (const level of levels) {
    const neighbour = level[index ^ 1];
    if (neighbour !== undefined) proof.push(neighbour);
    index >>= 1;
  }
  return proof;
}

/** All levels of the tree, from the leaves to the root. */
function toLevels(tokenIds: readonly AssetId[]): Hex[][] {
  const levels = [tokenIds.map(toLeaf).sort()];
  for (let level = levels[0] ?? []; level.length > 1;) {
    const next: Hex[] = [];
    for (let at = 0; at < level.length; at += 2) next.push(toParent(level[at], level[at + 1]));
    levels.push(next);
    level = next;
  }
  return levels;
}

function toLeaf(tokenId: AssetId): Hex {
  return keccak256(`0x${BigInt(tokenId).toString(16).padStart(64, '0')}`);
}

function toParent(left: Hex = '0x', right?: Hex): Hex {
  if (right === undefined) return left;
  return keccak256(left < right ? `${left}${right.slice(2)}` : `${right}${left.slice(2)}`);
}
