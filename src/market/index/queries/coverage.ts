// Reads and writes the coverage of collections: which part of a collection's history each chain, vendor and import has delivered without a
// gap. Indexer database.

import type { Queryable, Row } from '../../../platform/database/port.ts';
import {
  column,
  decimal,
  list,
  nullable,
  object,
  oneOf,
  rowDecoder,
  safeInteger,
  text,
  timestamp,
} from '../../../platform/database/rows.ts';
import type { Coverage, CoverageSubject } from '../../provenance/coverage.ts';
import { COVERAGE_KINDS, COVERAGE_SUBJECTS } from '../../provenance/coverage.ts';
import { homeSql, narrowToOne } from './figures.ts';

/**
 * An SQL expression: the coverage of a collection as a JSON array, which `coverageList` decodes. `collectionId` is an SQL expression.
 * Coverage by a chain extends as far as the chain's log has been written into this database.
 */
export function coverageSql(collectionId: string, subjects: readonly CoverageSubject[]): string {
  const names = subjects.map((subject) => `'${subject}'`).join(', ');
  return `(select coalesce(json_agg(json_build_object('subject', covered.subject, 'source', covered.source, 'kind', covered.kind,
      'from', round(extract(epoch from covered.from_time) * 1000),
      'to', round(extract(epoch from coalesce(chain.covered_to, covered.to_time)) * 1000)) order by covered.source), '[]')
    from indexer.coverage as covered
    left join indexer.chain_cursor as chain on covered.kind = 'chain' and chain.chain = covered.source
    where covered.collection_id = ${collectionId} and covered.subject in (${names}))`;
}

export const coverageList = list(
  object({
    subject: oneOf(COVERAGE_SUBJECTS),
    source: text,
    kind: oneOf(COVERAGE_KINDS),
    from: nullable(decimal),
    to: decimal,
  }),
);

const decodeCoverages: (row: Row) => { id: string; coverage: Coverage[] } = rowDecoder('coverage', {
  id: text,
  coverage: coverageList,
});

/** Returns the coverage of each collection, by collection id. */
export async function listCoverage(
  db: Queryable,
  collectionIds: readonly string[],
  subjects: readonly CoverageSubject[],
): Promise<Map<string, Coverage[]>> {
  const rows = await db.query(
    narrowToOne(
      `with found as materialized (
       select home.collection_id as collection_id, ${coverageSql('home.collection_id', subjects)} as coverage
       from unnest($1::text[]) as wanted (id) ${homeSql('wanted.id')}
     )
     select wanted.id, coalesce(coverage, '[]') as coverage
     from unnest($1::text[]) as wanted (id) left join found on found.collection_id = wanted.id`,
      collectionIds,
    ),
    [collectionIds],
  );
  return new Map(rows.map(decodeCoverages).map(({ id, coverage }) => [id, coverage]));
}

export type CollectionCoverage = Coverage & { collectionId: string };

const decodeCoverage = rowDecoder('coverage', {
  subject: oneOf(COVERAGE_SUBJECTS),
  source: text,
  kind: oneOf(COVERAGE_KINDS),
  from: column('from_time', nullable(timestamp)),
  to: column('to_time', timestamp),
});

/** Null when nothing of the subject is covered. */
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

/**
 * Replaces what is stored for the same collection, subject and `source`. The end of imported coverage does not move back: an import of older rows
 * adds to the earlier imports.
 */
export async function upsertCoverage(tx: Queryable, coverage: readonly CollectionCoverage[]): Promise<void> {
  if (coverage.length === 0) return;
  const keyOf = ({ collectionId, subject, source }: CollectionCoverage) => `${collectionId} ${subject} ${source}`;
  const rows = coverage.toSorted((a, b) => (keyOf(a) < keyOf(b) ? -1 : 1));
  await tx.query(
    `insert into indexer.coverage (collection_id, subject, source, kind, from_time, to_time)
     select * from unnest($1::text[], $2::text[], $3::text[], $4::text[], $5::timestamptz[], $6::timestamptz[])
     on conflict (collection_id, subject, source) do update
       set kind = excluded.kind, from_time = excluded.from_time, to_time = case
         when excluded.kind = 'imported' then greatest(coverage.to_time, excluded.to_time) else excluded.to_time end`,
    [
      rows.map((row) => row.collectionId),
      rows.map((row) => row.subject),
      rows.map((row) => row.source),
      rows.map((row) => row.kind),
      rows.map((row) => (row.from === null ? null : new Date(row.from))),
      rows.map((row) => new Date(row.to)),
    ],
  );
}

