// Lists the candidates for the results of a search: collections in the primary database, and tokens in the indexer database. The caller
// sorts them.

import type { AssetId } from '../../../platform/core/address.ts';
import type { Queryable } from '../../../platform/database/port.ts';
import { assetId, column, nullable, rowDecoder, text } from '../../../platform/database/rows.ts';

/** `prefix`: the beginning of a name, with ASCII letters in lower case. */
export type SearchQuery = { prefix: string; chains: readonly string[]; limit: number };

export type FoundCollection = { id: string; name: string; slug: string | null; contractAddress: string | null };

const decodeCollection = rowDecoder('collection', {
  id: text,
  name: text,
  slug: nullable(text),
  contractAddress: column('contract_address', nullable(text)),
});

/** A text that sorts after all texts with the prefix. */
export const afterPrefix = (prefix: string) => `${prefix}\u{10ffff}`;

/** SQL for the name of a row as the indexes have it. */
export const NAME_KEY = `left(lower(name collate "C"), 100)`;

/** The chain of a row that has no column for it: the part of the collection id before the address. */
const CHAIN = `split_part(collection_id, '_', 1)`;

/**
 * `written`: the search text as it was written, because a slug can have capital letters. `parts`: groups of trigrams. A similar name has all trigrams of
 * at least one group.
 */
export type CollectionNames = {
  written: string;
  id: string;
  address: string | null;
  addressPrefix: string | null;
  parts: readonly string[][];
};

/**
 * Lists collections whose name or slug begins with `prefix`, whose slug begins with `written`, whose id or address is the given one, whose address begins with `addressPrefix`, or whose name is similar to the search
 * text. Each lookup by a name or a slug lists at most `limit` collections.
 */
export async function listCollectionsLike(
  db: Queryable,
  { prefix, written, chains, limit, parts, id, address, addressPrefix }: SearchQuery & CollectionNames,
): Promise<FoundCollection[]> {
  const params: unknown[] = [prefix, afterPrefix(prefix), chains, limit, address, id, written, afterPrefix(written)];
  const ofPrefix = addressPrefix === null ? [null, null] : [addressPrefix, afterPrefix(addressPrefix)];
  const [from, to] = ofPrefix.map((end) => `$${params.push(end)}::text`);
  const hasPart = parts.map((part) => `main.trigrams(left(name, 200)) @> $${params.push(part)}::text[]`).join(' or ');
  const rows = await db.query(
    `with ids as (
       (select id from main.collection where ${NAME_KEY} >= $1 and ${NAME_KEY} < $2 and chain = any($3) order by ${NAME_KEY}, id limit $4)
       union (select collection_id from main.collection_metadata
         where name is not null and ${NAME_KEY} >= $1 and ${NAME_KEY} < $2 and ${CHAIN} = any($3)
         order by ${NAME_KEY}, collection_id limit $4)
       union (select id from main.collection where slug >= $1 and slug < $2 and chain = any($3) order by slug limit $4)
       union (select id from main.collection where slug >= $7 and slug < $8 and chain = any($3) order by slug limit $4)
       union (select id from main.collection where contract_address = $5 or id = $6)
       union (select id from main.collection where contract_address >= ${from} and contract_address < ${to} and chain = any($3)
         order by contract_address limit $4)
       union (select id from main.collection where (${hasPart || 'false'}) and chain = any($3) limit $4)
       union (select collection_id from main.collection_metadata
         where name is not null and (${hasPart || 'false'}) and ${CHAIN} = any($3) limit $4)
     )
     select collection.id, collection.slug, collection.contract_address,
       case when collection.name = contract_address then coalesce(metadata.name, collection.name) else collection.name end as name
     from ids cross join lateral (select * from main.collection where id = ids.id and chain = any($3) limit 1) as collection
     left join main.collection_metadata as metadata on metadata.collection_id = collection.id`,
    params,
  );
  return rows.map(decodeCollection);
}

export type FoundToken = { collectionId: string; asset: AssetId; name: string | null };

const decodeToken = rowDecoder('token', {
  collectionId: column('collection_id', text),
  asset: assetId,
  name: nullable(text),
});

/**
 * Lists tokens whose name begins with `prefix`. For each chain, at most `limit` tokens are found by the names of token records, and at most
 * `limit` by the names in metadata. Also lists the tokens with the given mint, and each token of `numbered.collectionIds` with the id
 * `numbered.tokenId`. These collections must be on the given chains.
 */
export async function listTokensLike(
  db: Queryable,
  {
    prefix,
    chains,
    limit,
    mint,
    numbered,
  }: SearchQuery & {
    mint: string | null;
    numbered: { tokenId: string; collectionIds: readonly string[] } | null;
  },
): Promise<FoundToken[]> {
  if (chains.length === 0) return [];
  const named = (chain: string) => `(select collection_id, asset, name from indexer.token
       where chain = ${chain} and name is not null and not burned and ${NAME_KEY} >= $1 and ${NAME_KEY} < $2
       order by ${NAME_KEY}, collection_id, asset limit $4)
     union all (select collection_id, asset, name from indexer.token_metadata as metadata cross join lateral (
         select from indexer.token as stored
         where stored.collection_id = metadata.collection_id and stored.asset = metadata.asset and not burned limit 1) as kept
       where ${CHAIN} = ${chain} and name is not null and ${NAME_KEY} >= $1 and ${NAME_KEY} < $2
       order by ${NAME_KEY}, collection_id, asset limit $4)`;
  const rows = await db.query(
    `${chains.map((_, index) => named(`($3::text[])[${index + 1}]`)).join(' union all ')}
     union all (select collection_id, asset, name from indexer.token
       where asset = $5 and chain = 'solana' and 'solana' = any($3) and not burned limit $4)
     union all (select collection_id, asset, name from indexer.token
       where collection_id = any($6) and asset = $7 and not burned)`,
    [prefix, afterPrefix(prefix), chains, limit, mint, numbered?.collectionIds ?? [], numbered?.tokenId ?? null],
  );
  return rows.map(decodeToken);
}
