// Derives the history of the floor from imported listings, for the time before the service recorded floors. Only for collections whose record
// says that the imported listings include those that have ended (`listingsComplete`): the floor of the past is not known from the listings
// that are left.

import type { Databases } from '../database/open.ts';
import type { ListedOnce } from '../orders/queries/past-orders.ts';
import { listPastOrders } from '../orders/queries/past-orders.ts';
import type { PastListing } from './floor-history.ts';
import { toPastHours } from './floor-history.ts';
import { listWithCompleteListings } from './queries/collections.ts';
import { listCoverage } from './queries/coverage.ts';
import { lockFigures } from './queries/figures.ts';
import {
  findRecordedFrom,
  listFillTimes,
  listPastListings,
  listWithDerivedHours,
  replacePastHours,
} from './queries/past-hours.ts';

export type DeriveContext = Pick<Databases, 'main' | 'indexer'> & { serviceName: string };

/** Derives the history of the given collections again. Returns the ids of those whose history was derived, before or now. */
export async function deriveHistory(
  { main, indexer, serviceName }: DeriveContext,
  collectionIds: readonly string[],
): Promise<string[]> {
  const complete = new Set(await listWithCompleteListings(main, collectionIds));
  const ids = [...complete.union(new Set(await listWithDerivedHours(indexer, collectionIds)))].sort();
  for (const id of ids) {
    const orders = complete.has(id) ? await listPastOrders(main, id) : [];
    await indexer.transaction(async (tx) => {
      await lockFigures(tx, [id]);
      const recordedFrom = await findRecordedFrom(tx, id);
      if (recordedFrom === null) return;
      const coverage = (await listCoverage(tx, [id], ['listings'])).get(id) ?? [];
      // An import without mirrored listings has no coverage: then all listings are own orders.
      const isCovered = complete.has(id) && coverage.every(({ kind }) => kind === 'imported');
      const mirrored = isCovered ? await listPastListings(tx, id) : [];
      const filledAt = isCovered ? await listFillTimes(tx, id) : new Map<string, number>();
      const listings = [
        ...(isCovered ? orders : []).map((order) => toPastListing(order, filledAt, true)),
        ...mirrored.map((listing) => toPastListing(listing, filledAt, listing.source === serviceName)),
      ];
      await replacePastHours(tx, id, { hours: toPastHours(listings, recordedFrom), recordedFrom });
    });
  }
  return ids;
}

function toPastListing(
  { id, asset, priceRaw, from, expiresAt, endedAt, status, hidden }: ListedOnce,
  filledAt: ReadonlyMap<string, number>,
  isOwn: boolean,
): PastListing {
  const expiry = expiresAt ?? Infinity;
  const end = endedAt ?? (status === 'filled' ? (filledAt.get(id) ?? null) : null);
  const isOver = status === 'filled' || status === 'cancelled';
  const listing = { asset, isOwn, priceRaw, from };
  // It may have been hidden at any time before, too.
  if (hidden !== null) return { ...listing, until: from, mayEnd: Math.max(from, expiry) };
  if (!isOver) return { ...listing, until: Math.max(from, expiry), mayEnd: Math.max(from, expiry) };
  // If it is not known when the listing ended, it may have been open until its expiry.
  const until = Math.max(from, end === null ? from : Math.min(end, expiry));
  return { ...listing, until, mayEnd: end === null ? Math.max(from, expiry) : until };
}
