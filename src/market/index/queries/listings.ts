// Reads of the mirror: listings of external marketplaces, and the service's own listings on Solana. Indexer database. All queries
// except `listListingsOf` leave out expired listings, even if the status of the row is still `active`.

import type { AssetId } from '../../../platform/core/address.ts';
import type { Queryable, Row } from '../../../platform/database/port.ts';
import type { CollectionAsset } from './figures.ts';
import { LISTED, homeSql, narrowToOne } from './figures.ts';
import type { Coverage } from '../../provenance/coverage.ts';
import { coverageList, coverageSql } from './coverage.ts';
import {
  amount,
  assetId,
  boolean,
  column,
  list,
  nullable,
  object,
  rowDecoder,
  safeInteger,
  text,
  timestamp,
} from '../../../platform/database/rows.ts';

/** A mirrored listing. `raw` is the price that its marketplace states, in base units. Times in milliseconds. */
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
  /** The units offered. Null if its marketplace states no number: then one unit is offered. */
  quantity: bigint | null;
  /** Whether the order may be filled in parts. Null is treated as false. */
  partial: boolean | null;
  /** How many units were bought, by the log of its followed chain. Null if this is not known. */
  filled: bigint | null;
  /** What a buyer pays for one unit, as the listing states it. Null if it states no total. */
  buyerTotal: bigint | null;
};

/** The columns that `decodeMirroredListing` reads. */
export const LISTING_COLUMNS = `key, id, source, collection_id, chain, asset, price_raw, seller, order_hash, listed_at, expires_at, tx,
  quantity, partial, filled_quantity, buyer_total_raw`;
const LOWEST_KEY = '00000000-0000-0000-0000-000000000000';

/** Decodes a row that has the LISTING_COLUMNS. Other modules use this function for rows of their own statements. */
export const decodeMirroredListing: (row: Row) => MirroredListing = rowDecoder('listing', {
  key: text,
  orderId: column('id', text),
  source: text,
  collectionId: column('collection_id', text),
  chain: text,
  asset: assetId,
  raw: column('price_raw', amount),
  seller: text,
  orderHash: column('order_hash', nullable(text)),
  listedAt: column('listed_at', timestamp),
  expiresAt: column('expires_at', nullable(timestamp)),
  tx: nullable(text),
  quantity: nullable(amount),
  partial: nullable(boolean),
  filled: column('filled_quantity', nullable(amount)),
  buyerTotal: column('buyer_total_raw', nullable(amount)),
});

/** What a listing window needs of a mirrored listing. */
export type CheapListing = Omit<
  MirroredListing,
  'collectionId' | 'chain' | 'orderHash' | 'quantity' | 'partial' | 'filled' | 'buyerTotal'
>;

const decodeCheapListing: (row: Row) => CheapListing = rowDecoder('listing', {
  key: text,
  orderId: column('id', text),
  source: text,
  asset: assetId,
  raw: column('price_raw', amount),
  seller: text,
  listedAt: column('listed_at', timestamp),
  expiresAt: column('expires_at', nullable(timestamp)),
  tx: nullable(text),
});

/** Cheapest first. With `after`, only listings that sort after this listing. */
export async function listCheapestListings(
  db: Queryable,
  collectionId: string,
  options: { now: number; limit: number; after?: { raw: bigint; orderId: string; key: string } },
): Promise<CheapListing[]> {
  const { now, limit, after } = options;
  const rows = await db.query(
    `select key, id, source, asset, price_raw, seller, listed_at, expires_at, tx from indexer.listing
     where collection_id = $1 and ${LISTED} and (expires_at is null or expires_at > $2)
       and (price_raw, id, key) > ($4::numeric, $5::text, $6::uuid)
     order by price_raw, id, key limit $3`,
    [collectionId, new Date(now), limit, (after?.raw ?? 0n).toString(), after?.orderId ?? '', after?.key ?? LOWEST_KEY],
  );
  return rows.map(decodeCheapListing);
}

/**
 * A cheap row of the mirror. `raw` is the price that its marketplace states, in base units. `total` is the stated total of a buyer; null if none
 * is stated. `isOwn`: a listing of this service on Solana. `isFree`: the cheapest of the rows whose asset the own order book does not list,
 * according to the indexer's copy of the book.
 */
export type CheapRow = { asset: AssetId; raw: bigint; total: bigint | null; isOwn: boolean; isFree: boolean };

