// Merges the recorded changes of both schemas into the one order of the activity log (docs/decisions/0013-activity-log.md).

import type { Clock } from '../../platform/core/clock.ts';
import type { Log } from '../../platform/core/log.ts';
import type { Random } from '../../platform/core/random.ts';
import type { Database, Queryable, Statements } from '../../platform/database/port.ts';
import { Source } from '../../platform/resilience/source.ts';
import type { ChangeOrigin } from './market-change.ts';
import type { MergeNotice } from './merge-notice.ts';
import {
  clearMerged,
  findActivityHead,
  insertActivity,
  insertReorgActivity,
  lockActivityHead,
  moveChanges,
  updateActivityHead,
} from './queries/activity-log.ts';
import type { ChangeBatch } from './queries/market-changes.ts';
import { deleteMarketChanges, hasMarketChanges, listMarketChanges } from './queries/market-changes.ts';

/** `activityMerged` announces merged changes. It is absent if nothing in this process reads the activity log. */
export type MergeContext = { main: Database; indexer: Database; clock: Clock; activityMerged?: MergeNotice };

/** The most changes that one transaction merges. */
const BATCH_SIZE = 2_000;
/** The most transactions of a merge that follows a commit, for each schema. The task `activity` merges the remaining changes. */
const BATCHES_AFTER_COMMIT = 4;
/** The deadline of a merge that follows a commit. On the embedded engine, which has one connection, it is longer. */
const TIMEOUT_MS = 2_000;
const EMBEDDED_TIMEOUT_MS = 5_000;

export type MergeLimits = { timeoutMs: number; batchesMax: number; signal?: AbortSignal };

/**
 * Merges changes until none is left, in at most `batchesMax` transactions for each schema. Each transaction has the deadline `timeoutMs`.
 * Returns how many changes were merged. The changes of the primary database are merged first, so they are merged even while the indexer
 * database fails.
 */
export function mergeChanges(context: MergeContext, limits: MergeLimits): Promise<number> {
  return mergeOrigins(context, ['main', 'indexer'], limits);
}

async function mergeOrigins(
  context: MergeContext,
  origins: readonly ChangeOrigin[],
  limits: MergeLimits,
): Promise<number> {
  let total = 0;
  for (const origin of origins) total += await mergeOrigin(context, origin, limits);
  return total;
}

async function mergeOrigin(
  { main, indexer, clock, activityMerged }: MergeContext,
  origin: ChangeOrigin,
  { timeoutMs, batchesMax, signal }: MergeLimits,
): Promise<number> {
  const isRemote = origin === 'indexer' && indexer !== main;
  let total = 0;
  for (let batches = 0; batches < batchesMax; batches += 1) {
    signal?.throwIfAborted();
    const db = main.within(timeoutMs);
    const { count, more } = isRemote
      ? await mergeRemote({ main: db, indexer: indexer.within(timeoutMs) }, clock())
      : await mergeStored(db, origin, clock());
    total += count;
    if (count > 0) activityMerged?.announce();
    if (!more) break;
  }
  return total;
}

/** `count`: the changes that were merged. `more`: another batch should be tried. */
type Merged = { count: number; more: boolean };

/** Merges changes that are stored in the primary database, and deletes them in the same transaction. */
async function mergeStored(main: Statements, origin: ChangeOrigin, now: number): Promise<Merged> {
  if (!(await hasMarketChanges(main, origin))) return { count: 0, more: false };
  return main.transaction(async (tx) => {
    const head = await lockActivityHead(tx);
    const { moved, added, isReorg } = await moveChanges(tx, { origin, after: head.position, now }, BATCH_SIZE);
    if (moved > 0) {
      await updateActivityHead(tx, { ...head, position: head.position + added });
      return { count: moved, more: isReorg || moved === BATCH_SIZE };
    }
    // `moveChanges` moved nothing: the oldest change is a reorganisation, or another process has merged all changes.
    const batch = await listMarketChanges(tx, origin, BATCH_SIZE);
    const position = await append(tx, batch, { origin, after: head.position, now });
    await updateActivityHead(tx, { ...head, position });
    await deleteMarketChanges(tx, origin, batch.seqs);
    return { count: batch.seqs.length, more: batch.more };
  });
}

