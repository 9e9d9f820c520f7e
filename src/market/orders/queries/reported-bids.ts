// Writes the bids that marketplaces report, beside the bids of the service. The chain does not decide about them: their status is the reported one, or
// `expired` after the expiry time. Primary database. A transaction that writes them holds the locks of `lockChainsAndBooks`.

import type { Address, AssetId } from '../../../platform/core/address.ts';
import type { Queryable } from '../../../platform/database/port.ts';
import type { RowColumns } from '../../../platform/database/row-source.ts';
import { toTextArray } from '../../../platform/database/row-source.ts';
import { column, rowDecoder, text } from '../../../platform/database/rows.ts';
import type { UpsertCounts } from '../../../platform/database/upsert.ts';
import { columnsOf, upsertRows } from '../../../platform/database/upsert.ts';
import type { RecordWrites } from '../../../platform/database/write-recording.ts';
import { recordStateChanges } from '../../activity/queries/state-changes.ts';
import type { ListingStatus, OrderKey } from '../order-id.ts';
import { statusAt } from '../order-id.ts';

/** A bid as a marketplace reported it. Amounts are for one unit, times in milliseconds. */
export type ReportedBid = {
  /** `toReportedBidId`. */
  id: string;
  source: string;
  chain: string;
  collectionId: string;
  contractAddress: Address;
  /** The wanted token. Null for a bid that several tokens meet. */
  asset: AssetId | null;
  /** The name of the wanted set of tokens, a row of main.token_set. Null for a bid for one token, or for any token of the collection. */
  root: string | null;
  /** What the bidder pays. */
  priceRaw: bigint;
  /** What the seller keeps of the price. */
  proceedsRaw: bigint;
  /** The contract of the currency; null for the native currency, wrapped or not. */
  currency: Address | null;
  bidder: Address;
  orderHash: string | null;
  quantity: bigint;
  filledQuantity: bigint;
  status: ListingStatus;
  createdAt: number;
  expiresAt: number | null;
  /** When a bid that has ended was filled or cancelled, as its record states. Null if this is not known. */
  endedAt: number | null;
  tx: string | null;
};

const COLUMNS: RowColumns<ReportedBid> = {
  id: { text: (bid) => bid.id },
  source: { text: (bid) => bid.source },
  chain: { text: (bid) => bid.chain },
  collection_id: { text: (bid) => bid.collectionId },
  contract_address: { text: (bid) => bid.contractAddress },
  token_id: { text: (bid) => bid.asset },
  root: { text: (bid) => bid.root },
  price_raw: { numeric: (bid) => bid.priceRaw },
  proceeds_raw: { numeric: (bid) => bid.proceedsRaw },
  currency: { text: (bid) => bid.currency },
  seller: { text: (bid) => bid.bidder },
  reported_hash: { text: (bid) => bid.orderHash },
  quantity: { numeric: (bid) => bid.quantity },
  filled_quantity: { numeric: (bid) => bid.filledQuantity },
  status: { text: (bid) => bid.status },
  created_at: { timestamptz: (bid) => bid.createdAt },
  expires_at: { timestamptz: (bid) => bid.expiresAt },
  ended_at: { timestamptz: (bid) => bid.endedAt },
  tx: { text: (bid) => bid.tx },
};
const NAMES = Object.keys(COLUMNS).join(', ');

/** The columns that a report replaces. The others identify the row, or have rules of their own. */
const TERMS = [
  'token_id',
  'root',
  'price_raw',
  'proceeds_raw',
  'currency',
  'seller',
  'reported_hash',
  'quantity',
  'filled_quantity',
];
const DATED_TERMS = [...TERMS, 'created_at', 'expires_at'];

/** The SQL condition that a report can change the row `stored`: it is active and has not expired, or it was retired. `$1` is the present time. */
const IS_REPORTABLE = `(stored.status = 'active' and (stored.expires_at is null or stored.expires_at > $1) or stored.retired_at is not null)`;

/**
 * Inserts or updates reported bids, by the rules for reported listings (`upsertListings`): a report can change a stored bid that is active or retired.
 * A report with another status than `active` ends the bid, whatever its `createdAt`. An active report is accepted only if its `createdAt` is not
 * before the stored one; it makes a retired bid active, and replaces all terms. Of a bid that has ended, a report of the same status can only add the time of the end.
 */
