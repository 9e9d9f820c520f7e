// Reads and writes tokens. Vendors report the name, the image, the rarity and the holder of a token. The holder can also be read from a chain.
// Indexer database.

import type { AssetId } from '../../../platform/core/address.ts';
import { isJsonObject } from '../../../platform/core/json-text.ts';
import type { Queryable } from '../../../platform/database/port.ts';
import {
  amount,
  assetId,
  boolean,
  column,
  json,
  nullable,
  rowDecoder,
  safeInteger,
  text,
  timestamp,
} from '../../../platform/database/rows.ts';
import type { RowColumns } from '../../../platform/database/row-source.ts';
import { toRowSource } from '../../../platform/database/row-source.ts';
import type { PreparedRows, RowForm, UpsertCounts } from '../../../platform/database/upsert.ts';
import { columnsOf, mergeKnown, prepareRows, upsertRows } from '../../../platform/database/upsert.ts';
import type { RecordWrites } from '../../../platform/database/write-recording.ts';
import type { CollectionAsset } from './figures.ts';
import { LISTED, homeSql, narrowToOne, tokenFiguresSql } from './figures.ts';
import { listedImageSql } from './listed-image.ts';
import type { MirroredListing } from './listings.ts';
import { LISTING_COLUMNS, decodeMirroredListing } from './listings.ts';
import { computedRankSql } from './rarity.ts';
import type { Trait } from './token-metadata.ts';

/** `raw` is in base units, and null if the price cannot be interpreted. `soldAt` in milliseconds. */
export type ObservedSale = { raw: bigint | null; soldAt: number; source: string; tx: string | null };

/** `isOwnerOfChain`: the owner was read from the chain, not reported by a marketplace. */
export type ObservedToken = {
  name: string | null;
  image: string | null;
  rarityRank: number | null;
  owner: string | null;
  isOwnerOfChain: boolean;
  isBurned: boolean;
  /** In the order of the metadata. */
  traits: Pick<Trait, 'name' | 'value'>[];
  listing: MirroredListing | null;
  lastSale: ObservedSale | null;
};

const decodeToken = rowDecoder('token', {
  name: nullable(text),
  image: column('token_image', nullable(text)),
  rarityRank: column('rarity_rank', nullable(safeInteger)),
  owner: nullable(text),
  isOwnerOfChain: column('is_owner_of_chain', boolean),
  isBurned: column('is_burned', boolean),
  traits: json('list of traits', isTraits),
});
function isTraits(value: unknown): value is ObservedToken['traits'] {
  const isTrait = (one: unknown) =>
    isJsonObject(one) && typeof one['name'] === 'string' && typeof one['value'] === 'string';
  return Array.isArray(value) && value.every(isTrait);
}

const decodeLastSale = rowDecoder('sale', {
  raw: column('sale_raw', nullable(amount)),
  soldAt: column('sold_at', timestamp),
  source: column('sale_source', text),
  tx: column('sale_tx', nullable(text)),
});
/** `listed`: the token has a listing of any status. `activeListing` and `sale` are keys of rows. */
const decodePresence = rowDecoder('token', {
  collectionId: column('wanted_id', text),
  asset: column('wanted_asset', text),
  recorded: boolean,
  listed: boolean,
  activeListing: column('key', nullable(text)),
  sale: column('sale_key', nullable(text)),
});

/** The text that identifies a token in the maps of this module. */
export function toTokenKeyText({ collectionId, asset }: CollectionAsset): string {
  return `${collectionId} ${asset}`;
}

/**
 * The given tokens with their cheapest active mirrored listings and their last sales, by `toTokenKeyText`, in one statement. A token of which
 * the indexer has no record, no listing and no sale is left out. Without `largeImages`, the images are as `listedImageSql` gives them.
 * `limit 1` makes PostgreSQL search the index once for each token.
 */
