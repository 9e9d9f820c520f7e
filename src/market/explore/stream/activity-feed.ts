// The one reader of the activity log in a process. It polls the log, and keeps its newest events and recently read older pages in memory,
// so that the number of subscribers does not change the number of statements.

import { setImmediate as yieldToOthers } from 'node:timers/promises';
import { LRUCache } from 'lru-cache';
import { ServiceError } from '../../../platform/core/errors.ts';
import type { Log } from '../../../platform/core/log.ts';
import type { Random } from '../../../platform/core/random.ts';
import { spreadMs } from '../../../platform/resilience/backoff.ts';
import { Pause } from '../../../platform/tasks/pause.ts';
import type { StreamEntry, StreamFilter } from './stream-entry.ts';
import type { LogRange, ReadLog } from './log-reader.ts';
import type { StreamPosition } from './offset.ts';
import { toOffset } from './offset.ts';

export type ActivityFeedOptions = { read: ReadLog; random: Random; log: Log };

/** Entries up to the position `end`. `isFull`: `end` is the last position of a page, so no entries will be added to the page. */
export type LogPage = { epoch: string; entries: readonly StreamEntry[]; end: number; isFull: boolean };

/** The number of positions in a page, and the most events that one read of the log returns. */
export const PAGE_SIZE = 500;
/**
 * The most events of a read that has a filter. It is smaller than a page, because the read searches each kind of each collection for as many
 * events.
 */
const MATCHES_MAX = 100;
/** The period of the polls. A hint causes an earlier poll. */
const POLL_MS = 500;
/** After a failed poll the wait is lengthened at random by up to this share, so that processes do not all poll at once. */
const RETRY_JITTER = 0.5;
/** How many of the newest events stay in memory when older ones are dropped. They are dropped when more than twice this many are in memory. */
const TAIL_SIZE = 1_000;
/** The most older pages that are kept in memory. */
const PAGES_MAX = 20;
/** An older page is read again after this time, because events of a collection that was removed meanwhile must no longer be sent. */
const PAGE_AGE_MAX_MS = 60_000;

const GONE = 'The offset is older than the events that are kept: read the data again, and continue from its offset';
const UNKNOWN = 'The offset is newer than all events: read the data again, and continue from its offset';
const OTHER_LOG =
  'The offset is of another log, from before the database was restored or of another service: read the data again, and continue from its offset';
const UNREADABLE = 'The service cannot reach its database, try again soon';

/** `epoch`: which log it is. `oldest`: the oldest kept position. `newest`: the last position. */
type LogState = { epoch: string; oldest: number; newest: number };

export class ActivityFeed {
  readonly #options: ActivityFeedOptions;
  readonly #pause = new Pause();
  readonly #pages = new LRUCache<number, Promise<LogRange>>({ max: PAGES_MAX, ttl: PAGE_AGE_MAX_MS });
  /** Reads with a filter that are in progress, by position and filter. */
  readonly #matching = new Map<string, Promise<LogPage>>();
  readonly #changeListeners = new Set<() => void>();
  readonly #resetListeners = new Set<() => void>();
  /** The newest events: all those after `#tailStart`. */
  #tail: StreamEntry[] = [];
  #tailStart = 0;
  /** The state of the log at the latest read. Null until the first read. */
  #state: LogState | null = null;
  #isReadable = false;
  #isHinted = false;
  #isStopped = false;
  #ended: Promise<void> = Promise.resolve();

  constructor(options: ActivityFeedOptions) {
    this.#options = options;
  }

  /**
   * The offset up to which this process has read the log. Data that is read from the databases later is never older than this offset. Null if
   * the latest read has failed.
   */
  get offset(): string | null {
    return this.#isReadable && this.#state ? toOffset(this.#state.epoch, this.#state.newest) : null;
  }

  /** The position up to which the log was read. Throws `unavailable` if it was never read. */
  get newest(): StreamPosition {
    const { epoch, newest } = this.#requireState();
    return { epoch, position: newest };
  }

