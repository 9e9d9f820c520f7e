// Processes one collection for the task `opensea-listings`. All listings of a large collection are read once an hour, or when the operator
// requests a full read. Between these reads, only the cheapest listings are read, because a listing window contains no other listings.

import { BoundedMap } from '../../../platform/core/bounded-map.ts';
import { findFullSnapshot } from '../../../market/index/queries/listing-snapshots.ts';
import type { UpstreamContext } from '../context.ts';
import { beginWalk, concludeListings } from '../followed-task.ts';
import { walkOpenSeaCheapest, walkOpenSeaListings } from './listings.ts';
import { OPENSEA } from './names.ts';
import { PAGE } from './pages.ts';
import type { OpenSeaRun } from './run.ts';

/** Two pages of 200 listings fill a listing window of 250 assets, unless many of the cheapest assets have several listings. */
const CHEAPEST_PAGES = 2;
const FULL_MS = 60 * 60_000;
const REMEMBERED_MAX = 10_000;

/**
 * Remembers from one run of the task to the next, in the memory of this process, how many pages of listings each collection has, and which
 * collections must be read in full.
 */
export class ListingRefresh {
  /**
   * `pages`: how many pages the last full read had. It cannot be computed from the number of stored listings, because listings in
   * currencies other than the native currency are not stored.
   * `isDoubtful`: the list of the cheapest listings was incomplete, or was not accepted because too many stored listings were missing from
   * it. So all listings are read in the next run.
   */
  readonly #collections = new BoundedMap<string, { pages: number; isDoubtful: boolean }>(REMEMBERED_MAX);

  async refresh(context: UpstreamContext, run: OpenSeaRun): Promise<void> {
    const key = `${run.follow.collectionId} ${run.collection.slug}`;
    if (!run.isFull && (await this.#isCheapestEnough(context, run, key))) {
      const pages = this.#collections.get(key)?.pages ?? 0;
      if (!(await refreshCheapest(context, run))) this.#collections.set(key, { pages, isDoubtful: true });
      return;
    }
    const pages = await refreshAll(context, run);
    if (pages !== null) this.#collections.set(key, { pages, isDoubtful: false });
  }

  /**
   * Whether a read of the cheapest listings is enough: the collection has more than two pages of listings, all of them were read within the
   * last hour, and the collection is not doubtful.
   */
  async #isCheapestEnough({ indexer, clock }: UpstreamContext, { follow }: OpenSeaRun, key: string): Promise<boolean> {
    const last = await findFullSnapshot(indexer, { source: OPENSEA, collectionId: follow.collectionId });
    const now = clock();
    const isFresh = last !== null && last.isAccepted && last.takenAt <= now && now - last.takenAt < FULL_MS;
    const remembered = this.#collections.get(key);
    const pages = Math.max(remembered?.pages ?? 0, Math.ceil((last?.listings ?? 0) / PAGE));
    return isFresh && pages > CHEAPEST_PAGES && remembered?.isDoubtful !== true;
  }
}

/** Returns the number of pages, or null when the walk was incomplete or the list was not accepted. */
async function refreshAll(context: UpstreamContext, run: OpenSeaRun): Promise<number | null> {
  const { upstream, collection, ingester, signal } = run;
  const walk = beginWalk(context, run);
  const listings = walkOpenSeaListings(upstream, collection, { begunBy: walk.startedAt, signal });
  const { gap, pages } = await ingester.ingestPages(listings, signal);
  return (await concludeListings(run, { source: OPENSEA, gap, walk })) ? pages : null;
}

/** Returns whether the cheapest listings were read completely and accepted. */
async function refreshCheapest({ clock }: UpstreamContext, run: OpenSeaRun): Promise<boolean> {
  const { upstream, collection, ingester, signal } = run;
  const walk = walkOpenSeaCheapest(upstream, collection, { pages: CHEAPEST_PAGES, begunBy: clock(), signal });
  const { gap, below } = await ingester.ingestPages(walk, signal);
  return concludeListings(run, { source: OPENSEA, gap, below });
}
