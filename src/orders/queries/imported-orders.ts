// Writes the orders of imported records. Primary database.

import type { Address, AssetId } from '../../core/address.ts';
import type { Queryable } from '../../database/port.ts';
import type { UpsertCounts } from '../../database/upsert.ts';
import { toTimestamp, upsertRows } from '../../database/upsert.ts';
import type { ListingStatus } from '../order-id.ts';
import type { SeaportJson, SignedTerms } from './stored-orders.ts';

/** Times in milliseconds. `id` contains `createdAt`, so an update cannot change that time. */
export type ImportedOrder = {
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
  /** Null when the record has no components and signature. */
  seaport: SeaportJson | null;
  /** The terms that the signature covers. Null when the record has no signature, or its signature was not verified. */
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
const TERMS = ['price_raw', 'seller', 'expires_at', ...SIGNED_COLUMNS];
/** A signed stored order keeps its terms, unless the incoming record is also signed. */
const termOf = (column: string) =>
  `case when stored.order_hash is null or excluded.order_hash is not null then excluded.${column} else stored.${column} end`;

/** A record updates a stored order only while that order is active. An unsigned record does not change the terms of a signed order. */
export function upsertOrders(tx: Queryable, orders: readonly ImportedOrder[]): Promise<UpsertCounts> {
  return upsertRows(tx, orders, {
    keyOf: (order) => order.id,
    fold: foldOrder,
    toColumns: toOrderColumns,
    sql: `upserted as (insert into main.book_order as stored (id, collection_id, chain, contract_address, token_id, price_raw, seller,
        status, created_at, expires_at, tx, seaport, ${SIGNED_COLUMNS.join(', ')})
      select * from json_to_recordset($1::json) as incoming (
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

/** Merges two records of one order in a batch, by the rules of the SQL statement in `upsertOrders`. */
function foldOrder(earlier: ImportedOrder, later: ImportedOrder): ImportedOrder {
  if (earlier.status !== 'active') return earlier;
  const terms = earlier.signed && !later.signed ? { ...earlier, status: later.status } : later;
  return { ...terms, tx: later.tx ?? earlier.tx, seaport: later.seaport ?? earlier.seaport };
}

function toOrderColumns(order: ImportedOrder): Record<string, unknown> {
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
