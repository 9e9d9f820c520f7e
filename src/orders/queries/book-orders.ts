// The own order book: signed orders on EVM chains. Primary database. An order that its clock has ended is never read as
// active, whether or not the sweep has recorded it.

import type { Address, AssetId } from '../../core/address.ts';
import type { ListingStatus } from '../order-id.ts';
import type { Queryable, Row } from '../../database/port.ts';
import type { SignedTerms } from './signed-orders.ts';
import type { UpsertCounts } from '../../database/upsert.ts';
import { toTimestamp, upsertRows } from '../../database/upsert.ts';

/** An active order as it is listed. `raw` is the ask: what the offerer receives. Times in milliseconds. */
export type BookOrder = {
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
};

const COLUMNS = `id, collection_id, chain, contract_address, token_id, price_raw, seller, created_at, expires_at, tx`;
/** What may be filled now, as far as anyone can tell; `now` names the parameter with the time. */
const listedAt = (now: string) =>
  `status = 'active' and dormant is null and price_raw > 0 and (expires_at is null or expires_at > ${now})
       and (starts_at is null or starts_at <= ${now})`;

/** Active orders of a collection, cheapest first, after the given place in that order. */
export async function listCheapestOrders(
  db: Queryable,
  collectionId: string,
  options: { now: number; limit: number; after?: { raw: bigint; orderId: string } },
): Promise<BookOrder[]> {
  const { now, limit, after } = options;
  const rows = await db.query(
    `select ${COLUMNS} from main.book_order
     where collection_id = $1 and ${listedAt('$2')}
       and (price_raw, id) > ($4::numeric, $5::text)
     order by price_raw, id limit $3`,
    [collectionId, new Date(now), limit, (after?.raw ?? 0n).toString(), after?.orderId ?? ''],
  );
  return rows.map(toBookOrder);
}

/**
 * The cheapest fill of a collection's own orders: of those that say what a buyer pays in all (`total`), and the cheapest ask of
 * those on which fee and royalty come on top (`ask`).
 */
export async function findCheapestOwnFills(
  db: Queryable,
  collectionId: string,
  now: number,
): Promise<{ total: bigint | null; ask: bigint | null }> {
  const [row] = await db.query<{ total: string | null; ask: string | null }>(
    `select (select buyer_total_raw from main.book_order
         where collection_id = $1 and buyer_total_raw is not null and ${listedAt('$2')}
         order by buyer_total_raw limit 1) as total,
       (select price_raw from main.book_order
         where collection_id = $1 and buyer_total_raw is null and ${listedAt('$2')} order by price_raw, id limit 1) as ask`,
    [collectionId, new Date(now)],
  );
  const toAmount = (text: string | null | undefined) => (text === null || text === undefined ? null : BigInt(text));
  return { total: toAmount(row?.total), ask: toAmount(row?.ask) };
}

/** Which of the given assets have an active order. */
export async function listOrderedAssets(
  db: Queryable,
  collectionId: string,
  assets: readonly string[],
  now: number,
): Promise<string[]> {
  const rows = await db.query<{ token_id: string }>(
    `select distinct token_id from main.book_order
     where collection_id = $1 and token_id = any($2) and ${listedAt('$3')}`,
    [collectionId, assets, new Date(now)],
  );
  return rows.map((row) => row.token_id);
}

/** The cheapest active order of one asset, or null. */
export async function findOrderOfAsset(
  db: Queryable,
  collectionId: string,
  asset: string,
  now: number,
): Promise<BookOrder | null> {
  const [row] = await db.query(
    `select ${COLUMNS} from main.book_order
     where collection_id = $1 and token_id = $2 and ${listedAt('$3')}
     order by price_raw, id limit 1`,
    [collectionId, asset, new Date(now)],
  );
  return row ? toBookOrder(row) : null;
}

/** The cheapest active ask of each of the given collections that has one. */
export async function listCheapestAsks(
  db: Queryable,
  collectionIds: readonly string[],
  now: number,
): Promise<Map<string, bigint>> {
  const rows = await db.query<{ id: string; price_raw: string }>(
    `select wanted.id, cheapest.price_raw from unnest($1::text[]) as wanted (id)
     cross join lateral (
       select price_raw from main.book_order
       where collection_id = wanted.id and ${listedAt('$2')}
       order by price_raw, id limit 1
     ) as cheapest`,
    [collectionIds, new Date(now)],
  );
  return new Map(rows.map((row) => [row.id, BigInt(row.price_raw)]));
}

/** Of the given (collection, asset) pairs, the ids of the collections whose asset has an active order. */
export async function listCollectionsWithOrderedAsset(
  db: Queryable,
  pairs: readonly { collectionId: string; asset: string }[],
  now: number,
): Promise<Set<string>> {
  const rows = await db.query<{ id: string }>(
    `select wanted.id from unnest($1::text[], $2::text[]) as wanted (id, asset)
     where exists (
       select from main.book_order
       where collection_id = wanted.id and token_id = wanted.asset and ${listedAt('$3')}
     )`,
    [pairs.map((pair) => pair.collectionId), pairs.map((pair) => pair.asset), new Date(now)],
  );
  return new Set(rows.map((row) => row.id));
}

/** Every asset with an active order of the given collections, up to `limit` in all. */
export async function listAllOrderedAssets(
  db: Queryable,
  collectionIds: readonly string[],
  options: { now: number; limit: number },
): Promise<{ collectionId: string; asset: string }[]> {
  const rows = await db.query<{ collection_id: string; token_id: string }>(
    `select distinct collection_id, token_id from main.book_order
     where collection_id = any($1) and ${listedAt('$2')} limit $3`,
    [collectionIds, new Date(options.now), options.limit],
  );
  return rows.map((row) => ({ collectionId: row.collection_id, asset: row.token_id }));
}

