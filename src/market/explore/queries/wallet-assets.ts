// Reads the assets that a wallet holds, and its listings in the mirror, over all collections. Indexer database.

import type { AssetId } from '../../../platform/core/address.ts';
import type { Queryable } from '../../../platform/database/port.ts';
import { assetId, column, rowDecoder, text } from '../../../platform/database/rows.ts';
import { LISTED } from '../../index/queries/figures.ts';
import type { MirroredListing } from '../../index/queries/listings.ts';
import { LISTING_COLUMNS, decodeMirroredListing } from '../../index/queries/listings.ts';

/** `chains`: only these chains. `after`: the last asset of the previous page. `now` in milliseconds. */
export type WalletQuery = {
  account: string;
  chains: readonly string[];
  after: { collectionId: string; asset: string } | null;
  limit: number;
  now: number;
};

export type WalletAsset = { collectionId: string; asset: AssetId };

const decodeAsset = rowDecoder('token', { collectionId: column('collection_id', text), asset: assetId });

/**
 * Returns a table expression, `key`, for a list that is sorted by collection and asset. Its parameters are the account ($1), the result of
 * `toStarts` ($2 to $4) and the limit ($5). `columns` names the columns of `table` with the account, the collection and the asset, in this
 * order. An index of the table must begin with these columns. `chains` must not be empty.
 *
 * The ids of the collections of a chain begin with the id of the chain, so a chain is one range of this index. The account is the same in all
 * rows, but the range and the order include the account. Otherwise the planner could choose an index that begins with the collection, and read the
 * rows of all accounts.
 */
export function ofEachChain(
  table: string,
  { columns, condition, chains }: { columns: string; condition: string; chains: readonly string[] },
): string {
  const ofChain = (place: number) => `(
      select distinct ${columns} from ${table} where ${condition}
        and (${columns}) > ($1, ($3::text[])[${place}], ($4::text[])[${place}]) and (${columns}) < ($1, ($2::text[])[${place}] || '_~', '')
      order by ${columns} limit $5)`;
  return `(${chains.map((_, index) => ofChain(index + 1)).join(' union all ')}) as key`;
}

/** Returns the chains, and for each chain the position (collection and asset) after which the list begins. */
export function toStarts({ chains, after }: WalletQuery): [chains: readonly string[], ids: string[], assets: string[]] {
  const starts = chains.map((chain) => {
    const first = { collectionId: `${chain}_`, asset: '' };
    return after !== null && after.collectionId > first.collectionId ? after : first;
  });
  return [chains, starts.map(({ collectionId }) => collectionId), starts.map(({ asset }) => asset)];
}

/** The assets whose recorded holder is the account, sorted by collection and asset. */
export async function listHeldAssets(db: Queryable, query: WalletQuery): Promise<WalletAsset[]> {
  if (query.chains.length === 0) return [];
  const columns = 'owner, collection_id, asset';
  const held = ofEachChain('indexer.token', { columns, condition: 'not burned', chains: query.chains });
  const rows = await db.query(`select collection_id, asset from ${held} order by collection_id, asset limit $5`, [
    query.account,
    ...toStarts(query),
    query.limit,
  ]);
  return rows.map(decodeAsset);
}

/** The cheapest mirrored listing of each asset that the account sells, sorted by collection and asset. */
export async function listMirroredOfSeller(db: Queryable, query: WalletQuery): Promise<MirroredListing[]> {
  if (query.chains.length === 0) return [];
  const isOffered = `${LISTED} and (expires_at is null or expires_at > $6)`;
  const offered = ofEachChain('indexer.listing', {
    columns: 'seller, collection_id, asset',
    condition: isOffered,
    chains: query.chains,
  });
  const rows = await db.query(
    `with offered as materialized (select collection_id, asset from ${offered} order by collection_id, asset limit $5)
     select distinct on (collection_id, asset) ${LISTING_COLUMNS}
     from indexer.listing join offered using (collection_id, asset)
     where ${isOffered} and seller = $1 order by collection_id, asset, price_raw, id, key`,
    [query.account, ...toStarts(query), query.limit, new Date(query.now)],
  );
  return rows.map(decodeMirroredListing);
}
