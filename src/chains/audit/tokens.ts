// Holds a token against what its contract says: who holds it by the primary's sums, and whom the indexer serves as its owner.

import type { AuditedToken, ServedOwner } from '../queries/audited.ts';
import type { Address, AssetId } from '../../core/address.ts';
import type { ChainFacts } from './chain-facts.ts';
import { NoAnswer } from './chain-facts.ts';
import type { Finding } from './orders.ts';

/** A token on both sides of our house; `served` null where the indexer does not know it. */
export type HeldToken = AuditedToken & { served: ServedOwner | null };

/** Accounts of one ERC-1155 token whose balances are compared; of more, some. */
export const ACCOUNTS_MAX = 200;

const NOBODY = 'nobody';
const SEVERAL = 'several';

export async function compareToken(facts: ChainFacts, token: HeldToken): Promise<Finding[]> {
  if (token.standard === null) throw new NoAnswer('the standard of the token is not known');
  return token.standard === 'erc721' ? compareSingle(facts, token) : compareEdition(facts, token);
}

async function compareSingle(facts: ChainFacts, token: HeldToken): Promise<Finding[]> {
  const owner = await facts.ownerOf(token.contract, token.tokenId as AssetId);
  const holders = new Map<Address, bigint>(owner === null ? [] : [[owner, 1n]]);
  return [...finding('holders', wordHolders(token.holders), wordHolders(holders)), ...compareServed(token, holders)];
}

async function compareEdition(facts: ChainFacts, token: HeldToken): Promise<Finding[]> {
  const { contract, tokenId, holders } = token;
  const known = [...new Set([...holders.keys(), ...token.accounts])];
  const asked = known.slice(0, ACCOUNTS_MAX);
  const balances = await Promise.all(
    asked.map((account) => facts.balanceOf({ contract, tokenId: tokenId as AssetId, standard: 'erc1155' }, account)),
  );
  const found = new Map(asked.map((account, index) => [account, balances[index] ?? 0n]));
  const findings = asked.flatMap((account) =>
    finding(`balance of ${account}`, String(holders.get(account) ?? 0n), String(found.get(account))),
  );
  // Of accounts that were not asked it is not known whether they hold any.
  if (known.length > asked.length || token.accounts.length === ACCOUNTS_MAX) return findings;
  return [...findings, ...compareServed(token, new Map([...found].filter(([, quantity]) => quantity > 0n)))];
}

/** The owner as it is served: the only holder, when there is one. */
function compareServed({ served }: HeldToken, holders: ReadonlyMap<Address, bigint>): Finding[] {
  const [first] = holders.keys();
  const owner = holders.size > 1 ? SEVERAL : (first ?? NOBODY);
  const ownOwner = served?.owner ?? (holders.size > 1 ? SEVERAL : NOBODY);
  return [
    ...finding('served owner', ownOwner, owner),
    // A token that is nobody's may never have been minted, which a chain does not tell apart from burned.
    ...(served?.burned && holders.size > 0 ? finding('burned', 'yes', 'no') : []),
  ];
}

function finding(field: string, ours: string, theirs: string): Finding[] {
  return ours === theirs ? [] : [{ field, ours, theirs }];
}

function wordHolders(holders: ReadonlyMap<Address, bigint>): string {
  const words = [...holders].map(([holder, quantity]) => (quantity === 1n ? holder : `${holder} × ${quantity}`));
  return words.join(' and ') || NOBODY;
}
