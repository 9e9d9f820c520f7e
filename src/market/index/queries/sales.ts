// Completed sales, and the sums of sales by hour and over all time. Indexer database. `price` is the text that was reported. `price_raw` is
// the amount in base units, or null when the text cannot be interpreted.

import type { AssetId, SoldAsset } from '../../../platform/core/address.ts';
import type { Queryable, Row } from '../../../platform/database/port.ts';
import {
  amount,
  assetId,
  boolean,
  column,
  integer,
  knownAccount,
  nullable,
  rowDecoder,
  safeInteger,
  text,
  timestamp,
} from '../../../platform/database/rows.ts';
import type { RowColumns } from '../../../platform/database/row-source.ts';
import { toRowSource } from '../../../platform/database/row-source.ts';
import type { PreparedRows, RowForm, UpsertCounts } from '../../../platform/database/upsert.ts';
import { prepareRows, upsertRows } from '../../../platform/database/upsert.ts';
import type { RecordWrites } from '../../../platform/database/write-recording.ts';
import type { BundledToken } from '../../activity/queries/bundled-tokens.ts';
import { bundledTokens } from '../../activity/queries/bundled-tokens.ts';
import { IS_COUNTED, saleSumsSql, SUM_COLUMNS, UNKNOWN_PRICE } from './sale-rule.ts';

/** `raw` is the price in base units; null when the recorded price cannot be interpreted. Times in milliseconds. */
export type Sale = {
  key: string;
  source: string;
  collectionId: string;
  chain: string;
  /** Null for a bundle. */
  asset: SoldAsset;
  raw: bigint | null;
  seller: string | null;
  buyer: string | null;
  soldAt: number;
  listingId: string | null;
  tx: string | null;
  logIndex: number | null;
  block: number | null;
  /** The units sold. Null if their number is not known. */
  quantity: bigint | null;
  /** The price as it was received, if it is no amount in the native currency. */
  payment: string | null;
  /** The tokens of a bundle. Null if they are not known, and for other sales. */
  tokens: BundledToken[] | null;
};

/** The source of a sale that was read from a chain and whose marketplace is not known. */
export const UNKNOWN_SOURCE = 'unknown';

/** How the column `asset` stores a bundle: a sale of several tokens at one price. */
export const BUNDLE = '';

/** The price text of a sale that is no amount in the native currency. */
const PAYMENT = `case when price_raw is null and price <> '${UNKNOWN_PRICE}' then price end`;

const COLUMNS = `key, source, collection_id, chain, nullif(asset, '${BUNDLE}') as asset, price_raw, seller, buyer, sold_at, listing_id, tx,
  log_index, block_number, quantity, ${PAYMENT} as payment, tokens`;

const decodeSale: (row: Row) => Sale = rowDecoder('sale', {
  key: text,
  source: text,
  collectionId: column('collection_id', text),
  chain: text,
  asset: nullable(assetId),
  raw: column('price_raw', nullable(amount)),
  seller: knownAccount,
  buyer: knownAccount,
  soldAt: column('sold_at', timestamp),
  listingId: column('listing_id', nullable(text)),
  tx: nullable(text),
  logIndex: column('log_index', nullable(integer)),
  block: column('block_number', nullable(safeInteger)),
  quantity: nullable(amount),
  payment: nullable(text),
  tokens: nullable(bundledTokens),
});

/**
 * Newest first; with `before`, only older sales; with `asset`, only sales of this token. Bundles are left out unless `withBundles` is true, because the
 * price of a bundle is not the price of one token. Sales whose price cannot be interpreted are included.
 */
