// Writes to the mirror: reported listings, expired listings, and listings whose order ended at another marketplace. Indexer database.

import type { AssetId } from '../../../platform/core/address.ts';
import type { Chains } from '../../../platform/core/chains.ts';
import type { Queryable, Statements } from '../../../platform/database/port.ts';
import type { RowColumns } from '../../../platform/database/row-source.ts';
import { toTextArray } from '../../../platform/database/row-source.ts';
import { column, rowDecoder, text } from '../../../platform/database/rows.ts';
import type { PreparedRows, RowForm, UpsertCounts } from '../../../platform/database/upsert.ts';
import { columnsOf, mergeKnown, prepareRows, upsertRows } from '../../../platform/database/upsert.ts';
import type { RecordWrites } from '../../../platform/database/write-recording.ts';
import { recordNothing } from '../../../platform/database/write-recording.ts';
import type { ListingStatus } from '../../orders/order-id.ts';
import { recordStateChanges } from '../../activity/queries/state-changes.ts';
import { statusAt } from '../../orders/order-id.ts';
import { toKnownTotal } from '../known-total.ts';
import type { CollectionAsset } from './figures.ts';
import { isJudged } from './judged-listings.ts';
import type { RefreshContext } from '../change-index.ts';
import { changeIndex } from '../change-index.ts';

/** A listing as a marketplace reported it. `key` is the hash of its identity (market/index/row-keys.ts). Times in milliseconds. */
export type NewListing = {
  key: string;
  id: string;
  source: string;
  chain: string;
  collectionId: string;
  asset: AssetId;
  priceRaw: bigint;
  /** A buyer total of 0 or below the price is stored as unknown. */
  buyerTotalRaw: bigint | null;
  seller: string;
  orderHash: string | null;
  status: ListingStatus;
  listedAt: number;
  expiresAt: number | null;
  tx: string | null;
  /** When a listing that has ended was filled or cancelled, as its record states. Absent or null if this is not known. */
  endedAt?: number | null;
  // The terms of the signed order (ORDER_TERMS) by which a followed chain decides about the listing. Null when a term is not known.
  operator: string | null;
  protocolAddress: string | null;
  counter: bigint | null;
  /** Units offered. */
  quantity: bigint | null;
  partial: boolean | null;
};

/** Terms of a signed order that some marketplaces do not report. Another listing of the same order may have them. */
const ORDER_TERM_COLUMNS = {
  operator: 'operator',
  protocolAddress: 'protocol_address',
  counter: 'counter',
  quantity: 'quantity',
  partial: 'partial',
} as const satisfies Partial<Record<keyof NewListing, string>>;
const ORDER_TERM_FIELDS = Object.keys(ORDER_TERM_COLUMNS) as (keyof typeof ORDER_TERM_COLUMNS)[];
const ORDER_TERMS: readonly string[] = Object.values(ORDER_TERM_COLUMNS);
const JUDGED_TERMS = ['seller', 'order_hash', ...ORDER_TERMS];

/** Columns besides the key that identify a row. A report never changes them. */
const IDENTITY = ['id', 'source', 'chain', 'collection_id', 'asset'];
const TERMS = ['price_raw', 'buyer_total_raw', 'listed_at', 'expires_at', ...JUDGED_TERMS];

/** The value of a term after a report, as SQL. If a report of the same order lacks an order term, the stored term stays. */
function reportedTerm(term: string): string {
  if (!ORDER_TERMS.includes(term)) return `excluded.${term}`;
  return `case when excluded.order_hash = stored.order_hash then coalesce(excluded.${term}, stored.${term}) else excluded.${term} end`;
}

const REPORTED_TERMS = TERMS.map(reportedTerm).join(', ');
const REPORTED_JUDGED_TERMS = JUDGED_TERMS.map(reportedTerm).join(', ');

const COLUMNS = ['key', ...IDENTITY, ...TERMS, 'status', 'tx', 'closed_at'].join(', ');

/** The SQL condition that the row `stored` is active and has not expired at `now`, whether or not the sweep has recorded its expiry. */
const openAt = (now: string) =>
  `(stored.status = 'active' and (stored.expires_at is null or stored.expires_at > ${now}))`;

