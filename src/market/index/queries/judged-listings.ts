// Reads the mirrored listings whose states follow from the log of a followed chain, and writes these states. Indexer database. The rule is
// in market/index/listing-judgement.ts; the evidence is in the primary database.

import type { EvidenceChanges } from '../../chain-log/evidence-changes.ts';
import type { Queryable } from '../../../platform/database/port.ts';
import {
  amount,
  boolean,
  column,
  nullable,
  oneOf,
  rowDecoder,
  text,
  timestamp,
} from '../../../platform/database/rows.ts';
import { LISTING_STATUSES } from '../../orders/order-id.ts';
import type { JudgedListing, ListingState } from '../listing-judgement.ts';
import { LISTING_DORMANCIES } from '../listing-judgement.ts';
import { recordStateChanges } from '../../activity/queries/state-changes.ts';
import type { CollectionAsset } from './figures.ts';

/** The SQL condition that the listing `row` is active in a judged collection. If its terms change, it is pending until it has been judged. */
export const isJudged = (row: string) => `${row}.status = 'active' and exists (
           select from indexer.judged_collection as judged
           where judged.collection_id = ${row}.collection_id and judged.state <> 'leaving')`;

/** The version of a row is its xmin, the id of the transaction that wrote the row last. */
const COLUMNS = `listing.key, listing.id, listing.xmin::text as version, listing.collection_id, listing.chain, listing.asset,
  listing.seller, listing.order_hash, listing.protocol_address, listing.counter, listing.operator, listing.quantity, listing.partial,
  listing.expires_at, listing.status, listing.dormant, listing.ended_at, listing.tx, listing.filled_quantity,
  listing.retired_at is not null as retired`;

const decodeListing = rowDecoder('listing', {
  key: text,
  id: text,
  version: text,
  collectionId: column('collection_id', text),
  chain: text,
  asset: text,
  seller: text,
  orderHash: column('order_hash', nullable(text)),
  protocolAddress: column('protocol_address', nullable(text)),
  counter: nullable(amount),
  operator: nullable(text),
  quantity: nullable(amount),
  partial: nullable(boolean),
  expiresAt: column('expires_at', nullable(timestamp)),
  status: oneOf(LISTING_STATUSES),
  dormant: nullable(oneOf(LISTING_DORMANCIES)),
  endedAt: column('ended_at', nullable(timestamp)),
  tx: nullable(text),
  filled: column('filled_quantity', nullable(amount)),
  isRetired: column('retired', boolean),
});

/**
 * The listings in judged collections whose states the changes may affect: all listings of the changed orders, the active listings of the
 * changed tokens, the active listings of the changed owners if the listing has an operator, and all listings of the changed offerers if the
 * listing has a counter.
 */
export async function listAffectedListings(db: Queryable, changes: EvidenceChanges): Promise<JudgedListing[]> {
  const { chain, orderHashes, tokens, owners, offerers } = changes;
  if (orderHashes.size + tokens.length + owners.length + offerers.size === 0) return [];
  const rows = await db.query(
    `with affected as (
       select collection_id, key from indexer.listing where chain = $1 and order_hash = any($2)
       union
       select listing.collection_id, key from indexer.listing join unnest($3::text[], $4::text[]) as moved (collection_id, asset)
         on listing.collection_id = moved.collection_id and listing.asset = moved.asset
       where status = 'active'
       union
       select listing.collection_id, key from indexer.listing join unnest($5::text[], $6::text[]) as owned (collection_id, owner)
         on listing.collection_id = owned.collection_id and listing.seller = owned.owner
       where chain = $1 and status = 'active' and operator is not null
       union
       select collection_id, key from indexer.listing where chain = $1 and seller = any($7) and counter is not null
     )
     select ${COLUMNS} from affected join indexer.listing on listing.collection_id = affected.collection_id and listing.key = affected.key
     join indexer.judged_collection as judged on judged.collection_id = listing.collection_id and judged.state <> 'leaving'
     order by listing.key`,
    [
      chain,
      [...orderHashes],
      tokens.map((token) => token.collectionId),
      tokens.map((token) => token.tokenId),
      owners.map((owner) => owner.collectionId),
      owners.map((owner) => owner.owner),
      [...offerers],
    ],
  );
  return rows.map(decodeListing);
}

/** Listings of a chain that have not been judged since they were inserted or changed. */
export async function listPendingListings(db: Queryable, chain: string, limit: number): Promise<JudgedListing[]> {
  const rows = await db.query(
    `select ${COLUMNS} from indexer.listing where chain = $1 and dormant = 'pending'
     order by collection_id, key limit $2`,
    [chain, limit],
  );
  return rows.map(decodeListing);
}

/**
 * The active listings of a collection, and the listings that a block ended, sorted by asset and key. With `after`, only the listings that
 * come after this asset and key.
 */
export async function listListingsToJudge(
  db: Queryable,
  collectionId: string,
  { after, limit }: { after: { asset: string; key: string } | null; limit: number },
): Promise<JudgedListing[]> {
  const rows = await db.query(
    `select ${COLUMNS} from indexer.listing
     where collection_id = $1 and (status = 'active' or ended_at is not null)
       and (asset, key) > ($2, coalesce($3::uuid, '00000000-0000-0000-0000-000000000000'))
     order by asset, key limit $4`,
    [collectionId, after?.asset ?? '', after?.key ?? null, limit],
  );
  return rows.map(decodeListing);
}

