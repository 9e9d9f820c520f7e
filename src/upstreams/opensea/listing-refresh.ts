// The work of the task `opensea-listings` on one collection. A large order book is read in full once an hour, or when the operator
// requests it. In between, only its cheapest listings are read, because readers see only these.

import { findFullSnapshot } from '../../market/queries/listing-snapshots.ts';
import type { UpstreamContext } from '../context.ts';
import { concludeListings } from '../followed-task.ts';
import { walkOpenSeaCheapest, walkOpenSeaListings } from './listings.ts';
import { OPENSEA } from './names.ts';
import { PAGE } from './pages.ts';
import type { OpenSeaRun } from './run.ts';

/** Two pages of 200 hold more than the 250 assets of a window, with room for higher-priced listings of the same assets. */
const CHEAPEST_PAGES = 2;
const FULL_MS = 60 * 60_000;

/** Keeps the size of each order book, and whether it is doubtful, between the runs in this process. */
export class ListingRefresh {
  /** Pages of the last full read. Stored listings may be fewer, when most are in other currencies. */
  readonly #pages = new Map<string, number>();
  /** Order books whose cheapest part was incomplete or not accepted. They are read in full next time. */
  readonly #doubtful = new Set<string>();

  async refresh(context: UpstreamContext, run: OpenSeaRun): Promise<void> {
    const book = `${run.follow.collectionId} ${run.collection.slug}`;
    if (!run.isFull && (await this.#isCheapestEnough(context, run, book))) {
      if (!(await refreshCheapest(context, run))) this.#doubtful.add(book);
      return;
    }
    const pages = await refreshAll(context, run);
    if (pages === null) return;
    this.#pages.set(book, pages);
    this.#doubtful.delete(book);
  }

  /** Whether the order book is large, was read in full a short time ago, and is not doubtful. */
  async #isCheapestEnough({ indexer, clock }: UpstreamContext, { follow }: OpenSeaRun, book: string): Promise<boolean> {
    const last = await findFullSnapshot(indexer, { source: OPENSEA, collectionId: follow.collectionId });
    const now = clock();
    const isFresh = last !== null && last.isAccepted && last.takenAt <= now && now - last.takenAt < FULL_MS;
    const pages = Math.max(this.#pages.get(book) ?? 0, Math.ceil((last?.listings ?? 0) / PAGE));
    return isFresh && pages > CHEAPEST_PAGES && !this.#doubtful.has(book);
  }
}

/** Returns the number of pages; null when the order book was incomplete or not accepted. */
async function refreshAll({ clock }: UpstreamContext, run: OpenSeaRun): Promise<number | null> {
  const { upstream, collection, ingester, signal } = run;
  const walk = walkOpenSeaListings(upstream, collection, { begunBy: clock(), signal });
  const { gap, pages } = await ingester.ingestPages(walk, signal);
  return (await concludeListings(run, { source: OPENSEA, gap })) ? pages : null;
}

/** Returns whether the part was complete and accepted. */
async function refreshCheapest({ clock }: UpstreamContext, run: OpenSeaRun): Promise<boolean> {
  const { upstream, collection, ingester, signal } = run;
  const walk = walkOpenSeaCheapest(upstream, collection, { pages: CHEAPEST_PAGES, begunBy: clock(), signal });
  const { gap, below } = await ingester.ingestPages(walk, signal);
  return concludeListings(run, { source: OPENSEA, gap, below });
}
