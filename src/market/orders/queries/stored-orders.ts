// Inserts a signed order, and finds an order of any status by its id or by its hash. Primary database.

import type { Address, AssetId } from '../../../platform/core/address.ts';
import type { Hex, TokenStandard } from '../../../platform/core/evm.ts';
import type { Queryable, Row } from '../../../platform/database/port.ts';
import { toTextArray } from '../../../platform/database/row-source.ts';
import {
  address,
  amount,
  assetId,
  column,
  hex,
  integer,
  json,
  nullable,
  oneOf,
  rowDecoder,
  RowError,
  text,
  timestamp,
} from '../../../platform/database/rows.ts';
import { recordStateChanges } from '../../activity/queries/state-changes.ts';
import type { ListingStatus, OrderKey } from '../order-id.ts';
import { LISTING_STATUSES, ORDER_SIDES, toOrderKeyText } from '../order-id.ts';
import type { DormantReason } from '../status.ts';
import { DORMANT_REASONS } from '../status.ts';

/** Each term is stored in a column of its own. Prices are for one unit; times are in milliseconds. */
export type SignedTerms = {
  orderHash: Hex;
  protocolAddress: Address;
  orderType: number;
  standard: TokenStandard;
  quantity: bigint;
  /**
   * The total that a buyer pays, if the fees are part of the signed order. Null when the order has no fees: platform fee and royalty are
   * then added to the ask.
   */
  buyerTotalRaw: bigint | null;
  counter: bigint;
  startsAt: number;
  /** The account that must be approved to transfer what the order offers. */
  operator: Address;
};

/** What another account needs to fill an order: its components, and the signature. */
export type SeaportJson = { parameters: object; signature: string };

/**
 * Which side the order is of, and which tokens it is for. `asset`: the token; null for a bid that several tokens meet. `proceeds`: what the seller
 * keeps of the price of a bid. `root`: for a bid that the tokens of a set meet, the root of their Merkle tree. `currency`: the contract of the currency of a
 * bid; null for the wrapped native one.
 */
export type OrderSubject =
  | { side: 'ask'; asset: AssetId; proceeds: null; root: null; currency: null }
  | { side: 'bid'; asset: AssetId | null; proceeds: bigint; root: Hex | null; currency: Address | null };

type OrderRow = {
  orderId: string;
  collectionId: string;
  chain: string;
  contractAddress: Address;
  /** The price of one unit: what the seller of an ask receives, and what the bidder pays. */
  raw: bigint;
  /** The account that signed the order: the seller of an ask, and the bidder. */
  seller: Address;
  createdAt: number;
  expiresAt: number | null;
};

export type SignedOrder = SignedTerms & OrderRow & OrderSubject & { seaport: SeaportJson };

type StoredRow = OrderRow & {
  status: ListingStatus;
  dormant: DormantReason | null;
  filledQuantity: bigint;
  endedAt: number | null;
  tx: string | null;
  /** Null for an order that was imported without a signature. */
  signed: SignedTerms | null;
  /** Null for an order that was imported without components and signature. */
  seaport: SeaportJson | null;
};

export type StoredOrder = StoredRow & OrderSubject;

/** Records an ask as listed if it has started, and a bid as made. Returns false when an order with the same id, or with the same chain and hash, is already stored. */
export async function insertSignedOrder(tx: Queryable, order: SignedOrder, now: number): Promise<boolean> {
  const rows = await tx.query(
    `with before as (
       select * from main.book_order where id = $1
     ), added as (
       insert into main.book_order as stored (id, collection_id, chain, contract_address, token_id, price_raw, seller, status, created_at,
         starts_at, expires_at, seaport, order_hash, protocol_address, order_type, standard, quantity, buyer_total_raw, counter,
         operator, side, proceeds_raw, root, currency)
       values ($1, $2, $3, $4, $5, $6, $7, 'active', $8, $9, $10, $11, $12, $13, $14, $15, $16, $17, $18, $19, $21, $22, $23, $24)
       on conflict do nothing returning true as inserted, stored.*
     ), ${recordStateChanges('order', { written: 'added', before: 'before', now: '$20' })}
     select 1 from added`,
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
      new Date(now),
      order.side,
      order.proceeds?.toString() ?? null,
      order.root,
      order.currency,
    ],
  );
  return rows.length > 0;
}