/**
 * The listings that expired between `time`, in milliseconds, and the present, in judged collections whose state is `joined`. Sorted by key.
 */
export async function listListingsExpiredSince(db: Queryable, chain: string, time: number): Promise<JudgedListing[]> {
  const rows = await db.query(
    `select ${COLUMNS} from indexer.listing
     join indexer.judged_collection as judged on judged.collection_id = listing.collection_id and judged.state = 'joined'
     where listing.chain = $1 and listing.expires_at > $2
       and (status = 'expired' or (status = 'active' and listing.expires_at <= clock_timestamp()))
     order by listing.key`,
    [chain, new Date(time)],
  );
  return rows.map(decodeListing);
}

/** `isByCounter`: the listing ended because the counter of its seller was raised. */
export type ListingChange = { listing: JudgedListing; to: ListingState; isByCounter: boolean };

const decodeAsset = rowDecoder('listing', { collectionId: column('collection_id', text), asset: text });

/**
 * Writes the new states. Returns the asset of each row that was written. A listing is not written if another transaction has written it
 * since the caller read it. If fewer assets than changes are returned, the caller must roll back. The sale that filled a listing gets the id of the listing, unless the sale already has the id of a listing.
 */
export async function updateListingStates(
  tx: Queryable,
  changes: readonly ListingChange[],
  now: number,
): Promise<CollectionAsset[]> {
  if (changes.length === 0) return [];
  const sorted = changes.toSorted((a, b) => (a.listing.key < b.listing.key ? -1 : 1));
  const written = await tx.query(
    `with judged as (
       select * from unnest($1::uuid[], $2::text[], $3::text[], $4::text[], $5::text[], $6::timestamptz[], $7::text[], $8::boolean[],
         $10::numeric[]) as judged (key, collection_id, version, status, dormant, ended_at, tx, by_counter, filled_quantity)
     ), before as materialized (
       select stored.* from indexer.listing as stored join judged on stored.key = judged.key and stored.collection_id = judged.collection_id
     ), written as (
       update indexer.listing as stored set status = judged.status, dormant = judged.dormant,
         ended_at = judged.ended_at, tx = judged.tx, filled_quantity = judged.filled_quantity
       from judged where stored.key = judged.key and stored.collection_id = judged.collection_id and stored.xmin::text = judged.version
       returning false as inserted, judged.by_counter, stored.*
     ), ${recordStateChanges('listing', { written: 'written', before: 'before', now: '$9', isByCounter: 'after.by_counter' })}
     select collection_id, asset from written`,
    [
      sorted.map(({ listing }) => listing.key),
      sorted.map(({ listing }) => listing.collectionId),
      sorted.map(({ listing }) => listing.version),
      sorted.map(({ to }) => to.status),
      sorted.map(({ to }) => to.dormant),
      sorted.map(({ to }) => (to.endedAt === null ? null : new Date(to.endedAt))),
      sorted.map(({ to }) => to.tx),
      sorted.map(({ isByCounter }) => isByCounter),
      new Date(now),
      sorted.map(({ to }) => to.filled?.toString() ?? null),
    ],
  );
  const filled = sorted.filter(({ to }) => to.status === 'filled' && to.tx !== null);
  await tx.query(
    `update indexer.sale set listing_id = filled.id
     from unnest($1::text[], $2::text[], $3::text[], $4::text[]) as filled (collection_id, asset, tx, id)
     where sale.collection_id = filled.collection_id and sale.asset = filled.asset and sale.tx = filled.tx
       and sale.listing_id is null`,
    [
      filled.map(({ listing }) => listing.collectionId),
      filled.map(({ listing }) => listing.asset),
      filled.map(({ to }) => to.tx),
      filled.map(({ listing }) => listing.id),
    ],
  );
  return written.map(decodeAsset);
}

/** Makes at most `limit` dormant listings of a collection visible again. Returns the asset of each. */
export async function updateDormantListings(
  tx: Queryable,
  collectionId: string,
  { limit, now }: { limit: number; now: number },
): Promise<CollectionAsset[]> {
  const rows = await tx.query(
    `with before as materialized (
       select * from indexer.listing where collection_id = $1 and dormant is not null order by key limit $2
     ), shown as (
       update indexer.listing as stored set dormant = null from before
       where stored.collection_id = $1 and stored.key = before.key returning false as inserted, stored.*
     ), ${recordStateChanges('listing', { written: 'shown', before: 'before', now: '$3' })}
     select collection_id, asset from shown`,
    [collectionId, limit, new Date(now)],
  );
  return rows.map(decodeAsset);
}

const decodeListed = rowDecoder('listing', {
  orderHash: column('order_hash', text),
  collectionId: column('collection_id', text),
  asset: text,
  source: text,
  id: text,
});

export type ListedOrder = ReturnType<typeof decodeListed>;

/** The listings of these orders at all marketplaces, whatever their status. Sorted by `source` and id. */
export async function listListingsOfOrders(
  db: Queryable,
  chain: string,
  orderHashes: readonly string[],
): Promise<ListedOrder[]> {
  if (orderHashes.length === 0) return [];
  const rows = await db.query(
    `select order_hash, collection_id, asset, source, id from indexer.listing
     where chain = $1 and order_hash = any($2) order by source, id`,
    [chain, orderHashes],
  );
  return rows.map(decodeListed);
}
