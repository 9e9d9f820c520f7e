// Reads the traits of a collection and their figures. Indexer database.

import type { Queryable } from '../../../platform/database/port.ts';
import {
  amount,
  column,
  integer,
  nullable,
  rowDecoder,
  safeInteger,
  text,
  timestamp,
} from '../../../platform/database/rows.ts';

/** `floorRaw`: the price of the cheapest listing among the tokens with this trait. */
export type TraitValue = {
  id: number;
  name: string;
  value: string;
  tokens: number;
  listed: number;
  floorRaw: bigint | null;
};

const decodeValue = rowDecoder('trait', {
  id: integer,
  name: text,
  value: text,
  tokens: safeInteger,
  listed: safeInteger,
  floorRaw: column('floor_raw', nullable(amount)),
});

export type TraitQuery = {
  /** The last name of the previous page. */
  after: string | null;
  /** The maximum number of names. */
  limit: number;
  /** The maximum number of values for each name. */
  valuesMax: number;
  /** Assets whose stored listing has expired. The floors leave out these listings. */
  except: readonly string[];
};

const decodeName = rowDecoder('trait', { name: text });

/** Lists the names of at most `limit` traits, in their order. */
export async function listTraitNames(db: Queryable, collectionId: string, limit: number): Promise<string[]> {
  const rows = await db.query(
    `with recursive names (name, place) as (
       select (select min(name) from indexer.trait where collection_id = $1), 1
       union all
       select (select min(name) from indexer.trait where collection_id = $1 and name > names.name), place + 1
       from names where place < $2 and name is not null
     )
     select name from names where name is not null order by name`,
    [collectionId, limit],
  );
  return rows.map((row) => decodeName(row).name);
}

/** Lists trait values, sorted by trait name. The values of one name are sorted by their number of tokens, the largest number first. */
export async function listTraitValues(
  db: Queryable,
  collectionId: string,
  { after, limit, valuesMax, except }: TraitQuery,
): Promise<TraitValue[]> {
  const rows = await db.query(
    `with recursive names (name, place) as (
       select $2::text collate "C", 0
       union all
       select (select name from indexer.trait where collection_id = $1 and name > coalesce(names.name, '') order by name limit 1), place + 1
       from names where place < $3 and (place = 0 or name is not null)
     )
     select trait.id, names.name, trait.value, trait.tokens, trait.listed, cheapest.price_raw as floor_raw
     from names cross join lateral (
       select id, value, tokens, listed from indexer.trait where collection_id = $1 and name = names.name
       order by tokens desc, value limit $4
     ) as trait
     left join lateral (
       select price_raw from indexer.listed_trait where collection_id = $1 and trait_id = trait.id and asset <> all($5::text[])
       order by price_raw, asset limit 1
     ) as cheapest on true
     where place > 0 order by place, trait.tokens desc, trait.value`,
    [collectionId, after, limit, valuesMax, except],
  );
  return rows.map(decodeValue);
}

/**
 * `tokens`: the number of all tokens. `traitSets`: the number of tokens with known traits. `listedAssets`: the number of listed tokens.
 * `traitListings`: the number of listed tokens with known traits. `nextExpiry`: when the first listing of a token with known traits expires,
 * in milliseconds; null if none of these listings expires.
 */
export type TraitCoverage = {
  tokens: number;
  traitSets: number;
  listedAssets: number;
  traitListings: number;
  nextExpiry: number | null;
};

const decodeCoverage = rowDecoder('collection_figures', {
  tokens: safeInteger,
  traitSets: column('trait_sets', safeInteger),
  listedAssets: column('all_listed_assets', safeInteger),
  traitListings: column('trait_listings', safeInteger),
  nextExpiry: column('next_expiry', nullable(timestamp)),
});

/** Null if nothing is known of the collection. */
export async function findTraitCoverage(
  db: Queryable,
  collectionId: string,
  now: number,
): Promise<TraitCoverage | null> {
  const [row] = await db.query(
    `select tokens, trait_sets, listed_assets + own_listed_assets as all_listed_assets, trait_listings, (
       select expires_at from indexer.trait_listing where collection_id = $1 and expires_at > $2 order by expires_at limit 1
     ) as next_expiry
     from indexer.collection_figures where collection_id = $1`,
    [collectionId, new Date(now)],
  );
  return row ? decodeCoverage(row) : null;
}
