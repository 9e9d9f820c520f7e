// Signed orders of the own book, one at a time: taken in, looked up, and cancelled by word. Primary database. What became of an
// order is judged in order-states.ts.

import type { Address, AssetId } from '../../core/address.ts';
import type { ListingStatus } from '../order-id.ts';
import type { DormantReason } from '../status.ts';
import type { Queryable, Row } from '../../database/port.ts';
import type { Hex, TokenStandard } from '../../core/evm.ts';

/** What a signed order says, as columns have it. Prices are for one unit; times in milliseconds. */
export type SignedTerms = {
  orderHash: Hex;
  protocolAddress: Address;
  orderType: number;
  standard: TokenStandard;
  quantity: bigint;
  /** null: fee and royalty come on top. */
  buyerTotalRaw: bigint | null;
  counter: bigint;
  startsAt: number;
  operator: Address;
};

export type SignedOrder = SignedTerms & {
  orderId: string;
  collectionId: string;
  chain: string;
  contractAddress: Address;
  asset: AssetId;
  raw: bigint;
  seller: Address;
  createdAt: number;
  expiresAt: number | null;
  seaport: { parameters: object; signature: string };
};

/** An order of the own book, signed or not, with what became of it. */
export type StoredOrder = Omit<SignedOrder, keyof SignedTerms | 'seaport'> & {
  status: ListingStatus;
  dormant: DormantReason | null;
  filledQuantity: bigint;
  endedAt: number | null;
  tx: string | null;
  /** null for a row that was imported as it was told. */
  signed: SignedTerms | null;
  seaport: SignedOrder['seaport'] | null;
};

/** False when the id or the order hash is taken. */
export async function insertSignedOrder(tx: Queryable, order: SignedOrder): Promise<boolean> {
  const rows = await tx.query(
    `insert into main.book_order (id, collection_id, chain, contract_address, token_id, price_raw, seller, status, created_at,
       starts_at, expires_at, seaport, order_hash, protocol_address, order_type, standard, quantity, buyer_total_raw, counter,
       operator)
     values ($1, $2, $3, $4, $5, $6, $7, 'active', $8, $9, $10, $11, $12, $13, $14, $15, $16, $17, $18, $19)
     on conflict do nothing returning 1`,
    [
      order.orderId,
      order.collectionId,
      order.chain,
      order.contractAddress,
      order.asset,
      order.raw.toString(),
      order.seller,
      new Date(order.createdAt),
      new Date(order.startsAt),
      order.expiresAt === null ? null : new Date(order.expiresAt),
      JSON.stringify(order.seaport),
      order.orderHash,
      order.protocolAddress,
      order.orderType,
      order.standard,
      order.quantity.toString(),
      order.buyerTotalRaw?.toString() ?? null,
      order.counter.toString(),
      order.operator,
    ],
  );
  return rows.length > 0;
}

/** The id under which the book has an order of this hash, or null. */
export async function findOrderIdByHash(db: Queryable, chain: string, orderHash: string): Promise<string | null> {
  const [row] = await db.query<{ id: string }>(`select id from main.book_order where chain = $1 and order_hash = $2`, [
    chain,
    orderHash,
  ]);
  return row?.id ?? null;
}

/** Which ids the book has the given orders under, as `chain hash` to id. */
export async function listOrderIdsByHash(
  db: Queryable,
  orders: readonly { chain: string; orderHash: string }[],
): Promise<Map<string, string>> {
  if (orders.length === 0) return new Map();
  const rows = await db.query<{ id: string; chain: string; order_hash: string }>(
    `select id, chain, order_hash from main.book_order
     where (chain, order_hash) in (select * from unnest($1::text[], $2::text[]))`,
    [orders.map(({ chain }) => chain), orders.map(({ orderHash }) => orderHash)],
  );
  return new Map(rows.map((row) => [`${row.chain} ${row.order_hash}`, row.id]));
}

/** `lock`: nobody else ends it until the transaction does. */
export async function findStoredOrder(
  db: Queryable,
  orderId: string,
  lock?: 'for update',
): Promise<StoredOrder | null> {
  const [row] = await db.query(`select * from main.book_order where id = $1 ${lock ?? ''}`, [orderId]);
  return row ? toStoredOrder(row) : null;
}

export type OrderCancel = { word: 'offerer' | 'operator'; signature: string | null; createdAt: number };

/** Cancels an order by word. One that was is cancelled by the word that came first. */
export async function insertOrderCancel(tx: Queryable, orderId: string, cancel: OrderCancel): Promise<void> {
  await tx.query(
    `insert into main.order_cancel (order_id, word, signature, created_at) values ($1, $2, $3, $4)
     on conflict (order_id) do nothing`,
    [orderId, cancel.word, cancel.signature, new Date(cancel.createdAt)],
  );
}

export async function findOrderCancel(db: Queryable, orderId: string): Promise<OrderCancel | null> {
  const [row] = await db.query(`select word, signature, created_at from main.order_cancel where order_id = $1`, [
    orderId,
  ]);
  return row
    ? {
        word: row['word'] as OrderCancel['word'],
        signature: row['signature'] as string | null,
        createdAt: (row['created_at'] as Date).getTime(),
      }
    : null;
}

/** The counter that the log of events knows of an offerer; null where it tells of none. */
export async function findOffererCounter(
  db: Queryable,
  key: { chain: string; protocol: string; offerer: string },
): Promise<bigint | null> {
  const [row] = await db.query<{ counter: string }>(
    `select counter from main.offerer_counter where chain = $1 and protocol = $2 and offerer = $3`,
    [key.chain, key.protocol, key.offerer],
  );
  return row ? BigInt(row.counter) : null;
}

function toStoredOrder(row: Row): StoredOrder {
  const timeOf = (name: string) => (row[name] as Date | null)?.getTime() ?? null;
  const amountOf = (name: string) => (row[name] === null ? null : BigInt(row[name] as string));
  return {
    orderId: row['id'] as string,
    collectionId: row['collection_id'] as string,
    chain: row['chain'] as string,
    contractAddress: row['contract_address'] as Address,
    asset: row['token_id'] as AssetId,
    raw: amountOf('price_raw') ?? 0n,
    seller: row['seller'] as Address,
    createdAt: timeOf('created_at') ?? 0,
    expiresAt: timeOf('expires_at'),
    status: row['status'] as ListingStatus,
    dormant: row['dormant'] as DormantReason | null,
    filledQuantity: amountOf('filled_quantity') ?? 0n,
    endedAt: timeOf('ended_at'),
    tx: row['tx'] as string | null,
    signed: row['order_hash'] === null ? null : toSignedTerms(row),
    seaport: row['seaport'] as StoredOrder['seaport'],
  };
}

function toSignedTerms(row: Row): SignedTerms {
  const total = row['buyer_total_raw'] as string | null;
  return {
    orderHash: row['order_hash'] as Hex,
    protocolAddress: row['protocol_address'] as Address,
    orderType: row['order_type'] as number,
    standard: row['standard'] as SignedTerms['standard'],
    quantity: BigInt(row['quantity'] as string),
    buyerTotalRaw: total === null ? null : BigInt(total),
    counter: BigInt(row['counter'] as string),
    startsAt: (row['starts_at'] as Date).getTime(),
    operator: row['operator'] as Address,
  };
}