export function upsertReportedBids(
  tx: Queryable,
  bids: readonly ReportedBid[],
  { now, record }: { now: number; record?: RecordWrites | undefined },
): Promise<UpsertCounts> {
  return upsertRows(tx, bids, {
    keyOf: (bid) => bid.id,
    fold: (earlier, later) => foldBid(earlier, later, now),
    columns: COLUMNS,
    params: [new Date(now)],
    record,
    sql: `before as materialized (
        select * from main.book_order where id in (select id from incoming)
      ), upserted as (insert into main.book_order as stored (side, ${NAMES}) select 'bid', ${NAMES} from incoming
      on conflict (id) do update set retired_at = null,
        status = case when ${IS_REPORTABLE} then excluded.status else stored.status end,
        tx = case when ${IS_REPORTABLE} then coalesce(excluded.tx, stored.tx) else stored.tx end,
        ended_at = excluded.ended_at,
        ${DATED_TERMS.map((term) => `${term} = case when ${IS_REPORTABLE} and excluded.created_at >= stored.created_at then excluded.${term} else stored.${term} end`).join(', ')}
      where case when ${IS_REPORTABLE} then excluded.status <> 'active' or (excluded.created_at >= stored.created_at
          and (${columnsOf('stored', DATED_TERMS)}, stored.tx, stored.status)
            is distinct from (${columnsOf('excluded', DATED_TERMS)}, coalesce(excluded.tx, stored.tx), excluded.status))
          else stored.ended_at is null and excluded.ended_at is not null
            and excluded.status = case stored.status when 'active' then 'expired' else stored.status end end
      returning (xmax = 0) as inserted, stored.*), ${recordStateChanges('order', { written: 'upserted', before: 'before', now: '$1', isReport: true })}`,
  });
}

/** Applies the rules of the SQL in `upsertReportedBids` to two reports of one bid. The earlier report is not stored yet. */
function foldBid(earlier: ReportedBid, later: ReportedBid, now: number): ReportedBid {
  const status = statusAt(earlier, now);
  if (status !== 'active') {
    const isAdded = later.status === status && later.endedAt !== null && earlier.endedAt === null;
    return isAdded ? { ...earlier, endedAt: later.endedAt } : earlier;
  }
  const tx = later.tx ?? earlier.tx;
  if (later.createdAt >= earlier.createdAt) return { ...later, tx };
  return later.status === 'active' ? earlier : { ...earlier, status: later.status, tx, endedAt: later.endedAt };
}

const decodeId = rowDecoder('book_order', { id: text });

/** The ids of the active bids that the marketplace has reported of the collection, and that were made before `madeBefore` or after `now`. */
export async function listReportedBidIds(
  tx: Queryable,
  { source, collectionId, madeBefore, now }: { source: string; collectionId: string; madeBefore: number; now: number },
): Promise<string[]> {
  const rows = await tx.query(
    `select id from main.book_order where source = $1 and collection_id = $2 and status = 'active'
       and (created_at < $3 or created_at > $4) and (expires_at is null or expires_at > $4)`,
    [source, collectionId, new Date(madeBefore), new Date(now)],
  );
  return rows.map((row) => decodeId(row).id);
}

const decodeCollection = rowDecoder('book_order', { collectionId: column('collection_id', text), chain: text });

/** The collections with an active, unexpired bid that the marketplace `source` has reported. */
export async function listCollectionsBidForAt(
  db: Queryable,
  { source, now }: { source: string; now: number },
): Promise<{ collectionId: string; chain: string }[]> {
  const rows = await db.query(
    `select distinct collection_id, chain from main.book_order
     where source = $1 and status = 'active' and (expires_at is null or expires_at > $2) order by collection_id`,
    [source, new Date(now)],
  );
  return rows.map(decodeCollection);
}

const IDS_MAX = 5_000;

/** Sets the status `cancelled` and the time `retired_at` of the active reported bids with these ids. Returns how many changed. */
export async function retireBids(tx: Queryable, ids: readonly string[], at: number): Promise<number> {
  let retired = 0;
  for (let start = 0; start < ids.length; start += IDS_MAX) {
    retired += await retire(tx, 'id = any($2)', [toTextArray(ids.slice(start, start + IDS_MAX))], at);
  }
  return retired;
}

/** Retires the bids that marketplaces have reported of an order that the service has stored itself: it is then served only as an own order. */
export function retireBidsOfOwnOrder(tx: Queryable, { chain, orderHash }: OrderKey, at: number): Promise<number> {
  return retire(tx, 'reported_hash = $2 and chain = $3', [orderHash, chain], at);
}

async function retire(tx: Queryable, condition: string, params: readonly unknown[], at: number): Promise<number> {
  const retired = await tx.query(
    `with before as materialized (
       select * from main.book_order
       where ${condition} and source is not null and status = 'active' and (expires_at is null or expires_at > $1)
     ), retired as (
       update main.book_order as stored set status = 'cancelled', retired_at = $1, ended_at = $1 from before
       where stored.id = before.id returning false as inserted, stored.*
     ), ${recordStateChanges('order', { written: 'retired', before: 'before', now: '$1' })}
     select 1 from retired`,
    [new Date(at), ...params],
  );
  return retired.length;
}
