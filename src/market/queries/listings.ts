// The mirror: listings of external marketplaces, and the service's own on Solana. Indexer database. A listing that its
// clock has ended is never read as active, whether or not the sweep has recorded it.

import type { AssetId } from '../../core/address.ts';
import type { ListingStatus } from '../../orders/order-id.ts';
import type { Queryable, Row } from '../../database/port.ts';
import type { UpsertCounts } from '../../database/upsert.ts';
import { columnsOf, toTimestamp, upsertRows } from '../../database/upsert.ts';

/** An active mirrored listing. `raw` is the price that its marketplace states. Times in milliseconds. */
export type MirroredListing = {
  key: string;
  orderId: string;
  source: string;
  collectionId: string;
  chain: string;
  asset: AssetId;
  raw: bigint;
  seller: string;
  orderHash: string | null;
  listedAt: number;
  expiresAt: number | null;
  tx: string | null;
};

const COLUMNS = `key, id, source, collection_id, chain, asset, price_raw, seller, order_hash, listed_at, expires_at, tx`;
const ACTIVE = `status = 'active' and price_raw > 0`;
const LOWEST_KEY = '00000000-0000-0000-0000-000000000000';

/** Active listings of a collection, cheapest first, after the given place in that order. */
export async function listCheapestListings(
  db: Queryable,
  collectionId: string,
  options: { now: number; limit: number; after?: { raw: bigint; orderId: string; key: string } },
): Promise<MirroredListing[]> {
  const { now, limit, after } = options;
  const rows = await db.query(
    `select ${COLUMNS} from indexer.listing
     where collection_id = $1 and ${ACTIVE} and (expires_at is null or expires_at > $2)
       and (price_raw, id, key) > ($4::numeric, $5::text, $6::uuid)
     order by price_raw, id, key limit $3`,
    [collectionId, new Date(now), limit, (after?.raw ?? 0n).toString(), after?.orderId ?? '', after?.key ?? LOWEST_KEY],
  );
  return rows.map(toMirroredListing);
}

/** The cheapest active listing of each of the given collections that has one, leaving out the given assets. */
export async function listCheapestMirrored(
  db: Queryable,
  collectionIds: readonly string[],
  { now, except = [] }: { now: number; except?: readonly { collectionId: string; asset: string }[] },
): Promise<{ collectionId: string; asset: string; raw: bigint }[]> {
  const rows = await db.query<{ id: string; asset: string; price_raw: string }>(
    `select wanted.id, cheapest.asset, cheapest.price_raw from unnest($1::text[]) as wanted (id)
     cross join lateral (
       select asset, price_raw from indexer.listing
       where collection_id = wanted.id and ${ACTIVE} and (expires_at is null or expires_at > $2)
         and (collection_id, asset) not in (select * from unnest($3::text[], $4::text[]))
       order by price_raw, id, key limit 1
     ) as cheapest`,
    [collectionIds, new Date(now), except.map((one) => one.collectionId), except.map((one) => one.asset)],
  );
  return rows.map((row) => ({ collectionId: row.id, asset: row.asset, raw: BigInt(row.price_raw) }));
}

/** `total` is the least that a listing's marketplace asks of a buyer in all, `ownAsk` an ask that fees still come on top of. */
export type CheapestFills = { total: bigint | null; ownAsk: bigint | null };

/**
 * What the cheapest active listing costs a buyer: its buyer total, or its price when none is recorded. An own row without a
 * total is an ask; the cheapest is told where it is below that total, because a dearer one cannot be the cheaper fill.
 */
export async function findCheapestFills(
  db: Queryable,
  collectionId: string,
  { now, ownSource }: { now: number; ownSource: string },
): Promise<CheapestFills> {
  const [row] = await db.query<{ total: string | null; own_ask: string | null }>(
    `with stated as (
       select coalesce(buyer_total_raw, price_raw) as total from indexer.listing
       where collection_id = $1 and ${ACTIVE} and (expires_at is null or expires_at > $2)
         and (buyer_total_raw is not null or source <> $3)
       order by coalesce(buyer_total_raw, price_raw) limit 1
     )
     select (select total from stated) as total, (
       select price_raw from indexer.listing
       where collection_id = $1 and ${ACTIVE} and (expires_at is null or expires_at > $2)
         and buyer_total_raw is null and source = $3 and price_raw < coalesce((select total from stated), 'Infinity')
       order by price_raw limit 1
     ) as own_ask`,
    [collectionId, new Date(now), ownSource],
  );
  return { total: toBigInt(row?.total), ownAsk: toBigInt(row?.own_ask) };
}

