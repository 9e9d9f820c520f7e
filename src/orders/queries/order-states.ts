// The evidence of each signed order, and the state that follows from it, written back so that reads find it by an index.
// Primary database. It never decides a status itself: orders/status.ts does.

import type { Ending, OrderEvidence, OrderState, OrderTerms } from '../status.ts';
import { deriveOrderStatus } from '../status.ts';
import { isPartialOrder } from '../../core/seaport.ts';
import type { Queryable, Row } from '../../database/port.ts';

/** What a step of a chain may have changed, and whose orders have to be looked at again therefore. */
export type Touched = {
  chain: string;
  orderHashes: ReadonlySet<string>;
  /** Tokens that moved or whose approval changed. */
  tokens: readonly { collectionId: string; tokenId: string }[];
  /** Accounts whose approvals changed for a whole collection. */
  owners: readonly { collectionId: string; owner: string }[];
  /** Accounts whose counter changed. */
  offerers: ReadonlySet<string>;
};

/** An order with its evidence, and the state that is stored. */
export type JudgedOrder = {
  orderId: string;
  collectionId: string;
  terms: OrderTerms;
  evidence: OrderEvidence;
  stored: OrderState;
};

/** A state that came out otherwise than it was stored. */
export type OrderChange = { orderId: string; collectionId: string; from: OrderState; to: OrderState };

/** Orders judged at a time. */
const BATCH_SIZE = 500;

/** The ids of the signed orders that something may have touched. */
export async function listTouchedOrders(tx: Queryable, touched: Touched): Promise<string[]> {
  const rows = await tx.query<{ id: string }>(
    `select id from main.book_order where chain = $1 and order_hash = any($2)
     union
     select id from main.book_order join unnest($3::text[], $4::text[]) as moved (collection_id, token_id)
       on book_order.collection_id = moved.collection_id and book_order.token_id = moved.token_id
       where order_hash is not null
     union
     select id from main.book_order join unnest($5::text[], $6::text[]) as owned (collection_id, owner)
       on book_order.collection_id = owned.collection_id and book_order.seller = owned.owner
       where chain = $1 and order_hash is not null
     union
     select id from main.book_order where chain = $1 and seller = any($7) and order_hash is not null
     order by id`,
    [
      touched.chain,
      [...touched.orderHashes],
      touched.tokens.map((token) => token.collectionId),
      touched.tokens.map((token) => token.tokenId),
      touched.owners.map((owner) => owner.collectionId),
      touched.owners.map((owner) => owner.owner),
      [...touched.offerers],
    ],
  );
  return rows.map((row) => row.id);
}

/** Every signed order of a collection: for when the collection joins or leaves what is followed. */
export async function listSignedOrders(tx: Queryable, collectionId: string): Promise<string[]> {
  const rows = await tx.query<{ id: string }>(
    `select id from main.book_order where collection_id = $1 and order_hash is not null order by id`,
    [collectionId],
  );
  return rows.map((row) => row.id);
}

/** Judges the given orders anew and writes what changed. In the transaction that changed their evidence. */
export async function updateOrderStates(
  tx: Queryable,
  orderIds: readonly string[],
  now: number,
): Promise<OrderChange[]> {
  const changes: OrderChange[] = [];
  for (let start = 0; start < orderIds.length; start += BATCH_SIZE) {
    for (const order of await listJudgedOrders(tx, orderIds.slice(start, start + BATCH_SIZE))) {
      const to = deriveOrderStatus(order.terms, order.evidence, now);
      const { orderId, collectionId, stored } = order;
      if (!isSameState(stored, to)) changes.push({ orderId, collectionId, from: stored, to });
    }
  }
  await writeStates(tx, changes);
  return changes;
}

/** An order with its evidence, or null where there is no signed order of that id. */
export async function findJudgedOrder(db: Queryable, orderId: string): Promise<JudgedOrder | null> {
  return (await listJudgedOrders(db, [orderId]))[0] ?? null;
}

function isSameState(a: OrderState, b: OrderState): boolean {
  return (
    a.status === b.status &&
    a.dormant === b.dormant &&
    a.filledQuantity === b.filledQuantity &&
    a.endedAt === b.endedAt &&
    a.tx === b.tx
  );
}

