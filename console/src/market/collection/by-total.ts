// Sorts what is listed by what a buyer pays. The service sorts it by what the sellers ask. No total is below its ask, so among the listings of
// which the asks were read, those with a total of at most the last ask that was read have their final places.

import type { Listing } from '../../../../client/src/market.ts';

type Listed = Pick<Listing, 'price' | 'buyerTotal'>;

/**
 * `rows`: the lowest asks first, then the rows without a listing. `isComplete`: whether all rows were read. Leaves out the rows whose places are
 * not final. A row whose total is not known stands where its ask puts it.
 */
export function sortByTotal<Row>(
  rows: readonly Row[],
  listingOf: (row: Row) => Listed | null,
  { isComplete }: { isComplete: boolean },
): readonly Row[] {
  const listed = rows.flatMap((row) => {
    const listing = listingOf(row);
    return listing ? [{ row, ask: listing.price.raw, total: listing.buyerTotal?.raw ?? listing.price.raw }] : [];
  });
  const others = rows.filter((row) => listingOf(row) === null);
  const last = others.length === 0 && !isComplete ? listed.at(-1)?.ask : undefined;
  const sorted = listed.toSorted((a, b) => (a.total < b.total ? -1 : a.total > b.total ? 1 : 0));
  const final = last === undefined ? sorted : sorted.filter(({ total }) => total <= last);
  return [...final.map(({ row }) => row), ...others];
}
