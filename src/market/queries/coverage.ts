// Which part of a collection's history each source has covered without a gap. Indexer database.

import type { Queryable } from '../../database/port.ts';
import { column, nullable, oneOf, rowDecoder, text, timestamp } from '../../database/rows.ts';
import type { Coverage } from '../provenance/coverage.ts';
import { COVERAGE_KINDS, COVERAGE_SUBJECTS } from '../provenance/coverage.ts';

export type CollectionCoverage = Coverage & { collectionId: string };

const decodeCoverage = rowDecoder('coverage', {
  subject: oneOf(COVERAGE_SUBJECTS),
  source: text,
  kind: oneOf(COVERAGE_KINDS),
  from: column('from_time', nullable(timestamp)),
  to: column('to_time', timestamp),
});

/** What a source has covered of a subject; null when it has covered nothing. */
export async function findCoverage(
  db: Queryable,
  { collectionId, subject, source }: Pick<CollectionCoverage, 'collectionId' | 'subject' | 'source'>,
): Promise<Coverage | null> {
  const [row] = await db.query(
    `select subject, source, kind, from_time, to_time from indexer.coverage
     where collection_id = $1 and subject = $2 and source = $3`,
    [collectionId, subject, source],
  );
  return row ? decodeCoverage(row) : null;
}

/** Stores what a source has covered, in place of what was stored for this source. */
export async function upsertCoverage(tx: Queryable, coverage: CollectionCoverage): Promise<void> {
  const { collectionId, subject, source, kind, from, to } = coverage;
  await tx.query(
    `insert into indexer.coverage (collection_id, subject, source, kind, from_time, to_time)
     values ($1, $2, $3, $4, $5, $6)
     on conflict (collection_id, subject, source) do update
       set kind = excluded.kind, from_time = excluded.from_time, to_time = excluded.to_time`,
    [collectionId, subject, source, kind, from === null ? null : new Date(from), new Date(to)],
  );
}
