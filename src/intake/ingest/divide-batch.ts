// Divides the records of a batch into parts that are stored at the same time. The parts have no collection in common: a transaction locks its
// collections, and later records of a collection must be stored after earlier ones.

import type { Database } from '../../platform/database/port.ts';
import { FairQueue } from '../../platform/resilience/fair-queue.ts';
import type { NumberedRecord } from '../records/parse.ts';
import { collectionIdOf } from '../records/parse.ts';

/**
 * The most parts of a batch. Several parts are stored faster than one, because PostgreSQL runs each statement on one core, and waits for one page
 * of the disk at a time.
 */
const PARTS_MAX = 4;
/**
 * The least average number of records in the parts of a batch. With smaller parts an import would be slower, because planning the statements of a
 * transaction takes as long for few records as for many.
 */
const PART_ROWS = 1_500;

/**
 * Creates the lane for the parts of all batches of this process: the parts use at most half of the connections of a PostgreSQL database, so that reads
 * always find connections. On the embedded engine, transactions wait for its one connection, and not in the lane.
 */
export function createPartLane(indexer: Pick<Database, 'engine' | 'pool'>): FairQueue {
  const places = indexer.engine === 'embedded' ? Number.POSITIVE_INFINITY : placesOf(indexer);
  return new FairQueue({ places: () => places });
}

function placesOf(indexer: Pick<Database, 'pool'>): number {
  return Math.max(1, Math.floor(indexer.pool().max / 2));
}

/**
 * Returns at least one part, unless there are no records. The records of each part keep their order. On PostgreSQL there are at most as
 * many parts as the lane of `createPartLane` has places. On the embedded engine, which has one connection, a batch is one part.
 */
export function divideByCollection(
  records: readonly NumberedRecord[],
  indexer: Pick<Database, 'engine' | 'pool'>,
): (readonly NumberedRecord[])[] {
  if (records.length === 0) return [];
  const places = indexer.engine === 'embedded' ? 1 : placesOf(indexer);
  const count = Math.min(PARTS_MAX, places, Math.floor(records.length / PART_ROWS));
  if (count <= 1) return [records];
  const rowsOf = new Map<string | null, number>();
  for (const { record } of records) {
    const id = collectionIdOf(record);
    rowsOf.set(id, (rowsOf.get(id) ?? 0) + 1);
  }
  const parts = Array.from({ length: count }, () => ({ rows: 0, records: new Array<NumberedRecord>() }));
  const partOf = new Map<string | null, (typeof parts)[number]>();
  // Assigns the collections in descending order of size, each to the part with the fewest records so far.
  for (const [id, rows] of [...rowsOf].sort(([, one], [, other]) => other - one)) {
    const smallest = parts.reduce((least, part) => (part.rows < least.rows ? part : least));
    smallest.rows += rows;
    partOf.set(id, smallest);
  }
  for (const entry of records) partOf.get(collectionIdOf(entry.record))?.records.push(entry);
  return parts.flatMap((part) => (part.rows === 0 ? [] : [part.records]));
}