/** `assets`: how many assets are listed in the mirror and not in the own order book. */
export type MirrorRows = { rows: CheapRow[]; assets: number; coverage: Coverage[] };

const decodeMirrorRows: (row: Row) => MirrorRows & { id: string } = rowDecoder('listing', {
  id: text,
  rows: list(object({ asset: assetId, raw: amount, total: nullable(amount), isOwn: boolean, isFree: boolean })),
  assets: safeInteger,
  coverage: coverageList,
});

/**
 * The mirrored listings of each collection that have the lowest price or the lowest total for a buyer, the number of the listed assets, and the
 * coverage of the listings, by collection id. A collection without figures is missing. One statement reads them, so they are those of one
 * moment.
 *
 * Of each order, two rows are returned: the cheapest of all, and the cheapest whose asset the own order book does not list according to the
 * indexer's copy of it. `started`: the assets whose own orders have started since the last sweep. The stored number of assets does not reflect
 * listings and own orders that have expired or started since the last sweep, so the statement corrects the number. Assets in `except` are left
 * out of the rows: if it is empty, the statement has no condition for it, because PostgreSQL would expect such a condition to remove most
 * rows, and would read all listings of a collection.
 */
export async function listMirrorRows(
  db: Queryable,
  collectionIds: readonly string[],
  {
    now,
    ownSource,
    started = [],
    except = [],
  }: { now: number; ownSource: string; started?: readonly CollectionAsset[]; except?: readonly CollectionAsset[] },
): Promise<Map<string, MirrorRows>> {
  const isUnexpired = '(expires_at is null or expires_at > $2)';
  const isListedIn = (collectionId: string) => `exists (select from indexer.listing
      where listing.collection_id = ${collectionId} and listing.asset = asset.asset and ${LISTED} and ${isUnexpired})`;
  const isListed = isListedIn('asset.collection_id');
  const isStarted = isListedIn('started.collection_id');
  const isOwned = `exists (select from indexer.own_asset as own
      where own.collection_id = home.collection_id and own.asset = listing.asset and (own.expires_at is null or own.expires_at > $2))`;
  const isExcepted =
    except.length > 0 ? 'and (collection_id, asset) not in (select * from unnest($6::text[], $7::text[]))' : '';
  const cheapest = (
    where: string,
    order: string,
    isFree = false,
  ) => `(select asset, price_raw, buyer_total_raw, source, ${isFree} as is_free from indexer.listing
       where collection_id = home.collection_id and ${LISTED} and ${isUnexpired} ${isExcepted} ${where} order by ${order} limit 1)`;
  const both = (where: string, order: string) => [
    cheapest(where, order),
    cheapest(`${where} and not ${isOwned}`, order, true),
  ];
  const hasTotal = 'and (buyer_total_raw is not null or source <> $5)';
  const lacksTotal = `and buyer_total_raw is null and source = $5 and chain = 'solana'`;
  const parts = [
    cheapest('', 'price_raw, id, key'),
    ...both(hasTotal, 'coalesce(buyer_total_raw, price_raw)'),
    ...both(lacksTotal, 'price_raw'),
    // The cheapest row of an asset that the own book does not list is found in the stored cheapest rows of the assets, of which the copy marks
    // the own assets. Assets whose listing or own order has expired since the last sweep are looked up again.
    `(select visible.asset, visible.price_raw, visible.buyer_total_raw, visible.source, true as is_free from (
       (select asset, listing_key from indexer.listed_asset
        where collection_id = home.collection_id and not own and ${isUnexpired} ${isExcepted} order by price_raw limit 1)
       union all
       select due.asset, again.key from (
         select asset from indexer.listed_asset where collection_id = home.collection_id and expires_at <= $2 ${isExcepted}
         union select asset from indexer.own_asset where collection_id = home.collection_id and expires_at <= $2 ${isExcepted}
       ) as due cross join lateral (
         select key from indexer.listing
         where collection_id = home.collection_id and asset = due.asset and ${LISTED} and ${isUnexpired} order by price_raw limit 1
       ) as again
       where not exists (select from indexer.own_asset as own where own.collection_id = home.collection_id and own.asset = due.asset
         and (own.expires_at is null or own.expires_at > $2))
     ) as found cross join lateral (
       select listing.asset, price_raw, buyer_total_raw, source from indexer.listing
       where collection_id = home.collection_id and asset = found.asset and ${LISTED} and ${isUnexpired} order by price_raw limit 1
     ) as visible order by visible.price_raw limit 1)`,
  ];
  const rows = await db.query(
    narrowToOne(
      `select home.collection_id as id, ${coverageSql('home.collection_id', ['listings'])} as coverage, home.listed_assets
       - (select count(*) from indexer.listed_asset as asset
          where asset.collection_id = home.collection_id and expires_at <= $2 and not own and not ${isListed})
       + (select count(*) from indexer.own_asset as asset
          where asset.collection_id = home.collection_id and expires_at <= $2 and (
            select own from indexer.listed_asset as listed
            where listed.collection_id = asset.collection_id and listed.asset = asset.asset) and ${isListed})
       - (select count(*) from unnest($3::text[], $4::text[]) as asset (collection_id, asset) ${homeSql('asset.collection_id', 'started')}
          where started.collection_id = home.collection_id and ${isStarted} and not exists (
            select from indexer.own_asset as own
            where own.collection_id = started.collection_id and own.asset = asset.asset
              and (own.expires_at is null or own.expires_at > $2))) as assets,
       (select coalesce(json_agg(json_build_object('asset', asset, 'raw', price_raw::text, 'total', buyer_total_raw::text,
          'isOwn', source = $5, 'isFree', is_free)), '[]') from (
         ${parts.join('\n union all ')}
       ) as cheap) as rows
     from unnest($1::text[]) as wanted (id) cross join lateral (
       select collection_id, listed_assets from indexer.collection_figures where collection_id = wanted.id group by collection_id
     ) as home`,
      collectionIds,
    ),
    [collectionIds, new Date(now), ...toColumns(started), ownSource, ...(except.length > 0 ? toColumns(except) : [])],
  );
  return new Map(rows.map(decodeMirrorRows).map(({ id, ...mirror }) => [id, mirror]));
}

