// Reads of the mirror: listings of external marketplaces, and the service's own listings on Solana. Indexer database. All queries
// except `listListingsOf` leave out expired listings, even if the status of the row is still `active`.

import type { AssetId } from '../../core/address.ts';
import type { Queryable, Row } from '../../database/port.ts';
import type { CollectionAsset } from './figures.ts';
import { LISTED, homeSql, narrowToOne } from './figures.ts';
import {
  amount,
  assetId,
  boolean,
  column,
  nullable,
  rowDecoder,
  safeInteger,
  text,
  timestamp,
} from '../../database/rows.ts';

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
};

/** The columns that `decodeMirroredListing` reads. */
export const LISTING_COLUMNS = `key, id, source, collection_id, chain, asset, price_raw, seller, order_hash, listed_at, expires_at, tx`;
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
});

/** What a listing window needs of a mirrored listing. */
export type CheapListing = Omit<MirroredListing, 'collectionId' | 'chain' | 'orderHash'>;

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

const decodeAsk = rowDecoder('listing', {
  collectionId: column('collection_id', text),
  asset: assetId,
  raw: column('price_raw', amount),
});

/**
 * The cheapest active listing of each given collection. Listings of the assets in `except` are ignored. If `except` is empty, the
 * statement has no condition for it: PostgreSQL would expect such a condition to remove most rows, and would read all listings of a collection.
 */
export async function listCheapestMirrored(
  db: Queryable,
  collectionIds: readonly string[],
  { now, except = [] }: { now: number; except?: readonly { collectionId: string; asset: string }[] },
): Promise<{ collectionId: string; asset: AssetId; raw: bigint }[]> {
  const isExcepted = `and (collection_id, asset) not in (select * from unnest($3::text[], $4::text[]))`;
  const excepted = [except.map((one) => one.collectionId), except.map((one) => one.asset)];
  const rows = await db.query(
    narrowToOne(
      `select wanted.id as collection_id, cheapest.asset, cheapest.price_raw from unnest($1::text[]) as wanted (id) ${homeSql('wanted.id')}
     cross join lateral (
       select asset, price_raw from indexer.listing
       where collection_id = home.collection_id and ${LISTED} and (expires_at is null or expires_at > $2)
         ${except.length > 0 ? isExcepted : ''}
       order by price_raw, id, key limit 1
     ) as cheapest`,
      collectionIds,
    ),
    [collectionIds, new Date(now), ...(except.length > 0 ? excepted : [])],
  );
  return rows.map(decodeAsk);
}

/**
 * The cheapest listed asset of each given collection. Assets that the own order book lists according to the indexer's copy are left out.
 * Assets whose listing or own order has expired since the last sweep are looked up again.
 */
export async function listCheapestVisible(
  db: Queryable,
  collectionIds: readonly string[],
  now: number,
): Promise<{ collectionId: string; asset: AssetId; raw: bigint }[]> {
  const rows = await db.query(
    narrowToOne(
      `select wanted.id as collection_id, cheapest.asset, cheapest.price_raw from unnest($1::text[]) as wanted (id) ${homeSql('wanted.id')}
     cross join lateral (
       select * from (
         (select asset, price_raw from indexer.listed_asset
          where collection_id = home.collection_id and not own and (expires_at is null or expires_at > $2) order by price_raw limit 1)
         union all
         select due.asset, again.price_raw from (
           select asset from indexer.listed_asset where collection_id = home.collection_id and expires_at <= $2
           union select asset from indexer.own_asset where collection_id = home.collection_id and expires_at <= $2
         ) as due cross join lateral (
           select price_raw from indexer.listing
           where collection_id = home.collection_id and asset = due.asset and ${LISTED} and (expires_at is null or expires_at > $2)
           order by price_raw limit 1
         ) as again
         where not exists (select from indexer.own_asset as own where own.collection_id = home.collection_id and own.asset = due.asset
           and (own.expires_at is null or own.expires_at > $2))
       ) as visible order by price_raw, asset limit 1
     ) as cheapest`,
      collectionIds,
    ),
    [collectionIds, new Date(now)],
  );
  return rows.map(decodeAsk);
}