/** The SQL condition that a report can change the row `stored`. `$1` is the present time. */
const IS_REPORTABLE = `(${openAt('$1')} or stored.retired_at is not null)`;

/**
 * Inserts or updates reported listings. A report can change a stored row that is active or retired, unless a block of its chain has ended
 * the row, or the row has expired at `now`. Of a row that has ended, a report of the same status can only add the time of the end. A retired row has the status `cancelled` and a time in `retired_at`: the row was missing from a complete list of its marketplace,
 * or the own order book has the same order. A report with another status than `active` sets that status, whatever its `listedAt`. A report
 * with status `active` is accepted only if its `listedAt` is not before the stored `listedAt`. An accepted active report makes a retired row
 * active. Every update sets `retired_at` to null. The TERMS are replaced unless the `listedAt` of the report is before the stored
 * `listedAt`. In a judged collection, an active row that is new, was retired, or gets other JUDGED_TERMS is dormant as `pending` until the row
 * has been judged.
 */
export function upsertListings(
  tx: Queryable,
  listings: readonly NewListing[] | PreparedRows<NewListing>,
  { now, record }: { now: number; record?: RecordWrites | undefined },
): Promise<UpsertCounts> {
  return upsertRows(tx, listings, {
    record,
    params: [new Date(now)],
    ...toListingForm(now),
    sql: `before as materialized (
      select stored.* from incoming cross join lateral (
        select * from indexer.listing as stored
        where stored.collection_id = incoming.collection_id and stored.key = incoming.key group by collection_id, key) as stored
      ), judged as materialized (
        select collection_id from indexer.judged_collection
        where state <> 'leaving' and collection_id in (select collection_id from incoming)
      ), upserted as (insert into indexer.listing as stored (${COLUMNS}, dormant)
      select ${COLUMNS}, case when status = 'active' and collection_id in (select collection_id from judged) then 'pending' end
      from incoming
      on conflict on constraint listing_pkey do update set
        status = case when ${IS_REPORTABLE} then excluded.status else stored.status end,
        tx = case when ${IS_REPORTABLE} then coalesce(excluded.tx, stored.tx) else stored.tx end, retired_at = null,
        closed_at = coalesce(excluded.closed_at, stored.closed_at),
        dormant = case when not ${IS_REPORTABLE} then stored.dormant when excluded.dormant = 'pending' and stored.status = 'active'
          and (${columnsOf('stored', JUDGED_TERMS)}) is not distinct from (${REPORTED_JUDGED_TERMS})
          then stored.dormant else excluded.dormant end,
        ${TERMS.map((term) => `${term} = case when ${IS_REPORTABLE} and excluded.listed_at >= stored.listed_at then ${reportedTerm(term)} else stored.${term} end`).join(', ')}
      where stored.ended_at is null
        and stored.collection_id = excluded.collection_id and stored.asset = excluded.asset
        and case when ${IS_REPORTABLE} then excluded.status <> 'active' or (excluded.listed_at >= stored.listed_at
          and (${columnsOf('stored', TERMS)}, stored.tx, stored.status)
            is distinct from (${REPORTED_TERMS}, coalesce(excluded.tx, stored.tx), excluded.status))
          else stored.closed_at is null and excluded.closed_at is not null
            and excluded.status = case stored.status when 'active' then 'expired' else stored.status end end
      returning (xmax = 0) as inserted, stored.*), ${recordStateChanges('listing', { written: 'upserted', before: 'before', now: '$1', isReport: true })}`,
  });
}

/** Applies the rules of the SQL in `upsertListings` to two reports of one listing. The earlier report is not stored yet. */
function foldListing(earlier: NewListing, later: NewListing, now: number): NewListing {
  if (later.collectionId !== earlier.collectionId || later.asset !== earlier.asset) return earlier;
  const status = statusAt(earlier, now);
  if (status !== 'active') {
    const { endedAt = null } = later;
    const isAdded = later.status === status && endedAt !== null && (earlier.endedAt ?? null) === null;
    return isAdded ? { ...earlier, endedAt } : earlier;
  }
  const tx = later.tx ?? earlier.tx;
  const isSameOrder = later.orderHash !== null && later.orderHash === earlier.orderHash;
  if (later.listedAt >= earlier.listedAt) {
    return { ...(isSameOrder ? mergeKnown(earlier, later, ORDER_TERM_FIELDS) : later), tx };
  }
  return later.status === 'active' ? earlier : { ...earlier, status: later.status, tx, endedAt: later.endedAt ?? null };
}

