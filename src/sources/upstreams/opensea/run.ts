// Finds the slug under which OpenSea's tasks process a followed collection.

import { insertFollowName } from '../../../market/follows/queries/follows.ts';
import type { Chain } from '../../../platform/core/chains.ts';
import type { UpstreamContext } from '../context.ts';
import type { CollectionRun } from '../followed-task.ts';
import { findOpenSeaContract } from './collection.ts';
import type { OpenSeaCollection } from './names.ts';
import { OPENSEA, toOpenSeaChain } from './names.ts';

export function isAtOpenSea(chain: Chain | undefined): boolean {
  return chain !== undefined && toOpenSeaChain(chain) !== null;
}

export type OpenSeaRun = CollectionRun & { collection: OpenSeaCollection };

export type OpenSeaProcess = (context: UpstreamContext, run: OpenSeaRun) => Promise<void>;

/**
 * Returns a function that finds the slug of a followed collection and then calls `process`. The function does nothing if OpenSea does not
 * have the collection.
 */
export function withCollection(process: OpenSeaProcess) {
  return async (context: UpstreamContext, run: CollectionRun): Promise<void> => {
    const { follow } = run;
    const chain = context.chains.get(follow.chain);
    const slug = chain && (await findSlug(context, { ...run, chain }));
    if (!chain || !slug) return;
    await process(context, { ...run, collection: { slug, chain, contractAddress: follow.contractAddress } });
  };
}

/**
 * Returns the stored slug. If no slug is stored, fetches the slug of the contract from OpenSea and stores it. Returns null if OpenSea does
 * not know the contract.
 */
async function findSlug(
  context: UpstreamContext,
  { upstream, follow, chain, signal }: CollectionRun & { chain: Chain },
): Promise<string | null> {
  const stored = follow.names.get(OPENSEA);
  if (stored !== undefined) return stored;
  const { collectionId, contractAddress } = follow;
  const found = await findOpenSeaContract(upstream, { chain, contractAddress }, { signal });
  if (!found) return null;
  await insertFollowName(context.main, { collectionId, vendor: OPENSEA, name: found.slug });
  return found.slug;
}
