// Finds a mirrored listing of any status in the indexer, or an own order in the primary, by its id or its order hash.

import type { Queryable } from '../../../platform/database/port.ts';
import { column, nullable, oneOf, rowDecoder, text, timestamp } from '../../../platform/database/rows.ts';
import type { ListingDormancy } from '../../index/listing-judgement.ts';
import { LISTING_DORMANCIES } from '../../index/listing-judgement.ts';
import type { MirroredListing } from '../../index/queries/listings.ts';
import { LISTING_COLUMNS, decodeMirroredListing } from '../../index/queries/listings.ts';
import { LISTING_STATUSES } from '../../orders/order-id.ts';

/** `dormant`: why the seller cannot deliver at present. `endedAt` in milliseconds. */
export type FoundListing = {
  listing: MirroredListing;
  status: (typeof LISTING_STATUSES)[number];
  dormant: ListingDormancy | null;
  endedAt: number | null;
};

const decodeState = rowDecoder('listing', {
  status: oneOf(LISTING_STATUSES),
  dormant: nullable(oneOf(LISTING_DORMANCIES)),
  endedAt: column('ended_at', nullable(timestamp)),
});

/**
 * Finds a listing. `db` is the indexer database. If several marketplaces list the order, the newest active listing is returned, or the newest
 * listing if none is active. A hash is looked up as given and in lower case: hashes on EVM chains are stored in lower case, but on Solana the
 * letter case of a hash matters.
 */
export async function findListing(
  db: Queryable,
  idOrHash: string,
  chains: readonly string[],
): Promise<FoundListing | null> {
  const [row] = await db.query(
    `select ${LISTING_COLUMNS}, status, dormant, coalesce(ended_at, retired_at) as ended_at from (
       select * from indexer.listing where id = $1
       union all select * from indexer.listing where order_hash in ($1, lower($1))
     ) as listing where chain = any($2) order by status = 'active' desc, listed_at desc, key limit 1`,
    [idOrHash, chains],
  );
  return row ? { listing: decodeMirroredListing(row), ...decodeState(row) } : null;
}

const decodeId = rowDecoder('book_order', { id: text });

/**
 * Finds an own order, or else a reported bid, by its id, or by its hash on one of the given chains, as `findListing` does. Returns its id. `db` is the primary
 * database.
 */
export async function findBookOrderId(
  db: Queryable,
  idOrHash: string,
  chains: readonly string[],
): Promise<string | null> {
  const [row] = await db.query(
    `(select id from main.book_order where id = $1)
     union all (select id from main.book_order where chain = any($2) and order_hash = lower($1) order by id limit 1)
     union all (select id from main.book_order where reported_hash in ($1, lower($1)) and chain = any($2)
       order by status = 'active' desc, created_at desc, id limit 1)
     limit 1`,
    [idOrHash, chains],
  );
  return row ? decodeId(row).id : null;
}
