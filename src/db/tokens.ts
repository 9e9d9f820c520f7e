// Single tokens as they were observed: names, pictures, rarity, owners. Indexer database.

import type { AssetId } from '../domain/address.ts';
import type { Queryable } from './database.ts';
import type { MirroredListing } from './listings.ts';
import { toMirroredListing } from './listings.ts';
import type { UpsertCounts } from './upsert.ts';
import { upsertRows } from './upsert.ts';

/** What the indexer knows of a token; `lastSaleRaw` is null without a sale and when its price cannot be interpreted. */
export type ObservedToken = {
  name: string | null;
  image: string | null;
  rarityRank: number | null;
  owner: string | null;
  listing: MirroredListing | null;
  lastSaleRaw: bigint | null;
};

/**
 * A token with its cheapest active mirrored listing and its last sale, in one statement. Null when the indexer has never
 * seen it: no token record, no listing, no sale.
 */
export async function findObservedToken(
  db: Queryable,
  collectionId: string,
  asset: string,
  now: number,
): Promise<ObservedToken | null> {
  const [row] = await db.query(
    `select token.asset is not null as recorded, token.name, token.image as token_image, token.rarity_rank, token.owner,
       exists (select from indexer.listing where collection_id = wanted.id and asset = wanted.asset) as mentioned,
       sale.key as sale_key, sale.price_raw as sale_raw, listing.*
     from (values ($1::text collate "C", $2::text collate "C")) as wanted (id, asset)
     left join indexer.token on token.collection_id = wanted.id and token.asset = wanted.asset
     left join lateral (
       select key, price_raw from indexer.sale where collection_id = wanted.id and asset = wanted.asset
       order by sold_at desc, key desc limit 1
     ) as sale on true
     left join lateral (
       select key, id, source, collection_id, chain, asset, price_raw, seller, order_hash, listed_at, expires_at, tx
       from indexer.listing
       where collection_id = wanted.id and asset = wanted.asset and status = 'active' and price_raw > 0
         and (expires_at is null or expires_at > $3)
       order by price_raw, id, key limit 1
     ) as listing on true`,
    [collectionId, asset, new Date(now)],
  );
  if (!row || !(row['recorded'] || row['mentioned'] || row['sale_key'])) return null;
  return {
    name: row['name'] as string | null,
    image: row['token_image'] as string | null,
    rarityRank: row['rarity_rank'] === null ? null : Number(row['rarity_rank']),
    owner: row['owner'] as string | null,
    listing: row['key'] === null ? null : toMirroredListing(row),
    lastSaleRaw: row['sale_raw'] === null ? null : BigInt(row['sale_raw'] as string),
  };
}

/** A token as it was told: null is what was not told. */
export type NewToken = {
  collectionId: string;
  asset: AssetId;
  chain: string;
  name: string | null;
  image: string | null;
  rarityRank: number | null;
  owner: string | null;
};

/** Lands tokens: what is told overwrites, what is not told stays. */
export function upsertTokens(tx: Queryable, tokens: readonly NewToken[]): Promise<UpsertCounts> {
  return upsertRows(tx, tokens, {
    keyOf: (token) => `${token.collectionId} ${token.asset}`,
    fold: (earlier, later) => ({
      ...earlier,
      name: later.name ?? earlier.name,
      image: later.image ?? earlier.image,
      rarityRank: later.rarityRank ?? earlier.rarityRank,
      owner: later.owner ?? earlier.owner,
    }),
    toColumns: (token) => ({
      collection_id: token.collectionId,
      asset: token.asset,
      chain: token.chain,
      name: token.name,
      image: token.image,
      rarity_rank: token.rarityRank,
      owner: token.owner,
    }),
    sql: `landed as (insert into indexer.token as stored (collection_id, asset, chain, name, image, rarity_rank, owner)
      select * from json_to_recordset($1::json) as told (
        collection_id text, asset text, chain text, name text, image text, rarity_rank bigint, owner text)
      on conflict (collection_id, asset) do update set name = coalesce(excluded.name, stored.name),
        image = coalesce(excluded.image, stored.image),
        rarity_rank = coalesce(excluded.rarity_rank, stored.rarity_rank),
        owner = coalesce(excluded.owner, stored.owner)
      where (stored.name, stored.image, stored.rarity_rank, stored.owner) is distinct from (
        coalesce(excluded.name, stored.name), coalesce(excluded.image, stored.image),
        coalesce(excluded.rarity_rank, stored.rarity_rank), coalesce(excluded.owner, stored.owner))
      returning (xmax = 0) as inserted)`,
  });
}