  /** The position before the oldest kept event. Throws `unavailable` if the log was never read. */
  get start(): StreamPosition {
    const { epoch, oldest } = this.#requireState();
    return { epoch, position: oldest - 1 };
  }

  run(): void {
    this.#ended = this.#loop();
  }

  /** Causes a poll soon, because there may be new events. */
  hint(): void {
    this.#isHinted = true;
    this.#pause.end();
  }

  async stop(): Promise<void> {
    this.#isStopped = true;
    this.#pause.end();
    await this.#ended;
  }

  /** Calls `listener` after each read that found new positions. */
  onChange(listener: () => void): void {
    this.#changeListeners.add(listener);
  }

  /** Calls `listener` after the log was found to be another one, or shorter than before. */
  onReset(listener: () => void): void {
    this.#resetListeners.add(listener);
  }

  /** Throws `gone` if the position is of another log, if an event after it is no longer kept, or if the log does not reach it. */
  async requireKept({ epoch, position }: StreamPosition): Promise<void> {
    let state = this.#requireState();
    // The log may have grown, or may have been replaced, since the latest poll of this process. The client can have the position from another process.
    if (epoch !== state.epoch || position > state.newest)
      state = await this.#options.read({ after: position, limit: 1 });
    if (epoch !== state.epoch) throw new ServiceError('gone', OTHER_LOG);
    if (position < state.oldest - 1) throw new ServiceError('gone', GONE);
    if (position > state.newest) throw new ServiceError('gone', UNKNOWN);
  }