export async function listSales(
  db: Queryable,
  collectionId: string,
  options: {
    limit: number;
    before: { soldAt: number; key: string } | null;
    asset?: AssetId | null;
    withBundles?: boolean;
  },
): Promise<Sale[]> {
  const { limit, before, asset = null, withBundles = false } = options;
  const params: unknown[] = [collectionId, limit];
  const conditions = ['collection_id = $1'];
  if (asset !== null) conditions.push(`asset = $${params.push(asset)}`);
  else if (!withBundles) conditions.push(`asset <> '${BUNDLE}'`);
  if (before) {
    conditions.push(`(sold_at, key) < ($${params.push(new Date(before.soldAt))}, $${params.push(before.key)}::uuid)`);
  }
  const rows = await db.query(
    `select ${COLUMNS} from indexer.sale where ${conditions.join(' and ')} order by sold_at desc, key desc limit $2`,
    params,
  );
  return rows.map(decodeSale);
}

const decodeSoldAt = rowDecoder('sale', { soldAt: column('sold_at', timestamp) });

/**
 * The time of the newest sale of `source`, in milliseconds; null when there is none. With `isReported`, sales that were read from a chain are
 * left out.
 */
export async function findNewestSaleTime(
  db: Queryable,
  { source, collectionId, isReported }: { source: string; collectionId: string; isReported: boolean },
): Promise<number | null> {
  const [row] = await db.query(
    `select sold_at from indexer.sale where collection_id = $1 and source = $2 and not ($3 and block_number is not null)
     order by sold_at desc limit 1`,
    [collectionId, source, isReported],
  );
  return row ? decodeSoldAt(row).soldAt : null;
}

const decodeCount = rowDecoder('sale', { chain: text, sales: integer });

/** How many sales have no price in base units of the native currency, by chain. Sorted by chain. */
export async function countUnpricedSales(db: Queryable): Promise<{ chain: string; sales: number }[]> {
  const rows = await db.query(
    `select chain, count(*)::int as sales from indexer.sale where price_raw is null group by chain order by chain collate "C"`,
  );
  return rows.map(decodeCount);
}

/** `key` is the hash of the sale's identity (market/index/row-keys.ts). `priceRaw` is null when `price` cannot be interpreted. */
export type NewSale = {
  key: string;
  source: string;
  chain: string;
  collectionId: string;
  asset: SoldAsset;
  price: string;
  priceRaw: bigint | null;
  seller: string | null;
  buyer: string | null;
  soldAt: number;
  listingId: string | null;
  tx: string | null;
  logIndex: number | null;
  /** The units that were sold. Absent if their number is not known. */
  quantity?: bigint;
  /** The tokens of a bundle. Absent if they are not known, and for other sales. */
  tokens?: BundledToken[];
  /** The block of a sale that was read from a chain. */
  blockNumber?: number;
  /** True for a sale that is too old to be news. Such a sale is stored without a change in the activity log. */
  isPast?: boolean;
};

/** The columns of a sale from which the sums are made. */
export const SUMMED_COLUMNS = 'collection_id, sold_at, price, price_raw, seller, buyer, block_number';

/** Common table expressions that add the rows of `summed` to the stored sums. `summed` has one row for each collection and hour. */
export const ADD_TO_SUMS = `hours as (
        insert into indexer.sale_hour as stored (collection_id, hour, ${SUM_COLUMNS})
        select collection_id, hour, ${SUM_COLUMNS} from summed
        on conflict (collection_id, hour) do update set volume_raw = stored.volume_raw + excluded.volume_raw,
          sales = stored.sales + excluded.sales, unread = stored.unread + excluded.unread
      ), totals as (
        insert into indexer.sale_total as stored (collection_id, ${SUM_COLUMNS})
        select collection_id, sum(volume_raw), sum(sales), sum(unread) from summed group by collection_id order by collection_id
        on conflict (collection_id) do update set volume_raw = stored.volume_raw + excluded.volume_raw,
          sales = stored.sales + excluded.sales, unread = stored.unread + excluded.unread
      )`;

const SALE_CHANGE_COLUMNS = `kind, at, chain, collection_id, asset, price_raw, from_account, to_account, order_id, marketplace, tx,
  block_number, log_index, quantity, payment, tokens, fact`;
/**
 * The values that record a sale as a change of the market. `stored` has the columns of indexer.sale. The value for the column `fact` is the
 * key of the sale.
 */
