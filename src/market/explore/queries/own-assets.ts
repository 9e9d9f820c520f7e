// Reads which assets the own order book lists. Primary database.

import type { AssetId } from '../../../platform/core/address.ts';
import type { Queryable } from '../../../platform/database/port.ts';
import type { Range } from '../../index/queries/ranks.ts';
import { amount, assetId, column, rowDecoder, text, timestamp } from '../../../platform/database/rows.ts';
import type { FillableOrder } from '../../orders/queries/fillable-orders.ts';
import { ORDER_COLUMNS, decodeFillableOrder, fillableAt } from '../../orders/queries/fillable-orders.ts';
import type { RecentAsset, TimePosition } from './token-keys.ts';
import type { WalletQuery } from './wallet-assets.ts';
import { ofEachChain, toStarts } from './wallet-assets.ts';

const decodeListed = rowDecoder('book_order', {
  raw: column('price_raw', amount),
  orderId: column('id', text),
  asset: column('token_id', assetId),
});

/**
 * The assets of a collection that have a fillable own order, each with its cheapest order. The cheapest asset comes first. More expensive
 * orders of an asset are left out, so that no asset appears twice, not even on different pages of the list.
 */
export async function listOwnAssetsByPrice(
  db: Queryable,
  collectionId: string,
  options: OwnQuery & { after: { raw: bigint; orderId: string } | null },
): Promise<{ raw: bigint; orderId: string; asset: AssetId }[]> {
  const { after, limit } = options;
  const rows = await db.query(
    `select price_raw, id, token_id from main.book_order
     where ${IS_CHEAPEST} and (price_raw, id) > ($6::numeric, $7::text) order by price_raw, id limit $8`,
    [...toParameters(collectionId, options), (after?.raw ?? 0n).toString(), after?.orderId ?? '', limit],
  );
  return rows.map(decodeListed);
}

type OwnQuery = { now: number; assets: readonly string[] | null; price: Range<bigint> | null; limit: number };

/** SQL conditions on rows of `book_order`: the order passes the filters and is the cheapest of its asset. Uses the parameters $1 to $5 (`toParameters`). */
const IS_CHEAPEST = `collection_id = $1 and ${fillableAt('$2')} and ($3::text[] is null or token_id = any($3))
       and price_raw >= $4::numeric and ($5::numeric is null or price_raw <= $5)
       and not exists (
         select from (
           select price_raw, id from main.book_order as same
           where same.collection_id = book_order.collection_id and same.token_id = book_order.token_id and ${fillableAt('$2')}
         ) as cheaper where (cheaper.price_raw, cheaper.id) < (book_order.price_raw, book_order.id))`;

const toParameters = (collectionId: string, { now, assets, price }: OwnQuery) => [
  collectionId,
  new Date(now),
  assets,
  (price?.min ?? 0n).toString(),
  price?.max?.toString() ?? null,
];

const decodeRecent = rowDecoder('book_order', {
  at: column('created_at', timestamp),
  id: text,
  asset: column('token_id', assetId),
});

/** The newest order first. Of several orders of one asset, only the cheapest is returned. */
export async function listOwnAssetsByTime(
  db: Queryable,
  collectionId: string,
  options: OwnQuery & { after: TimePosition | null },
): Promise<RecentAsset[]> {
  const { after, limit } = options;
  const rows = await db.query(
    `select created_at, id, token_id from main.book_order
     where ${IS_CHEAPEST} and (created_at, id) < ($6::timestamptz, $7::text) order by created_at desc, id desc limit $8`,
    [
      ...toParameters(collectionId, options),
      after ? new Date(after.at) : 'infinity',
      // After a mirrored listing, no own order of the same time is left.
      after?.own ? after.id : '',
      limit,
    ],
  );
  return rows.map((row) => ({ ...decodeRecent(row), own: true }));
}

const decodeAsset = rowDecoder('book_order', { asset: column('token_id', assetId) });

/** At most `limit` assets that an account sells in a collection. */
export async function listOwnAssetsOfAccount(
  db: Queryable,
  collectionId: string,
  { account, now, limit }: { account: string; now: number; limit: number },
): Promise<AssetId[]> {
  const rows = await db.query(
    `select distinct token_id from main.book_order where collection_id = $1 and seller = $2 and ${fillableAt('$3')} limit $4`,
    [collectionId, account, new Date(now), limit],
  );
  return rows.map((row) => decodeAsset(row).asset);
}

/** The cheapest order of each asset that the account sells, sorted by collection and asset. */
export async function listOwnOrdersOfSeller(db: Queryable, query: WalletQuery): Promise<FillableOrder[]> {
  const { account, limit, now } = query;
  if (query.chains.length === 0) return [];
  const isOffered = fillableAt('$6');
  const offered = ofEachChain('main.book_order', {
    columns: 'seller, collection_id, token_id',
    condition: isOffered,
    chains: query.chains,
  });
  const rows = await db.query(
    `select found.* from ${offered} cross join lateral (
       select ${ORDER_COLUMNS} from main.book_order
       where ${isOffered} and seller = $1 and collection_id = key.collection_id and token_id = key.token_id order by price_raw, id limit 1
     ) as found order by collection_id, token_id limit $5`,
    [account, ...toStarts(query), limit, new Date(now)],
  );
  return rows.map(decodeFillableOrder);
}
