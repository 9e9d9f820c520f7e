// What a wallet holds and sells in the mirror, over all collections. Indexer database.

import type { AssetId } from '../../core/address.ts';
import type { Queryable } from '../../database/port.ts';
import { assetId, column, rowDecoder, text } from '../../database/rows.ts';
import { LISTED } from '../../market/queries/figures.ts';
import type { MirroredListing } from '../../market/queries/listings.ts';
import { LISTING_COLUMNS, decodeMirroredListing } from '../../market/queries/listings.ts';

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
 * Returns the SQL of a list that is sorted by collection and asset. Its parameters are the account ($1), the result of `toStarts` ($2 to $4)
 * and the limit ($5). `columns` names the columns of `table` with the account, the collection and the asset, in this order. An index of
 * the table must begin with these columns. `rows` is a query that selects the listed row for each `key`. Without `rows`, the list has the
 * `columns`.
 *
 * The ids of the collections of a chain begin with the id of the chain, so a chain is one range of this index. The range and the order include the account,
 * although it is the same in all rows: otherwise the planner could choose an index that begins with the collection, and read the rows of all
 * accounts.
 */
export function ofEachChain(
  table: string,
  { columns, condition, rows }: { columns: string; condition: string; rows?: string },
): string {
  return `select found.* from unnest($2::text[], $3::text[], $4::text[]) as wanted (chain, after_id, after_asset)
    cross join lateral (
      select distinct ${columns} from ${table} where ${condition}
        and (${columns}) > ($1, wanted.after_id, wanted.after_asset) and (${columns}) < ($1, wanted.chain || '_~', '')
      order by ${columns} limit $5
    ) as ${rows === undefined ? 'found' : `key cross join lateral (${rows}) as found`}`;
}

/** The chains, and the position after which the list begins on each of them. */
export function toStarts({ chains, after }: WalletQuery): [chains: readonly string[], ids: string[], assets: string[]] {
  const starts = chains.map((chain) => {
    const first = { collectionId: `${chain}_`, asset: '' };
    return after !== null && after.collectionId > first.collectionId ? after : first;
  });
  return [chains, starts.map(({ collectionId }) => collectionId), starts.map(({ asset }) => asset)];
}

/** The assets whose recorded holder is the account, sorted by collection and asset. */
export async function listHeldAssets(db: Queryable, query: WalletQuery): Promise<WalletAsset[]> {
  const held = ofEachChain('indexer.token', { columns: 'owner, collection_id, asset', condition: 'not burned' });
  const rows = await db.query(`${held} order by collection_id, asset limit $5`, [
    query.account,
    ...toStarts(query),
    query.limit,
  ]);
  return rows.map(decodeAsset);
}

/** The cheapest mirrored listing of each asset that the account sells, sorted by collection and asset. */
export async function listMirroredOfSeller(db: Queryable, query: WalletQuery): Promise<MirroredListing[]> {
  const isOffered = `${LISTED} and (expires_at is null or expires_at > $6)`;
  const offered = ofEachChain('indexer.listing', {
    columns: 'seller, collection_id, asset',
    condition: isOffered,
    rows: `select ${LISTING_COLUMNS} from indexer.listing
      where ${isOffered} and seller = $1 and collection_id = key.collection_id and asset = key.asset order by price_raw, id, key limit 1`,
  });
  const rows = await db.query(`${offered} order by collection_id, asset limit $5`, [
    query.account,
    ...toStarts(query),
    query.limit,
    new Date(query.now),
  ]);
  return rows.map(decodeMirroredListing);
}
