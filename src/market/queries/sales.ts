// Completed sales as they were observed, and the sums kept beside them. Indexer database. A price stays the text that came
// in; whether it can be interpreted was decided once, at the edge.

import type { AssetId, SoldAsset } from '../../core/address.ts';
import type { Queryable, Row } from '../../database/port.ts';
import type { UpsertCounts } from '../../database/upsert.ts';
import { toTimestamp, upsertRows } from '../../database/upsert.ts';

/** `raw` is null when the recorded price cannot be interpreted. Times in milliseconds. */
export type Sale = {
  key: string;
  source: string;
  collectionId: string;
  chain: string;
  asset: SoldAsset;
  raw: bigint | null;
  seller: string | null;
  buyer: string | null;
  soldAt: number;
  listingId: string | null;
  tx: string | null;
};

/** How the column `asset` stores a bundle. */
export const BUNDLE = '';

const COLUMNS = `key, source, collection_id, chain, asset, price_raw, seller, buyer, sold_at, listing_id, tx`;

/** Sales of a collection, newest first, before the given place in that order. Uninterpretable prices are included. */
export async function listSales(
  db: Queryable,
  collectionId: string,
  options: { limit: number; before: { soldAt: number; key: string } | null },
): Promise<Sale[]> {
  const { limit, before } = options;
  const rows = before
    ? await db.query(
        `select ${COLUMNS} from indexer.sale where collection_id = $1 and (sold_at, key) < ($3, $4::uuid)
         order by sold_at desc, key desc limit $2`,
        [collectionId, limit, new Date(before.soldAt), before.key],
      )
    : await db.query(
        `select ${COLUMNS} from indexer.sale where collection_id = $1 order by sold_at desc, key desc limit $2`,
        [collectionId, limit],
      );
  return rows.map(toSale);
}

/** A sale as it was told. `key` is the digest of its identity; `priceRaw` is what `price` is read as, where it can be. */
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
  /** The block of a sale that was read from a chain. */
  blockNumber?: number;
};

/**
 * Which sales are trade, as a condition: those with a price that can be read and is not zero, and that are no mints, which
 * nobody sells. A seller that was not told is not nobody.
 */
export const TRADED = `price_raw > 0 and (seller is null or seller !~ '^(0x0+|1{32})$')`;

/**
 * Lands the sales that are not stored yet, and adds the trade among them to the sums kept by hour and over all time, in the
 * same statement. A stored sale never changes.
 */
export function upsertSales(tx: Queryable, sales: readonly NewSale[]): Promise<UpsertCounts> {
  return upsertRows(tx, sales, {
    keyOf: (sale) => sale.key,
    fold: (earlier) => earlier,
    toColumns: toSaleColumns,
    sql: `landed as (
        insert into indexer.sale (key, source, chain, collection_id, asset, price, price_raw, seller, buyer, sold_at,
          listing_id, tx, log_index, block_number)
        select * from json_to_recordset($1::json) as told (
          key uuid, source text, chain text, collection_id text, asset text, price text, price_raw numeric, seller text,
          buyer text, sold_at timestamptz, listing_id text, tx text, log_index integer, block_number bigint)
        on conflict (key) do nothing
        returning true as inserted, collection_id, sold_at, price_raw, seller
      ), summed as (
        select collection_id, date_trunc('hour', sold_at, 'UTC') as hour, sum(price_raw) as volume_raw, count(*) as sales
        from landed where ${TRADED} group by collection_id, hour order by collection_id, hour
      ), hours as (
        insert into indexer.sale_hour as stored (collection_id, hour, volume_raw, sales)
        select collection_id, hour, volume_raw, sales from summed
        on conflict (collection_id, hour) do update
          set volume_raw = stored.volume_raw + excluded.volume_raw, sales = stored.sales + excluded.sales
      ), totals as (
        insert into indexer.sale_total as stored (collection_id, volume_raw, sales)
        select collection_id, sum(volume_raw), sum(sales) from summed group by collection_id order by collection_id
        on conflict (collection_id) do update
          set volume_raw = stored.volume_raw + excluded.volume_raw, sales = stored.sales + excluded.sales
      )`,
  });
}

/** Takes back the sales that a chain told after a block, sums and all. Returns the collections that had any. */
export function deleteSalesAfter(tx: Queryable, chain: string, blockNumber: number): Promise<string[]> {
  return deleteSales(tx, `chain = $1 and block_number > $2`, [chain, blockNumber]);
}

/**
 * Takes back what others told of sales that a chain now tells itself: one of the same transaction and token that names no log
 * is the same sale.
 */
export async function deleteRetoldSales(tx: Queryable, chain: string, sales: readonly NewSale[]): Promise<void> {
  const named = sales.filter((sale) => sale.tx !== null);
  if (named.length === 0) return;
  await deleteSales(
    tx,
    `chain = $1 and log_index is null and block_number is null and (collection_id, asset, tx) in (
       select * from unnest($2::text[], $3::text[], $4::text[]))`,
    [
      chain,
      named.map((sale) => sale.collectionId),
      named.map(({ asset }) => asset ?? BUNDLE),
      named.map((sale) => sale.tx),
    ],
  );
}

async function deleteSales(tx: Queryable, condition: string, params: readonly unknown[]): Promise<string[]> {
  const rows = await tx.query<{ collection_id: string }>(
    `with gone as (
       delete from indexer.sale where ${condition} returning collection_id, sold_at, price_raw, seller
     ), summed as (
       select collection_id, date_trunc('hour', sold_at, 'UTC') as hour, sum(price_raw) as volume_raw, count(*) as sales
       from gone where ${TRADED} group by collection_id, hour
     ), hours as (
       update indexer.sale_hour as stored set volume_raw = stored.volume_raw - summed.volume_raw, sales = stored.sales - summed.sales
       from summed where stored.collection_id = summed.collection_id and stored.hour = summed.hour
     ), totals as (
       update indexer.sale_total as stored set volume_raw = stored.volume_raw - summed.volume_raw, sales = stored.sales - summed.sales
       from (select collection_id, sum(volume_raw) as volume_raw, sum(sales) as sales from summed group by collection_id) as summed
       where stored.collection_id = summed.collection_id
     )
     select distinct collection_id from gone`,
    params,
  );
  return rows.map((row) => row.collection_id);
}

function toSaleColumns(sale: NewSale): Record<string, unknown> {
  return {
    key: sale.key,
    source: sale.source,
    chain: sale.chain,
    collection_id: sale.collectionId,
    asset: sale.asset ?? BUNDLE,
    price: sale.price,
    price_raw: sale.priceRaw?.toString(),
    seller: sale.seller,
    buyer: sale.buyer,
    sold_at: toTimestamp(sale.soldAt),
    listing_id: sale.listingId,
    tx: sale.tx,
    log_index: sale.logIndex,
    block_number: sale.blockNumber,
  };
}

function toSale(row: Row): Sale {
  return {
    key: row['key'] as string,
    source: row['source'] as string,
    collectionId: row['collection_id'] as string,
    chain: row['chain'] as string,
    asset: row['asset'] === BUNDLE ? null : (row['asset'] as AssetId),
    raw: row['price_raw'] === null ? null : BigInt(row['price_raw'] as string),
    seller: row['seller'] as string | null,
    buyer: row['buyer'] as string | null,
    soldAt: (row['sold_at'] as Date).getTime(),
    listingId: row['listing_id'] as string | null,
    tx: row['tx'] as string | null,
  };
}
