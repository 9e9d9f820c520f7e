// Schedules reads of the metadata of tokens: of tokens whose contract has announced a change, and of tokens without a scheduled read.

import { changeIndexDetails } from '../../market/index/change-index.ts';
import {
  deleteMetadataAnnouncements,
  listMetadataAnnouncements,
  updateMetadataDue,
} from '../../market/index/queries/metadata-announcements.ts';
import type { MetadataContext } from './context.ts';
import { insertMissingStates } from './queries/due-tokens.ts';

/** The most announcements that one call of `applyAnnouncements` applies. */
export const ANNOUNCEMENTS_MAX = 500;

/**
 * Returns how many announcements were applied. They are deleted from the primary after the commit in the indexer. If the process ends
 * before the deletion, the next call applies them again.
 */
export async function applyAnnouncements({ main, indexer, clock }: MetadataContext): Promise<number> {
  const announced = await listMetadataAnnouncements(main, ANNOUNCEMENTS_MAX);
  if (announced.length === 0) return 0;
  const ids = announced.map(({ collectionId }) => collectionId);
  await indexer.transaction((tx) => changeIndexDetails(tx, ids, () => updateMetadataDue(tx, announced, clock())));
  await deleteMetadataAnnouncements(main, announced);
  return announced.length;
}

export async function makeMissingDue({ indexer }: MetadataContext, collectionIds: readonly string[]): Promise<void> {
  for (const collectionId of collectionIds) {
    await indexer.transaction((tx) =>
      changeIndexDetails(tx, [collectionId], () => insertMissingStates(tx, collectionId)),
    );
  }
}
