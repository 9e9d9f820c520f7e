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

const toPosition = ({ after }: WalletQuery) => [after?.collectionId ?? '', after?.asset ?? ''];

/** The assets whose recorded holder is the account, by collection and asset. */
export async function listHeldAssets(db: Queryable, query: WalletQuery): Promise<WalletAsset[]> {
  const rows = await db.query(
    `select collection_id, asset from indexer.token
     where owner = $1 and not burned and chain = any($2) and (collection_id, asset) > ($3::text, $4::text)
     order by collection_id, asset limit $5`,
    [query.account, query.chains, ...toPosition(query), query.limit],
  );
  return rows.map(decodeAsset);
}

/** The cheapest mirrored listing of each asset that the account sells, by collection and asset. */
export async function listMirroredOfSeller(db: Queryable, query: WalletQuery): Promise<MirroredListing[]> {
  const rows = await db.query(
    `select distinct on (collection_id, asset) ${LISTING_COLUMNS} from indexer.listing
     where seller = $1 and ${LISTED} and (expires_at is null or expires_at > $6) and chain = any($2)
       and (collection_id, asset) > ($3::text, $4::text)
     order by collection_id, asset, price_raw, id, key limit $5`,
    [query.account, query.chains, ...toPosition(query), query.limit, new Date(query.now)],
  );
  return rows.map(decodeMirroredListing);
}