/**
 * Merges changes of an indexer that has a database of its own. No transaction spans both databases. Therefore the primary stores which changes it
 * has merged (`merged`) until they are deleted in the indexer. The indexer is read outside the transaction, so that the lock is not held
 * while the indexer hangs. If another process merges a batch between the read and the lock, nothing is written, and the caller tries again.
 */
async function mergeRemote({ main, indexer }: Record<'main' | 'indexer', Statements>, now: number): Promise<Merged> {
  const { revision, merged } = await findActivityHead(main);
  await deleteMarketChanges(indexer, 'indexer', merged);
  const batch = await listMarketChanges(indexer, 'indexer', BATCH_SIZE);
  if (batch.seqs.length === 0) return { count: 0, more: false };
  const isMerged = await main.transaction(async (tx) => {
    const head = await lockActivityHead(tx);
    if (head.revision !== revision) return false;
    const position = await append(tx, batch, { origin: 'indexer', after: head.position, now });
    await updateActivityHead(tx, { position, revision: revision + 1, merged: batch.seqs });
    return true;
  });
  if (!isMerged) return { count: 0, more: true };
  await deleteMarketChanges(indexer, 'indexer', batch.seqs);
  await clearMerged(main, revision + 1);
  return { count: batch.seqs.length, more: batch.more };
}

/** Returns the last assigned position. */
async function append(
  tx: Queryable,
  batch: ChangeBatch,
  options: { origin: ChangeOrigin; after: number; now: number },
): Promise<number> {
  const insert = batch.isReorg ? insertReorgActivity : insertActivity;
  return options.after + (await insert(tx, batch, options));
}

/**
 * Merges changes after commits. If the indexer has a database of its own, its changes are merged separately, so that a failure of the
 * indexer does not delay the changes of the primary.
 */
export class ActivityMerger {
  readonly #parts: readonly MergeRuns[];

  constructor(context: MergeContext & { log: Log; random: Random }) {
    const origins: readonly (readonly ChangeOrigin[])[] =
      context.indexer === context.main ? [['main', 'indexer']] : [['main'], ['indexer']];
    this.#parts = origins.map((each) => new MergeRuns(context, each));
  }

  /**
   * Merges the changes that were committed before the call. Never rejects, because the task `activity` merges the changes that remain after
   * a failure.
   */
  async merge(): Promise<void> {
    await Promise.all(this.#parts.map((part) => part.merge()));
  }

  async close(): Promise<void> {
    await Promise.all(this.#parts.map((part) => part.close()));
  }
}

/** Runs the merges of some origins, one at a time. All calls during a merge share the next merge. */
class MergeRuns {
  readonly #context: MergeContext;
  readonly #origins: readonly ChangeOrigin[];
  readonly #source: Source;
  #running: Promise<void> | null = null;
  #next: Promise<void> | null = null;

  constructor(context: MergeContext & { log: Log; random: Random }, origins: readonly ChangeOrigin[]) {
    this.#context = context;
    this.#origins = origins;
    const timeoutMs = context.main.engine === 'embedded' ? EMBEDDED_TIMEOUT_MS : TIMEOUT_MS;
    this.#source = new Source({ ...context, name: `activity of ${origins.join(' and ')}`, timeoutMs });
  }

  merge(): Promise<void> {
    if (!this.#running) return this.#start();
    this.#next ??= this.#running.then(() => {
      this.#next = null;
      return this.#start();
    });
    return this.#next;
  }

  async close(): Promise<void> {
    this.#source.close();
    await this.#running;
  }

  #start(): Promise<void> {
    const run = this.#source
      .read((timeoutMs) => mergeOrigins(this.#context, this.#origins, { timeoutMs, batchesMax: BATCHES_AFTER_COMMIT }))
      .then(() => {
        if (this.#running === run) this.#running = null;
      });
    this.#running = run;
    return run;
  }
}
