// Derives the history of the floor from imported listings, for the time before the service recorded floors. Only for collections whose record
// says that the imported listings include those that have ended (`listingsComplete`): the floor of the past is not known from the listings
// that are left.

import type { Databases } from '../../platform/database/open.ts';
import type { Queryable } from '../../platform/database/port.ts';
import type { ListedOnce } from '../orders/queries/past-orders.ts';
import { listPastOrders } from '../orders/queries/past-orders.ts';
import type { PastListing } from '../index/floor-history.ts';
import { toPastHours } from '../index/floor-history.ts';
import { listWithCompleteListings } from './queries/collections.ts';
import { listCoverage } from '../index/queries/coverage.ts';
import { changeIndexDetails } from '../index/change-index.ts';
import {
  findRecordedFrom,
  listFillTimes,
  listPastListings,
  listWithDerivedHours,
  replacePastHours,
} from '../index/queries/past-hours.ts';

export type DeriveContext = Pick<Databases, 'main' | 'indexer'>;

/** The history of a collection with more orders or more mirrored listings is not derived: it would take the process too long. */
const LISTINGS_MAX = 50_000;

/** Derives the history of the given collections again. Returns the ids of those whose history was derived, before or now. */
export async function deriveHistory(
  { main, indexer }: DeriveContext,
  collectionIds: readonly string[],
): Promise<string[]> {
  const complete = new Set(await listWithCompleteListings(main, collectionIds));
  const ids = [...complete.union(new Set(await listWithDerivedHours(indexer, collectionIds)))].sort();
  for (const id of ids) {
    const orders = complete.has(id) ? await listPastOrders(main, id, LISTINGS_MAX + 1) : [];
    await indexer.transaction((tx) =>
      changeIndexDetails(tx, [id], async () => {
        const recordedFrom = await findRecordedFrom(tx, id);
        if (recordedFrom === null) return;
        const coverage = (await listCoverage(tx, [id], ['listings'])).get(id) ?? [];
        // An import without mirrored listings has no coverage: then all listings are own orders.
        const isCovered = complete.has(id) && coverage.every(({ kind }) => kind === 'imported');
        const mirrored = isCovered ? await listPastListings(tx, id, LISTINGS_MAX + 1) : [];
        const isDerived = isCovered && Math.max(orders.length, mirrored.length) <= LISTINGS_MAX;
        const listings = isDerived ? await toPastListings(tx, id, { orders, mirrored }) : [];
        await replacePastHours(tx, id, { hours: toPastHours(listings, recordedFrom), recordedFrom });
      }),
    );
  }
  return ids;
}

async function toPastListings(
  tx: Queryable,
  collectionId: string,
  { orders, mirrored }: Record<'orders' | 'mirrored', readonly ListedOnce[]>,
): Promise<PastListing[]> {
  const sold = [...orders, ...mirrored].filter(({ status, endedAt }) => status === 'filled' && endedAt === null);
  const filledAt = await listFillTimes(
    tx,
    collectionId,
    sold.map(({ id }) => id),
  );
  return [
    ...orders.map((order) => toPastListing(order, filledAt, true)),
    // On Solana, an own listing is a mirrored listing, and has no precedence over the others of its asset.
    ...mirrored.map((listing) => toPastListing(listing, filledAt, false)),
  ];
}

function toPastListing(
  { id, asset, priceRaw, from, expiresAt, endedAt, status, dormant }: ListedOnce,
  filledAt: ReadonlyMap<string, number>,
  isOwn: boolean,
): PastListing {
  const expiry = expiresAt ?? Infinity;
  const ended = { filled: filledAt.get(id) ?? null, expired: expiresAt, cancelled: null, active: null };
  const end = endedAt ?? ended[status];
  // The sweep may not have recorded yet that the listing has expired.
  const isOver = status !== 'active' || endedAt !== null;
  const listing = { asset, isOwn, priceRaw, from };
  // It may have been dormant at any time before, too.
  if (dormant !== null) return { ...listing, until: from, mayEnd: Math.max(from, expiry) };
  if (!isOver) return { ...listing, until: Math.max(from, expiry), mayEnd: Math.max(from, expiry) };
  // If it is not known when the listing ended, it may have been open until its expiry.
  const until = Math.max(from, end === null ? from : Math.min(end, expiry));
  return { ...listing, until, mayEnd: end === null ? Math.max(from, expiry) : until };
}