const LISTING_COLUMNS: RowColumns<NewListing> = {
  key: { uuid: (listing) => listing.key },
  id: { text: (listing) => listing.id },
  source: { text: (listing) => listing.source },
  chain: { text: (listing) => listing.chain },
  collection_id: { text: (listing) => listing.collectionId },
  asset: { text: (listing) => listing.asset },
  price_raw: { numeric: (listing) => listing.priceRaw },
  buyer_total_raw: { numeric: (listing) => toKnownTotal(listing.priceRaw, listing.buyerTotalRaw) },
  seller: { text: (listing) => listing.seller },
  order_hash: { text: (listing) => listing.orderHash },
  listed_at: { timestamptz: (listing) => listing.listedAt },
  expires_at: { timestamptz: (listing) => listing.expiresAt },
  status: { text: (listing) => listing.status },
  tx: { text: (listing) => listing.tx },
  closed_at: { timestamptz: (listing) => listing.endedAt ?? null },
  operator: { text: (listing) => listing.operator },
  protocol_address: { text: (listing) => listing.protocolAddress },
  counter: { numeric: (listing) => listing.counter },
  quantity: { numeric: (listing) => listing.quantity },
  partial: { boolean: (listing) => listing.partial },
};

const toListingForm = (now: number): RowForm<NewListing> => ({
  // Two collections may have listings with the same id.
  keyOf: (listing) => `${listing.collectionId} ${listing.key}`,
  // Rows of one collection are adjacent, because most indexes begin with the collection. Within a collection, rows of one asset are
  // adjacent.
  orderOf: (listing) => `${listing.collectionId} ${listing.asset} ${listing.key}`,
  fold: (earlier, later) => foldListing(earlier, later, now),
  columns: LISTING_COLUMNS,
});

/** Prepares listings for `upsertListings` at the same `now`. */
export function prepareListings(listings: readonly NewListing[], now: number): Promise<PreparedRows<NewListing>> {
  return prepareRows(listings, toListingForm(now));
}

const decodeOtherAsset = rowDecoder('listing', { collectionId: column('collection_id', text), key: text, asset: text });

/**
 * Finds the stored listings that have the key of a given listing, but another token. Such a report has changed nothing, because the token
 * belongs to the identity of a listing. Keys have 32 hexadecimal digits.
 */
export async function listListingsOfOtherAssets(
  tx: Queryable,
  listings: readonly Pick<NewListing, 'collectionId' | 'key' | 'asset'>[],
): Promise<{ collectionId: string; key: string; asset: string }[]> {
  const rows = await tx.query(
    `select stored.collection_id, replace(stored.key::text, '-', '') as key, stored.asset
     from unnest($1::text[], $2::uuid[], $3::text[]) as wanted (collection_id, key, asset) cross join lateral (
       select * from indexer.listing as stored
       where stored.collection_id = wanted.collection_id and stored.key = wanted.key group by collection_id, key) as stored
     where stored.asset <> wanted.asset`,
    [
      toTextArray(listings.map(({ collectionId }) => collectionId)),
      listings.map(({ key }) => key),
      toTextArray(listings.map(({ asset }) => asset)),
    ],
  );
  return rows.map(decodeOtherAsset);
}

const decodeAsset = rowDecoder('listing', { collectionId: column('collection_id', text), asset: text });

/**
 * Sets the status `expired` for at most `limit` active listings whose expiry time has passed. Returns how many rows changed. Runs in a
 * transaction of its own.
 */
