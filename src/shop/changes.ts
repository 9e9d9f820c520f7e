// Reads the feed of changes of a shop for callers, and waits until a shop has a new change.

import { setTimeout as delay } from 'node:timers/promises';
import type { Clock } from '../platform/core/clock.ts';
import type { Deadline } from '../platform/core/deadline.ts';
import { ServiceError } from '../platform/core/errors.ts';
import { BatchedReads } from '../platform/database/batched-reads.ts';
import type { Database, Statements } from '../platform/database/port.ts';
import { isOutOfOrder, isStuck, repeatAborted } from '../platform/database/port.ts';
import { FairQueue } from '../platform/resilience/fair-queue.ts';
import { EVENTS_KEPT_MS } from './events.ts';
import type { FeedQuery, FeedRow, FeedState } from './queries/changes.ts';
import { assignPositions, listFeedStates, readFeedPage } from './queries/changes.ts';

/** `sequence`: the `after` of the next page. `hasMore`: the next page has rows already, or other parts of the feed have. */
export type FeedPage = { rows: FeedRow[]; sequence: number; hasMore: boolean };

/**
 * A page of the feed. It has every change that was committed before the call, unless it is full. Throws `gone` if changes after `query.after`
 * are no longer kept.
 */
export async function readChanges(main: Statements, shopId: string, query: FeedQuery, clock: Clock): Promise<FeedPage> {
  let page = await readFeedPage(main, shopId, query);
  if (!page.hasMore && page.waitingSince !== null) {
    await givePositions(main, shopId, clock);
    page = await readFeedPage(main, shopId, query);
  }
  const { last, keptAfter, waitingSince, rows } = page;
  if (query.after < keptAfter) throw gone(`must be at least ${keptAfter}, because older changes are no longer kept`);
  if (query.after > last) throw gone(`must be at most ${last}, the newest change`);
  const sequence = page.hasMore ? (rows.at(-1)?.position ?? query.after) : last;
  return { rows, sequence, hasMore: page.hasMore || waitingSince !== null };
}

function givePositions(main: Statements, shopId: string, clock: Clock): Promise<void> {
  return repeatAborted(() => main.transaction((tx) => assignPositions(tx, shopId, clock() - EVENTS_KEPT_MS)));
}

/** How many changes get positions at most, in thousands, before a list of a shop is read whose feed nobody has read. */
const FIRST_BATCHES_MAX = 10;

/**
 * Gives positions to the changes of a shop of which none has one yet, so that a copy that begins with a list does not read all of them again. Does
 * nothing while the database accepts no writes: the list is then followed by all changes.
 */
export async function beginFeed(main: Statements, shopId: string, clock: Clock): Promise<void> {
  try {
    for (let batch = 0; batch < FIRST_BATCHES_MAX; batch += 1) {
      await givePositions(main, shopId, clock);
      const state = (await listFeedStates(main, [shopId])).get(shopId);
      if (!state || state.waitingSince === null) return;
    }
  } catch (error) {
    if (!isOutOfOrder(error) && !isStuck(error)) throw error;
  }
}

function gone(message: string): ServiceError {
  const details = [{ path: 'after', message }];
  return new ServiceError('gone', 'These changes are not available. Read the products again', { details });
}

/** How often it is checked whether shops have new changes. One statement checks all shops. */
const CHECK_MS = 250;
const CHECK_TIMEOUT_MS = 5_000;
const SHOPS_MAX = 1_000;
/** How many requests of all shops may wait in this process. A shop that is alone may have half of the places. */
const WAITING_MAX = 400;

/** Lets requests wait for changes. A request that waits uses no connection. */
export class ChangeWaits {
  readonly #places = new FairQueue({ places: (taken) => WAITING_MAX - taken });
  readonly #states: BatchedReads<FeedState>;
  readonly #end = new AbortController();
  #pause: Promise<unknown> | null = null;

  constructor(main: Database) {
    this.#states = new BatchedReads({
      sizeMax: SHOPS_MAX,
      readAll: (shopIds) => listFeedStates(main.within(CHECK_TIMEOUT_MS), shopIds),
    });
  }

  /** Ends all waits. */
  close(): void {
    this.#end.abort();
  }

  /**
   * Returns true when the shop has changes after `sequence`, and false at the deadline, when the signal aborts, when the process closes, or at
   * once if too many requests wait.
   */
  async wait(shopId: string, sequence: number, { deadline, signal }: { deadline: Deadline; signal: AbortSignal }) {
    if (!this.#places.tryEnter(shopId)) return false;
    try {
      while (!deadline.hasPassed && !signal.aborted && !this.#end.signal.aborted) {
        const state = await this.#states.read(shopId);
        if (state && (state.last > sequence || state.waitingSince !== null)) return true;
        // All requests wait for the same pause, so that they share the next statement.
        this.#pause ??= this.#startPause();
        await this.#pause;
      }
      return false;
    } finally {
      this.#places.leave(shopId);
    }
  }

  async #startPause(): Promise<void> {
    await delay(CHECK_MS, undefined, { signal: this.#end.signal }).catch(() => undefined);
    this.#pause = null;
  }
}
