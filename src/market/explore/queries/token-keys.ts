// Lists the keys of the tokens of a collection by price, by rarity rank or by id. The tokens themselves are read afterwards. Indexer
// database.

import type { AssetId } from '../../../platform/core/address.ts';
import type { Queryable } from '../../../platform/database/port.ts';
import { amount, assetId, column, rowDecoder, safeInteger, text, timestamp } from '../../../platform/database/rows.ts';
import { toSearchText } from '../trigrams.ts';
import { NAME_KEY, afterPrefix } from './search.ts';
import { LISTED } from '../../index/queries/figures.ts';
import type { Range } from '../../index/queries/ranks.ts';
import { computedRankSql, hasReportedRanks } from '../../index/queries/rarity.ts';

/** `listed` null: tokens that are listed, and tokens that are not. `assets` null: all assets. `now` in milliseconds. */
export type TokenFilter = { listed: boolean | null; assets: readonly string[] | null; now: number };

/** Which listings are read. `source` null: of any marketplace. `price` in base units; null: at any price. */
export type ListingFilter = { source: string | null; price: Range<bigint> | null };

/** An own order has no key. This value replaces the missing key, and sorts before the key of every mirrored listing with the same price and id. */
export const LOWEST_KEY = '00000000-0000-0000-0000-000000000000';

/**
 * The SQL condition that selects the rows of `token` whose token is listed. `collectionId` and `now` are parameters of the statement. Without
 * `offset 0`, PostgreSQL could read all listings of the collection, to look tokens up among them.
 */
export const isListedSql = ({ collectionId, now }: { collectionId: string; now: string }) => `(
    exists (select from indexer.listing where listing.collection_id = ${collectionId} and listing.asset = token.asset
      and ${LISTED} and (expires_at is null or expires_at > ${now}) offset 0)
    or exists (select from indexer.own_asset as own where own.collection_id = ${collectionId} and own.asset = token.asset
      and (own.expires_at is null or own.expires_at > ${now}) offset 0))`;

const decodeSizes = rowDecoder('collection_figures', { tokens: safeInteger, listed: safeInteger });

/** Returns the SQL condition that a row of `indexer.token` passes the filter. The condition uses the parameters $1 to $4 (`toParameters`). */
async function toCondition(
  db: Queryable,
  collectionId: string,
  { listed, assets, limit }: TokenFilter & { limit: number },
): Promise<string> {
  const [figures] =
    listed === true && assets === null
      ? await db.query(
          `select tokens, listed_assets + own_listed_assets as listed from indexer.collection_figures where collection_id = $1`,
          [collectionId],
        )
      : [];
  // There are two ways to find listed tokens. One way finds all listed assets first, and sorts them. The other way reads tokens in their order
  // until enough of them are listed: about `limit * tokens / listed` tokens. The condition makes PostgreSQL use the way that reads fewer rows.
  const sizes = figures && decodeSizes(figures);
  const among =
    sizes && sizes.listed ** 2 <= limit * sizes.tokens
      ? `asset in (select asset from indexer.listed_asset where collection_id = $1
          union select asset from indexer.own_asset where collection_id = $1) and`
      : '';
  return `${among} not burned and ($3::text[] is null or asset = any($3)) and 
    ($4::boolean is null or $4 = ${isListedSql({ collectionId: '$1', now: '$2' })})`;
}

const toParameters = (collectionId: string, { listed, assets, now }: TokenFilter) => [
  collectionId,
  new Date(now),
  assets,
  listed,
];

const decodeAsset = rowDecoder('token', { asset: assetId });

/** Lower token ids first. `unranked`: only tokens without a rarity rank. `unsold`: only tokens without a sale. */
export async function listAssetsById(
  db: Queryable,
  collectionId: string,
  options: TokenFilter & { after: string | null; limit: number; unranked: boolean; unsold: boolean },
): Promise<AssetId[]> {
  const passes = await toCondition(db, collectionId, options);
  const rows = await db.query(
    `select asset from indexer.token where collection_id = $1 and ${passes} and ($7 or rarity_rank is null and not exists (${computedRankSql('$1', 'token.asset')}))
       and (not $8 or not exists (select from indexer.sale where sale.collection_id = $1 and sale.asset = token.asset))
       and (length(asset), asset) > (length($5::text), $5::text)
     order by length(asset), asset limit $6`,
    [...toParameters(collectionId, options), options.after ?? '', options.limit, !options.unranked, options.unsold],
  );
  return rows.map((row) => decodeAsset(row).asset);
}

export type RankedAsset = { rank: number; asset: AssetId };

const decodeRanked = rowDecoder('token', { rank: column('rarity_rank', safeInteger), asset: assetId });

