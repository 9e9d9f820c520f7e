// Takes sales and tokens back: deletes rows that an import inserted, restores the columns of rows that the import changed, and corrects
// the sums and figures. Indexer database. The transaction must have locked the figures of
// the collections.

import type { Queryable } from '../../../platform/database/port.ts';
import { column, rowDecoder, text } from '../../../platform/database/rows.ts';
import type { CollectionAsset } from './figures.ts';
import { tokenFiguresSql } from './figures.ts';
import { copyReportedTraits } from './reported-traits.ts';
import { IS_COUNTED, saleSumsSql } from './sale-rule.ts';
import type { SaleKey } from './sales.ts';
import {
  ADD_TO_SUMS,
  deleteSales,
  insertRestoredSaleChanges,
  IS_WANTED_SALE,
  SUMMED_COLUMNS,
  toWanted,
} from './sales.ts';

/** `image`: the earlier values of the columns that the import changed, as JSON text. */
type Earlier = { image: string };

export async function deleteSalesByKey(tx: Queryable, sales: readonly SaleKey[]): Promise<void> {
  if (sales.length > 0) await deleteSales(tx, IS_WANTED_SALE, toWanted(sales));
}

/** The SQL that sets each of these columns to its value in the row `earlier`. */
const assign = (columns: string) => columns.replaceAll(/\w+/g, (name) => `${name} = earlier.${name}`);

const SALE_COLUMNS = 'source, price, price_raw, seller, buyer, sold_at, listing_id';

export async function restoreSales(tx: Queryable, rows: readonly (SaleKey & Earlier)[], now: number): Promise<void> {
  if (rows.length === 0) return;
  await tx.query(
    `with wanted as (
       select * from unnest($1::text[], $2::uuid[], $3::text[]) as wanted (collection_id, key, image)
     ), before as materialized (
       select stored.*, to_jsonb(stored) || wanted.image::jsonb as earlier_row from indexer.sale as stored
       join wanted on wanted.collection_id = stored.collection_id and wanted.key = stored.key
     ), earlier as materialized (
       select earlier.* from before cross join lateral jsonb_populate_record(null::indexer.sale, before.earlier_row) as earlier
     ), restored as (
       update indexer.sale as stored set ${assign(SALE_COLUMNS)}
       from earlier where earlier.collection_id = stored.collection_id and earlier.key = stored.key returning stored.*
     ), counted as (
       select -1 as sign, ${SUMMED_COLUMNS} from before union all select 1, ${SUMMED_COLUMNS} from restored
     ), summed as (
       select collection_id, date_trunc('hour', sold_at, 'UTC') as hour, ${saleSumsSql('sign')}
       from counted where ${IS_COUNTED} group by collection_id, hour order by collection_id, hour
     ), ${ADD_TO_SUMS}
     select count(*) from restored`,
    [...toWanted(rows), rows.map(({ image }) => image)],
  );
  await insertRestoredSaleChanges(tx, rows, now);
}

const FIGURE_COLUMNS = 'stored.collection_id, stored.asset, stored.owner, stored.burned, stored.owner_block';
const IS_WANTED = 'stored.collection_id = wanted.collection_id and stored.asset = wanted.asset';

export async function deleteTokens(tx: Queryable, tokens: readonly CollectionAsset[]): Promise<void> {
  if (tokens.length === 0) return;
  await tx.query(
    `with deleted as (
       delete from indexer.token as stored using unnest($1::text[], $2::text[]) as wanted (collection_id, asset)
       where ${IS_WANTED} returning ${FIGURE_COLUMNS}
     ), added as (
       select * from deleted where false
     ), ${tokenFiguresSql({ removed: 'deleted', added: 'added' })}
     select count(*) from deleted`,
    [tokens.map(({ collectionId }) => collectionId), tokens.map(({ asset }) => asset)],
  );
}

const TOKEN_COLUMNS = 'name, image, rarity_rank, rarity_source, owner, traits';

export async function restoreTokens(tx: Queryable, tokens: readonly (CollectionAsset & Earlier)[]): Promise<void> {
  if (tokens.length === 0) return;
  await tx.query(
    `with wanted as (
       select * from unnest($1::text[], $2::text[], $3::text[]) as wanted (collection_id, asset, image)
     ), before as materialized (
       select ${FIGURE_COLUMNS}, to_jsonb(stored) || wanted.image::jsonb as earlier_row
       from indexer.token as stored join wanted on ${IS_WANTED}
     ), earlier as materialized (
       select earlier.* from before cross join lateral jsonb_populate_record(null::indexer.token, before.earlier_row) as earlier
     ), restored as (
       update indexer.token as stored set ${assign(TOKEN_COLUMNS)}
       from earlier where stored.collection_id = earlier.collection_id and stored.asset = earlier.asset returning ${FIGURE_COLUMNS}
     ), ${tokenFiguresSql({ removed: 'before', added: 'restored' })}
     select count(*) from restored`,
    [
      tokens.map(({ collectionId }) => collectionId),
      tokens.map(({ asset }) => asset),
      tokens.map(({ image }) => image),
    ],
  );
  await copyReportedTraits(tx, tokens);
}

const decodeAsset = rowDecoder('listing', { collectionId: column('collection_id', text), asset: text });

/** The assets of the stored listings with these keys. */
export async function listListedAssets(
  tx: Queryable,
  listings: readonly { collectionId: string; key: string }[],
): Promise<CollectionAsset[]> {
  const rows = await tx.query(
    `select collection_id, asset from indexer.listing
     where (collection_id, key) in (select * from unnest($1::text[], $2::uuid[]))`,
    [listings.map(({ collectionId }) => collectionId), listings.map(({ key }) => key)],
  );
  return rows.map(decodeAsset);
}