/** Returns a map from the key of each stored order, as `toOrderKeyText` writes it, to the id of the order. Keys without a stored order are left out. */
export async function listOrderIdsByHash(db: Queryable, keys: readonly OrderKey[]): Promise<Map<string, string>> {
  if (keys.length === 0) return new Map();
  const rows = await db.query(
    `select id, chain, order_hash from main.book_order
     where order_hash is not null and (chain, order_hash) in (select * from unnest($1::text[], $2::text[]))`,
    [toTextArray(keys.map(({ chain }) => chain)), toTextArray(keys.map(({ orderHash }) => orderHash))],
  );
  return new Map(rows.map(decodeKey).map((row) => [toOrderKeyText(row), row.id]));
}

const decodeKey = rowDecoder('book_order', { id: text, chain: text, orderHash: column('order_hash', text) });

/** Null when there is no order with this id. With `lock`, no other transaction can change the order until this transaction ends. */
export async function findStoredOrder(
  db: Queryable,
  orderId: string,
  lock?: 'for update',
): Promise<StoredOrder | null> {
  const [row] = await db.query(`select * from main.book_order where id = $1 ${lock ?? ''}`, [orderId]);
  return row ? toStoredOrder(row) : null;
}

const decodeOrder = rowDecoder('book_order', {
  orderId: column('id', text),
  collectionId: column('collection_id', text),
  chain: text,
  contractAddress: column('contract_address', address),
  side: oneOf(ORDER_SIDES),
  asset: column('token_id', nullable(assetId)),
  proceeds: column('proceeds_raw', nullable(amount)),
  root: nullable(hex),
  currency: nullable(address),
  raw: column('price_raw', amount),
  seller: address,
  createdAt: column('created_at', timestamp),
  expiresAt: column('expires_at', nullable(timestamp)),
  status: oneOf(LISTING_STATUSES),
  dormant: nullable(oneOf(DORMANT_REASONS)),
  filledQuantity: column('filled_quantity', amount),
  endedAt: column('ended_at', nullable(timestamp)),
  tx: nullable(text),
  seaport: nullable(json('object with parameters and signature', isSeaportJson)),
  orderHash: column('order_hash', nullable(hex)),
});

const decodeSignedTerms = rowDecoder('book_order', {
  orderHash: column('order_hash', hex),
  protocolAddress: column('protocol_address', address),
  orderType: column('order_type', integer),
  standard: oneOf(['erc721', 'erc1155']),
  quantity: amount,
  buyerTotalRaw: column('buyer_total_raw', nullable(amount)),
  counter: amount,
  startsAt: column('starts_at', timestamp),
  operator: address,
});

function toStoredOrder(row: Row): StoredOrder {
  const { orderHash, side, asset, proceeds, root, currency, ...order } = decodeOrder(row);
  return {
    ...order,
    ...toSubject({ side, asset, proceeds, root, currency }),
    signed: orderHash === null ? null : decodeSignedTerms(row),
  };
}

/** Checks that the columns of a row agree with its side, as the constraints of the table demand. */
function toSubject({ side, asset, proceeds, root, currency }: OrderColumns): OrderSubject {
  if (side === 'bid' && proceeds !== null) return { side, asset, proceeds, root, currency };
  if (side === 'ask' && asset !== null) return { side, asset, proceeds: null, root: null, currency: null };
  throw new RowError(`book_order: the columns are not those of a row of the side ${side}`);
}

type OrderColumns = Pick<ReturnType<typeof decodeOrder>, keyof OrderSubject>;

function isSeaportJson(value: unknown): value is SeaportJson {
  if (typeof value !== 'object' || value === null) return false;
  const { parameters, signature } = value as Partial<Record<keyof SeaportJson, unknown>>;
  return typeof parameters === 'object' && parameters !== null && typeof signature === 'string';
}