export async function listObservedTokens(
  db: Queryable,
  keys: readonly CollectionAsset[],
  { now, largeImages = false }: { now: number; largeImages?: boolean },
): Promise<Map<string, ObservedToken>> {
  const image = 'coalesce(metadata.image, token.image)';
  const collectionIds = keys.map((key) => key.collectionId);
  const rows = await db.query(
    narrowToOne(
      `select wanted.id as wanted_id, wanted.asset as wanted_asset, token.asset is not null as recorded,
       coalesce(metadata.name, token.name) as name, ${largeImages ? image : listedImageSql(image)} as token_image,
       coalesce(token.rarity_rank, computed.rank) as rarity_rank, token.owner,
       token.owner is not null and token.owner_block is not null as is_owner_of_chain,
       coalesce(token.burned, false) as is_burned,
       exists (select from indexer.listing where collection_id = home.collection_id and asset = wanted.asset) as listed,
       sale.key as sale_key, sale.price_raw as sale_raw, sale.sold_at, sale.source as sale_source, sale.tx as sale_tx, (
         select coalesce(json_agg(json_build_object('name', name, 'value', value) order by position, name, value), '[]')
         from indexer.token_trait where collection_id = home.collection_id and asset = wanted.asset) as traits,
       listing.*
     from unnest($1::text[], $2::text[]) as wanted (id, asset) ${homeSql('wanted.id')}
     left join lateral (
       select * from indexer.token where collection_id = home.collection_id and asset = wanted.asset limit 1
     ) as token on true
     left join lateral (
       select name, image from indexer.token_metadata
       where collection_id = home.collection_id and asset = wanted.asset limit 1
     ) as metadata on true
     left join lateral (${computedRankSql('home.collection_id', 'wanted.asset')}) as computed on true
     left join lateral (
       select key, price_raw, sold_at, source, tx from indexer.sale where collection_id = home.collection_id and asset = wanted.asset
       order by sold_at desc, key desc limit 1
     ) as sale on true
     left join lateral (
       select ${LISTING_COLUMNS} from (
         select * from indexer.listing
         where listing.collection_id = home.collection_id and listing.asset = wanted.asset offset 0
       ) as listing
       where ${LISTED} and (expires_at is null or expires_at > $3)
       order by price_raw, id, key limit 1
     ) as listing on true`,
      collectionIds,
    ),
    [collectionIds, keys.map((key) => key.asset), new Date(now)],
  );
  const tokens = new Map<string, ObservedToken>();
  for (const row of rows) {
    const { collectionId, asset, recorded, listed, activeListing, sale } = decodePresence(row);
    if (!recorded && !listed && sale === null) continue;
    tokens.set(toTokenKeyText({ collectionId, asset }), {
      ...decodeToken(row),
      listing: activeListing === null ? null : decodeMirroredListing(row),
      lastSale: sale === null ? null : decodeLastSale(row),
    });
  }
  return tokens;
}

/** The SQL condition that the stored row and a row of the table expression `other` are of the same token. */
const isSameToken = (other: string) =>
  `stored.collection_id = ${other}.collection_id and stored.asset = ${other}.asset`;

/**
 * A SQL subquery for `columns` of the stored token that a row of the table expression `other` names. Default: the columns from which the figures
 * follow. `group by` makes PostgreSQL use the primary key. Without
 * `group by` and without table statistics, PostgreSQL would read all tokens of the collection for each row of `other`.
 */
const storedToken = (
  other: string,
  columns = 'stored.collection_id, stored.asset, stored.owner, stored.burned, stored.owner_block',
) => `(select ${columns} from indexer.token as stored where ${isSameToken(other)} group by collection_id, asset)`;

/** A null field leaves the stored value unchanged. */
export type NewToken = {
  collectionId: string;
  asset: AssetId;
  chain: string;
  name: string | null;
  image: string | null;
  rarityRank: number | null;
  /** The marketplace that reported the rank, or `import`. */
  raritySource: string | null;
  owner: string | null;
  traits: readonly Trait[] | null;
};