/** How many distinct assets have an active listing, leaving out the given ones. */
export async function countListedAssets(
  db: Queryable,
  collectionId: string,
  options: { now: number; except: readonly string[] },
): Promise<number> {
  const [row] = await db.query<{ count: string }>(
    `select count(distinct asset) as count from indexer.listing
     where collection_id = $1 and ${ACTIVE} and (expires_at is null or expires_at > $2) and asset <> all($3::text[])`,
    [collectionId, new Date(options.now), options.except],
  );
  return Number(row?.count ?? 0);
}

/** Records what the clock has ended, a batch at a time; returns how many listings that were. */
export async function updateExpiredListings(db: Queryable, now: number, limit: number): Promise<number> {
  const rows = await db.query(
    `update indexer.listing set status = 'expired' where key in (
       select key from indexer.listing where status = 'active' and expires_at <= $1 limit $2 for update skip locked
     ) returning key`,
    [new Date(now), limit],
  );
  return rows.length;
}

/** A mirrored listing as it was told. `key` is the digest of its identity. Times in milliseconds. */
export type NewListing = {
  key: string;
  id: string;
  source: string;
  chain: string;
  collectionId: string;
  asset: AssetId;
  priceRaw: bigint;
  buyerTotalRaw: bigint | null;
  seller: string;
  orderHash: string | null;
  status: ListingStatus;
  listedAt: number;
  expiresAt: number | null;
  tx: string | null;
};

const TERMS = [
  'id',
  'source',
  'chain',
  'collection_id',
  'asset',
  'price_raw',
  'buyer_total_raw',
  'seller',
  'order_hash',
  'listed_at',
  'expires_at',
];

/**
 * Lands listings. What has ended stays as it ended, but for what was only retired: that is active again when it is told
 * again. Whatever ends an active one does; its terms are replaced by those of the same time or newer.
 */
export function upsertListings(tx: Queryable, listings: readonly NewListing[]): Promise<UpsertCounts> {
  return upsertRows(tx, listings, {
    keyOf: (listing) => listing.key,
    fold: foldListing,
    toColumns: toListingColumns,
    sql: `landed as (insert into indexer.listing as stored (key, ${TERMS.join(', ')}, status, tx)
      select key, ${TERMS.join(', ')}, status, tx from json_to_recordset($1::json) as told (
        key uuid, id text, source text, chain text, collection_id text, asset text, price_raw numeric,
        buyer_total_raw numeric, seller text, order_hash text, listed_at timestamptz, expires_at timestamptz,
        status text, tx text)
      on conflict (key) do update set status = excluded.status, tx = coalesce(excluded.tx, stored.tx), retired_at = null,
        ${TERMS.map((term) => `${term} = case when excluded.listed_at >= stored.listed_at then excluded.${term} else stored.${term} end`).join(', ')}
      where (stored.status = 'active' or stored.retired_at is not null)
        and (excluded.status <> 'active' or (excluded.listed_at >= stored.listed_at
          and (${columnsOf('stored', TERMS)}, stored.tx, stored.status)
            is distinct from (${columnsOf('excluded', TERMS)}, coalesce(excluded.tx, stored.tx), excluded.status)))
      returning (xmax = 0) as inserted)`,
  });
}

function foldListing(earlier: NewListing, later: NewListing): NewListing {
  if (earlier.status !== 'active') return earlier;
  const tx = later.tx ?? earlier.tx;
  if (later.listedAt >= earlier.listedAt) return { ...later, tx };
  return later.status === 'active' ? earlier : { ...earlier, status: later.status, tx };
}

function toListingColumns(listing: NewListing): Record<string, unknown> {
  return {
    key: listing.key,
    id: listing.id,
    source: listing.source,
    chain: listing.chain,
    collection_id: listing.collectionId,
    asset: listing.asset,
    price_raw: listing.priceRaw.toString(),
    buyer_total_raw: listing.buyerTotalRaw?.toString(),
    seller: listing.seller,
    order_hash: listing.orderHash,
    listed_at: toTimestamp(listing.listedAt),
    expires_at: listing.expiresAt === null ? null : toTimestamp(listing.expiresAt),
    status: listing.status,
    tx: listing.tx,
  };
}

/** A row of the columns above as a listing; also used where a listing is read beside its token. */
export function toMirroredListing(row: Row): MirroredListing {
  return {
    key: row['key'] as string,
    orderId: row['id'] as string,
    source: row['source'] as string,
    collectionId: row['collection_id'] as string,
    chain: row['chain'] as string,
    asset: row['asset'] as AssetId,
    raw: BigInt(row['price_raw'] as string),
    seller: row['seller'] as string,
    orderHash: row['order_hash'] as string | null,
    listedAt: (row['listed_at'] as Date).getTime(),
    expiresAt: (row['expires_at'] as Date | null)?.getTime() ?? null,
    tx: row['tx'] as string | null,
  };
}

function toBigInt(value: string | null | undefined): bigint | null {
  return value === null || value === undefined ? null : BigInt(value);
}
