// Reads the own asks of a collection with the times between which they were open, to compute its past floors. Primary database.

import type { Queryable } from '../../../platform/database/port.ts';
import { amount, column, nullable, oneOf, rowDecoder, text, timestamp } from '../../../platform/database/rows.ts';
import { LISTING_STATUSES } from '../order-id.ts';

export const PAST_LISTING = {
  id: text,
  asset: text,
  priceRaw: column('price_raw', amount),
  from: column('opened_at', timestamp),
  expiresAt: column('expires_at', nullable(timestamp)),
  endedAt: column('ended_at', nullable(timestamp)),
  status: oneOf(LISTING_STATUSES),
  dormant: nullable(text),
} as const;

const decodeOrder = rowDecoder('book_order', PAST_LISTING);

/** An own order or a mirrored listing, active or ended. `dormant`: why it cannot be filled at present. Times in milliseconds. */
export type ListedOnce = ReturnType<typeof decodeOrder>;

export async function listPastOrders(db: Queryable, collectionId: string, limit: number): Promise<ListedOnce[]> {
  const rows = await db.query(
    `select id, token_id as asset, price_raw, coalesce(starts_at, created_at) as opened_at, expires_at, ended_at, status, dormant
     from main.book_order where collection_id = $1 and side = 'ask' and price_raw > 0 limit $2`,
    [collectionId, limit],
  );
  return rows.map(decodeOrder);
}