const TOKEN_FORM: RowForm<NewToken> = {
  keyOf: toTokenKeyText,
  fold: (earlier, later) => ({
    ...mergeKnown(earlier, later),
    raritySource: later.rarityRank === null ? earlier.raritySource : later.raritySource,
  }),
  columns: {
    collection_id: { text: (token) => token.collectionId },
    asset: { text: (token) => token.asset },
    chain: { text: (token) => token.chain },
    name: { text: (token) => token.name },
    image: { text: (token) => token.image },
    rarity_rank: { bigint: (token) => token.rarityRank },
    rarity_source: { text: (token) => token.raritySource },
    owner: { text: (token) => token.owner },
    traits: { jsonb: (token) => token.traits },
  },
};

/** Prepares tokens for `upsertTokens`. */
export function prepareTokens(tokens: readonly NewToken[]): Promise<PreparedRows<NewToken>> {
  return prepareRows(tokens, TOKEN_FORM);
}

const KEPT_COLUMNS = ['name', 'image', 'rarity_rank', 'traits'];
const keptSql = (name: string) => `coalesce(excluded.${name}, stored.${name})`;
const KEPT_OWNER = `case when stored.owner_block is null then coalesce(excluded.owner, stored.owner) else stored.owner end`;

/** A holder that was read from a chain is never replaced by a reported holder. */
export function upsertTokens(
  tx: Queryable,
  tokens: readonly NewToken[] | PreparedRows<NewToken>,
  record?: RecordWrites,
): Promise<UpsertCounts> {
  return upsertRows(tx, tokens, {
    record,
    ...TOKEN_FORM,
    sql: `before as materialized (
      select stored.* from incoming cross join lateral ${storedToken('incoming', 'stored.*')} as stored
    ), upserted as (insert into indexer.token as stored (collection_id, asset, chain, name, image, rarity_rank, rarity_source, owner, traits)
      select collection_id, asset, chain, name, image, rarity_rank, rarity_source, owner, traits from incoming
      on conflict (collection_id, asset) do update set ${KEPT_COLUMNS.map((name) => `${name} = ${keptSql(name)}`).join(', ')}, owner = ${KEPT_OWNER},
        rarity_source = case when excluded.rarity_rank <> stored.rarity_rank or stored.rarity_rank is null
          then excluded.rarity_source else stored.rarity_source end
      where (${columnsOf('stored', KEPT_COLUMNS)}, stored.owner) is distinct from (${KEPT_COLUMNS.map(keptSql).join(', ')}, ${KEPT_OWNER})
      returning (xmax = 0) as inserted, stored.*
      ), replaced as (
        select before.* from before join upserted using (collection_id, asset) where not upserted.inserted
      ), ${tokenFiguresSql({ removed: 'replaced', added: 'upserted' })}`,
  });
}

const decodeTokenCount = rowDecoder('collection_figures', { tokens: safeInteger });

/** How many tokens of a collection are stored and not burned. */
export async function countKnownTokens(db: Queryable, collectionId: string): Promise<number> {
  const [row] = await db.query(`select tokens from indexer.collection_figures where collection_id = $1`, [
    collectionId,
  ]);
  return row ? decodeTokenCount(row).tokens : 0;
}

/** `owner` is null when no account or several accounts hold the token. */
export type NewTokenHolder = {
  collectionId: string;
  asset: string;
  chain: string;
  owner: string | null;
  burned: boolean;
  blockNumber: number;
};

/**
 * Writes holders that were read from a chain, except those that are stored already. A null `owner` also replaces the stored holder. If a token
 * was not in the log of the chain before, and is not burned, its metadata becomes due. Returns the tokens that were burned, or whose burn was
 * taken back.
 */