/** Rarest first. Tokens without a rarity rank are missing. Computed ranks are used only while no source reports ranks of the collection. */
export async function listAssetsByRank(
  db: Queryable,
  collectionId: string,
  options: TokenFilter & {
    after: { rank: number; asset: string } | null;
    limit: number;
    ranks: Range<number> | null;
  },
): Promise<RankedAsset[]> {
  const { after, limit, ranks } = options;
  const passes = await toCondition(db, collectionId, options);
  const rows = await db.query(
    `select rarity_rank, asset from (
       (select rarity_rank, asset from indexer.token where collection_id = $1 and rarity_rank is not null and ${passes}
          and (rarity_rank, length(asset), asset) > ($5::bigint, length($6::text), $6::text) and rarity_rank between $8 and $9
        order by rarity_rank, length(asset), asset limit $7)
       union all
       (select computed.rank, token.asset from indexer.collection_rarity as rarity
        join indexer.rarity_rank as computed
          on computed.collection_id = rarity.collection_id and computed.generation = rarity.generation
        cross join lateral (
          select asset from indexer.token where collection_id = $1 and asset = computed.asset and ${passes} limit 1
        ) as token
        where rarity.collection_id = $1 and not ${hasReportedRanks('$1')}
          and (computed.rank, length(computed.asset), computed.asset) > ($5::bigint, length($6::text), $6::text)
          and computed.rank between $8 and $9
        order by computed.rank, length(computed.asset), computed.asset limit $7)
     ) as ranked
     order by rarity_rank, length(asset), asset limit $7`,
    [
      ...toParameters(collectionId, options),
      after?.rank ?? 0,
      after?.asset ?? '',
      limit,
      ranks?.min ?? 0,
      ranks?.max ?? Number.MAX_SAFE_INTEGER,
    ],
  );
  return rows.map(decodeRanked);
}

/** The cheapest listing of an asset, as a position in a list by price. */
export type ListedAsset = { raw: bigint; orderId: string; key: string; asset: AssetId };
export type PricePosition = Omit<ListedAsset, 'asset'>;

const decodeListed = rowDecoder('listing', {
  raw: column('price_raw', amount),
  orderId: column('id', text),
  key: text,
  asset: assetId,
});

/**
 * SQL conditions on rows of `listing`: the listing passes the filters, and it is the cheapest of its asset, so that no page repeats an asset. Uses the
 * parameters $1 to $6 (`toListingParameters`).
 */
const IS_CHEAPEST = `collection_id = $1 and ${LISTED} and (expires_at is null or expires_at > $2)
       and ($3::text[] is null or asset = any($3)) and ($4::text is null or source = $4)
       and price_raw >= $5::numeric and ($6::numeric is null or price_raw <= $6)
       and not exists (
         select from (select * from indexer.listing where ${LISTED}) as cheaper
         where cheaper.collection_id = listing.collection_id and cheaper.asset = listing.asset
           and (cheaper.expires_at is null or cheaper.expires_at > $2)
           and (cheaper.price_raw, cheaper.id, cheaper.key) < (listing.price_raw, listing.id, listing.key))`;

type MirroredQuery = Omit<TokenFilter, 'listed'> & ListingFilter & { limit: number };

const toListingParameters = (collectionId: string, { now, assets, source, price }: MirroredQuery) => [
  collectionId,
  new Date(now),
  assets,
  source,
  (price?.min ?? 0n).toString(),
  price?.max?.toString() ?? null,
];

/** Cheapest first. Of several listings of one asset, only the cheapest is returned. */
export async function listMirroredAssetsByPrice(
  db: Queryable,
  collectionId: string,
  options: MirroredQuery & { after: PricePosition | null },
): Promise<ListedAsset[]> {
  const { after, limit } = options;
  const rows = await db.query(
    `select price_raw, id, key, asset from indexer.listing
     where ${IS_CHEAPEST} and (price_raw, id, key) > ($7::numeric, $8::text, $9::uuid)
     order by price_raw, id, key limit $10`,
    [
      ...toListingParameters(collectionId, options),
      (after?.raw ?? 0n).toString(),
      after?.orderId ?? '',
      after?.key ?? LOWEST_KEY,
      limit,
    ],
  );
  return rows.map(decodeListed);
}

/** The listing of an asset, as a position in a list by time: `own` says whether it is an own order, and `id` is the id of the order or the key of the listing. */
export type RecentAsset = { at: number; own: boolean; id: string; asset: AssetId };
export type TimePosition = Omit<RecentAsset, 'asset'>;

const decodeRecent = rowDecoder('listing', {
  at: column('listed_at', timestamp),
  id: column('key', text),
  asset: assetId,
});