/** Deletes the coverage by a `source` that is no longer read. */
export async function deleteCoverage(
  tx: Queryable,
  { collectionIds, source }: { collectionIds: readonly string[]; source: string },
): Promise<void> {
  await tx.query(`delete from indexer.coverage where source = $2 and collection_id = any($1)`, [collectionIds, source]);
}

/**
 * How far a chain's log has been written into this database. `to` is the time of the last block, in milliseconds. `revision` is the
 * revision that the chain's cursor had when `to` was stored. Both are null before the first write.
 */
export type ChainCoverage = { to: number | null; revision: number | null };

const decodeChainCoverage = rowDecoder('indexer.chain_cursor', {
  to: column('covered_to', nullable(timestamp)),
  revision: column('covered_revision', nullable(safeInteger)),
});

export async function findChainCoverage(db: Queryable, chain: string): Promise<ChainCoverage> {
  const [row] = await db.query(`select covered_to, covered_revision from indexer.chain_cursor where chain = $1`, [
    chain,
  ]);
  return row ? decodeChainCoverage(row) : { to: null, revision: null };
}

export async function updateChainCoverage(
  tx: Queryable,
  chain: string,
  { to, revision }: { to: number; revision: number },
): Promise<void> {
  await tx.query(
    `insert into indexer.chain_cursor as stored (chain, seq, covered_to, covered_revision) values ($1, 0, $2, $3)
     on conflict (chain) do update set covered_to = excluded.covered_to, covered_revision = excluded.covered_revision`,
    [chain, new Date(to), revision],
  );
}

const decodeCollectionId = rowDecoder('coverage', { collectionId: column('collection_id', text) });

export async function listChainCovered(db: Queryable, chain: string): Promise<string[]> {
  const rows = await db.query(
    `select collection_id from indexer.coverage where source = $1 and kind = 'chain' and subject = 'sales'`,
    [chain],
  );
  return rows.map((row) => decodeCollectionId(row).collectionId);
}

/**
 * Records that a chain covers the sales and tokens of collections. If the holders of a collection are read from the
 * chain (market/index/queries/chain-holders.ts), the chain also covers the owners.
 */
export async function insertChainCovered(
  tx: Queryable,
  chain: string,
  { collectionIds, to }: { collectionIds: readonly string[]; to: number },
): Promise<void> {
  await tx.query(
    `insert into indexer.coverage (collection_id, subject, source, kind, to_time)
     select joined.collection_id, subject, $1, 'chain', $3 from unnest($2::text[]) as joined (collection_id)
     cross join unnest(array['sales', 'tokens', 'owners']) as subject
     where subject <> 'owners' or joined.collection_id in (
       select collection_id from indexer.collection_figures where collection_id = any($2) and has_chain_holders)
     on conflict (collection_id, subject, source) do update set kind = excluded.kind, from_time = null, to_time = excluded.to_time`,
    [chain, collectionIds, new Date(to)],
  );
}

/**
 * Deletes what earlier imports state about the coverage of the collections. Otherwise the undo of a later import would bring it back. The keys of these
 * changes begin with the collection id.
 */
export async function deleteStatedCoverage(tx: Queryable, collectionIds: readonly string[]): Promise<void> {
  await tx.query(
    `update indexer.import_change as change set rows = others.rows, keys = others.keys, hashes = others.hashes, images = others.images
     from (
       select import_id, seq, (count(key) filter (where is_other))::int as rows, coalesce(array_agg(key order by place) filter (where is_other), '{}') as keys,
         coalesce(array_agg(hash order by place) filter (where is_other), '{}') as hashes,
         coalesce(array_agg(image order by place) filter (where is_other), '{}') as images
       from indexer.import_change cross join unnest(keys, hashes, images) with ordinality as item (key, hash, image, place)
         cross join lateral (select split_part(key, E'\\n', 1) <> all($1) as is_other) as compared
       where kind = 'coverage' group by import_id, seq having not bool_and(is_other)
     ) as others
     where change.import_id = others.import_id and change.seq = others.seq`,
    [collectionIds],
  );
}