function toColumns(assets: readonly CollectionAsset[]): [collectionIds: string[], assets: string[]] {
  return [assets.map((one) => one.collectionId), assets.map((one) => one.asset)];
}

/** `priceRaw` is decimal text. */
export type KnownListing = { id: string; mint: AssetId; priceRaw: string; seller: string; listedAt: number };

const decodeKnownListing: (row: Row) => KnownListing = rowDecoder('listing', {
  id: text,
  mint: column('asset', assetId),
  priceRaw: column('price_raw', text),
  seller: text,
  listedAt: column('listed_at', timestamp),
});

/**
 * The active, unexpired listings of a collection at a marketplace, by id. Used for a marketplace that reports no listing times: a listing
 * that is stored already keeps its stored time.
 */
export async function listKnownListings(
  db: Queryable,
  { source, collectionId, now }: { source: string; collectionId: string; now: number },
): Promise<Map<string, KnownListing>> {
  const rows = await db.query(
    `select id, asset, price_raw, seller, listed_at from indexer.listing
     where collection_id = $1 and source = $2 and status = 'active' and (expires_at is null or expires_at > $3)`,
    [collectionId, source, new Date(now)],
  );
  return new Map(rows.map(decodeKnownListing).map((listing) => [listing.id, listing]));
}

/**
 * The stored rows of the given assets at a marketplace, whatever their status. If a marketplace does not report which listing a sale
 * filled, the listing is found among these rows.
 */
export async function listListingsOf(
  db: Queryable,
  { source, collectionId, assets }: { source: string; collectionId: string; assets: readonly string[] },
): Promise<KnownListing[]> {
  const rows = await db.query(
    `select id, asset, price_raw, seller, listed_at from indexer.listing
     where collection_id = $1 and asset = any($2) and source = $3`,
    [collectionId, assets, source],
  );
  return rows.map(decodeKnownListing);
}

const decodeCollectionId = rowDecoder('listing', { collectionId: column('collection_id', text) });

/** The collections with an active, unexpired listing at the marketplace `source`. */
export async function listCollectionsListedAt(
  db: Queryable,
  { source, now }: { source: string; now: number },
): Promise<string[]> {
  const rows = await db.query(
    `select distinct collection_id from indexer.listing
     where source = $1 and status = 'active' and (expires_at is null or expires_at > $2) order by collection_id`,
    [source, new Date(now)],
  );
  return rows.map((row) => decodeCollectionId(row).collectionId);
}
