// Statements on reservations. The stock that a reservation takes or returns is changed by `updateStocks`, in the same transaction.

import type { WhenLocked } from '../grouped-changes.ts';
import type { Queryable } from '../../platform/database/port.ts';
import { queryHot } from '../../platform/database/port.ts';
import type { Reservation, ReservationStatus } from '../reservations/reservation.ts';
import { RESERVATION_STATES } from '../reservations/reservation.ts';
import {
  boolean,
  column,
  integer,
  list,
  nullable,
  object,
  oneOf,
  rowDecoder,
  text,
  timestamp,
} from '../../platform/database/rows.ts';

/** The state in which a reservation is. It differs from the state of the row while the stock of an ended one waits for the sweep. */
const STATUS = `case when state = 'held' and expires_at <= clock_timestamp() then ends_as else state end`;

const COLUMNS = `reservation.id, state, ${STATUS} as status, reference, reservation.created_at, expires_at,
  case when state = 'held' and expires_at <= clock_timestamp() then expires_at else ended_at end as ended_at,
  clock_timestamp() as read_at, (
    select json_agg(json_build_object('product_id', item.product_id, 'name', product.name, 'quantity', quantity, 'held', held,
      'consumed', consumed, 'is_counted', is_counted) order by number)
    from main.reservation_item as item left join main.product on product.id = item.product_id
    where item.reservation_id = reservation.id
  ) as items`;

const decodeReservation = rowDecoder('reservation', {
  id: text,
  state: oneOf(RESERVATION_STATES),
  status: oneOf(RESERVATION_STATES),
  reference: nullable(text),
  createdAt: column('created_at', timestamp),
  expiresAt: column('expires_at', timestamp),
  endedAt: column('ended_at', nullable(timestamp)),
  readAt: column('read_at', timestamp),
  items: list(
    object({
      productId: column('product_id', text),
      name: nullable(text),
      quantity: integer,
      held: integer,
      consumed: integer,
      isCounted: column('is_counted', boolean),
    }),
  ),
});

/** A reservation with the state of its row. `readAt`: the time of the database when it was read. */
export type StoredReservation = ReturnType<typeof decodeReservation>;

/** The reservations of the shop with these ids, in no particular order. Unknown ids are left out. */
export async function listReservationsById(
  db: Queryable,
  shopId: string,
  ids: readonly string[],
): Promise<StoredReservation[]> {
  const rows = await queryHot(
    db,
    `select ${COLUMNS} from main.reservation where shop_id = $1 and id = any ((select $2::text[])::text[])`,
    [shopId, ids],
  );
  return rows.map(decodeReservation);
}

export type ReservationQuery = {
  status: ReservationStatus | null;
  reference: string | null;
  productId: string | null;
  /** Only reservations with a smaller id. */
  before: string | null;
  limit: number;
};

/** Reservations of the shop, newest first. */
export async function listReservations(
  db: Queryable,
  shopId: string,
  { status, reference, productId, before, limit }: ReservationQuery,
): Promise<StoredReservation[]> {
  const rows = await db.query(
    `select ${COLUMNS} from main.reservation
     where shop_id = $1 and ($2::text is null or state in ($2, 'held') and ${STATUS} = $2) and ($3::text is null or reference = $3)
       and ($4::text is null or exists (
         select from main.reservation_item as item where item.reservation_id = reservation.id and item.product_id = $4))
       and id < coalesce($5, '~')
     order by id desc limit $6`,
    [shopId, status, reference, productId, before, limit],
  );
  return rows.map(decodeReservation);
}

const decodeProducts = rowDecoder('reservation', { id: text, productIds: column('product_ids', list(text)) });

/** The products of reservations of the shop, by reservation. They never change. Unknown ids are left out. */
export async function listReservedProducts(
  db: Queryable,
  shopId: string,
  ids: readonly string[],
): Promise<Map<string, string[]>> {
  const rows = await queryHot(
    db,
    `select id, array(select product_id from main.reservation_item where reservation_id = id order by product_id) as product_ids
     from main.reservation where shop_id = $1 and id = any ((select $2::text[])::text[])`,
    [shopId, ids],
  );
  return new Map(rows.map(decodeProducts).map(({ id, productIds }) => [id, productIds]));
}

const decodeDue = rowDecoder('reservation', {
  shopId: column('shop_id', text),
  id: text,
  productIds: column('product_ids', list(text)),
});

export type DueReservation = ReturnType<typeof decodeDue>;

/** Held reservations of all shops whose time is over, the earliest first. */
export async function listDueReservations(db: Queryable, limit: number): Promise<DueReservation[]> {
  const rows = await db.query(
    `select shop_id, id, array(select product_id from main.reservation_item where reservation_id = id order by product_id) as product_ids
     from main.reservation where state = 'held' and expires_at <= clock_timestamp() order by expires_at, id limit $1`,
    [limit],
  );
  return rows.map(decodeDue);
}

