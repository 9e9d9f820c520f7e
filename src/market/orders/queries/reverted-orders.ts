// Reads the chain, collection and asset of stored orders, and whether each order is signed. An undo that deletes or restores orders needs
// these values. Primary database.

import type { Queryable } from '../../../platform/database/port.ts';
import { boolean, column, nullable, rowDecoder, text } from '../../../platform/database/rows.ts';

const decodeLocation = rowDecoder('book_order', {
  id: text,
  chain: text,
  collectionId: column('collection_id', text),
  /** Null for a bid that several tokens meet. */
  asset: column('token_id', nullable(text)),
  isSigned: column('is_signed', boolean),
});

type OrderLocation = ReturnType<typeof decodeLocation>;

/** Ids of orders that are not stored are left out. */
export async function listOrderLocations(db: Queryable, ids: readonly string[]): Promise<OrderLocation[]> {
  const rows = await db.query(
    `select id, chain, collection_id, token_id, order_hash is not null as is_signed from main.book_order where id = any($1)`,
    [ids],
  );
  return rows.map(decodeLocation);
}
