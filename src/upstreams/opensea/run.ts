// A followed collection under its name at OpenSea, as the tasks of OpenSea process it.

import type { Follow } from '../../follows/queries/follows.ts';
import { insertFollowName } from '../../follows/queries/follows.ts';
import type { Chain } from '../../core/chains.ts';
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

/** Processes a collection under its slug; does nothing when OpenSea does not have it. */
export function withCollection(process: OpenSeaProcess) {
  return async (context: UpstreamContext, run: CollectionRun): Promise<void> => {
    const { follow } = run;
    const chain = context.chains.get(follow.chain);
    const slug = chain && (await findSlug(context, { ...run, chain }));
    if (!chain || !slug) return;
    await process(context, { ...run, collection: { slug, chain, contractAddress: follow.contractAddress } });
  };
}

/** The slug that is stored, or else the one that OpenSea has for the contract, which is then stored. */
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

/** Whether a collection's chain is followed, so that sales, owners and supply come from the chain itself. */
export function isChainFollowed({ config }: UpstreamContext, { chain, fromBlock }: Follow): boolean {
  return fromBlock !== null && config.rpcUrls.has(chain) && !config.frozenChains.has(chain);
}