const SALE_CHANGE_VALUES = `'sale', stored.sold_at, stored.chain, stored.collection_id, nullif(stored.asset, '${BUNDLE}'), stored.price_raw,
  stored.seller, stored.buyer, stored.listing_id, stored.source, stored.tx, stored.block_number, stored.log_index,
  stored.quantity, ${PAYMENT.replaceAll('price', 'stored.price')}, stored.tokens, stored.key::text`;

/** A reported sale that is older than this is too old to be news. It is stored without a change in the activity log. */
export const REPORTED_NEWS_MS = 60 * 60_000;

/** A common table expression that records the sales in `added` as changes of the market, except sales that are `past`. */
const RECORD_SALES = `recorded_sales as (
        insert into indexer.market_change (${SALE_CHANGE_COLUMNS})
        select ${SALE_CHANGE_VALUES} from added join incoming as stored on stored.collection_id = added.collection_id and stored.key = added.key
        where not stored.past order by stored.sold_at, stored.log_index, stored.key
      ),`;

/**
 * SQL condition: the sale has a transaction and was read from a chain. It has the form of the index sale_by_transaction, and `coalesce` keeps the
 * planner from the index sale_by_block: while the table statistics count no such sale, the planner would read all of them.
 */
const ofChain = (sale: string) => `${sale}.tx is not null and coalesce(${sale}.block_number, -1) >= 0
  and (${sale}.block_number is not null or ${sale}.log_index is null or ${sale}.listing_id is null)`;

/**
 * SQL condition: `stored` is a sale that was read from the chain, `incoming` is the report of this sale by a marketplace, and `incoming` has
 * the listing or the marketplace that `stored` lacks.
 */
const IS_NAMED = `stored.collection_id = incoming.collection_id and stored.tx = incoming.tx and ${ofChain('stored')}
  and stored.asset = incoming.asset and stored.price <> '${UNKNOWN_PRICE}'
  and (stored.source = '${UNKNOWN_SOURCE}' or stored.listing_id is null and incoming.listing_id is not null)`;

const SALE_COLUMNS: RowColumns<NewSale> = {
  key: { uuid: (sale) => sale.key },
  source: { text: (sale) => sale.source },
  chain: { text: (sale) => sale.chain },
  collection_id: { text: (sale) => sale.collectionId },
  asset: { text: (sale) => sale.asset ?? BUNDLE },
  price: { text: (sale) => sale.price },
  price_raw: { numeric: (sale) => sale.priceRaw },
  seller: { text: (sale) => sale.seller },
  buyer: { text: (sale) => sale.buyer },
  sold_at: { timestamptz: (sale) => sale.soldAt },
  listing_id: { text: (sale) => sale.listingId },
  tx: { text: (sale) => sale.tx },
  log_index: { integer: (sale) => sale.logIndex },
  block_number: { bigint: (sale) => sale.blockNumber ?? null },
  quantity: { numeric: (sale) => sale.quantity ?? null },
  tokens: {
    jsonb: ({ tokens }) =>
      tokens?.map(({ asset, quantity }) => ({ asset, quantity: quantity?.toString() ?? null })) ?? null,
  },
  past: { boolean: (sale) => sale.isPast ?? false },
};

const SALE_FORM: RowForm<NewSale> = {
  // `sale.key` is a hash that includes the collection id. The collection id also stands before the hash, as in the primary key of the table.
  keyOf: (sale) => `${sale.collectionId} ${sale.key}`,
  // Sales are sorted by time, so that consecutive rows have adjacent entries in the index by time. No order of rows can cause a deadlock,
  // because writers hold the locks of the figures.
  orderOf: (sale) => `${sale.collectionId} ${String(sale.soldAt).padStart(TIME_DIGITS, '0')} ${sale.key}`,
  fold: (earlier) => earlier,
  columns: SALE_COLUMNS,
};

/** The largest number of digits that a time in milliseconds can have. */
const TIME_DIGITS = 16;

