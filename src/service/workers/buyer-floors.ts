// The task that stores the buyer floors of followed collections on the chains with `keepsBuyerFloor`. A stored floor can be served while
// the indexer database fails, even if no reader requested the collection before. A floor is read again when the listing figures of the
// collection have changed, or when the stored floor would soon be too old.

import { listFollows } from '../../market/follows/queries/follows.ts';
import { readPresentFloors } from '../../market/reads/floors/floor.ts';
import { BUYER_FLOOR_AGE_MAX_MS } from '../../market/reads/floors/last-buyer-floors.ts';
import { listCollectionsByIds } from '../../market/reads/queries/collections.ts';
import { listListingMarks } from '../../market/index/queries/figures.ts';
import {
  deleteLastBuyerFloor,
  listLastBuyerFloorTimes,
  upsertLastBuyerFloor,
} from '../../market/reads/queries/last-buyer-floors.ts';
import type { Task, TaskResult } from '../../platform/tasks/task.ts';
import type { WorkerContext } from './context.ts';

const PERIOD_MS = 60_000;
const DEADLINE_MS = 10 * 60_000;
const BATCH_SIZE = 500;
const BATCH_TIMEOUT_MS = 10_000;
/** A stored floor of this age is read again. The floor is served up to twice this age, which leaves time for failed runs. */
const REFRESH_MS = BUYER_FLOOR_AGE_MAX_MS / 2;
/** The most floors that one run reads, the oldest floors first. The next run reads the remaining floors. */
const RESOLVED_MAX = 2_000;

export function createBuyerFloorsTask(context: WorkerContext): Task {
  const keeper = new BuyerFloorKeeper(context);
  return {
    name: 'buyer-floors',
    periodMs: PERIOD_MS,
    deadlineMs: DEADLINE_MS,
    run: (signal) => keeper.run(signal),
  };
}

/** `mark`: the listing figures when the floor was read, as text. `at`: when the floor was read, in milliseconds. */
type Resolved = { mark: string; at: number };

class BuyerFloorKeeper {
  readonly #context: WorkerContext;
  /**
   * For each collection, the last read of its floor by this process. If this process has not read the floor yet, `at` is the time of the
   * stored floor, and `mark` has the listing figures from the time when this process first checked the collection.
   */
  readonly #resolved = new Map<string, Resolved>();

  constructor(context: WorkerContext) {
    this.#context = context;
  }

  async run(signal: AbortSignal): Promise<TaskResult> {
    const { main, chains } = this.#context;
    const follows = await listFollows(main.within(BATCH_TIMEOUT_MS));
    const ids = follows.flatMap(({ collectionId, chain }) => (chains.get(chain)?.keepsBuyerFloor ? collectionId : []));
    const kept = new Set(ids);
    for (const id of this.#resolved.keys()) if (!kept.has(id)) this.#resolved.delete(id);
    const due: (Resolved & { collectionId: string })[] = [];
    for (let start = 0; start < ids.length; start += BATCH_SIZE) {
      signal.throwIfAborted();
      due.push(...(await this.#listDue(ids.slice(start, start + BATCH_SIZE))));
    }
    const chosen = due.toSorted((a, b) => a.at - b.at).slice(0, RESOLVED_MAX);
    let changed = 0;
    for (let start = 0; start < chosen.length; start += BATCH_SIZE) {
      changed += await this.#resolve(chosen.slice(start, start + BATCH_SIZE), signal);
    }
    return { read: chosen.length, changed, refused: 0, soon: due.length > chosen.length };
  }

  /** The collections whose floor is due, with their current mark and the time of their last floor. */
  async #listDue(ids: readonly string[]): Promise<(Resolved & { collectionId: string })[]> {
    const { main, indexer, clock } = this.#context;
    const marks = await listListingMarks(indexer.within(BATCH_TIMEOUT_MS), ids);
    const stored = await listLastBuyerFloorTimes(main.within(BATCH_TIMEOUT_MS), ids);
    const now = clock();
    return ids.flatMap((collectionId) => {
      const mark = marks.get(collectionId) ?? '';
      const last = this.#resolved.get(collectionId);
      const at = last?.at ?? stored.get(collectionId) ?? Number.NEGATIVE_INFINITY;
      // A time in the future is not fresh: a process with a wrong clock has stored it.
      const isFresh = at <= now && now - at < REFRESH_MS;
      if (isFresh && !last) this.#resolved.set(collectionId, { mark, at });
      return isFresh && (last?.mark ?? mark) === mark ? [] : [{ collectionId, mark, at }];
    });
  }

  /**
   * Reads the floors. Returns how many were stored, or deleted because the collection has no floor. Throws when one floor cannot be read,
   * because then the other floors cannot be read either.
   */
  async #resolve(due: readonly (Resolved & { collectionId: string })[], signal: AbortSignal): Promise<number> {
    const { main, market, clock } = this.#context;
    const db = main.within(BATCH_TIMEOUT_MS);
    const markOf = new Map(due.map(({ collectionId, mark }) => [collectionId, mark]));
    let resolved = 0;
    for (const collection of await listCollectionsByIds(db, [...markOf.keys()])) {
      signal.throwIfAborted();
      const at = clock();
      const present = await readPresentFloors(market, collection);
      if (!present) throw new Error('the listings of the own order book or of the mirror cannot be read');
      const { floors } = present;
      if (floors === null) await deleteLastBuyerFloor(db, collection.id, at);
      else await upsertLastBuyerFloor(db, collection.id, { raw: floors.total, askRaw: floors.ask, observedAt: at });
      this.#resolved.set(collection.id, { mark: markOf.get(collection.id) ?? '', at });
      resolved += 1;
    }
    return resolved;
  }
}
