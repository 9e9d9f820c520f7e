// The section `metadata` of the service's status: how much of the metadata of each followed collection was read, and why reads failed.

import type { StatusProvider } from '../../platform/core/status.ts';
import { listFollows } from '../../market/follows/queries/follows.ts';
import type { MetadataContext } from './context.ts';
import { listCollectionFailures } from './queries/collection-metadata.ts';
import { listMetadataFailures, listMetadataProgress } from './queries/due-tokens.ts';

export type CollectionMetadataStatus = {
  collectionId: string;
  /** How many tokens are stored and not burned. */
  tokens: number;
  /** Tokens whose metadata was never read. */
  waiting: number;
  /** Tokens whose last metadata read failed, by reason and host. Such a token may still have metadata from an earlier read. */
  failures: readonly { reason: string; host: string | null; tokens: number }[];
  /** Why the metadata document of the collection could not be read. Null if no failure is recorded. */
  collectionFailure: { reason: string; host: string | null } | null;
};

const TIMEOUT_MS = 2_000;

/** Creates the provider of the public status, which leaves out the hosts. The operator's operation `metadata.read` returns the hosts. */
export function createMetadataStatus(context: MetadataContext): StatusProvider {
  return {
    section: 'metadata',
    read: async () =>
      (await readMetadataStatus(context)).map(({ failures, collectionFailure, ...counts }) => ({
        ...counts,
        failed: failures.reduce((sum, { tokens }) => sum + tokens, 0),
        reasons: [...new Set(failures.map(({ reason }) => reason))],
        collectionFailure: collectionFailure?.reason ?? null,
      })),
  };
}

/** Returns the status of the followed collections whose chains are read, sorted by collection id. */
export async function readMetadataStatus({
  main,
  indexer,
  followed,
}: MetadataContext): Promise<CollectionMetadataStatus[]> {
  const follows = await listFollows(main.within(TIMEOUT_MS));
  const ids = follows
    .filter(({ chain, fromBlock }) => fromBlock !== null && followed.modeOf(chain) === 'live')
    .map(({ collectionId }) => collectionId);
  const [progress, failures, ofCollections] = await Promise.all([
    listMetadataProgress(indexer.within(TIMEOUT_MS), ids),
    listMetadataFailures(indexer.within(TIMEOUT_MS), ids),
    listCollectionFailures(main.within(TIMEOUT_MS), ids),
  ]);
  return progress.map(({ collectionId, tokens, waiting }) => {
    const ofCollection = ofCollections.find((one) => one.collectionId === collectionId);
    return {
      collectionId,
      tokens,
      waiting,
      failures: failures
        .filter((one) => one.collectionId === collectionId)
        .map(({ failure, host, tokens: failed }) => ({ reason: failure, host, tokens: failed })),
      collectionFailure: ofCollection ? { reason: ofCollection.failure, host: ofCollection.host } : null,
    };
  });
}
