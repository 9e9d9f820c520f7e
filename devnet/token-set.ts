// Merkle proofs for the tokens that meet a bid. The tree is the one of `toTokenRoot` (client/src/seaport.ts): the leaves are the hashes of the token ids in the
// order of the hashes, the two hashes of a pair are sorted too, and a node without a neighbour moves up unchanged.

import type { Hex } from 'viem';
import { concat, keccak256, numberToHex } from 'viem';

/** The hashes from which Seaport computes the root. Throws if the token is not one of the set. */
export function toSetProof(tokenIds: readonly bigint[], tokenId: bigint): Hex[] {
  const levels = toLevels(tokenIds);
  let index = levels[0]?.indexOf(toLeaf(tokenId)) ?? -1;
  if (index < 0) throw new Error(`the set has no token ${tokenId}`);
  const proof: Hex[] = [];
  for (const level of levels) {
    const neighbour = level[index ^ 1];
    if (neighbour !== undefined) proof.push(neighbour);
    index >>= 1;
  }
  return proof;
}

function toLevels(tokenIds: readonly bigint[]): Hex[][] {
  let level = tokenIds.map(toLeaf).sort();
  const levels = [level];
  while (level.length > 1) {
    const pairs = Array.from({ length: Math.ceil(level.length / 2) }, (_, pair) => level.slice(pair * 2, pair * 2 + 2));
    level = pairs.map((pair) => (pair.length === 1 ? (pair[0] ?? '0x') : keccak256(concat(pair.sort()))));
    levels.push(level);
  }
  return levels;
}

function toLeaf(tokenId: bigint): Hex {
  return keccak256(numberToHex(tokenId, { size: 32 }));
}
