// The tables whose rows an import can change, and the columns by which an undo recognises that a row has not changed since the import.

import { isJudged } from '../../market/index/queries/judged-listings.ts';

/** The kinds of changed rows: the kinds of records, and `coverage`, which states up to when the imported sales or listings of a collection are complete. */
export const TRACKED_KINDS = [
  'collection',
  'order',
  'bid',
  'listing',
  'sale',
  'token',
  'stats',
  'analytics',
  'rate',
  'product',
  'coverage',
] as const;
export type TrackedKind = (typeof TRACKED_KINDS)[number];

type TrackedTable = {
  schema: 'main' | 'indexer';
  name: string;
  /** The columns of the primary key or of another unique key, with their SQL types. */
  key: Readonly<Record<string, 'text' | 'uuid'>>;
  /**
   * The columns that an undo compares and restores. If one of them has another value, the row counts as changed since the import. The
   * status `expired` of a row with an expiry is compared as `active`, because the row expires by time alone.
   */
  compared: readonly string[];
  /**
   * Columns that a later version added. They are compared and restored like `compared`. If all of them are null, the hash of a row (`hashSql`)
   * is the same as without these columns, so that the hashes that earlier versions recorded are still valid. A column with a default in `unset`
   * counts as null while it has this default.
   */
  comparedIfSet?: readonly string[];
  unset?: Readonly<Record<string, string>>;
  /** Columns that an undo restores but does not compare, because they follow from other rows or from the time. */
  derived: readonly string[];
  /** Columns that an undo sets to the value of an SQL expression of the row `earlier`. */
  set?: Readonly<Record<string, string>>;
  /** Whether an undo locks the rows before it reads them. If false, the lock of their collection protects the rows. */
  isLocked: boolean;
};

export const TRACKED_TABLES: Readonly<Record<TrackedKind, TrackedTable>> = {
  collection: {
    schema: 'main',
    name: 'collection',
    key: { id: 'text' },
    compared: [
      ...columns(
        'chain, contract_address, slug, name, image, banner, description, token_standard, royalty_bps, launched',
      ),
      ...columns('created_at, snapshot_floor_raw, snapshot_volume, snapshot_supply, snapshot_owners, tokens_complete'),
    ],
    comparedIfSet: columns('sales_complete, listings_complete'),
    derived: [],
    isLocked: true,
  },
  order: {
    schema: 'main',
    name: 'book_order',
    key: { id: 'text' },
    compared: [
      ...columns(
        'status, price_raw, seller, created_at, expires_at, tx, seaport, order_hash, protocol_address, order_type',
      ),
      ...columns('standard, quantity, filled_quantity, buyer_total_raw, counter, starts_at, operator'),
    ],
    derived: ['dormant', 'ended_at'],
    isLocked: false,
  },
  bid: {
    schema: 'main',
    name: 'book_order',
    key: { id: 'text' },
    compared: [
      ...columns(
        'status, token_id, root, price_raw, proceeds_raw, currency, seller, created_at, expires_at, tx, reported_hash',
      ),
      ...columns('quantity, filled_quantity, retired_at'),
    ],
    derived: ['ended_at'],
    isLocked: false,
  },
  listing: {
    schema: 'indexer',
    name: 'listing',
    key: { collection_id: 'text', key: 'uuid' },
    compared: [
      ...columns(
        'status, price_raw, buyer_total_raw, seller, order_hash, listed_at, expires_at, tx, retired_at, operator',
      ),
      ...columns('protocol_address, counter, quantity, partial, ended_at'),
    ],
    comparedIfSet: columns('closed_at'),
    derived: ['filled_quantity'],
    // In a judged collection, a restored listing is dormant until it has been judged again.
    set: { dormant: `case when ${isJudged('earlier')} then 'pending' end` },
    isLocked: false,
  },
  sale: {
    schema: 'indexer',
    name: 'sale',
    key: { collection_id: 'text', key: 'uuid' },
    compared: columns('source, price, price_raw, seller, buyer, sold_at, listing_id, tx, log_index, block_number'),
    comparedIfSet: columns('quantity, tokens'),
    derived: [],
    isLocked: false,
  },
  token: {
    schema: 'indexer',
    name: 'token',
    key: { collection_id: 'text', asset: 'text' },
    compared: columns('name, image, rarity_rank, owner, owner_block, burned'),
    comparedIfSet: columns('traits'),
    derived: columns('rarity_source'),
    isLocked: false,
  },
  stats: {
    schema: 'indexer',
    name: 'collection_stats',
    key: { collection_id: 'text' },
    compared: columns('owners, listed_count, supply, floor_raw, at'),
    derived: [],
    isLocked: false,
  },
  analytics: {
    schema: 'indexer',
    name: 'collection_analytics',
    key: { collection_id: 'text' },
    compared: [
      ...columns(
        'floor_raw, volume_all_time, volume_seven_day, volume_day, sales_all_time, sales_seven_day, sales_day',
      ),
      ...columns('at'),
    ],
    derived: [],
    isLocked: false,
  },
  rate: {
    schema: 'main',
    name: 'rate',
    key: { symbol: 'text' },
    compared: columns('usd, at'),
    derived: [],
    isLocked: true,
  },
  product: {
    schema: 'main',
    name: 'product',
    key: { shop_id: 'text', slug: 'text' },
    // Without `version` and `updated_at`, which change with every write, including an undo.
    compared: [
      ...columns('id, name, price, type, description, image, more_images, inventory, track_inventory'),
      ...columns('requires_shipping, weight_grams, collections'),
    ],
    comparedIfSet: columns('sku, barcode, external_id, status, compare_at_price, group_id, options, metadata'),
    unset: { status: 'active', options: '[]', metadata: '{}' },
    derived: [],
    isLocked: true,
  },
  // An undo computes the end of the coverage from what the other imports state (coverage-changes.ts).
  coverage: {
    schema: 'indexer',
    name: 'coverage',
    key: { collection_id: 'text', subject: 'text', source: 'text' },
    compared: columns('kind, from_time, to_time'),
    derived: [],
    isLocked: false,
  },
};

