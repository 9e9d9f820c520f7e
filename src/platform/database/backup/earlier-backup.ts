// Restores a backup of a program before 0.1.0. Its schemas have other migrations, and lack tables and columns that were added before 0.1.0. A
// missing column gets its default, and a renamed column keeps its values. What those migrations derived from stored rows is derived here.

import { OperatorError } from '../../core/errors.ts';
import type { TableShape } from './catalogue.ts';
import type { AppliedMigration, Schema } from '../migrate.ts';
import type { Queryable } from '../port.ts';

/** The migrations that a backup must have. Later ones only added tables, columns and indexes, and derived what DERIVATIONS derives. */
const REQUIRED: Readonly<Record<Schema, readonly string[]>> = {
  main: ['0030-activity-of-wallets-by-chain.sql'],
  // The second was a contract, which may still wait for the operator.
  indexer: ['0035-cluster-connections.sql', '0027-collection-keys.sql'],
};

/** Throws if the backup is older than the oldest that can be restored. */
export function checkEarlier(applied: readonly AppliedMigration[], schema: Schema): void {
  const missing = REQUIRED[schema].find((required) => !applied.some(({ name }) => name === required));
  if (missing === undefined) return;
  throw new OperatorError(
    `the backup is too old for this version: its schema ${schema} lacks the migration ${missing}; restore it with the last program before version ` +
      '0.1.0, run mercat migrate --contract with that program, and write a new backup',
  );
}

/** Columns that had another name before 0.1.0: by table, the present name of each earlier name. */
const RENAMED: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  'indexer.listing': { undeliverable: 'dormant' },
};

/** A table of an earlier backup, with the present names of its columns. */
export function withPresentNames(table: TableShape): TableShape {
  const renamed = RENAMED[`${table.schema}.${table.name}`] ?? {};
  return {
    ...table,
    columns: table.columns.map((column) => ({ ...column, name: renamed[column.name] ?? column.name })),
  };
}

/**
 * What is derived from rows that were stored already. `migration`: the migration of a program before 0.1.0 that did the same. Null if no such
 * program did.
 */
type Derivation = { schema: Schema; migration: string | null; statements: readonly string[] };

const DERIVATIONS: readonly Derivation[] = [
  {
    // The indexer learns which collections have had own orders (`collection_figures.own_known`).
    schema: 'main',
    migration: '0037-floors-of-one-moment.sql',
    statements: [`insert into main.catalog_change (collection_id) select collection_id from main.collection_book`],
  },
  {
    // The sums of sales follow the rule of src/market/index/queries/sale-rule.ts, and the ranking by volume follows the sums.
    schema: 'indexer',
    migration: '0036-unread-sales.sql',
    statements: [
      `delete from indexer.sale_hour`,
      `delete from indexer.sale_total`,
      String.raw`insert into indexer.sale_hour (collection_id, hour, volume_raw, sales, unread)
       select collection_id, date_trunc('hour', sold_at, 'UTC') as hour, coalesce(sum(price_raw), 0), count(*),
         count(*) filter (where price_raw is null and price !~* '^(?:\d[\d.,]*(?:e[+-]?\d+)? (?:0x[0-9a-f]{40}|(?!(?:erc-?\d+|spl|token|unknown|undefined|null|none|nan|n[/]a)$)[a-z$€£¥][^ ()]{0,40})$|\d+(?: native and \d+)? of 0x[0-9a-f]{40})')
       from indexer.sale
       where price_raw is distinct from 0 and not coalesce(seller = buyer and seller !~ '^(?:0x0+|1{32})$', false)
         and not (price = 'unknown' and block_number is not null)
       group by collection_id, hour order by hour, collection_id`,
      `insert into indexer.sale_total (collection_id, volume_raw, sales, unread)
       select collection_id, sum(volume_raw), sum(sales), sum(unread) from indexer.sale_hour group by collection_id`,
      `update indexer.collection_figures set ranks_valid_until = 'epoch'
       where recorded and collection_id in (select collection_id from indexer.sale)`,
    ],
  },
  {
    // Zero is no floor.
    schema: 'indexer',
    migration: '0037-known-own-books.sql',
    statements: [`update indexer.collection_figures set ranks_valid_until = 'epoch' where floor_rank = 0`],
  },
  {
    // Imported sales are known up to the newest one. A sum of imported sales does not replace a larger volume that a record states.
    schema: 'indexer',
    migration: '0038-complete-sales.sql',
    statements: [
      `update indexer.coverage as stored set to_time = newest.sold_at
       from (select collection_id, max(sold_at) as sold_at from indexer.sale group by collection_id) as newest
       where newest.collection_id = stored.collection_id and stored.kind = 'imported' and stored.subject = 'sales'
         and newest.sold_at < stored.to_time`,
      `update indexer.collection_figures as figures set ranks_valid_until = 'epoch' from indexer.coverage as covered
       where covered.collection_id = figures.collection_id and covered.kind = 'imported' and covered.subject = 'sales'`,
    ],
  },
  {
    // The ranking keys of windows.
    schema: 'indexer',
    migration: null,
    statements: [`update indexer.collection_figures set ranks_valid_until = 'epoch' where recorded`],
  },
  {
    // The recorded changes of coverage state the end that an import states and the end before it, in milliseconds, and no longer the row before it.
    // The end that an import stated is the one that the next import found, or the present one.
    schema: 'indexer',
    migration: null,
    statements: [
      `update indexer.import_change as change set images = made.images
       from (
         select import_id, seq, array_agg(jsonb_build_object(
             'stated', ceil(extract(epoch from least(coalesce(found, stored, before, 'epoch'), stored)) * 1000)::bigint,
             'before', case when before is not null then ceil(extract(epoch from least(before, stored)) * 1000)::bigint end
           ) order by place) as images
         from (
           select import_id, seq, place, before, stored.to_time as stored, lead(before) over (partition by key order by import_id, seq) as found
           from (
             select recorded.import_id, recorded.seq, item.key, item.place, (item.image ->> 'to_time')::timestamptz as before
             from indexer.import_change as recorded
             cross join unnest(recorded.keys, recorded.images) with ordinality as item (key, image, place)
             where recorded.kind = 'coverage'
           ) as item
           left join indexer.coverage as stored on key = concat_ws(E'\\n', stored.collection_id, stored.subject, stored.source)
         ) as ordered
         group by import_id, seq
       ) as made
       where made.import_id = change.import_id and made.seq = change.seq`,
    ],
  },
];

/** Derives from the restored rows what the migrations that the backup lacks derived. */
export async function deriveMissing(
  tx: Queryable,
  schema: Schema,
  applied: readonly AppliedMigration[],
): Promise<void> {
  const names = new Set(applied.map(({ name }) => name));
  for (const derivation of DERIVATIONS) {
    if (derivation.schema !== schema || (derivation.migration !== null && names.has(derivation.migration))) continue;
    for (const statement of derivation.statements) await tx.query(statement);
  }
}
