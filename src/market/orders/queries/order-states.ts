// Writes the states of orders to the primary database, so that reads can find active orders with an index. The states are derived in
// market/orders/status.ts.

import type { Queryable, Row } from '../../../platform/database/port.ts';
import { nullable, rowDecoder, text } from '../../../platform/database/rows.ts';
import { recordStateChanges } from '../../activity/queries/state-changes.ts';
import type { OrderSide } from '../order-id.ts';
import type { OrderState } from '../status.ts';

/** `isByCounter`: the order ended because its offerer raised the counter. */
export type OrderChange = {
  orderId: string;
  side: OrderSide;
  collectionId: string;
  /** Null for a bid that several tokens meet. */
  asset: string | null;
  from: OrderState;
  to: OrderState;
  isByCounter: boolean;
};

/** The SQL subquery for the block of an event of the chain log in the transaction of the order `after`. Each condition has an index. */
const blockOf = (condition: string) =>
  `(select max(block_number) from main.chain_event as event where event.chain = after.chain and event.tx = after.tx and ${condition})`;

/** As `blockOf`, for an event by which a seller ends several orders. It searches for one kind of event, because each kind has its own index. */
const blockOfSeller = (kind: 'counter-incremented' | 'nonce-cancelled') =>
  blockOf(`event.contract = after.protocol_address and event.account = after.seller and kind = '${kind}'`);

/** The SQL expression for the block that has ended the order `after`: by an event that names the order, or else by one of its seller. */
const ENDED_BY = `case when after.tx is not null then coalesce(${blockOf('event.order_hash = after.order_hash')},
           ${blockOfSeller('counter-incremented')}, ${blockOfSeller('nonce-cancelled')}) end`;

export async function updateOrderStates(tx: Queryable, changes: readonly OrderChange[], now: number): Promise<void> {
  if (changes.length === 0) return;
  await tx.query(
    `with changed as (
       select * from unnest($1::text[], $2::text[], $3::text[], $4::numeric[], $5::timestamptz[], $6::text[], $7::boolean[])
         as changed (id, status, dormant, filled_quantity, ended_at, tx, by_counter)
     ), before as materialized (
       select * from main.book_order where id = any($1)
     ), written as (
       update main.book_order as stored set status = changed.status, dormant = changed.dormant,
         filled_quantity = changed.filled_quantity, ended_at = changed.ended_at, tx = changed.tx
       from changed where stored.id = changed.id returning false as inserted, changed.by_counter, stored.*
     ), ${recordStateChanges('order', {
       written: 'written',
       before: 'before',
       now: '$8',
       isByCounter: 'after.by_counter',
       blockNumber: ENDED_BY,
     })}
     select count(*) from written`,
    [
      changes.map(({ orderId }) => orderId),
      changes.map(({ to }) => to.status),
      changes.map(({ to }) => to.dormant),
      changes.map(({ to }) => to.filledQuantity.toString()),
      changes.map(({ to }) => (to.endedAt === null ? null : new Date(to.endedAt))),
      changes.map(({ to }) => to.tx),
      changes.map(({ isByCounter }) => isByCounter),
      new Date(now),
    ],
  );
}

/** An active order whose expiry time has passed. `asset` is null for a bid: bids are in no figure of the order book. */
export type DueOrder = { orderId: string; chain: string; collectionId: string; asset: string | null };

const decodeDue: (row: Row) => DueOrder = rowDecoder('book_order', {
  orderId: text,
  chain: text,
  collectionId: text,
  asset: nullable(text),
});

export async function listDueOrders(db: Queryable, now: number, limit: number): Promise<DueOrder[]> {
  const rows = await db.query(
    `select id as "orderId", chain, collection_id as "collectionId", case side when 'ask' then token_id end as asset from main.book_order
     where status = 'active' and expires_at <= $1 order by expires_at limit $2`,
    [new Date(now), limit],
  );
  return rows.map(decodeDue);
}

/** Marks each given order as expired if it is active and its expiry time has passed. */
export async function updateExpiredOrders(tx: Queryable, orderIds: readonly string[], now: number): Promise<void> {
  await tx.query(
    `with before as materialized (
       select * from main.book_order where id = any($2) and status = 'active' and expires_at <= $1
     ), expired as (
       update main.book_order as stored set status = 'expired', dormant = null, ended_at = before.expires_at
       from before where stored.id = before.id returning false as inserted, stored.*
     ), ${recordStateChanges('order', { written: 'expired', before: 'before', now: '$1' })}
     select count(*) from expired`,
    [new Date(now), orderIds],
  );
}