export async function updateExpiredListings(
  db: Pick<Statements, 'transaction'>,
  refresh: RefreshContext,
  limit: number,
): Promise<number> {
  const { now } = refresh;
  return db.transaction(async (tx) => {
    const due = await tx.query(
      `select key, collection_id, asset from indexer.listing where status = 'active' and expires_at <= $1
       order by expires_at limit $2`,
      [new Date(now), limit],
    );
    const collectionIds = due.map(decodeAsset).map(({ collectionId }) => collectionId);
    const { assets } = await changeIndex(tx, { collectionIds, refresh }, async () => {
      const expired = await tx.query(
        `with before as materialized (
           select * from indexer.listing
           where (collection_id, key) in (select * from unnest($2::text[], $3::uuid[])) and status = 'active' and expires_at <= $1
         ), expired as (
           update indexer.listing as stored set status = 'expired' from before
           where stored.collection_id = before.collection_id and stored.key = before.key
           returning false as inserted, stored.*
         ), ${recordStateChanges('listing', { written: 'expired', before: 'before', now: '$1' })}
         select collection_id, asset from expired`,
        [new Date(now), collectionIds, due.map((row) => decodeKey(row).key)],
      );
      return { assets: expired.map(decodeAsset) };
    });
    return assets.length;
  });
}

const decodeKey = rowDecoder('listing', { collectionId: column('collection_id', text), key: text });

/**
 * Retires the active listings of the given orders on one chain, at all marketplaces. Runs in a transaction of its own. `at` in
 * milliseconds.
 */
export async function updateListingsOfOwnOrders(
  db: Pick<Statements, 'transaction'>,
  chain: string,
  {
    orderHashes,
    at,
    chains,
    record = recordNothing,
  }: { orderHashes: readonly string[]; at: number; chains: Chains; record?: RecordWrites },
): Promise<void> {
  const hashes = [...orderHashes].sort();
  await db.transaction(async (tx) => {
    const listed = await tx.query(
      `select distinct collection_id, asset from indexer.listing
       where chain = $1 and order_hash = any($2) and status = 'active'`,
      [chain, hashes],
    );
    if (listed.length === 0) return;
    const collectionIds = listed.map(decodeAsset).map(({ collectionId }) => collectionId);
    await changeIndex(tx, { collectionIds, refresh: { chains, now: at } }, async () => {
      const recording = await record(tx);
      const retired = await tx.query(
        `with before as materialized (
         select * from indexer.listing
         where chain = $1 and order_hash = any($2) and status = 'active' and collection_id = any($4)
       ), retired as (
         update indexer.listing as stored set status = 'cancelled', retired_at = $3
         where chain = $1 and order_hash = any($2) and ${openAt('$3')} and collection_id = any($4)
         returning false as inserted, stored.*
       ), ${recordStateChanges('listing', { written: 'retired', before: 'before', now: '$3' })}
       ${recording.toSql({ written: 'retired', before: 'before' }, 5)}
       select collection_id, asset from retired`,
        [chain, hashes, new Date(at), collectionIds, ...recording.params],
      );
      return { assets: retired.map(decodeAsset) };
    });
  });
}

const decodeOrderHash = rowDecoder('listing', { orderHash: column('order_hash', text) });

/**
 * Of the orders of the given listings, finds each order of which several marketplaces have a stored listing of the same asset. Returns the
 * hashes of these orders, sorted. A change of a listing of any other order affects no other listing.
 */
export async function listSharedOrderHashes(
  tx: Queryable,
  listings: readonly Pick<NewListing, 'orderHash' | 'collectionId'>[],
): Promise<string[]> {
  const hashes = [...new Set(listings.flatMap(({ orderHash }) => orderHash ?? []))];
  if (hashes.length === 0) return [];
  const rows = await tx.query(
    `select order_hash from indexer.listing where order_hash = any($1) and ${inCollections(2)}
     group by chain, order_hash, collection_id, asset having count(*) > 1`,
    [toTextArray(hashes), [...new Set(listings.map(({ collectionId }) => collectionId))]],
  );
  return [...new Set(rows.map((row) => decodeOrderHash(row).orderHash))].sort();
}

/**
 * The condition that a listing is in one of the collections in `$n`. The `|| ''` keeps PostgreSQL from using an index of the collection, so
 * that it finds the listings by the index on `order_hash`.
 */
