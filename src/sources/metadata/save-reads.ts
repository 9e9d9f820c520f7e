// Stores one batch of reads of token metadata: what was read, and which reads have failed. Then reports the changed collection.

import { isAborted, repeatAborted } from '../../platform/database/port.ts';
import { changeIndexDetails } from '../../market/index/change-index.ts';
import type { NewTokenMetadata } from '../../market/index/queries/token-metadata.ts';
import { upsertTokenMetadata } from '../../market/index/queries/token-metadata.ts';
import { FAILURES_OF_HOSTS } from './metadata-failure.ts';
import type { FailedRead } from './queries/due-tokens.ts';
import { updateDueOfHosts, updateFailedReads } from './queries/due-tokens.ts';
import type { MetadataContext } from './context.ts';

export type TokenReads = { collectionId: string; read: readonly NewTokenMetadata[]; failed: readonly FailedRead[] };

/**
 * Returns how many tokens changed. If a host that was down has now returned a document, the tokens of earlier batches that failed because
 * of this host become due.
 */
export async function saveReads(
  { indexer, clock, onChanged }: Pick<MetadataContext, 'indexer' | 'clock' | 'onChanged'>,
  { collectionId, read, failed }: TokenReads,
): Promise<number> {
  if (read.length + failed.length === 0) return 0;
  const now = clock();
  const hosts = [...new Set(read.flatMap(({ host }) => host ?? []))];
  const write = () =>
    indexer.transaction((tx) =>
      changeIndexDetails(tx, [collectionId], async () => {
        const changed = await upsertTokenMetadata(tx, read, { collectionId, source: 'chain', at: now });
        await updateFailedReads(tx, collectionId, failed);
        await updateDueOfHosts(tx, collectionId, {
          hosts,
          failures: FAILURES_OF_HOSTS,
          except: failed.map(({ asset }) => asset),
          now,
        });
        return changed;
      }),
    );
  const changed = await repeatAborted(write, { isRepeated: isAborted });
  if (changed.length > 0) onChanged({ collectionIds: new Set([collectionId]), kinds: new Set(['token']) });
  return changed.length;
}