async function writeStates(tx: Queryable, changes: readonly OrderChange[]): Promise<void> {
  if (changes.length === 0) return;
  await tx.query(
    `update main.book_order as stored set status = told.status, dormant = told.dormant,
       filled_quantity = told.filled_quantity, ended_at = told.ended_at, tx = told.tx
     from unnest($1::text[], $2::text[], $3::text[], $4::numeric[], $5::timestamptz[], $6::text[])
       as told (id, status, dormant, filled_quantity, ended_at, tx)
     where stored.id = told.id`,
    [
      changes.map(({ orderId }) => orderId),
      changes.map(({ to }) => to.status),
      changes.map(({ to }) => to.dormant),
      changes.map(({ to }) => to.filledQuantity.toString()),
      changes.map(({ to }) => (to.endedAt === null ? null : new Date(to.endedAt))),
      changes.map(({ to }) => to.tx),
    ],
  );
}

const ENDING = `json_build_object('at', (extract(epoch from block_time) * 1000)::bigint, 'tx', event.tx)`;

async function listJudgedOrders(db: Queryable, orderIds: readonly string[]): Promise<JudgedOrder[]> {
  const rows = await db.query(
    `select stored.id, stored.collection_id, stored.counter, stored.quantity, stored.order_type, stored.expires_at,
       stored.status, stored.dormant, stored.filled_quantity, stored.ended_at, stored.tx, fills.fills, cancel.cancel,
       raise.raise, word.created_at as word_at,
       case when follow.joined then coalesce((select quantity from main.holding
         where holding.collection_id = stored.collection_id and holding.token_id = stored.token_id
           and holder = stored.seller), 0) end as balance,
       case when follow.joined then exists (select from main.operator_approval as approval
           where approval.collection_id = stored.collection_id and owner = stored.seller
             and approval.operator = stored.operator)
         or exists (select from main.token_approval as approval
           where approval.collection_id = stored.collection_id and approval.token_id = stored.token_id
             and approval.operator = stored.operator) end as approved
     from main.book_order as stored
     left join main.follow on follow.collection_id = stored.collection_id
     left join main.order_cancel as word on word.order_id = stored.id
     cross join lateral (
       select coalesce(json_agg(json_build_object('at', (extract(epoch from block_time) * 1000)::bigint, 'tx', event.tx,
         'quantity', details -> 'offer' -> 0 ->> 'amount') order by block_number, log_index), '[]') as fills
       from main.chain_event as event where event.chain = stored.chain and event.order_hash = stored.order_hash
         and kind = 'order-fulfilled' and contract = stored.protocol_address) as fills
     left join lateral (
       select ${ENDING} as cancel from main.chain_event as event
       where event.chain = stored.chain and event.order_hash = stored.order_hash and kind = 'order-cancelled'
         and contract = stored.protocol_address
       order by block_number, log_index limit 1) as cancel on true
     left join lateral (
       select ${ENDING} as raise from main.chain_event as event
       where event.chain = stored.chain and contract = stored.protocol_address and account = stored.seller
         and kind = 'counter-incremented' and (details ->> 'counter')::numeric > stored.counter
       order by block_number, log_index limit 1) as raise on true
     where stored.id = any($1) and stored.order_hash is not null
     order by stored.id`,
    [orderIds],
  );
  return rows.map(toJudgedOrder);
}

function toJudgedOrder(row: Row): JudgedOrder {
  const timeOf = (name: string) => (row[name] as Date | null)?.getTime() ?? null;
  const wordAt = timeOf('word_at');
  const fills = row['fills'] as (Ending & { quantity: string })[];
  return {
    orderId: row['id'] as string,
    collectionId: row['collection_id'] as string,
    terms: {
      counter: BigInt(row['counter'] as string),
      quantity: BigInt(row['quantity'] as string),
      partial: isPartialOrder(row['order_type'] as number),
      expiresAt: timeOf('expires_at'),
    },
    evidence: {
      fills: fills.map((fill) => ({ ...fill, quantity: BigInt(fill.quantity) })),
      cancel: row['cancel'] as Ending | null,
      counterRaise: row['raise'] as Ending | null,
      word: wordAt === null ? null : { at: wordAt, tx: null },
      balance: row['balance'] === null ? null : BigInt(row['balance'] as string),
      approved: row['approved'] as boolean | null,
    },
    stored: {
      status: row['status'] as OrderState['status'],
      dormant: row['dormant'] as OrderState['dormant'],
      filledQuantity: BigInt(row['filled_quantity'] as string),
      endedAt: timeOf('ended_at'),
      tx: row['tx'] as string | null,
    },
  };
}
