// Writes the orders of imported records. Primary database.

import type { Address, AssetId } from '../../../platform/core/address.ts';
import type { Queryable } from '../../../platform/database/port.ts';
import type { RowColumns } from '../../../platform/database/row-source.ts';
import type { UpsertCounts } from '../../../platform/database/upsert.ts';
import { upsertRows } from '../../../platform/database/upsert.ts';
import { recordStateChanges } from '../../activity/queries/state-changes.ts';
import type { ListingStatus } from '../order-id.ts';
import { statusAt } from '../order-id.ts';
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
  /** When an order ended that has ended. Null if this is not known. */
  endedAt: number | null;
  tx: string | null;
  /** Null when the record has no order components and no signature. */
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

const COLUMNS: RowColumns<ImportedOrder> = {
  id: { text: (order) => order.id },
  collection_id: { text: (order) => order.collectionId },
  chain: { text: (order) => order.chain },
  contract_address: { text: (order) => order.contractAddress },
  token_id: { text: (order) => order.tokenId },
  price_raw: { numeric: (order) => order.priceRaw },
  seller: { text: (order) => order.seller },
  status: { text: (order) => order.status },
  created_at: { timestamptz: (order) => order.createdAt },
  expires_at: { timestamptz: (order) => order.expiresAt },
  tx: { text: (order) => order.tx },
  seaport: { jsonb: (order) => order.seaport },
  ended_at: { timestamptz: (order) => order.endedAt },
  order_hash: { text: ({ signed }) => signed?.orderHash ?? null },
  protocol_address: { text: ({ signed }) => signed?.protocolAddress ?? null },
  order_type: { integer: ({ signed }) => signed?.orderType ?? null },
  standard: { text: ({ signed }) => signed?.standard ?? null },
  quantity: { numeric: ({ signed }) => signed?.quantity ?? 1n },
  buyer_total_raw: { numeric: ({ signed }) => signed?.buyerTotalRaw ?? null },
  counter: { numeric: ({ signed }) => signed?.counter ?? null },
  starts_at: { timestamptz: ({ signed }) => signed?.startsAt ?? null },
  operator: { text: ({ signed }) => signed?.operator ?? null },
};

/** The SQL condition that the row `stored` is active and has not expired, whether or not the sweep has recorded its expiry. */
const IS_OPEN = `(stored.status = 'active' and (stored.expires_at is null or stored.expires_at > $1))`;
/** The assignment of a column that a record changes only while the stored order is open. */
const whileOpen = (column: string, value: string) =>
  `${column} = case when ${IS_OPEN} then ${value} else stored.${column} end`;

/**
 * A record updates a stored order only while that order is active and has not expired at `now`. An unsigned record does not change the terms of
 * a signed order. Of an unsigned order that has ended, a record of the same status can only add the time of the end.
 */
export function upsertOrders(tx: Queryable, orders: readonly ImportedOrder[], now: number): Promise<UpsertCounts> {
  return upsertRows(tx, orders, {
    keyOf: (order) => order.id,
    fold: (earlier, later) => foldOrder(earlier, later, now),
    columns: COLUMNS,
    params: [new Date(now)],
    sql: `before as materialized (
        select * from main.book_order where id in (select id from incoming)
      ), upserted as (insert into main.book_order as stored (id, collection_id, chain, contract_address, token_id, price_raw, seller,
        status, created_at, expires_at, tx, seaport, ended_at, ${SIGNED_COLUMNS.join(', ')})
      select * from incoming
      on conflict (id) do update set ended_at = coalesce(excluded.ended_at, stored.ended_at),
        ${whileOpen('status', 'excluded.status')}, ${whileOpen('tx', 'coalesce(excluded.tx, stored.tx)')},
        ${whileOpen('seaport', 'coalesce(excluded.seaport, stored.seaport)')},
        ${TERMS.map((column) => whileOpen(column, termOf(column))).join(', ')}
      where case when ${IS_OPEN} then (stored.status, stored.tx, stored.seaport, ${TERMS.map((column) => `stored.${column}`).join(', ')})
          is distinct from (excluded.status, coalesce(excluded.tx, stored.tx), coalesce(excluded.seaport, stored.seaport),
            ${TERMS.map(termOf).join(', ')})
          else stored.order_hash is null and stored.ended_at is null and excluded.ended_at is not null
            and excluded.status = stored.status end
      returning (xmax = 0) as inserted, stored.*), ${recordStateChanges('order', { written: 'upserted', before: 'before', now: '$1' })}`,
  });
}

/** Merges two records of one order in a batch, by the rules of the SQL statement in `upsertOrders`. */
function foldOrder(earlier: ImportedOrder, later: ImportedOrder, now: number): ImportedOrder {
  if (statusAt(earlier, now) !== 'active') {
    const isAdded = earlier.status !== 'active' && later.status === earlier.status && !earlier.signed;
    return isAdded ? { ...earlier, endedAt: earlier.endedAt ?? later.endedAt } : earlier;
  }
  const terms = earlier.signed && !later.signed ? { ...earlier, status: later.status } : later;
  return {
    ...terms,
    endedAt: later.endedAt ?? earlier.endedAt,
    tx: later.tx ?? earlier.tx,
    seaport: later.seaport ?? earlier.seaport,
  };
}
