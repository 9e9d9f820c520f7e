// The one change stream of this tab, which the parts of a page share. It is open while the page is visible and a part follows it, has only
// what these parts follow, and continues where it was closed.

import type { Activity, ActivityKind } from '../../../client/src/market.ts';
import { MercatError } from '../../../client/src/market.ts';
import { verifyConnection } from '../shell/connection.tsx';
import { client, queries } from './client.ts';

/** `collection` is a canonical id, and null follows all. */
export type LiveFilter = { collection: string | null; kinds: readonly ActivityKind[] };

type Follower = LiveFilter & {
  /** The offset up to which the follower has everything. Null after events were missed. */
  position: string | null;
  onEvents: (events: readonly Activity[]) => void;
};

/** While a page opens another one, followers leave and come. The stream waits for this long before it connects with a new filter. */
const SETTLE_MS = 50;
/** Events that arrive within this time are passed on together. */
const BATCH_MS = 100;
/** The wait before a new attempt after an error that the client does not repeat itself. */
const FAILED_MS = 30_000;
const COLLECTIONS_MAX = 100;

class LiveStream {
  readonly #followers = new Set<Follower>();
  #connection: { filter: string; controller: AbortController } | null = null;
  #adjusting: ReturnType<typeof setTimeout> | undefined;
  #waiting: Activity[] = [];
  #passing: ReturnType<typeof setTimeout> | undefined;

  constructor() {
    document.addEventListener('visibilitychange', () => this.#adjustSoon(0));
  }

  /** Calls `onEvents` with what happens after the offset, in its order, until the returned function is called. */
  follow({ collection, kinds }: LiveFilter, from: string, onEvents: Follower['onEvents']): () => void {
    const follower = { collection, kinds, position: from, onEvents };
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

  /** Connects if a follower needs more than the connection has, and disconnects if none needs it. */
  #adjust(): void {
    this.#passOn();
    const isWanted = document.visibilityState === 'visible' && this.#followers.size > 0;
    const filter = isWanted ? JSON.stringify(joinFilters([...this.#followers])) : null;
    const positions = [...this.#followers].map(({ position }) => position);
    const isBehind = new Set(positions).size > 1;
    if (filter === (this.#connection?.filter ?? null) && !isBehind) return;
    this.#connection?.controller.abort();
    this.#connection = null;
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
        onConnection: (state) => void (state === 'lost' && verifyConnection(queries)),
      });
      for await (const event of events) {
        // The events of a closed connection come again with the next one.
        if (signal.aborted) return;
        this.#waiting.push(event);
        this.#passing ??= setTimeout(() => this.#passOn(), BATCH_MS);
      }
    } catch (error) {
      if (signal.aborted) return;
      this.#connection = null;
      const isExpired = error instanceof MercatError && error.code === 'offset_expired';
      if (isExpired) {
        // Events were missed: all data is read again, and the stream begins where it is now.
        for (const follower of this.#followers) follower.position = null;
        void queries.invalidateQueries();
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
    for (const follower of this.#followers) {
      const { position } = follower;
      const wanted = events.filter(
        (event) => (position === null || event.offset > position) && concerns(follower, event),
      );
      if (position === null || position < newest) follower.position = newest;
      if (wanted.length > 0) follower.onEvents(wanted);
    }
  }
}

export const liveStream = new LiveStream();

/** A filter of the stream that passes all that the followers need. */
function joinFilters(filters: readonly LiveFilter[]): { collections?: string[]; kinds: ActivityKind[] } {
  const kinds = [...new Set<ActivityKind>([...filters.flatMap((filter) => filter.kinds), 'reorg'])].sort();
  const collections = [...new Set(filters.map(({ collection }) => collection))].sort();
  const isForAll = collections.includes(null) || collections.length > COLLECTIONS_MAX;
  return { kinds, ...(!isForAll && { collections: collections as string[] }) };
}

function concerns({ collection, kinds }: LiveFilter, event: Activity): boolean {
  if (event.kind === 'reorg') return true;
  return kinds.includes(event.kind) && (collection === null || collection === event.collectionId);
}
