// Records changes of mirrored listings for the activity log. Indexer database. Called in the transaction that changes the listings.

import type { ActivityKind } from '../../activity/market-change.ts';
import type { MarketRow } from '../../activity/state-change.ts';
import type { Queryable } from '../../../platform/database/port.ts';
import { amount, column, nullable, oneOf, rowDecoder, text, timestamp } from '../../../platform/database/rows.ts';
import { LISTING_STATUSES } from '../../orders/order-id.ts';
import { HIDDEN_REASONS } from '../listing-judgement.ts';

/** Names a stored listing. */
export type ListingKey = { collectionId: string; key: string };

/** `at` in milliseconds; if it is missing or null, the time of the write. `tx`: the transaction that ended the listing. */
export type RecordedListingChange = ListingKey & {
  kind: ActivityKind;
  reason?: string | null;
  at?: number | null;
  tx?: string | null;
};

/**
 * Price, seller and token are those of the stored listing. The time of a change of the kind `list` is the listing time that the marketplace
 * reported, but not later than `at`.
 */
export async function insertListingChanges(
  tx: Queryable,
  changes: readonly RecordedListingChange[],
  now: number,
): Promise<void> {
  if (changes.length === 0) return;
  await tx.query(
    `insert into indexer.market_change (kind, at, chain, collection_id, asset, price_raw, from_account, order_id, marketplace, tx, reason)
     select changed.kind, case when changed.kind = 'list' then least(stored.listed_at, changed.at) else changed.at end, stored.chain,
       stored.collection_id, stored.asset, stored.price_raw, stored.seller, stored.id, stored.source, changed.tx, changed.reason
     from unnest($1::text[], $2::uuid[], $3::text[], $4::timestamptz[], $5::text[], $6::text[]) with ordinality
       as changed (collection_id, key, kind, at, tx, reason, number)
     join indexer.listing as stored on stored.collection_id = changed.collection_id and stored.key = changed.key order by number`,
    [
      changes.map(({ collectionId }) => collectionId),
      changes.map(({ key }) => key),
      changes.map(({ kind }) => kind),
      changes.map(({ at }) => new Date(at ?? now)),
      changes.map((change) => change.tx ?? null),
      changes.map(({ reason }) => reason ?? null),
    ],
  );
}

const decodeRow = rowDecoder('listing', {
  orderId: column('id', text),
  chain: text,
  collectionId: column('collection_id', text),
  asset: text,
  priceRaw: column('price_raw', amount),
  totalRaw: column('buyer_total_raw', nullable(amount)),
  seller: text,
  marketplace: column('source', text),
  status: oneOf(LISTING_STATUSES),
  hidden: column('undeliverable', nullable(oneOf(HIDDEN_REASONS))),
  expiresAt: column('expires_at', nullable(timestamp)),
});
const decodeKey = rowDecoder('listing', { key: text });

/** The stored listings with the given keys, by key. A key is the id of the collection, a line feed, and the uuid of the listing. */
export async function listListingRows(tx: Queryable, keys: readonly string[]): Promise<Map<string, MarketRow>> {
  if (keys.length === 0) return new Map();
  const rows = await tx.query(
    `select wanted.key, id, chain, collection_id, asset, price_raw, buyer_total_raw, seller, source, status, undeliverable, expires_at
     from unnest($1::text[]) as wanted (key) join indexer.listing as stored
       on stored.collection_id = split_part(wanted.key, E'\\n', 1) and stored.key = split_part(wanted.key, E'\\n', 2)::uuid`,
    [keys],
  );
  return new Map(rows.map((row) => [decodeKey(row).key, { ...decodeRow(row), startsAt: null }]));
}