/** Ends the held reservations of a product that the transaction has locked and deletes. The next sweep returns the stock that they hold. */
export async function endReservationsOf(tx: Queryable, shopId: string, productId: string): Promise<void> {
  await tx.query(
    `update main.reservation set expires_at = clock_timestamp(), ends_as = 'released'
     where id in (
       select id from main.reservation
       where shop_id = $1 and state = 'held' and expires_at > clock_timestamp()
         and id in (select reservation_id from main.reservation_item where product_id = $2)
       order by id for update)`,
    [shopId, productId],
  );
}

const toLockSql = (locked: WhenLocked) => `
  select locked.*, clock_timestamp() as locked_at from (
    select id, name, inventory, track_inventory from main.product
    where shop_id = $1 and id = any ((select $2::text[])::text[]) order by id for update ${locked === 'skip' ? 'skip locked' : ''}
  ) as locked`;

const LOCK = { wait: toLockSql('wait'), skip: toLockSql('skip') };

const decodeLocked = rowDecoder('product', {
  id: text,
  name: text,
  inventory: integer,
  trackInventory: column('track_inventory', boolean),
  lockedAt: column('locked_at', timestamp),
});

/** A product that is locked until the transaction ends. `lockedAt`: the time of the database after the lock. */
export type LockedProduct = ReturnType<typeof decodeLocked>;

/** Locks products of the shop in the order of their ids, the order of all changes of stock. Unknown ids are left out. */
export async function lockProducts(
  tx: Queryable,
  shopId: string,
  ids: readonly string[],
  locked: WhenLocked,
): Promise<LockedProduct[]> {
  return (await queryHot(tx, LOCK[locked], [shopId, ids])).map(decodeLocked);
}

/** Which of the products the shop has. */
export async function listExistingProducts(
  tx: Queryable,
  shopId: string,
  ids: readonly string[],
): Promise<Set<string>> {
  const rows = await tx.query<{ id: string }>(
    `select id from main.product where shop_id = $1 and id = any ($2::text[])`,
    [shopId, ids],
  );
  return new Set(rows.map(({ id }) => id));
}

export type ReservationWrites = {
  /** The reservations as they shall be stored. */
  reservations: readonly Reservation[];
  /** How much more each product has reserved. */
  reserved: ReadonlyMap<string, number>;
  events: readonly { id: string; type: string; data: object }[];
  now: number;
};

/** The events are one JSON text, because an array of JSON texts would be escaped character by character, which takes as long as all the rest. */
const WRITE = `
  with moved as (
    update main.product as product set reserved = product.reserved + change.reserved
    from unnest($2::text[], $3::bigint[]) as change (id, reserved)
    where product.id = change.id and product.shop_id = $1
  ), stored as (
    insert into main.reservation as stored (id, shop_id, state, reference, created_at, expires_at, ended_at)
    select id, $1, state, reference, created_at, expires_at, ended_at
    from unnest($4::text[], $5::text[], $6::text[], $7::timestamptz[], $8::timestamptz[], $9::timestamptz[])
      as reservation (id, state, reference, created_at, expires_at, ended_at)
    on conflict (id) do update set state = excluded.state, expires_at = excluded.expires_at, ended_at = excluded.ended_at
  ), items as (
    insert into main.reservation_item as item (reservation_id, number, product_id, quantity, held, consumed, is_counted)
    select * from unnest($10::text[], $11::integer[], $12::text[], $13::integer[], $14::integer[], $15::integer[], $16::boolean[])
    on conflict (reservation_id, product_id) do update set held = excluded.held, consumed = excluded.consumed
  )
  insert into main.event (id, shop_id, type, data, created_at, fanned_out, number)
  select id, $1, type, data, $17, not exists (select from main.webhook where shop_id = $1 and event.type = any (webhook.events)),
    nextval('main.adjustment_id_seq')
  from (
    select event ->> 'id' as id, event ->> 'type' as type, (event -> 'data')::text as data
    from json_array_elements($18::json) with ordinality as given (event, place) order by place
  ) as event`;

/** Stores reservations, what products have reserved, and events, in one statement. The caller holds the locks on the products. */
export async function writeReservations(
  tx: Queryable,
  shopId: string,
  { reservations, reserved, events, now }: ReservationWrites,
): Promise<void> {
  const items = reservations.flatMap(({ id, items }) => items.map((item, number) => ({ ...item, id, number })));
  await queryHot(tx, WRITE, [
    shopId,
    [...reserved.keys()],
    [...reserved.values()],
    reservations.map(({ id }) => id),
    reservations.map(({ status }) => status),
    reservations.map(({ reference }) => reference),
    reservations.map(({ createdAt }) => new Date(createdAt)),
    reservations.map(({ expiresAt }) => new Date(expiresAt)),
    reservations.map(({ endedAt }) => (endedAt === null ? null : new Date(endedAt))),
    items.map(({ id }) => id),
    items.map(({ number }) => number),
    items.map(({ productId }) => productId),
    items.map(({ quantity }) => quantity),
    items.map(({ held }) => held),
    items.map(({ consumed }) => consumed),
    items.map(({ isCounted }) => isCounted),
    new Date(now),
    JSON.stringify(events),
  ]);
}