export async function upsertTokenHolders(
  tx: Queryable,
  holders: readonly NewTokenHolder[],
): Promise<CollectionAsset[]> {
  const rows = holders.toSorted((a, b) => (`${a.collectionId} ${a.asset}` < `${b.collectionId} ${b.asset}` ? -1 : 1));
  const source = toRowSource(rows, HOLDER_COLUMNS, { alias: 'sent' });
  const changed = await tx.query(
    `with sent as materialized (
       select * from ${source.sql}
     ), found as materialized (
       select stored.* from sent cross join lateral ${storedToken('sent')} as stored
     ), compared as (
       select sent.*, found.asset is not null as is_stored, found.owner as stored_owner, found.burned as stored_burned,
         found.owner_block as stored_owner_block
       from sent left join found on found.collection_id = sent.collection_id and found.asset = sent.asset
     ), incoming as materialized (
       select * from compared
       where (stored_owner, stored_burned, stored_owner_block) is distinct from (owner, burned, owner_block)
     ), before as (
       select collection_id, asset, stored_owner as owner, stored_burned as burned, stored_owner_block as owner_block
       from incoming where is_stored
     ), upserted as (
       insert into indexer.token as stored (collection_id, asset, chain, owner, burned, owner_block)
       select collection_id, asset, chain, owner, burned, owner_block from incoming
       on conflict (collection_id, asset) do update
         set owner = excluded.owner, burned = excluded.burned, owner_block = excluded.owner_block
       returning collection_id, asset, owner, burned, owner_block
     ), ${tokenFiguresSql({ removed: 'before', added: 'upserted' })}, unread as (
       insert into indexer.token_metadata (collection_id, asset, source, due_at)
       select collection_id, asset, 'chain', 'epoch' from upserted
       where not burned and (collection_id, asset) not in (
         select collection_id, asset from before where owner_block is not null)
       on conflict (collection_id, asset) do update set source = excluded.source, due_at = excluded.due_at, fetched_at = null
       where token_metadata.source = 'import'
     )
     select upserted.collection_id, upserted.asset from upserted join before using (collection_id, asset)
     where before.burned <> upserted.burned`,
    source.params,
  );
  return changed.map(decodeTokenId);
}

const HOLDER_COLUMNS: RowColumns<NewTokenHolder> = {
  collection_id: { text: (row) => row.collectionId },
  asset: { text: (row) => row.asset },
  chain: { text: (row) => row.chain },
  owner: { text: (row) => row.owner },
  burned: { boolean: (row) => row.burned },
  owner_block: { bigint: (row) => row.blockNumber },
};

const decodeTokenId = rowDecoder('token', { collectionId: column('collection_id', text), asset: assetId });

/** Lists the tokens of a chain whose holder was read from a block after `blockNumber`. */
export async function listTokensMovedAfter(
  db: Queryable,
  chain: string,
  blockNumber: number,
): Promise<{ collectionId: string; asset: AssetId }[]> {
  const rows = await db.query(`select collection_id, asset from indexer.token where chain = $1 and owner_block > $2`, [
    chain,
    blockNumber,
  ]);
  return rows.map(decodeTokenId);
}

/**
 * Deletes tokens whose mint was in a block that the chain has abandoned. A token with a reported name, image, rarity or traits stays,
 * without its holder and without the metadata that was read from its contract.
 */
export async function deleteUnmintedTokens(
  tx: Queryable,
  tokens: readonly { collectionId: string; asset: string }[],
): Promise<void> {
  const params = [tokens.map((token) => token.collectionId), tokens.map((token) => token.asset)];
  await tx.query(
    `with unminted as (select * from unnest($1::text[], $2::text[]) as unminted (collection_id, asset)),
     before as materialized (
       select stored.* from unminted cross join lateral ${storedToken('unminted')} as stored
     ), kept as (
       update indexer.token as stored set owner = null, burned = false, owner_block = null from unminted
       where ${isSameToken('unminted')} and ${IS_DESCRIBED}
       returning stored.collection_id, stored.owner, stored.burned, stored.owner_block
     ), deleted as (
       delete from indexer.token as stored using unminted where ${isSameToken('unminted')} and not (${IS_DESCRIBED})
     ), forgotten as (
       delete from indexer.token_metadata as stored using unminted where ${isSameToken('unminted')} and source = 'chain'
     ), ${tokenFiguresSql({ removed: 'before', added: 'kept' })}
     select count(*) from kept`,
    params,
  );
}

const IS_DESCRIBED = `(stored.name is not null or stored.image is not null or stored.rarity_rank is not null
  or stored.traits is not null)`;