function columns(names: string): string[] {
  return names.split(', ');
}

export function tableOf(kind: TrackedKind): string {
  const { schema, name } = TRACKED_TABLES[kind];
  return `${schema}.${name}`;
}

/** Joins the values of a key to one text. No value contains a line feed. */
export function toKeyText(...values: readonly string[]): string {
  return values.join('\n');
}

/** The SQL expression for the key text of the row `stored`. */
export function keySql(kind: TrackedKind): string {
  const parts = Object.entries(TRACKED_TABLES[kind].key).map(
    ([column, type]) => `stored.${column}${type === 'uuid' ? '::text' : ''}`,
  );
  return parts.join(` || E'\\n' || `);
}

/** The SQL condition under which the row `stored` has the key text `wanted.key`. */
export function keyCondition(kind: TrackedKind): string {
  return Object.entries(TRACKED_TABLES[kind].key)
    .map(([column, type], index, all) => {
      const part = all.length === 1 ? 'wanted.key' : `split_part(wanted.key, E'\\n', ${index + 1})`;
      return `stored.${column} = ${part}${type === 'uuid' ? '::uuid' : ''}`;
    })
    .join(' and ');
}

/**
 * The SQL subquery for the row that has the key text `wanted.key`, with further columns after `*`. `limit 1` makes PostgreSQL search the
 * index once for each key. `group by` has the same effect, and is also possible in the indexer on a Citus cluster. A plain join would read the
 * complete table for each batch while the table has fewer than about 25,000 rows.
 */
export function storedRowSql(kind: TrackedKind, columns = ''): string {
  const { schema, key } = TRACKED_TABLES[kind];
  const once = schema === 'main' ? 'limit 1' : `group by ${Object.keys(key).join(', ')}`;
  return `select *${columns} from ${tableOf(kind)} as stored where ${keyCondition(kind)} ${once}`;
}

/** The SQL expression for the hash of the compared columns. The hash does not depend on session settings such as the time zone. */
export function hashSql(kind: TrackedKind): string {
  const { compared, comparedIfSet = [], unset = {} } = TRACKED_TABLES[kind];
  const values = compared.map((column) =>
    column === 'status'
      ? `case when stored.status = 'expired' and stored.expires_at is not null then 'active' else stored.status end`
      : `stored.${column}`,
  );
  const toHash = (row: readonly string[]) => `hash_record_extended(row(${row.join(', ')}), 0)`;
  if (comparedIfSet.length === 0) return toHash(values);
  const optional = comparedIfSet.map((column) =>
    unset[column] === undefined ? `stored.${column}` : `nullif(stored.${column}, '${unset[column]}')`,
  );
  return `case when num_nonnulls(${optional.join(', ')}) = 0 then ${toHash(values)} else ${toHash([...values, ...optional])} end`;
}

/** The SQL condition that the row `earlier` has the key of the row `stored`. */
export function isEarlierRow(kind: TrackedKind): string {
  const names = Object.keys(TRACKED_TABLES[kind].key);
  return names.map((name) => `stored.${name} = earlier.${name}`).join(' and ');
}

/** The SQL assignments that give the row `stored` the columns of the row `earlier`. */
export function restoreSql(kind: TrackedKind): string {
  const { compared, comparedIfSet = [], derived, set = {} } = TRACKED_TABLES[kind];
  const restored = [...compared, ...comparedIfSet, ...derived].map((name) => `${name} = earlier.${name}`);
  return [...restored, ...Object.entries(set).map(([name, value]) => `${name} = ${value}`)].join(', ');
}
