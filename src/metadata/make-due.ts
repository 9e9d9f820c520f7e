// Makes tokens due whose contract has announced a change, and tokens that were never due.

import { lockFigures } from '../market/queries/figures.ts';
import {
  deleteMetadataAnnouncements,
  listMetadataAnnouncements,
  updateMetadataDue,
} from '../market/queries/metadata-announcements.ts';
import type { MetadataContext } from './context.ts';
import { insertMissingStates } from './queries/due-tokens.ts';

const ANNOUNCEMENTS_MAX = 500;

/** If the process ends between the two databases, the announcements are applied again. */
export async function applyAnnouncements({ main, indexer, clock }: MetadataContext): Promise<void> {
  const announced = await listMetadataAnnouncements(main, ANNOUNCEMENTS_MAX);
  if (announced.length === 0) return;
  await indexer.transaction(async (tx) => {
    await lockFigures(
      tx,
      announced.map(({ collectionId }) => collectionId),
    );
    await updateMetadataDue(tx, announced, clock());
  });
  await deleteMetadataAnnouncements(main, announced);
}

export async function makeMissingDue({ indexer }: MetadataContext, collectionIds: readonly string[]): Promise<void> {
  for (const collectionId of collectionIds) {
    await indexer.transaction(async (tx) => {
      await lockFigures(tx, [collectionId]);
      await insertMissingStates(tx, collectionId);
    });
  }
}
