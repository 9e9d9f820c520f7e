// Adds units to the amounts of a response, so that an agent does not have to know the chains.

import type { Chain, Chains } from '../../platform/core/chains.ts';
import { parseCollectionId } from '../../platform/core/collection.ts';
import type { Json, JsonObject } from './json.ts';
import { hasMembers } from './json.ts';

/** Names of members that may hold an inline image. The encoding of such an image would fill the context of an agent. */
const IMAGES = new Set(['image', 'banner']);

/**
 * A copy of `value` without inline images. Each price also has `rawUnit`, the unit of `raw`, such as `10^-18 ETH`. Each object with
 * `volumeAllTime` also has `volumeCurrency`. The chain of an amount is the chain of the nearest enclosing object that names a chain. An
 * object names a chain in its member `chain` or `collectionId`, or in one of these members of its `listing`.
 */
export function withUnits(value: Json, chains: Chains, enclosing: Chain | null = null): Json {
  if (Array.isArray(value)) return value.map((one) => withUnits(one, chains, enclosing));
  if (!hasMembers(value)) return value;
  const chain = chainOf(value, chains) ?? enclosing;
  const copy: JsonObject = {};
  for (const [name, member] of Object.entries(value)) {
    copy[name] = isInlineImage(name, member) ? 'inline image, left out' : withUnits(member, chains, chain);
    if (name === 'raw' && typeof value['currency'] === 'string')
      copy['rawUnit'] = toRawUnit(value['currency'], chain, chains);
    if (name === 'volumeAllTime') copy['volumeCurrency'] = chain?.symbol ?? null;
  }
  return copy;
}

function isInlineImage(name: string, value: Json): boolean {
  return IMAGES.has(name) && typeof value === 'string' && value.startsWith('data:');
}

function chainOf({ chain, collectionId, listing }: JsonObject, chains: Chains): Chain | null {
  if (typeof chain === 'string') return chains.get(chain) ?? null;
  if (hasMembers(listing)) return chainOf(listing, chains);
  const id = typeof collectionId === 'string' ? parseCollectionId(chains, collectionId) : null;
  return (id && chains.get(id.chainId)) ?? null;
}

/**
 * If the chain of an amount is not known, as for the floor of a trait, the unit is known only if all chains with this currency have the
 * same number of decimals.
 */
function toRawUnit(currency: string, chain: Chain | null, chains: Chains): string {
  const known = chain ? [chain] : [...chains.values()];
  const decimals = new Set(known.filter(({ symbol }) => symbol === currency).map((one) => one.decimals));
  const [unit] = decimals;
  return decimals.size === 1 ? `10^-${unit} ${currency}` : `base units of ${currency}`;
}
