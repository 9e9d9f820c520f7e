// Reads rows from the source database and writes them to the target database. A batch has one text for each column: an array of the column's values in PostgreSQL's
// text form. The source makes the text and the target reads it, so this process neither parses nor formats a value.

import { quoted } from '../backup/catalogue.ts';
import type { Queryable } from '../port.ts';
import { integer, list, nullable, rowDecoder, text } from '../rows.ts';
import type { MovedTable } from './tables.ts';
import { namesOf } from './tables.ts';

/** The values of the primary key of a row, as text. */
export type Key = readonly string[];

/** `columns`: the text of each column of the table. `last`: the largest key; null if there are no rows. */
export type RowBatch = { rows: number; columns: readonly string[]; last: Key | null };

/** Rows whose key is above `after`, up to `to`. Null: no bound. */
export type KeyRange = { after: Key | null; to: Key | null };

const decodeBatch = rowDecoder('batch of rows', {
  rows: integer,
  columns: list(nullable(text)),
  last: nullable(list(text)),
});

/** The first `limit` rows above `after`, sorted by their keys. */
export async function readBatch(
  source: Queryable,
  table: MovedTable,
  { after, limit }: { after: Key | null; limit: number },
): Promise<RowBatch> {
  const { where, params } = toCondition(table, { after, to: null });
  return readColumns(
    source,
    table,
    `select ${namesOf(table.columns)} from ${table.sql} ${where} order by ${namesOf(table.key)} limit ${limit}`,
    params,
  );
}

/** Reads the rows with the given keys. A key that no row has is ignored. */
export function readRows(source: Queryable, table: MovedTable, keys: readonly Key[]): Promise<RowBatch> {
  return readColumns(
    source,
    table,
    `select ${namesOf(table.columns, 'stored.')} from ${table.sql} as stored join ${keysOf(table)} on ${keysMatch(table)}`,
    toKeyParams(table, keys),
  );
}

async function readColumns(
  source: Queryable,
  table: MovedTable,
  sql: string,
  params: readonly unknown[],
): Promise<RowBatch> {
  const arrays = table.columns.map(({ name }) => `array_agg(${quoted(name)}::text)::text`);
  const lastKey = `select array[${keyTexts(table)}]::text[] from batch order by ${descending(table)} limit 1`;
  const [row] = await source.query(
    `with batch as materialized (${sql})
     select count(*)::int as rows, array[${arrays.join(', ')}] as columns, (${lastKey}) as last from batch`,
    params,
  );
  if (!row) throw new Error('an aggregate returned no row');
  const { rows, columns, last } = decodeBatch(row);
  return { rows, columns: columns.map((one) => one ?? '{}'), last };
}

/** Inserts rows. A row is left out if the table already has a row with the same key, or with the same value in a unique column. */
export async function insertRows(target: Queryable, table: MovedTable, { columns }: RowBatch): Promise<void> {
  const sent = table.columns.map((_, place) => `$${place + 1}::text[]`);
  const values = table.columns.map(({ type }, place) => `value_${place}::${type}`);
  const names = table.columns.map((_, place) => `value_${place}`);
  await target.query(
    `insert into ${table.sql} (${namesOf(table.columns)}) overriding system value
     select ${values.join(', ')} from unnest(${sent.join(', ')}) as sent (${names.join(', ')})
     on conflict do nothing`,
    columns,
  );
}

export async function deleteRows(target: Queryable, table: MovedTable, keys: readonly Key[]): Promise<void> {
  await target.query(
    `delete from ${table.sql} as stored using ${keysOf(table)} where ${keysMatch(table)}`,
    toKeyParams(table, keys),
  );
}

/**
 * The number of rows, and the sum of the hashes of their texts. Equal numbers and sums mean equal rows, in any order. `last`: the largest key,
 * only if the digest has a limit of rows; otherwise null.
 */
export type Digest = { rows: number; sum: string; last: Key | null };

const decodeDigest = rowDecoder('digest of rows', { rows: integer, sum: text, last: nullable(list(text)) });

/** The digest of the rows in the range, or of the first `limit` rows of the range. */
export function readDigest(
  db: Queryable,
  table: MovedTable,
  { range, limit }: { range: KeyRange; limit: number | null },
): Promise<Digest> {
  const { where, params } = toCondition(table, range);
  const first = limit === null ? '' : `order by ${namesOf(table.key)} limit ${limit}`;
  return digestOf(db, table, `select ${namesOf(table.columns)} from ${table.sql} ${where} ${first}`, {
    params,
    hasLast: limit !== null,
  });
}

/** The digest of the rows with the given keys. */
export function readDigestOfKeys(db: Queryable, table: MovedTable, keys: readonly Key[]): Promise<Digest> {
  const sql = `select ${namesOf(table.columns, 'stored.')} from ${table.sql} as stored join ${keysOf(table)} on ${keysMatch(table)}`;
  return digestOf(db, table, sql, { params: toKeyParams(table, keys), hasLast: false });
}

async function digestOf(
  db: Queryable,
  table: MovedTable,
  sql: string,
  { params, hasLast }: { params: readonly unknown[]; hasLast: boolean },
): Promise<Digest> {
  const texts = table.columns.map(({ name }) => `${quoted(name)}::text`).join(', ');
  const sums = `count(*)::int as rows, coalesce(sum(hashtextextended(array[${texts}]::text, 0)::numeric), 0)::text as sum`;
  // With `materialized`, the coordinator of a cluster receives all rows and sums their hashes. Without it, each node sums the hashes of its own
  // rows. So the rows are materialized only if the largest key is needed.
  const [row] = hasLast
    ? await db.query(
        `with batch as materialized (${sql})
         select ${sums}, (select array[${keyTexts(table)}]::text[] from batch order by ${descending(table)} limit 1) as last
         from batch`,
        params,
      )
    : await db.query(`select ${sums}, null::text[] as last from (${sql}) as batch`, params);
  if (!row) throw new Error('an aggregate returned no row');
  return decodeDigest(row);
}

function toCondition({ key }: MovedTable, { after, to }: KeyRange): { where: string; params: readonly string[] } {
  const params: string[] = [];
  const compare = (sign: string, bound: Key) => {
    const values = key.map(({ type }, place) => `$${params.push(bound[place] ?? '')}::${type}`);
    return `(${namesOf(key)}) ${sign} (${values.join(', ')})`;
  };
  const conditions = [...(after ? [compare('>', after)] : []), ...(to ? [compare('<=', to)] : [])];
  return { where: conditions.length === 0 ? '' : `where ${conditions.join(' and ')}`, params };
}

/**
 * Returns a table expression of keys. Their values are parameters, one array for each column of the key. The arrays have the types of the columns, because Citus refuses to
 * delete rows by keys that it would first have to convert from text.
 */
function keysOf({ key }: MovedTable): string {
  const sent = key.map(({ type }, place) => `$${place + 1}::${type}[]`).join(', ');
  const names = key.map((_, place) => `key_${place}`).join(', ');
  return `unnest(${sent}) as wanted (${names})`;
}

const keysMatch = ({ key }: MovedTable) =>
  key.map(({ name }, place) => `stored.${quoted(name)} = wanted.key_${place}`).join(' and ');

const toKeyParams = ({ key }: MovedTable, keys: readonly Key[]) => key.map((_, place) => keys.map((one) => one[place]));

const keyTexts = ({ key }: MovedTable) => key.map(({ name }) => `${quoted(name)}::text`).join(', ');
const descending = ({ key }: MovedTable) => key.map(({ name }) => `${quoted(name)} desc`).join(', ');