/** The ids of the orders in the book that have one of the given hashes, by hash. */
export async function listOrderIdsByHash(
  db: Queryable,
  chain: string,
  hashes: readonly string[],
): Promise<Map<string, string>> {
  const rows = await db.query<{ order_hash: string; id: string }>(
    `select order_hash, id from main.book_order where chain = $1 and order_hash = any($2)`,
    [chain, hashes],
  );
  return new Map(rows.map((row) => [row.order_hash, row.id]));
}

/** Records what the clock has ended, a batch at a time; returns how many orders that were. */
export async function updateExpiredOrders(db: Queryable, now: number, limit: number): Promise<number> {
  const rows = await db.query(
    `update main.book_order set status = 'expired', dormant = null, ended_at = expires_at where id in (
       select id from main.book_order where status = 'active' and expires_at <= $1 limit $2 for update skip locked
     ) returning id`,
    [new Date(now), limit],
  );
  return rows.length;
}

/** An own order as it was told. Its id holds its creation time, so all that is told of one id is of one time. */
export type NewOrder = {
  id: string;
  collectionId: string;
  chain: string;
  contractAddress: Address;
  tokenId: AssetId;
  priceRaw: bigint;
  seller: string;
  status: ListingStatus;
  createdAt: number;
  expiresAt: number | null;
  tx: string | null;
  /** The signed order, where it can be filled. */
  seaport: { parameters: object; signature: string } | null;
  /** What that order says, verified; null for a row that is taken as it is told. */
  signed: SignedTerms | null;
};

const SIGNED_COLUMNS = [
  'order_hash',
  'protocol_address',
  'order_type',
  'standard',
  'quantity',
  'buyer_total_raw',
  'counter',
  'starts_at',
  'operator',
];
/** What is told without a signature of an order that has one can only end it: its terms are those that were signed. */
const termOf = (column: string) =>
  `case when stored.order_hash is null or excluded.order_hash is not null then excluded.${column} else stored.${column} end`;
const TERMS = ['price_raw', 'seller', 'expires_at', ...SIGNED_COLUMNS];

/** Lands orders. What has ended stays as it ended; an active one takes what is told last. */
export function upsertOrders(tx: Queryable, orders: readonly NewOrder[]): Promise<UpsertCounts> {
  return upsertRows(tx, orders, {
    keyOf: (order) => order.id,
    fold: foldOrder,
    toColumns: toOrderColumns,
    sql: `landed as (insert into main.book_order as stored (id, collection_id, chain, contract_address, token_id, price_raw, seller,
        status, created_at, expires_at, tx, seaport, ${SIGNED_COLUMNS.join(', ')})
      select * from json_to_recordset($1::json) as told (
        id text, collection_id text, chain text, contract_address text, token_id text, price_raw numeric, seller text,
        status text, created_at timestamptz, expires_at timestamptz, tx text, seaport jsonb, order_hash text,
        protocol_address text, order_type smallint, standard text, quantity numeric, buyer_total_raw numeric,
        counter numeric, starts_at timestamptz, operator text)
      on conflict (id) do update set status = excluded.status, tx = coalesce(excluded.tx, stored.tx),
        seaport = coalesce(excluded.seaport, stored.seaport),
        ${TERMS.map((column) => `${column} = ${termOf(column)}`).join(', ')}
      where stored.status = 'active'
        and (stored.status, stored.tx, stored.seaport, ${TERMS.map((column) => `stored.${column}`).join(', ')})
          is distinct from (excluded.status, coalesce(excluded.tx, stored.tx), coalesce(excluded.seaport, stored.seaport),
            ${TERMS.map(termOf).join(', ')})
      returning (xmax = 0) as inserted)`,
  });
}

function foldOrder(earlier: NewOrder, later: NewOrder): NewOrder {
  if (earlier.status !== 'active') return earlier;
  const terms = earlier.signed && !later.signed ? { ...earlier, status: later.status } : later;
  return { ...terms, tx: later.tx ?? earlier.tx, seaport: later.seaport ?? earlier.seaport };
}

function toOrderColumns(order: NewOrder): Record<string, unknown> {
  return {
    id: order.id,
    collection_id: order.collectionId,
    chain: order.chain,
    contract_address: order.contractAddress,
    token_id: order.tokenId,
    price_raw: order.priceRaw.toString(),
    seller: order.seller,
    status: order.status,
    created_at: toTimestamp(order.createdAt),
    expires_at: order.expiresAt === null ? null : toTimestamp(order.expiresAt),
    tx: order.tx,
    seaport: order.seaport,
    order_hash: order.signed?.orderHash ?? null,
    protocol_address: order.signed?.protocolAddress ?? null,
    order_type: order.signed?.orderType ?? null,
    standard: order.signed?.standard ?? null,
    quantity: order.signed?.quantity.toString() ?? '1',
    buyer_total_raw: order.signed?.buyerTotalRaw?.toString() ?? null,
    counter: order.signed?.counter.toString() ?? null,
    starts_at: order.signed ? toTimestamp(order.signed.startsAt) : null,
    operator: order.signed?.operator ?? null,
  };
}

function toBookOrder(row: Row): BookOrder {
  return {
    orderId: row['id'] as string,
    collectionId: row['collection_id'] as string,
    chain: row['chain'] as string,
    contractAddress: row['contract_address'] as Address,
    asset: row['token_id'] as AssetId,
    raw: BigInt(row['price_raw'] as string),
    seller: row['seller'] as string,
    createdAt: (row['created_at'] as Date).getTime(),
    expiresAt: (row['expires_at'] as Date | null)?.getTime() ?? null,
    tx: row['tx'] as string | null,
  };
}
