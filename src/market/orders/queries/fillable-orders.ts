// Reads the asks of this service that can be filled at a given time. Primary database. Each statement compares the expiry time itself, so
// an expired order is not returned even while its stored status is still `active`.

import type { Address, AssetId } from '../../../platform/core/address.ts';
import type { Queryable, Row } from '../../../platform/database/port.ts';
import { toTextArray } from '../../../platform/database/row-source.ts';
import {
  address,
  amount,
  assetId,
  column,
  nullable,
  rowDecoder,
  text,
  timestamp,
} from '../../../platform/database/rows.ts';

/** `raw` is the ask: what the offerer receives. Times in milliseconds. */
export type FillableOrder = {
  orderId: string;
  collectionId: string;
  chain: string;
  contractAddress: Address;
  asset: AssetId;
  raw: bigint;
  seller: string;
  createdAt: number;
  expiresAt: number | null;
  tx: string | null;
  orderHash: string | null;
  /** The units offered. */
  quantity: bigint;
  /** How many of them were bought. */
  filled: bigint;
  /** What a buyer pays for one unit. Null if the order states only the ask. */
  buyerTotal: bigint | null;
};

/** The columns that `decodeFillableOrder` reads. */
export const ORDER_COLUMNS = `id, collection_id, chain, contract_address, token_id, price_raw, seller, created_at, expires_at, tx, order_hash,
  quantity, filled_quantity, buyer_total_raw`;

export const decodeFillableOrder: (row: Row) => FillableOrder = rowDecoder('book_order', {
  orderId: column('id', text),
  collectionId: column('collection_id', text),
  chain: text,
  contractAddress: column('contract_address', address),
  asset: column('token_id', assetId),
  raw: column('price_raw', amount),
  seller: address,
  createdAt: column('created_at', timestamp),
  expiresAt: column('expires_at', nullable(timestamp)),
  tx: nullable(text),
  orderHash: column('order_hash', nullable(text)),
  quantity: amount,
  filled: column('filled_quantity', amount),
  buyerTotal: column('buyer_total_raw', nullable(amount)),
});

/** The asks that can be filled. `now` is the SQL parameter that holds the time, such as `$2`. */
export const fillableAt = (now: string) =>
  `side = 'ask' and status = 'active' and dormant is null and price_raw > 0 and (expires_at is null or expires_at > ${now})
       and (starts_at is null or starts_at <= ${now})`;

/** What a listing window needs of an order. */
export type CheapOrder = Omit<
  FillableOrder,
  'collectionId' | 'chain' | 'contractAddress' | 'orderHash' | 'quantity' | 'filled' | 'buyerTotal'
>;

const decodeCheapOrder: (row: Row) => CheapOrder = rowDecoder('book_order', {
  orderId: column('id', text),
  asset: column('token_id', assetId),
  raw: column('price_raw', amount),
  seller: address,
  createdAt: column('created_at', timestamp),
  expiresAt: column('expires_at', nullable(timestamp)),
  tx: nullable(text),
});

/** Sorted by ask, then by id. `after` is the last order of the previous page. */
export async function listFillableOrders(
  db: Queryable,
  collectionId: string,
  options: { now: number; limit: number; after?: { raw: bigint; orderId: string } },
): Promise<CheapOrder[]> {
  const { now, limit, after } = options;
  const rows = await db.query(
    `select id, token_id, price_raw, seller, created_at, expires_at, tx from main.book_order
     where collection_id = $1 and ${fillableAt('$2')}
       and (price_raw, id) > ($4::numeric, $5::text)
     order by price_raw, id limit $3`,
    [collectionId, new Date(now), limit, (after?.raw ?? 0n).toString(), after?.orderId ?? ''],
  );
  return rows.map(decodeCheapOrder);
}

/** The cheapest fillable order of each given asset. An asset without a fillable order is missing. */
export async function listFillableOrdersOfAssets(
  db: Queryable,
  keys: readonly { collectionId: string; asset: string }[],
  now: number,
): Promise<FillableOrder[]> {
  const rows = await db.query(
    `select cheapest.* from unnest($1::text[], $2::text[]) as wanted (collection_id, asset)
     cross join lateral (
       select ${ORDER_COLUMNS} from main.book_order
       where collection_id = wanted.collection_id and token_id = wanted.asset and ${fillableAt('$3')}
       order by price_raw, id limit 1
     ) as cheapest`,
    [keys.map((key) => key.collectionId), keys.map((key) => key.asset), new Date(now)],
  );
  return rows.map(decodeFillableOrder);
}

export async function listFillableAssetsAmong(
  db: Queryable,
  collectionId: string,
  assets: readonly string[],
  now: number,
): Promise<string[]> {
  const rows = await db.query(
    `select distinct token_id from main.book_order
     where collection_id = $1 and token_id = any($2::text[]) and ${fillableAt('$3')}`,
    [collectionId, toTextArray(assets), new Date(now)],
  );
  return rows.map((row) => decodeAsset(row).asset);
}

const decodeAsset = rowDecoder('book_order', { asset: column('token_id', text) });

/** Returns at most `limit` assets in total, not for each collection. */
export async function listFillableAssets(
  db: Queryable,
  collectionIds: readonly string[],
  options: { now: number; limit: number },
): Promise<{ collectionId: string; asset: string }[]> {
  const rows = await db.query(
    `select distinct collection_id, token_id from main.book_order
     where collection_id = any($1) and ${fillableAt('$2')} limit $3`,
    [collectionIds, new Date(options.now), options.limit],
  );
  return rows.map(decodeCollectionAsset);
}

const decodeCollectionAsset = rowDecoder('book_order', {
  collectionId: column('collection_id', text),
  asset: column('token_id', text),
});

/** Those of the given assets that have a fillable order. */
export async function listFillableAssetsOf(
  db: Queryable,
  pairs: readonly { collectionId: string; asset: string }[],
  now: number,
): Promise<{ collectionId: string; asset: string }[]> {
  const rows = await db.query(
    `select wanted.id as collection_id, wanted.asset as token_id from unnest($1::text[], $2::text[]) as wanted (id, asset)
     where exists (
       select from main.book_order
       where collection_id = wanted.id and token_id = wanted.asset and ${fillableAt('$3')}
     )`,
    [pairs.map((pair) => pair.collectionId), pairs.map((pair) => pair.asset), new Date(now)],
  );
  return rows.map(decodeCollectionAsset);
}
