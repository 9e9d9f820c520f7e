// Records changes of own orders for the activity log. Primary database. Called in the transaction that changes the orders.

import type { ActivityKind } from '../../activity/market-change.ts';
import type { MarketRow } from '../../activity/state-change.ts';
import type { Queryable } from '../../../platform/database/port.ts';
import { amount, column, nullable, oneOf, rowDecoder, text, timestamp } from '../../../platform/database/rows.ts';
import { LISTING_STATUSES } from '../order-id.ts';
import { DORMANT_REASONS } from '../status.ts';

/** `at` in milliseconds. `tx`: the transaction of the chain that caused the change. `reason`: only for the kind `invalidate`. */
export type RecordedOrderChange = {
  orderId: string;
  kind: ActivityKind;
  at: number;
  tx?: string | null;
  reason?: string | null;
};

/** A SQL subquery for the block of a seller's event. It searches for one kind of event, because each kind has its own index. */
const blockOf = (
  kind: 'counter-incremented' | 'nonce-cancelled',
) => `(select max(block_number) from main.chain_event as event
          where event.chain = stored.chain and event.contract = stored.protocol_address and event.account = stored.seller
            and kind = '${kind}' and event.tx = changed.tx)`;

/**
 * Records the changes with the price, seller and token of the stored orders. The block of a fill or cancel is read from the chain log: from
 * an event of the same transaction that names the order, or else from a counter increment or cancelled nonce of the seller.
 */
export async function insertOrderChanges(tx: Queryable, changes: readonly RecordedOrderChange[]): Promise<void> {
  if (changes.length === 0) return;
  await tx.query(
    `insert into main.market_change (kind, at, chain, collection_id, asset, price_raw, from_account, order_id, tx, reason, block_number)
     select changed.kind, changed.at, stored.chain, stored.collection_id, stored.token_id, stored.price_raw, stored.seller, stored.id,
       changed.tx, changed.reason, case when changed.tx is not null then coalesce(
         (select max(block_number) from main.chain_event as event
          where event.chain = stored.chain and event.order_hash = stored.order_hash and event.tx = changed.tx),
         ${blockOf('counter-incremented')}, ${blockOf('nonce-cancelled')}) end
     from unnest($1::text[], $2::text[], $3::timestamptz[], $4::text[], $5::text[]) with ordinality
       as changed (id, kind, at, tx, reason, number)
     join main.book_order as stored on stored.id = changed.id order by number`,
    [
      changes.map(({ orderId }) => orderId),
      changes.map(({ kind }) => kind),
      changes.map(({ at }) => new Date(at)),
      changes.map((change) => change.tx ?? null),
      changes.map(({ reason }) => reason ?? null),
    ],
  );
}

const decodeRow = rowDecoder('book_order', {
  orderId: column('id', text),
  chain: text,
  collectionId: column('collection_id', text),
  asset: column('token_id', text),
  priceRaw: column('price_raw', amount),
  totalRaw: column('buyer_total_raw', nullable(amount)),
  seller: text,
  status: oneOf(LISTING_STATUSES),
  hidden: column('dormant', nullable(oneOf(DORMANT_REASONS))),
  startsAt: column('starts_at', nullable(timestamp)),
  expiresAt: column('expires_at', nullable(timestamp)),
});

/** The stored orders with the given ids, by id. */
export async function listOrderRows(tx: Queryable, orderIds: readonly string[]): Promise<Map<string, MarketRow>> {
  if (orderIds.length === 0) return new Map();
  const rows = await tx.query(
    `select id, chain, collection_id, token_id, price_raw, buyer_total_raw, seller, status, dormant, starts_at, expires_at
     from main.book_order where id = any($1)`,
    [orderIds],
  );
  return new Map(rows.map(decodeRow).map((row) => [row.orderId, { ...row, marketplace: null }]));
}