/** Prepares sales for `upsertSales`. */
export function prepareSales(sales: readonly NewSale[]): Promise<PreparedRows<NewSale>> {
  return prepareRows(sales, SALE_FORM);
}

/**
 * Inserts the sales that are not stored yet, and adds them to the sums in the same statement. The price, time, seller and buyer of a stored sale
 * never change. A reported sale without a log index is left out if a sale from the chain, with a price, is stored for the same transaction,
 * collection and asset. If the sale from the chain is a bundle, all reports of sales of its transaction and collection are left out. If the sale
 * from the chain has no listing or no marketplace, the missing value is taken from the report that is left out. The sale from the chain then counts
 * as updated.
 */
export function upsertSales(
  tx: Queryable,
  sales: readonly NewSale[] | PreparedRows<NewSale>,
  record?: RecordWrites,
): Promise<UpsertCounts> {
  const isNews = ('encoded' in sales ? sales.rows : sales).some(({ isPast }) => isPast !== true);
  return upsertRows(tx, sales, {
    record,
    ...SALE_FORM,
    sql: `before as materialized (
        select stored.* from indexer.sale as stored join incoming on ${IS_NAMED}
        where incoming.block_number is null and incoming.log_index is null
      ), known as materialized (
        select incoming.key from incoming cross join lateral (
          select collection_id from indexer.sale as of_chain where of_chain.collection_id = incoming.collection_id
            and of_chain.tx = incoming.tx and ${ofChain('of_chain')} and of_chain.price <> '${UNKNOWN_PRICE}'
            and of_chain.asset in (incoming.asset, '${BUNDLE}') group by collection_id) as of_chain
        where incoming.block_number is null and incoming.log_index is null
      ), named as (
        update indexer.sale as stored set listing_id = coalesce(stored.listing_id, incoming.listing_id),
          source = case when stored.source = '${UNKNOWN_SOURCE}' then incoming.source else stored.source end
        from incoming where incoming.block_number is null and incoming.log_index is null and ${IS_NAMED}
        returning false as inserted, stored.*
      ), added as (
        insert into indexer.sale as stored (key, source, chain, collection_id, asset, price, price_raw, seller, buyer, sold_at,
          listing_id, tx, log_index, block_number, quantity, tokens)
        select key, source, chain, collection_id, asset, price, price_raw, seller, buyer, sold_at, listing_id, tx, log_index, block_number,
          quantity, tokens
        from incoming
        where key not in (select key from known)
        on conflict do nothing
        returning true as inserted, stored.*
      ), ${isNews ? RECORD_SALES : ''} upserted as (
        select * from added union all select * from named
      ), summed as (
        select collection_id, date_trunc('hour', sold_at, 'UTC') as hour, ${saleSumsSql()}
        from added where ${IS_COUNTED} group by collection_id, hour order by collection_id, hour
      ), ${ADD_TO_SUMS}`,
  });
}

/** The columns that identify a stored sale. */
export type SaleKey = Pick<NewSale, 'collectionId' | 'key'>;

const decodeSaleKey = rowDecoder('sale', { collectionId: column('collection_id', text), key: text });

/**
 * Returns the keys of the stored sales to which `upsertSales` would add a listing or a marketplace. These sales were read from a chain, and
 * one of `sales` is the report of the same sale by a marketplace.
 */
export async function listSalesToName(tx: Queryable, sales: readonly NewSale[]): Promise<SaleKey[]> {
  const reported = sales.filter((sale) => sale.tx !== null && sale.logIndex === null && sale.blockNumber === undefined);
  if (reported.length === 0) return [];
  const { sql, params } = toRowSource(reported, SALE_COLUMNS);
  const rows = await tx.query(
    `select stored.collection_id, stored.key from indexer.sale as stored, ${sql} where ${IS_NAMED}`,
    params,
  );
  return rows.map(decodeSaleKey).map(({ collectionId, key }) => ({ collectionId, key: toDigestText(key) }));
}

