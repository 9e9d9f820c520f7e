// Writes of the mirror: listings that come in, that expire, and that end because their order ended elsewhere. Indexer database.

import type { AssetId } from '../../core/address.ts';
import type { Queryable } from '../../database/port.ts';
import type { UpsertCounts } from '../../database/upsert.ts';
import { columnsOf, toTimestamp, upsertRows } from '../../database/upsert.ts';
import type { ListingStatus } from '../../orders/order-id.ts';

/** A mirrored listing that came in. `key` is the digest of its identity. Times in milliseconds. */
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
 * Writes listings. A listing that was filled, cancelled or has expired keeps its status. One that was retired (it was missing
 * from a snapshot) is active again when it comes in as active. Any other status ends an active listing; the terms of an active
 * one are replaced by those of the same `listedAt` or a later one.
 */
export function upsertListings(tx: Queryable, listings: readonly NewListing[]): Promise<UpsertCounts> {
  return upsertRows(tx, listings, {
    keyOf: (listing) => listing.key,
    fold: foldListing,
    toColumns: toListingColumns,
    sql: `landed as (insert into indexer.listing as stored (key, ${TERMS.join(', ')}, status, tx)
      select key, ${TERMS.join(', ')}, status, tx from json_to_recordset($1::json) as incoming (
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

/** Sets the status of expired listings, at most `limit` of them; returns how many. */
export async function updateExpiredListings(db: Queryable, now: number, limit: number): Promise<number> {
  const rows = await db.query(
    `update indexer.listing set status = 'expired' where key in (
       select key from indexer.listing where status = 'active' and expires_at <= $1 limit $2 for update skip locked
     ) returning key`,
    [new Date(now), limit],
  );
  return rows.length;
}

/** Retires the active listings of the given orders of a chain, at all marketplaces. */
export async function updateListingsOfOwnOrders(
  db: Queryable,
  chain: string,
  { orderHashes, at }: { orderHashes: readonly string[]; at: number },
): Promise<void> {
  await db.query(
    `update indexer.listing set status = 'cancelled', retired_at = $3
     where chain = $1 and order_hash = any($2) and status = 'active'`,
    [chain, [...orderHashes].sort(), new Date(at)],
  );
}

/**
 * Ends the active listings of orders that another marketplace reports as filled or cancelled. Only orders of the given listings are considered.
 * A retired listing ends no other: that one marketplace no longer lists an order does not mean that the order has ended.
 */
export async function updateListingsOfEndedOrders(
  tx: Queryable,
  listings: readonly Pick<NewListing, 'orderHash'>[],
): Promise<void> {
  const hashes = [...new Set(listings.flatMap(({ orderHash }) => orderHash ?? []))].sort();
  if (hashes.length === 0) return;
  await tx.query(
    `with ended as (
       select distinct on (chain, order_hash, asset) chain, order_hash, collection_id, asset, status, tx
       from indexer.listing
       where order_hash = any($1) and status in ('filled', 'cancelled') and retired_at is null
       order by chain, order_hash, asset, status desc, key
     )
     update indexer.listing as other set status = ended.status, tx = coalesce(other.tx, ended.tx), retired_at = null
     from ended
     where other.order_hash = ended.order_hash and other.chain = ended.chain and other.collection_id = ended.collection_id
       and other.asset = ended.asset and (other.status = 'active' or other.retired_at is not null)`,
    [hashes],
  );
}
