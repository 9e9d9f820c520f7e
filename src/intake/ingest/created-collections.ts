// Creates records of collections that a file names only by their addresses.

import type { Address } from '../../platform/core/address.ts';
import type { Queryable } from '../../platform/database/port.ts';
import { listRecordedIds, upsertCollections } from '../../market/reads/queries/collections.ts';
import type { NumberedRecord } from '../records/parse.ts';
import { collectionIdOf } from '../records/parse.ts';
import type { TrackChanges } from '../undo/change-log.ts';

/** The collection that a record names, with the contract address from the record. */
export type RecordLocation = { collectionId: string; chain: string; contractAddress: Address };

/**
 * The collections that the records name with a contract address. Collection records are skipped. If several records name the same
 * collection, its address is taken from the first record that has an address.
 */
export function listLocations(records: readonly NumberedRecord[]): RecordLocation[] {
  const located = new Map<string, RecordLocation>();
  for (const { record } of records) {
    const collectionId = record.kind === 'collection' ? null : collectionIdOf(record);
    if (collectionId === null || located.has(collectionId) || !('contractAddress' in record.row)) continue;
    const { contractAddress } = record.row;
    const chain = collectionId.slice(0, collectionId.indexOf('_'));
    if (contractAddress !== null) located.set(collectionId, { collectionId, chain, contractAddress });
  }
  return [...located.values()];
}

/** Creates a collection record for each collection that has none, with the address as the name. Returns the ids of the created records. */
export async function createCollections(
  tx: Queryable,
  located: readonly RecordLocation[],
  { now, track }: { now: number; track: TrackChanges },
): Promise<string[]> {
  if (located.length === 0) return [];
  const locatedIds = located.map(({ collectionId }) => collectionId);
  const stored = new Set(await listRecordedIds(tx, locatedIds));
  const created = located.filter(({ collectionId }) => !stored.has(collectionId));
  const ids = created.map(({ collectionId }) => collectionId);
  await track(tx, 'collection', ids, () =>
    upsertCollections(
      tx,
      created.map(({ collectionId, chain, contractAddress }) => ({
        ...NOTHING_KNOWN,
        id: collectionId,
        chain,
        contractAddress,
        name: contractAddress,
      })),
      now,
    ),
  );
  return ids;
}

const NOTHING_KNOWN = {
  slug: null,
  image: null,
  banner: null,
  description: null,
  tokenStandard: null,
  royaltyBps: null,
  launched: null,
  tokensComplete: null,
  salesComplete: null,
  listingsComplete: null,
  createdAt: null,
  snapshot: { floorRaw: null, volumeAllTime: null, supply: null, owners: null },
} as const;