/** The fields that must be equal in two reports of one sale. `soldAt` in milliseconds. */
export type SaleFacts = Pick<NewSale, 'price' | 'seller' | 'buyer' | 'soldAt'>;

const decodeFacts = rowDecoder('sale', {
  key: text,
  price: text,
  seller: nullable(text),
  buyer: nullable(text),
  soldAt: column('sold_at', timestamp),
  isChainRead: column('is_chain_read', boolean),
});

/** Returns the facts of the stored sales, by key. `isChainRead`: the sale was read from a chain. */
export async function listSaleFacts(
  db: Queryable,
  sales: readonly SaleKey[],
): Promise<Map<string, SaleFacts & { isChainRead: boolean }>> {
  const rows = await db.query(
    `select key, price, seller, buyer, sold_at, block_number is not null as is_chain_read
     from indexer.sale where ${IS_WANTED_SALE}`,
    toWanted(sales),
  );
  return new Map(rows.map(decodeFacts).map(({ key, ...facts }) => [toDigestText(key), facts]));
}

/**
 * Deletes the stored sales that have the keys of the given sales but differ from them, and subtracts the deleted sales from the sums. Sales
 * that were read from a chain are kept. Returns how many were deleted. `sales` must not contain a key twice.
 */
export async function deleteDifferingSales(tx: Queryable, sales: readonly NewSale[]): Promise<number> {
  const source = toRowSource(sales, SALE_COLUMNS, { first: 3 });
  const deleted = await deleteSales(
    tx,
    `block_number is null and exists (
       select from ${source.sql}
       where incoming.collection_id = sale.collection_id and incoming.key = sale.key
         and (incoming.source, incoming.price, incoming.seller, incoming.buyer, incoming.sold_at, incoming.listing_id)
           is distinct from (sale.source, sale.price, sale.seller, sale.buyer, sale.sold_at, sale.listing_id))
       and ${IS_WANTED_SALE}`,
    [...toWanted(sales), ...source.params],
  );
  return deleted.reduce((sum, { sales: count }) => sum + count, 0);
}

/** SQL condition: the sale has one of the keys in the parameters $1 and $2, which `toWanted` makes. */
export const IS_WANTED_SALE = `(collection_id, key) in (select * from unnest($1::text[], $2::uuid[]))`;

export function toWanted(sales: readonly SaleKey[]): [collectionIds: string[], keys: string[]] {
  return [sales.map(({ collectionId }) => collectionId), sales.map(({ key }) => key)];
}

/** The text of a uuid without its hyphens, as `toDigest` makes it. */
function toDigestText(uuid: string): string {
  return uuid.replaceAll('-', '');
}

/**
 * Records that an undo has changed the facts of stored sales. The activity log takes the earlier entries back. Sales that are not older
 * than REPORTED_NEWS_MS at `now` are recorded again.
 */
export async function insertRestoredSaleChanges(tx: Queryable, sales: readonly SaleKey[], now: number): Promise<void> {
  await tx.query(
    `insert into indexer.market_change (kind, at, chain, reason, facts)
     select 'reorg', $3, chain, 'correction', array_agg(key::text) from indexer.sale where ${IS_WANTED_SALE} group by chain`,
    [...toWanted(sales), new Date(now)],
  );
  await tx.query(
    `insert into indexer.market_change (${SALE_CHANGE_COLUMNS})
     select ${SALE_CHANGE_VALUES} from indexer.sale as stored where ${IS_WANTED_SALE} and sold_at >= $3
     order by stored.sold_at, stored.key`,
    [...toWanted(sales), new Date(now - REPORTED_NEWS_MS)],
  );
}

/**
 * Deletes the sales of a chain in blocks after `blockNumber`, and subtracts them from the sums. Returns their collections. The caller
 * records the reorganisation in the activity log.
 */
export async function deleteSalesAfter(tx: Queryable, chain: string, blockNumber: number): Promise<string[]> {
  const deleted = await deleteSales(tx, `chain = $1 and block_number > $2`, [chain, blockNumber], {
    isRecorded: false,
  });
  return deleted.map(({ collectionId }) => collectionId);
}

