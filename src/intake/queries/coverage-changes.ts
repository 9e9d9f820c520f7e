// Records up to which time each import covers collections, and takes this coverage back. Imported coverage ends at the latest time that any
// import states, whatever the order of the imports. An undo therefore restores no earlier row: it computes the end from what the other imports
// state. Indexer database. The transaction must have locked the figures of the collections.

import type { Queryable } from '../../platform/database/port.ts';
import { column, nullable, rowDecoder, safeInteger, text } from '../../platform/database/rows.ts';
import type { CollectionCoverage } from '../../market/index/queries/coverage.ts';
import { COVERAGE_SUBJECTS } from '../../market/provenance/coverage.ts';
import { listCoverage } from '../../market/index/queries/coverage.ts';
import { keyCondition, toKeyText } from './tracked-tables.ts';

type ChangeId = { importId: string; seq: number };

/** Must be called before the coverage is written. An import that does not move the end of the coverage is recorded too. */
export async function insertCoverageChange(
  tx: Queryable,
  { importId, seq }: ChangeId,
  coverage: readonly CollectionCoverage[],
): Promise<void> {
  const stored = await listCoverage(
    tx,
    coverage.map(({ collectionId }) => collectionId),
    COVERAGE_SUBJECTS,
  );
  const before = coverage.map(
    ({ collectionId, subject, source }) =>
      stored.get(collectionId)?.find((row) => row.subject === subject && row.source === source)?.to ?? null,
  );
  await tx.query(
    `insert into indexer.import_change (import_id, seq, kind, rows, keys, hashes, images)
     select $1, $2, 'coverage', count(*), array_agg(key), array_agg(0::bigint),
       array_agg(jsonb_build_object('stated', stated, 'before', before))
     from unnest($3::text[], $4::bigint[], $5::bigint[]) as covered (key, stated, before)`,
    [
      importId,
      seq,
      coverage.map(({ collectionId, subject, source }) => toKeyText(collectionId, subject, source)),
      coverage.map(({ to }) => Math.round(to)),
      before.map((to) => (to === null ? null : Math.round(to))),
    ],
  );
}

/** `stated`: the end that the import states. `before`: the end that was stored before, null if nothing was covered. In milliseconds. */
type Statement = ChangeId & { key: string; stated: number; before: number | null };

const decodeStatement: (row: Record<string, unknown>) => Statement = rowDecoder('import_change', {
  importId: column('import_id', text),
  seq: safeInteger,
  key: text,
  stated: safeInteger,
  before: nullable(safeInteger),
});

/**
 * Takes back the coverage that a recorded change states. The coverage then ends at the latest time that another recorded change states or that
 * was covered before this change. If there is none, the coverage is deleted. If a writer without records has extended the coverage since,
 * it stays.
 */
export async function revertCoverageChange(tx: Queryable, { importId, seq }: ChangeId): Promise<void> {
  const rows = await tx.query(
    `select change.import_id, change.seq, item.key, (item.image ->> 'stated')::bigint as stated, (item.image ->> 'before')::bigint as before
     from indexer.import_change as change cross join unnest(change.keys, change.images) as item (key, image)
     where change.kind = 'coverage' and item.key in (
       select unnest(keys) from indexer.import_change where import_id = $1 and seq = $2)`,
    [importId, seq],
  );
  const statements = rows.map(decodeStatement);
  const isThis = (one: Statement) => one.importId === importId && one.seq === seq;
  const others = Map.groupBy(
    statements.filter((one) => !isThis(one)),
    ({ key }) => key,
  );
  const reverted = statements.filter(isThis);
  const ends = reverted.map(({ key, stated, before }) => {
    const left = [...(others.get(key) ?? []).map((one) => one.stated), ...(before === null ? [] : [before])];
    return { key, stated, end: left.length === 0 ? null : Math.max(...left) };
  });
  await updateEnds(tx, ends);
  for (const { key, stated, before } of reverted) {
    // A later change that found the end which this change stated must not bring it back when it is reverted.
    const later = (others.get(key) ?? []).filter((one) => one.before === stated);
    for (const one of later) await updateBefore(tx, { ...one, before });
  }
}

async function updateEnds(
  tx: Queryable,
  ends: readonly { key: string; stated: number; end: number | null }[],
): Promise<void> {
  const wanted = 'unnest($1::text[], $2::timestamptz[], $3::timestamptz[]) as wanted (key, stated, ending)';
  const params = [
    ends.map(({ key }) => key),
    ends.map(({ stated }) => new Date(stated)),
    ends.map(({ end }) => (end === null ? null : new Date(end))),
  ];
  const isEnding = `${keyCondition('coverage')} and stored.to_time <= wanted.stated`;
  await tx.query(
    `delete from indexer.coverage as stored using ${wanted} where ${isEnding} and wanted.ending is null`,
    params,
  );
  await tx.query(
    `update indexer.coverage as stored set to_time = wanted.ending from ${wanted} where ${isEnding} and wanted.ending is not null`,
    params,
  );
}

async function updateBefore(tx: Queryable, { importId, seq, key, before }: Statement): Promise<void> {
  await tx.query(
    `update indexer.import_change as change set images = (
       select array_agg(case when item.key = $3 then item.image || jsonb_build_object('before', $4::bigint) else item.image end
         order by item.place)
       from unnest(change.keys, change.images) with ordinality as item (key, image, place))
     where import_id = $1 and seq = $2`,
    [importId, seq, key, before],
  );
}
