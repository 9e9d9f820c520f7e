// Two comparisons for `mercat audit` and for tests. One compares the indexer's copy of the collection records and of the own order book
// with the primary database. The other compares the holders of followed collections with the holdings that the chain log gives.

import type { Queryable } from '../../../platform/database/port.ts';
import { column, nullable, rowDecoder, text } from '../../../platform/database/rows.ts';
import type { FigureDifference, RecountScope } from './figure-recount.ts';

type CatalogValue = Omit<FigureDifference, 'stored' | 'counted'> & { value: string };

const decodeValue: (row: Record<string, unknown>) => CatalogValue = rowDecoder('catalog value', {
  collectionId: column('collection_id', text),
  figure: text,
  row: nullable(text),
  value: text,
});

const RECORD_FIGURES = `('chain', record.chain), ('launched', record.launched::text),
  ('time key', extract(epoch from record.created_at)::text), ('floor of the record', record.snapshot_floor_raw::text),
  ('volume of the record', record.snapshot_volume::text), ('complete sales', record.sales_complete::text)`;
const TERMS = `concat_ws(' ', coalesce(extract(epoch from expires_at)::text, 'never'), price_raw, extract(epoch from price_until))`;

/** Returns at most `limit` differences. A change that has not been copied yet also counts as a difference. */
export async function listCatalogDifferences(
  { main, indexer }: { main: Queryable; indexer: Queryable },
  { prefix, limit }: Pick<RecountScope, 'prefix' | 'limit'>,
): Promise<FigureDifference[]> {
  const copied = await indexer.query(
    `select collection_id, figure, row, value from (
       select collection_id, figure, null as row, value from (select * from indexer.collection_figures where recorded offset 0) as record
       cross join lateral (values ${RECORD_FIGURES}) as figures (figure, value)
       union all
       select collection_id, 'own floor in the indexer', null, own_floor_raw::text from indexer.collection_figures
       union all
       select collection_id, 'top bid in the indexer', null, top_bid_raw::text from indexer.collection_figures
       union all
       select collection_id, 'own orders in the indexer', null, 'some' from indexer.collection_figures where own_known
       union all
       select collection_id, 'own asset in the indexer', asset, ${TERMS} from indexer.own_asset
     ) as catalog where value is not null and starts_with(collection_id, $1)`,
    [prefix],
  );
  const recorded = await main.query(
    `select collection_id, figure, row, value from (
       select id as collection_id, figure, null as row, value from (
         select id, coalesce(chain, '') as chain, launched, created_at, snapshot_floor_raw, snapshot_volume,
           coalesce(sales_complete, false) as sales_complete from main.collection
       ) as record cross join lateral (values ${RECORD_FIGURES}) as figures (figure, value)
       union all
       select collection_id, 'own floor in the indexer', null, floor_raw::text from main.collection_book
       union all
       select collection_id, 'top bid in the indexer', null, top_bid_raw::text from main.collection_book
       union all
       select distinct collection_id, 'own orders in the indexer', null, 'some' from main.book_order where side = 'ask'
       union all
       select collection_id, 'own asset in the indexer', asset, ${TERMS} from main.book_asset
     ) as catalog where value is not null and starts_with(collection_id, $1)`,
    [prefix],
  );
  return compareValues(copied.map(decodeValue), recorded.map(decodeValue)).slice(0, limit);
}

/** Returns at most `limit` differences. The indexer must have processed the complete chain log. */
export async function listHolderDifferences(
  { main, indexer }: { main: Queryable; indexer: Queryable },
  { prefix, limit }: Pick<RecountScope, 'prefix' | 'limit'>,
): Promise<FigureDifference[]> {
  const stored = await indexer.query(
    `select collection_id, 'tokens of holder' as figure, owner as row, holder.tokens::text as value
     from indexer.collection_figures left join indexer.holder using (collection_id)
     where has_chain_holders and starts_with(collection_id, $1)`,
    [prefix],
  );
  const values = stored.filter(({ row }) => row !== null).map(decodeValue);
  const held = await main.query(
    `select collection_id, 'tokens of holder' as figure, holder as row, count(*)::text as value from main.holding
     where quantity > 0 and collection_id = any($1) group by collection_id, holder`,
    [[...new Set(stored.map((row) => row['collection_id']))]],
  );
  return compareValues(values, held.map(decodeValue)).slice(0, limit);
}

/** Returns the values that differ, sorted by collection. */
function compareValues(stored: readonly CatalogValue[], counted: readonly CatalogValue[]): FigureDifference[] {
  const found = new Map<string, FigureDifference>();
  for (const { collectionId, figure, row, value } of stored) {
    found.set(JSON.stringify([collectionId, figure, row]), { collectionId, figure, row, stored: value, counted: null });
  }
  for (const { collectionId, figure, row, value } of counted) {
    const key = JSON.stringify([collectionId, figure, row]);
    found.set(key, { collectionId, figure, row, stored: found.get(key)?.stored ?? null, counted: value });
  }
  const different = [...found].filter(([, difference]) => difference.stored !== difference.counted);
  return different.sort(([a], [b]) => (a < b ? -1 : 1)).map(([, difference]) => difference);
}
