// Finds the set of tokens that a bid names by the root of a Merkle tree, and checks that the set has this root.

import type { AssetId } from '../../platform/core/address.ts';
import { parseAssetId } from '../../platform/core/address.ts';
import type { Hex } from '../../platform/core/evm.ts';
import { OrderRejected } from './rejection.ts';
import { toTokenRoot } from './seaport/token-tree.ts';

/** The most tokens of one set. */
export const SET_TOKENS_MAX = 10_000;
/** The most traits that name one set. A token of the set has all of them. */
export const SET_TRAITS_MAX = 10;

export type SetTrait = { name: string; value: string };

/** How a submission names the tokens that meet a bid: one by one, or by their traits. */
export type SubmittedCriteria = { tokenIds: readonly string[] } | { traits: readonly SetTrait[] };

/** `traits`: the traits that exactly these tokens have; null if the tokens were named one by one. */
export type TokenSet = { root: Hex; tokenIds: readonly AssetId[]; traits: readonly SetTrait[] | null };

/** Returns at most `limit` tokens of the collection that have all these traits. Throws OrderRejected if they cannot be read. */
export type ListTokensWithTraits = (
  collectionId: string,
  traits: readonly SetTrait[],
  limit: number,
) => Promise<readonly AssetId[]>;

/** Throws OrderRejected unless the criteria are those of the signed root. `root` is null for an order that names no set. */
export async function requireTokenSet(
  { collectionId, root }: { collectionId: string; root: Hex | null },
  criteria: SubmittedCriteria | null,
  listTokensWithTraits: ListTokensWithTraits,
): Promise<TokenSet | null> {
  if (root === null) {
    if (criteria === null) return null;
    throw notValid('the order names no set of tokens: leave criteria out');
  }
  if (criteria === null)
    throw notValid('the order names a set of tokens by its Merkle root: send its tokenIds or traits');
  const traits = 'traits' in criteria ? criteria.traits : null;
  const tokenIds =
    'traits' in criteria
      ? await listTokensWithTraits(collectionId, criteria.traits, SET_TOKENS_MAX + 1)
      : criteria.tokenIds.map(parseTokenId);
  if (tokenIds.length === 0) throw notValid('no token has these traits');
  if (tokenIds.length > SET_TOKENS_MAX) throw notValid(`a set has at most ${SET_TOKENS_MAX} tokens`);
  if (new Set(tokenIds).size < tokenIds.length) throw notValid('a token is named twice');
  const found = toTokenRoot(tokenIds);
  if (found === root) return { root, tokenIds, traits };
  const named = traits === null ? 'the submitted tokens' : `the ${tokenIds.length} tokens with these traits`;
  throw notValid(`the Merkle root of ${named} is ${found}, and the order is signed for ${root}`);
}

function parseTokenId(text: string, index: number): AssetId {
  const tokenId = parseAssetId('evm', text);
  if (tokenId !== null) return tokenId;
  throw new OrderRejected('criteria_not_valid', `criteria.tokenIds.${index}: must be a token id in decimal`, {
    path: `criteria.tokenIds.${index}`,
  });
}

function notValid(message: string): OrderRejected {
  return new OrderRejected('criteria_not_valid', message, { path: 'criteria' });
}
