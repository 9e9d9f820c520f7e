// Reads the orders of one collection that `audit --fillable` compares with the chain. These are orders that the service lists, orders that
// it hides, and orders that it has marked as ended.

import type { Queryable } from '../../../../platform/database/port.ts';
import {
  address,
  amount,
  assetId,
  column,
  hex,
  json,
  nullable,
  rowDecoder,
  text,
  timestamp,
} from '../../../../platform/database/rows.ts';

const isObject = (value: unknown): value is object => typeof value === 'object' && value !== null;

const decodeOwn = rowDecoder('signed order', {
  orderId: column('id', text),
  tokenId: column('token_id', assetId),
  seller: text,
  price: column('price_raw', amount),
  expiresAt: column('expires_at', nullable(timestamp)),
  protocol: column('protocol_address', nullable(address)),
  orderHash: column('order_hash', nullable(hex)),
  units: column('quantity', amount),
  counter: nullable(amount),
  operator: nullable(address),
  terms: column('seaport', nullable(json('object', isObject))),
});
export type OwnSignedOrder = ReturnType<typeof decodeOwn>;

/**
 * The own orders that have started and not expired. Unsigned orders are included only while they are active. Orders that were cancelled off
 * the chain are left out, because the chain would still fill them.
 */
export async function listUnexpiredOrders(
  db: Queryable,
  collectionId: string,
  { now, limit }: { now: number; limit: number },
): Promise<OwnSignedOrder[]> {
  const rows = await db.query(
    `select id, token_id, seller, price_raw, expires_at, protocol_address, order_hash, quantity, counter, operator, seaport
     from main.book_order as stored
     where collection_id = $1 and side = 'ask' and (expires_at is null or expires_at > $2) and (starts_at is null or starts_at <= $2)
       and price_raw > 0 and (order_hash is not null or status = 'active')
       and not exists (select from main.order_cancel where order_id = stored.id)
     order by id limit $3`,
    [collectionId, new Date(now), limit],
  );
  return rows.map(decodeOwn);
}

const decodeBid = rowDecoder('signed bid', {
  orderHash: column('order_hash', hex),
  tokenId: column('token_id', nullable(assetId)),
  root: nullable(hex),
  bidder: column('seller', address),
  price: column('price_raw', amount),
  proceeds: column('proceeds_raw', amount),
  expiresAt: column('expires_at', nullable(timestamp)),
  protocol: column('protocol_address', address),
  units: column('quantity', amount),
  terms: column('seaport', json('object', isObject)),
});
export type SignedBidRow = ReturnType<typeof decodeBid>;

/** The signed bids in the wrapped native currency, which are those of a list by price, that have started and not expired. Bids that were cancelled off the chain are left out, because the chain would still fill them. */
export async function listUnexpiredBids(
  db: Queryable,
  collectionId: string,
  { now, limit }: { now: number; limit: number },
): Promise<SignedBidRow[]> {
  const rows = await db.query(
    `select order_hash, token_id, root, seller, price_raw, proceeds_raw, expires_at, protocol_address, quantity, seaport
     from main.book_order as stored
     where collection_id = $1 and side = 'bid' and (expires_at is null or expires_at > $2) and (starts_at is null or starts_at <= $2)
       and currency is null and order_hash is not null and not exists (select from main.order_cancel where order_id = stored.id)
     order by id limit $3`,
    [collectionId, new Date(now), limit],
  );
  return rows.map(decodeBid);
}

const decodeMirrored = rowDecoder('mirrored listing', {
  orderId: column('id', text),
  source: text,
  tokenId: column('asset', assetId),
  seller: text,
  price: column('price_raw', amount),
  expiresAt: column('expires_at', nullable(timestamp)),
  orderHash: column('order_hash', nullable(text)),
  protocol: column('protocol_address', nullable(text)),
  units: column('quantity', amount),
  counter: nullable(amount),
  operator: nullable(text),
});
export type MirroredOrder = ReturnType<typeof decodeMirrored>;

/**
 * The listings of external marketplaces that are active (dormant or not), or that the chain has ended. Listings that their marketplace has ended
 * are left out.
 */
export async function listUnendedListings(
  db: Queryable,
  collectionId: string,
  { now, limit }: { now: number; limit: number },
): Promise<MirroredOrder[]> {
  const rows = await db.query(
    `select id, source, asset, seller, price_raw, expires_at, order_hash, protocol_address, coalesce(quantity, 1) as quantity,
       counter, operator
     from indexer.listing
     where collection_id = $1 and (status = 'active' or ended_at is not null) and price_raw > 0 and (expires_at is null or expires_at > $2)
     order by source, id limit $3`,
    [collectionId, new Date(now), limit],
  );
  return rows.map(decodeMirrored);
}