/**
 * A mirrored listing as a buyer sees it. `raw` is in base units. If `isAsk` is true, `raw` is the price of an own listing without fees.
 * Otherwise `raw` is the total with all fees.
 */
export type CheapFill = { asset: AssetId; raw: bigint; isAsk: boolean };

const decodeFill = rowDecoder('cheapest fill', { asset: assetId, raw: amount, isAsk: column('is_ask', boolean) });

/**
 * The cheapest listings for a buyer. First come at most `limit` listings with a total, then at most `limit` own listings without a total,
 * each group cheapest first. If a listing of another marketplace has no buyer total, its price is the total. Listings of the assets in
 * `except`, and of the assets that the own order book lists according to the indexer's copy, are left out.
 */
export async function listCheapestFills(
  db: Queryable,
  collectionId: string,
  { now, ownSource, except, limit }: { now: number; ownSource: string; except: readonly string[]; limit: number },
): Promise<CheapFill[]> {
  const visible = `collection_id = $1 and ${LISTED} and (expires_at is null or expires_at > $2) and asset <> all($4::text[])
    and not exists (
      select from indexer.own_asset as own where own.collection_id = listing.collection_id and own.asset = listing.asset
        and (own.expires_at is null or own.expires_at > $2))`;
  const rows = await db.query(
    `(select asset, coalesce(buyer_total_raw, price_raw) as raw, false as is_ask from indexer.listing
      where ${visible} and (buyer_total_raw is not null or source <> $3)
      order by coalesce(buyer_total_raw, price_raw) limit $5)
     union all
     (select asset, price_raw, true from indexer.listing
      where ${visible} and buyer_total_raw is null and source = $3
      order by price_raw limit $5)
     order by is_ask, raw`,
    [collectionId, new Date(now), ownSource, except, limit],
  );
  return rows.map(decodeFill);
}

const decodeCount = rowDecoder('listing', { id: text, count: safeInteger });

/**
 * Counts the assets of each collection that are listed in the mirror and not in the own order book. Returns the counts by collection id. The
 * stored counts do not reflect listings and own orders that have expired since the last sweep, so this query corrects the counts. `started`:
 * the assets whose own orders have started since the last sweep.
 */
export async function countMirroredAssets(
  db: Queryable,
  collectionIds: readonly string[],
  { now, started = [] }: { now: number; started?: readonly CollectionAsset[] },
): Promise<Map<string, number>> {
  const isListedIn = (collectionId: string) => `exists (select from indexer.listing
      where listing.collection_id = ${collectionId} and listing.asset = asset.asset and ${LISTED}
        and (expires_at is null or expires_at > $2))`;
  const isListed = isListedIn('asset.collection_id');
  const isStarted = isListedIn('started.collection_id');
  const rows = await db.query(
    narrowToOne(
      `select home.collection_id as id, home.listed_assets
       - (select count(*) from indexer.listed_asset as asset
          where asset.collection_id = home.collection_id and expires_at <= $2 and not own and not ${isListed})
       + (select count(*) from indexer.own_asset as asset
          where asset.collection_id = home.collection_id and expires_at <= $2 and exists (
            select from indexer.listed_asset as listed
            where listed.collection_id = asset.collection_id and listed.asset = asset.asset and own) and ${isListed})
       - (select count(*) from unnest($3::text[], $4::text[]) as asset (collection_id, asset) ${homeSql('asset.collection_id', 'started')}
          where started.collection_id = home.collection_id and ${isStarted} and not exists (
            select from indexer.own_asset as own
            where own.collection_id = started.collection_id and own.asset = asset.asset
              and (own.expires_at is null or own.expires_at > $2))) as count
     from unnest($1::text[]) as wanted (id) cross join lateral (
       select collection_id, listed_assets from indexer.collection_figures where collection_id = wanted.id group by collection_id
     ) as home`,
      collectionIds,
    ),
    [collectionIds, new Date(now), started.map((one) => one.collectionId), started.map((one) => one.asset)],
  );
  return new Map(rows.map(decodeCount).map(({ id, count }) => [id, count]));
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
