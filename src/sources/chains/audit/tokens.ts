// Compares two things with the state of a token's contract: the holders of the token that the primary database stores, and the owner of the
// token that the indexer serves.

import type { Address } from '../../../platform/core/address.ts';
import type { AuditedToken, ServedOwner } from './queries/audited.ts';
import type { ChainFacts } from './chain-facts.ts';
import { UnknownFact } from './chain-facts.ts';
import type { Finding } from './compare.ts';

/** `served` is null when the indexer does not have the token. */
export type HeldToken = AuditedToken & { served: ServedOwner | null };

/** The balances of at most this many accounts of an ERC-1155 token are compared. */
export const ACCOUNTS_MAX = 200;

/** The name of the difference in the holders of an ERC-721 token. Its `theirs` is the owner on the chain, or NOBODY. */
export const HOLDERS_FIELD = 'holders';
export const NOBODY = 'nobody';
const SEVERAL = 'several';

export async function compareToken(facts: ChainFacts, token: HeldToken): Promise<Finding[]> {
  if (token.standard === null) throw new UnknownFact('the standard of the token');
  return token.standard === 'erc721' ? compareSingle(facts, token) : compareEdition(facts, token);
}

async function compareSingle(facts: ChainFacts, token: HeldToken): Promise<Finding[]> {
  const owner = await facts.ownerOf(token.contract, token.tokenId);
  const holders = new Map<Address, bigint>(owner === null ? [] : [[owner, 1n]]);
  return [...findDifference(HOLDERS_FIELD, toText(token.holders), toText(holders)), ...compareServed(token, holders)];
}

async function compareEdition(facts: ChainFacts, token: HeldToken): Promise<Finding[]> {
  const { contract, tokenId, holders } = token;
  const known = [...new Set([...holders.keys(), ...token.accounts])];
  const compared = known.slice(0, ACCOUNTS_MAX);
  const balances = await Promise.all(
    compared.map((account) => facts.balanceOf({ contract, tokenId, standard: 'erc1155' }, account)),
  );
  const found = new Map(compared.map((account, index) => [account, balances[index] ?? 0n]));
  const findings = compared.flatMap((account) =>
    findDifference(`balance of ${account}`, String(holders.get(account) ?? 0n), String(found.get(account))),
  );
  // The owner is known only when all accounts were compared.
  if (known.length > compared.length || token.accounts.length === ACCOUNTS_MAX) return findings;
  return [...findings, ...compareServed(token, new Map([...found].filter(([, quantity]) => quantity > 0n)))];
}

/** The indexer serves no owner for a token with several holders. So a missing owner of such a token is no difference. */
function compareServed({ served }: HeldToken, holders: ReadonlyMap<Address, bigint>): Finding[] {
  const [first] = holders.keys();
  const owner = holders.size > 1 ? SEVERAL : (first ?? NOBODY);
  const servedOwner = served?.owner ?? (holders.size > 1 ? SEVERAL : NOBODY);
  return [
    ...findDifference('served owner', servedOwner, owner),
    // The chain does not distinguish a burned token from one that was never minted. So `burned` is wrong only if the token has a holder.
    ...(served?.burned && holders.size > 0 ? findDifference('burned', 'yes', 'no') : []),
  ];
}

function findDifference(field: string, ours: string, theirs: string): Finding[] {
  return ours === theirs ? [] : [{ field, ours, theirs }];
}

function toText(holders: ReadonlyMap<Address, bigint>): string {
  const texts = [...holders].map(([holder, quantity]) => (quantity === 1n ? holder : `${holder} × ${quantity}`));
  return texts.join(' and ') || NOBODY;
}