/** The newest listing first. Of several listings of one asset, only the cheapest is returned. */
export async function listMirroredAssetsByTime(
  db: Queryable,
  collectionId: string,
  options: MirroredQuery & { after: TimePosition | null },
): Promise<RecentAsset[]> {
  const { after, limit } = options;
  const rows = await db.query(
    `select listed_at, key, asset from indexer.listing
     where ${IS_CHEAPEST} and (listed_at, key) < ($7::timestamptz, $8::uuid)
     order by listed_at desc, key desc limit $9`,
    [
      ...toListingParameters(collectionId, options),
      after ? new Date(after.at) : 'infinity',
      // Own orders come before mirrored listings of the same time.
      !after || after.own ? HIGHEST_KEY : after.id,
      limit,
    ],
  );
  return rows.map((row) => ({ ...decodeRecent(row), own: false }));
}

const HIGHEST_KEY = 'ffffffff-ffff-ffff-ffff-ffffffffffff';

/** The last sale of an asset, as a position in a list by time. */
type LastSoldAsset = { at: number; key: string; asset: AssetId };

const decodeSold = rowDecoder('sale', { at: column('sold_at', timestamp), key: text, asset: assetId });

/** The newest last sale first. Tokens without a sale are missing. */
export async function listAssetsByLastSale(
  db: Queryable,
  collectionId: string,
  options: TokenFilter & { after: { at: number; key: string } | null; limit: number },
): Promise<LastSoldAsset[]> {
  const { after, limit, assets } = options;
  const passes = await toCondition(db, collectionId, options);
  const isKept = `cross join lateral (select from indexer.token where collection_id = $1 and asset = sale.asset and ${passes} limit 1) as kept`;
  const sales =
    assets === null
      ? `indexer.sale ${isKept} where sale.collection_id = $1 and sale.asset <> '' and not exists (
           select from indexer.sale as later where later.collection_id = $1 and later.asset = sale.asset
             and (later.sold_at, later.key) > (sale.sold_at, sale.key)) and`
      : `(select last.* from unnest($3::text[]) as wanted (asset) cross join lateral (
           select * from indexer.sale where collection_id = $1 and asset = wanted.asset order by sold_at desc, key desc limit 1) as last
         ) as sale ${isKept} where`;
  const rows = await db.query(
    `select sale.sold_at, sale.key, sale.asset from ${sales} (sale.sold_at, sale.key) < ($5::timestamptz, $6::uuid)
     order by sale.sold_at desc, sale.key desc limit $7`,
    [...toParameters(collectionId, options), after ? new Date(after.at) : 'infinity', after?.key ?? HIGHEST_KEY, limit],
  );
  return rows.map(decodeSold);
}

/** The digits of 2^256-1, the largest token id. */
const DIGITS_MAX = 78;

/**
 * At most `limit` assets whose name begins with `text`, or whose id begins with it or equals it. ASCII letters of names are compared without
 * regard to their case. `isNumbered`: the ids are numbers. The beginning of a mint finds nothing.
 */
export async function listAssetsLike(
  db: Queryable,
  collectionId: string,
  { text: wanted, limit, isNumbered }: { text: string; limit: number; isNumbered: boolean },
): Promise<AssetId[]> {
  const prefix = toSearchText(wanted);
  const rows = await db.query(
    `select asset from (
       (select asset from indexer.token where collection_id = $1 and asset = $2 and not burned)
       union (select found.asset from generate_series(length($2) + 1, ${DIGITS_MAX}) as longer (size) cross join lateral (
         select asset from indexer.token where collection_id = $1 and not burned and length(asset) = longer.size and asset >= $2 and asset < $4
         order by asset limit $5) as found where $6)
       union (select asset from indexer.token where collection_id = $1 and name is not null and not burned
         and ${NAME_KEY} >= $3 and ${NAME_KEY} < $7 limit $5)
       union (select asset from indexer.token_metadata where collection_id = $1 and name is not null
         and ${NAME_KEY} >= $3 and ${NAME_KEY} < $7 limit $5)
     ) as found limit $5`,
    [
      collectionId,
      wanted,
      prefix,
      afterPrefix(wanted),
      limit,
      isNumbered && /^[1-9]\d*$/.test(wanted),
      afterPrefix(prefix),
    ],
  );
  return rows.map((row) => decodeAsset(row).asset);
}

/** At most `limit` assets of a collection that an account holds, or sells in a mirrored listing. */
export async function listAssetsOfAccount(
  db: Queryable,
  collectionId: string,
  { account, now, limit }: { account: string; now: number; limit: number },
): Promise<AssetId[]> {
  const rows = await db.query(
    `select asset from (
       (select asset from indexer.token where collection_id = $1 and owner = $2 and not burned limit $4)
       union (select asset from indexer.listing where collection_id = $1 and seller = $2 and ${LISTED}
         and (expires_at is null or expires_at > $3) limit $4)
     ) as candidates limit $4`,
    [collectionId, account, new Date(now), limit],
  );
  return rows.map((row) => decodeAsset(row).asset);
}