const inCollections = (n: number) => `collection_id || '' = any($${n}::text[])`;

/** The hashes of orders, and the collections whose figures the transaction has locked. Only listings of these collections may be written. */
type SharedOrders = { hashes: readonly string[]; collectionIds: readonly string[] };

/**
 * Copies the ORDER_TERMS of a signed order to those listings of the order that lack them, so that the chain decides about all listings of
 * the order alike. Only the given orders in the given collections are considered. A changed row that is active in a judged collection is dormant as `pending`. Returns the
 * assets whose listings changed.
 */
export async function updateTermsOfSharedOrders(
  tx: Queryable,
  { hashes, collectionIds }: SharedOrders,
  record = recordNothing,
): Promise<CollectionAsset[]> {
  if (hashes.length === 0) return [];
  const recording = await record(tx);
  const changed = await tx.query(
    `with known as (
       select distinct on (chain, order_hash, collection_id, asset) chain, order_hash, collection_id, asset, ${ORDER_TERMS.join(', ')}
       from indexer.listing
       where order_hash = any($1) and ${inCollections(2)} and counter is not null and operator is not null
       order by chain, order_hash, collection_id, asset, listed_at desc, key
     ), before as materialized (
       select * from indexer.listing where order_hash = any($1) and ${inCollections(2)}
     ), changed as (
       update indexer.listing as stored set
         ${ORDER_TERMS.map((term) => `${term} = coalesce(stored.${term}, known.${term})`).join(', ')},
         dormant = case when ${isJudged('stored')} then 'pending' else stored.dormant end
       from known
       where stored.order_hash = known.order_hash and stored.chain = known.chain
         and stored.collection_id = known.collection_id and stored.asset = known.asset
         and (stored.counter is null or stored.operator is null)
       returning false as inserted, stored.*
     ) ${recording.toSql({ written: 'changed', before: 'before' }, 3)}
     select collection_id, asset from changed`,
    [hashes, collectionIds, ...recording.params],
  );
  return changed.map(decodeAsset);
}

/**
 * If one marketplace has reported an order as filled or cancelled, the active and retired listings of this order at the other marketplaces
 * get the same status. Listings that have expired stay expired. Only the given orders in the given collections are considered. A retired listing does not end other listings: an order may be valid although
 * one marketplace no longer lists it. A listing that a block has ended does not change, and does not end other listings, because the chain
 * decides about each listing of the order. Returns the assets whose listings changed.
 */
export async function updateListingsOfEndedOrders(
  tx: Queryable,
  { hashes, collectionIds }: SharedOrders,
  { now, record = recordNothing }: { now: number; record?: RecordWrites | undefined },
): Promise<CollectionAsset[]> {
  if (hashes.length === 0) return [];
  const recording = await record(tx);
  const changed = await tx.query(
    `with ended as (
       select distinct on (chain, order_hash, collection_id, asset) chain, order_hash, collection_id, asset, status, tx
       from indexer.listing
       where order_hash = any($1) and ${inCollections(2)} and status in ('filled', 'cancelled') and retired_at is null and ended_at is null
       order by chain, order_hash, collection_id, asset, status desc, key
     ), before as materialized (
       select * from indexer.listing where order_hash = any($1) and ${inCollections(2)}
     ), changed as (
       update indexer.listing as stored set status = ended.status, tx = coalesce(stored.tx, ended.tx), retired_at = null
       from ended join before on before.order_hash = ended.order_hash and before.chain = ended.chain
       where stored.collection_id = before.collection_id and stored.key = before.key and stored.order_hash = ended.order_hash and stored.chain = ended.chain
         and stored.collection_id = ended.collection_id and stored.asset = ended.asset
         and (${openAt('$3')} or stored.retired_at is not null) and stored.ended_at is null
       returning false as inserted, stored.*
     ), ${recordStateChanges('listing', { written: 'changed', before: 'before', now: '$3' })}
     ${recording.toSql({ written: 'changed', before: 'before' }, 4)}
     select collection_id, asset from changed`,
    [hashes, collectionIds, new Date(now), ...recording.params],
  );
  return changed.map(decodeAsset);
}
