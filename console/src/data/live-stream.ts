// The one change stream of this tab, which the parts of a page share. The stream is open while the page is visible and at least one part
// follows it. It delivers only the events that these parts follow, and every reorganisation, to live.ts. When the stream is opened
// again, it continues with the first event that one of these parts lacks.

import type { ActivityKind, StreamEvent } from '../../../client/src/market.ts';
import { MercatError } from '../../../client/src/market.ts';
import { verifyConnection } from '../shell/connection.tsx';
import { client, queries } from './client.ts';
import { applyEvents, touchAll, watchTime } from './live.ts';

/** `collection`: a canonical id, or null for all collections. */
export type LiveFilter = { collection: string | null; kinds: readonly ActivityKind[] };

type Follower = LiveFilter & {
  /** The offset up to which the follower has received all events. Null after events were missed. */
  position: string | null;
};

/** When the user opens another page, one set of followers replaces another. The stream waits this long before it changes its filter. */
const SETTLE_MS = 50;
/** Events that arrive within this time are passed on together. */
const BATCH_MS = 100;
/** The wait before a new connection after an error that the client package does not handle by itself. */
const FAILED_MS = 30_000;
const COLLECTIONS_MAX = 100;

class LiveStream {
  readonly #followers = new Set<Follower>();
  #connection: { filter: string; controller: AbortController } | null = null;
  #isOpen = false;
  #adjusting: ReturnType<typeof setTimeout> | undefined;
  #waiting: StreamEvent[] = [];
  #passing: ReturnType<typeof setTimeout> | undefined;

  constructor() {
    document.addEventListener('visibilitychange', () => this.#adjustSoon(0));
    watchTime(() => this.#isOpen);
  }

  /** Follows the events after the offset `from`, until the returned function is called. */
  follow({ collection, kinds }: LiveFilter, from: string): () => void {
    const follower = { collection, kinds, position: from };
    this.#followers.add(follower);
    this.#adjustSoon(SETTLE_MS);
    return () => {
      this.#followers.delete(follower);
      this.#adjustSoon(SETTLE_MS);
    };
  }

  #adjustSoon(ms: number): void {
    clearTimeout(this.#adjusting);
    this.#adjusting = setTimeout(() => this.#adjust(), ms);
  }

  /** Opens a new connection if the followers need another filter, or if one of them lacks events that another has. Disconnects if no stream is needed. */
  #adjust(): void {
    this.#passOn();
    const isWanted = document.visibilityState === 'visible' && this.#followers.size > 0;
    const filter = isWanted ? JSON.stringify(joinFilters([...this.#followers])) : null;
    const positions = [...this.#followers].map(({ position }) => position);
    const isBehind = new Set(positions).size > 1;
    if (filter === (this.#connection?.filter ?? null) && !isBehind) return;
    this.#connection?.controller.abort();
    this.#connection = null;
    this.#isOpen = false;
    if (filter === null) return;
    const connection = { filter, controller: new AbortController() };
    this.#connection = connection;
    const from = positions.includes(null) ? null : (positions as string[]).reduce((a, b) => (a < b ? a : b));
    void this.#run(connection, from);
  }

  async #run({ filter, controller }: { filter: string; controller: AbortController }, from: string | null) {
    const { signal } = controller;
    try {
      const events = client.follow({
        ...(JSON.parse(filter) as ReturnType<typeof joinFilters>),
        ...(from !== null && { from }),
        signal,
        onConnection: (state) => {
          if (!signal.aborted) this.#isOpen = state === 'open';
          if (state === 'lost') void verifyConnection(queries);
        },
      });
      for await (const event of events) {
        // The connection was replaced. The new connection delivers this event again.
        if (signal.aborted) return;
        this.#waiting.push(event);
        this.#passing ??= setTimeout(() => this.#passOn(), BATCH_MS);
      }
    } catch (error) {
      if (signal.aborted) return;
      this.#connection = null;
      this.#isOpen = false;
      const isExpired = error instanceof MercatError && error.code === 'offset_expired';
      if (isExpired) {
        // Events were missed: all data is read again, and the next connection begins with new events.
        for (const follower of this.#followers) follower.position = null;
        touchAll();
      }
      this.#adjustSoon(isExpired ? 0 : FAILED_MS);
    }
  }

  #passOn(): void {
    clearTimeout(this.#passing);
    this.#passing = undefined;
    const events = this.#waiting;
    this.#waiting = [];
    const newest = events.at(-1)?.offset;
    if (newest === undefined) return;
    for (const follower of this.#followers)
      if (follower.position === null || follower.position < newest) follower.position = newest;
    applyEvents(events);
  }
}

export const liveStream = new LiveStream();

/** Combines the filters of the followers. The stream then delivers every event that matches at least one of these filters. */
function joinFilters(filters: readonly LiveFilter[]): { collections?: string[]; kinds: ActivityKind[] } {
  const kinds = [...new Set<ActivityKind>([...filters.flatMap((filter) => filter.kinds), 'reorg'])].sort();
  const collections = [...new Set(filters.map(({ collection }) => collection))].sort();
  const isForAll = collections.includes(null) || collections.length > COLLECTIONS_MAX;
  return { kinds, ...(!isForAll && { collections: collections as string[] }) };
}