/**
 * Deletes the sales that were read from these blocks of a chain, and subtracts them from the sums. The activity log takes them back. Returns
 * their collections.
 */
export async function deleteSalesOfBlocks(
  tx: Queryable,
  chain: string,
  blocks: ReadonlySet<number>,
): Promise<string[]> {
  if (blocks.size === 0) return [];
  const deleted = await deleteSales(tx, `chain = $1 and block_number = any($2::bigint[])`, [chain, [...blocks]]);
  return deleted.map(({ collectionId }) => collectionId);
}

const decodeReported = rowDecoder('sale', {
  source: text,
  collectionId: column('collection_id', text),
  asset: text,
  tx: text,
  listingId: column('listing_id', nullable(text)),
});

/**
 * `sales` were read from the chain. Deletes the stored reports that marketplaces made of these sales. If the sales had been stored first,
 * `upsertSales` would have left these reports out. Returns `sales`. A sale without a listing or a marketplace is returned with that of the
 * deleted report.
 */
export async function mergeReportedSales(
  tx: Queryable,
  chain: string,
  sales: readonly NewSale[],
): Promise<readonly NewSale[]> {
  const named = sales.filter((sale) => sale.tx !== null && sale.price !== UNKNOWN_PRICE);
  if (named.length === 0) return sales;
  const condition = `chain = $1 and log_index is null and block_number is null
     and (collection_id, tx) in (select * from unnest($2::text[], $4::text[]))
     and exists (select from unnest($2::text[], $3::text[], $4::text[]) as of_chain (collection_id, asset, tx)
       where of_chain.collection_id = sale.collection_id and of_chain.tx = sale.tx
         and of_chain.asset in (sale.asset, '${BUNDLE}'))`;
  const params = [
    chain,
    named.map((sale) => sale.collectionId),
    named.map(({ asset }) => asset ?? BUNDLE),
    named.map((sale) => sale.tx),
  ];
  const rows = await tx.query(
    `select source, collection_id, asset, tx, listing_id from indexer.sale where ${condition}
     order by listing_id is null, source, key`,
    params,
  );
  if (rows.length === 0) return sales;
  await deleteSales(tx, condition, params);
  const reports = rows.map(decodeReported);
  return sales.map((sale) => {
    const report = reports.find(
      ({ collectionId, asset, tx: reported }) =>
        collectionId === sale.collectionId && asset === sale.asset && reported === sale.tx,
    );
    if (!report) return sale;
    const source = sale.source === UNKNOWN_SOURCE ? report.source : sale.source;
    return { ...sale, source, listingId: sale.listingId ?? report.listingId };
  });
}

const decodeDeleted = rowDecoder('sale', { collectionId: column('collection_id', text), sales: integer });

/**
 * Deletes sales and subtracts them from the sums. Returns the number of deleted sales of each collection. If `isRecorded` is true, the
 * activity log takes the sales back.
 */
export async function deleteSales(
  tx: Queryable,
  condition: string,
  params: readonly unknown[],
  { isRecorded = true }: { isRecorded?: boolean } = {},
): Promise<{ collectionId: string; sales: number }[]> {
  const rows = await tx.query(
    `with deleted as (
       delete from indexer.sale where ${condition} returning key, chain, ${SUMMED_COLUMNS}
     ), taken_back as (
       insert into indexer.market_change (kind, at, chain, reason, facts)
       select 'reorg', date_trunc('milliseconds', now()), chain, 'correction', array_agg(key::text) from deleted where ${isRecorded} group by chain
     ), summed as (
       select collection_id, date_trunc('hour', sold_at, 'UTC') as hour, ${saleSumsSql('-1')}
       from deleted where ${IS_COUNTED} group by collection_id, hour order by collection_id, hour
     ), ${ADD_TO_SUMS}
     select collection_id, count(*)::int as sales from deleted group by collection_id`,
    params,
  );
  return rows.map(decodeDeleted);
}
