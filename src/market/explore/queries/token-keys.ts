// Lists the keys of the tokens of a collection by price, by rarity rank or by id. The tokens themselves are read afterwards. Indexer
// database.

import type { AssetId } from '../../../platform/core/address.ts';
import type { Queryable } from '../../../platform/database/port.ts';
import { amount, assetId, column, rowDecoder, safeInteger, text } from '../../../platform/database/rows.ts';
import { LISTED } from '../../index/queries/figures.ts';
import { computedRankSql, hasReportedRanks } from '../../index/queries/rarity.ts';

/** `listed` null: tokens that are listed, and tokens that are not. `assets` null: all assets. `now` in milliseconds. */
export type TokenFilter = { listed: boolean | null; assets: readonly string[] | null; now: number };

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

/** Lower token ids first. `unranked`: only tokens without a rarity rank. */
export async function listAssetsById(
  db: Queryable,
  collectionId: string,
  options: TokenFilter & { after: string | null; limit: number; unranked: boolean },
): Promise<AssetId[]> {
  const passes = await toCondition(db, collectionId, options);
  const rows = await db.query(
    `select asset from indexer.token where collection_id = $1 and ${passes} and ($7 or rarity_rank is null and not exists (${computedRankSql('$1', 'token.asset')}))
       and (length(asset), asset) > (length($5::text), $5::text)
     order by length(asset), asset limit $6`,
    [...toParameters(collectionId, options), options.after ?? '', options.limit, !options.unranked],
  );
  return rows.map((row) => decodeAsset(row).asset);
}

export type RankedAsset = { rank: number; asset: AssetId };

const decodeRanked = rowDecoder('token', { rank: column('rarity_rank', safeInteger), asset: assetId });

/** Rarest first. Tokens without a rarity rank are missing. Computed ranks are used only while no source reports ranks of the collection. */
export async function listAssetsByRank(
  db: Queryable,
  collectionId: string,
  options: TokenFilter & { after: { rank: number; asset: string } | null; limit: number },
): Promise<RankedAsset[]> {
  const { after, limit } = options;
  const passes = await toCondition(db, collectionId, options);
  const rows = await db.query(
    `select rarity_rank, asset from (
       (select rarity_rank, asset from indexer.token where collection_id = $1 and rarity_rank is not null and ${passes}
          and (rarity_rank, length(asset), asset) > ($5::bigint, length($6::text), $6::text)
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
        order by computed.rank, length(computed.asset), computed.asset limit $7)
     ) as ranked
     order by rarity_rank, length(asset), asset limit $7`,
    [...toParameters(collectionId, options), after?.rank ?? 0, after?.asset ?? '', limit],
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

/** Cheapest first. Of several listings of one asset, only the cheapest is returned, so that no page repeats an asset. */
export async function listMirroredAssetsByPrice(
  db: Queryable,
  collectionId: string,
  options: Omit<TokenFilter, 'listed'> & { after: PricePosition | null; limit: number },
): Promise<ListedAsset[]> {
  const { now, assets, after, limit } = options;
  const rows = await db.query(
    `select price_raw, id, key, asset from indexer.listing
     where collection_id = $1 and ${LISTED} and (expires_at is null or expires_at > $2)
       and ($3::text[] is null or asset = any($3)) and (price_raw, id, key) > ($4::numeric, $5::text, $6::uuid)
       and not exists (
         select from (select * from indexer.listing where ${LISTED}) as cheaper
         where cheaper.collection_id = listing.collection_id and cheaper.asset = listing.asset
           and (cheaper.expires_at is null or cheaper.expires_at > $2)
           and (cheaper.price_raw, cheaper.id, cheaper.key) < (listing.price_raw, listing.id, listing.key))
     order by price_raw, id, key limit $7`,
    [
      collectionId,
      new Date(now),
      assets,
      (after?.raw ?? 0n).toString(),
      after?.orderId ?? '',
      after?.key ?? LOWEST_KEY,
      limit,
    ],
  );
  return rows.map(decodeListed);
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
