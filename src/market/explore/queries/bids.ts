// Reads own bids for the explore interface. Primary database.

import type { Queryable } from '../../../platform/database/port.ts';
import {
  address,
  amount,
  assetId,
  column,
  hex,
  list,
  nullable,
  object,
  oneOf,
  rowDecoder,
  safeInteger,
  text,
  timestamp,
} from '../../../platform/database/rows.ts';
import { LISTING_STATUSES } from '../../orders/order-id.ts';
import { DORMANT_REASONS } from '../../orders/status.ts';

export const BID_KINDS = ['item', 'collection', 'trait'] as const;
/** `item`: a bid for one token. `collection`: for any token of the collection. `trait`: for any token of a set. */
export type BidKind = (typeof BID_KINDS)[number];

/** The columns that `decodeListedBid` reads. */
export const BID_COLUMNS = `id, collection_id, contract_address, token_id, root, price_raw, proceeds_raw, seller, status, dormant, created_at, starts_at,
  expires_at, tx, order_hash, quantity, filled_quantity, (
    select json_build_object('tokens', named.tokens, 'traits', named.traits) from main.token_set as named
    where named.collection_id = book_order.collection_id and named.root = book_order.root) as tokens`;

/** `tokens`: the number of tokens of the set, and the traits that name it; null if the bid names no set. Times in milliseconds. */
export const decodeListedBid = rowDecoder('book_order', {
  orderId: column('id', text),
  collectionId: column('collection_id', text),
  asset: column('token_id', nullable(assetId)),
  root: nullable(hex),
  raw: column('price_raw', amount),
  proceeds: column('proceeds_raw', amount),
  bidder: column('seller', address),
  status: oneOf(LISTING_STATUSES),
  dormant: nullable(oneOf(DORMANT_REASONS)),
  createdAt: column('created_at', timestamp),
  startsAt: column('starts_at', nullable(timestamp)),
  expiresAt: column('expires_at', nullable(timestamp)),
  tx: nullable(text),
  orderHash: column('order_hash', nullable(text)),
  quantity: amount,
  filled: column('filled_quantity', amount),
  tokens: nullable(object({ tokens: safeInteger, traits: nullable(list(object({ name: text, value: text }))) })),
});

export type ListedBid = ReturnType<typeof decodeListedBid>;

export async function findBid(db: Queryable, orderId: string): Promise<ListedBid | null> {
  const [row] = await db.query(`select ${BID_COLUMNS} from main.book_order where id = $1 and side = 'bid'`, [orderId]);
  return row ? decodeListedBid(row) : null;
}