  /**
   * The events after the position. Returns all of them, without a promise, if they are among the newest events in memory. Otherwise reads
   * the events up to the end of their page, or, with a filter, the next events that pass the filter. Null at the end of the log. Rejects with
   * `gone` if events after the position are no longer kept, and with `unavailable` if the log cannot be read.
   */
  read(position: number, filter: StreamFilter | null = null): LogPage | null | Promise<LogPage> {
    if (this.#state !== null && position >= this.#state.newest) return null;
    if (this.#state === null || position < this.#tailStart)
      return filter ? this.#readMatching(position, filter) : this.#readPageAt(position);
    const { epoch, newest } = this.#state;
    return { epoch, entries: entriesAfter(this.#tail, position), end: newest, isFull: false };
  }

  /** The events after the position up to the end of its page. Rejects as `read` does, and with `gone` if the position is of another log. */
  async readPage({ epoch, position }: StreamPosition): Promise<LogPage> {
    const page = await this.#readPageAt(position);
    if (page.epoch !== epoch) throw new ServiceError('gone', OTHER_LOG);
    return page;
  }

  async #readPageAt(position: number): Promise<LogPage> {
    const number = Math.floor(position / PAGE_SIZE);
    const pageEnd = (number + 1) * PAGE_SIZE;
    const { epoch, oldest, newest, entries } = await this.#loadPage(number, pageEnd);
    if (position < oldest - 1) throw new ServiceError('gone', GONE);
    const end = Math.min(pageEnd, Math.max(newest, position));
    return { epoch, entries: entriesAfter(entries, position), end, isFull: end === pageEnd };
  }

  /** Concurrent callers with the same position and filter share one read. */
  #readMatching(position: number, filter: StreamFilter): Promise<LogPage> {
    const key = `${position} ${filter.key}`;
    const running = this.#matching.get(key);
    if (running) return running;
    const read = async (): Promise<LogPage> => {
      const range = await this.#options.read({ after: position, limit: MATCHES_MAX, filter });
      if (position < range.oldest - 1) throw new ServiceError('gone', GONE);
      const last = range.entries.length === MATCHES_MAX ? range.entries.at(-1) : undefined;
      const end = last?.position ?? Math.max(range.newest, position);
      return { epoch: range.epoch, entries: range.entries, end, isFull: false };
    };
    const page = read().finally(() => this.#matching.delete(key));
    this.#matching.set(key, page);
    return page;
  }

  /** Concurrent callers share one read. Only full pages are kept. */
  #loadPage(number: number, pageEnd: number): Promise<LogRange> {
    const kept = this.#pages.get(number);
    if (kept) return kept;
    const page = this.#options.read({ after: number * PAGE_SIZE, last: pageEnd, limit: PAGE_SIZE });
    this.#pages.set(number, page);
    const drop = () => {
      if (this.#pages.peek(number) === page) this.#pages.delete(number);
    };
    page.then(({ newest }) => {
      if (newest < pageEnd) drop();
    }, drop);
    return page;
  }

  #requireState(): LogState {
    if (this.#state === null) throw new ServiceError('unavailable', UNREADABLE);
    return this.#state;
  }

  async #loop(): Promise<void> {
    while (!this.#isStopped) {
      this.#isHinted = false;
      const waitMs = await this.#pollOnce();
      if (this.#isStopped) return;
      if (waitMs === 0 || this.#isHinted) await yieldToOthers();
      else await this.#pause.wait(waitMs);
    }
  }

  /** Returns the time until the next poll. */
  async #pollOnce(): Promise<number> {
    try {
      const isMore = await this.#poll();
      this.#isReadable = true;
      return isMore ? 0 : POLL_MS;
    } catch (error) {
      // If the error is a ServiceError, the source has already logged the failure.
      if (!(error instanceof ServiceError)) this.#options.log.warn('the activity log cannot be read', { error });
      this.#isReadable = false;
      this.#isHinted = false;
      return spreadMs(POLL_MS, RETRY_JITTER, this.#options.random);
    }
  }

  /** Reads new events. Returns whether there may be more. */
  async #poll(): Promise<boolean> {
    const before = this.#state;
    const { epoch, oldest, newest, entries } = await this.#options.read(
      before ? { after: before.newest, limit: PAGE_SIZE } : { after: Number.MAX_SAFE_INTEGER, limit: 1 },
    );
    if (before && (epoch !== before.epoch || newest < before.newest)) {
      this.#reset({ epoch, oldest, newest });
      return false;
    }
    const isMore = entries.length === PAGE_SIZE;
    const reached = isMore ? (entries.at(-1)?.position ?? newest) : newest;
    this.#state = { epoch, oldest, newest: reached };
    if (!before) this.#tailStart = reached;
    else if (reached > before.newest) this.#append(entries);
    return isMore;
  }

  #append(entries: readonly StreamEntry[]): void {
    for (const { kind, collectionId } of entries) if (kind === 'remove') this.#forget(collectionId);
    this.#tail.push(...entries);
    if (this.#tail.length > 2 * TAIL_SIZE) {
      const dropped = this.#tail.length - TAIL_SIZE;
      this.#tailStart = this.#tail[dropped - 1]?.position ?? this.#tailStart;
      this.#tail = this.#tail.slice(dropped);
    }
    for (const listener of this.#changeListeners) listener();
  }

  /** Removes the events of a removed collection from memory, as they were removed from the log. */
  #forget(removed: string | null): void {
    this.#tail = this.#tail.filter(({ collectionId }) => collectionId !== removed);
    this.#pages.clear();
  }

  /**
   * The log is another one, because the database was restored, or it is shorter than before, because the database was replaced by an older copy
   * of its files. The positions that are missing now may be used again for other events.
   */
  #reset(state: LogState): void {
    this.#options.log.warn('the activity log was replaced', {
      from: this.offset,
      to: toOffset(state.epoch, state.newest),
    });
    this.#tail = [];
    this.#tailStart = state.newest;
    this.#pages.clear();
    this.#state = state;
    for (const listener of this.#resetListeners) listener();
  }
}

/** The entries are in the order of their positions. */
function entriesAfter(entries: readonly StreamEntry[], position: number): readonly StreamEntry[] {
  let [low, high] = [0, entries.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((entries[middle]?.position ?? 0) > position) high = middle;
    else low = middle + 1;
  }
  return entries.slice(low);
}
