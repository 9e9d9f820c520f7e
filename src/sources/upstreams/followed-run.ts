// One run of a task over the followed collections of a vendor. A failure of the upstream ends the run, a failure of one collection does
// not. Collections whose last run is oldest come first, so that every collection is processed at some time even with a small budget.

import type { LastRun } from '../../market/follows/queries/last-runs.ts';
import type { Follow } from '../../market/follows/queries/follows.ts';
import type { UpstreamReason } from './upstream-client.ts';
import { UpstreamFailure } from './upstream-client.ts';
import type { Report } from '../../platform/tasks/task.ts';
import { PermanentFailure } from '../../platform/tasks/task.ts';

export type FollowedRun = {
  follows: readonly Follow[];
  /** Ids of the collections that readers viewed recently. */
  viewed: ReadonlySet<string>;
  lastRuns: ReadonlyMap<string, LastRun>;
  /** Whether collections that are not due yet are processed too. */
  isFull: boolean;
  /**
   * The period of the task. A run that is not full ends after this time, because the collections that it processed first may then be due
   * again.
   */
  periodMs: number;
  now: () => number;
  signal: AbortSignal;
  report: Report;
  process: (follow: Follow) => Promise<void>;
  /** Stores that the processing of a collection began at the time `at`. With `isDone`: that the processing was completed at this time. */
  saveRun: (collectionId: string, run: { at: number; isDone: boolean }) => Promise<void>;
};

/** `soon`: the next run should start after the task's retry delay and not after its period. */
export type FollowedRunEnd = { problems: string[]; soon: boolean };

/** How long a view counts as recent. */
export const RECENT_VIEW_MS = 15 * 60_000;

/** Failures that every other request to the upstream would also have at this time. */
const UPSTREAM_WIDE: ReadonlySet<UpstreamReason> = new Set([
  'breaker-open',
  'over-budget',
  'rate-limited',
  'unauthorized',
  'unreachable',
  'timeout',
]);

/** Whether a request for another collection would fail for the same reason. */
export function isUpstreamWide(reason: UpstreamReason): boolean {
  return UPSTREAM_WIDE.has(reason);
}

/** Upstream-wide failures that may end within seconds, so that the next run should start soon. */
const OUTAGES: ReadonlySet<UpstreamReason> = new Set(['breaker-open', 'rate-limited', 'unreachable', 'timeout']);
/** Failures that concern the requested collection and not the upstream. */
const OF_COLLECTION: ReadonlySet<UpstreamReason> = new Set(['not-found', 'rejected', 'malformed', 'too-large']);
/** Failures of a collection that an outage of the upstream is unlikely to cause. */
const PERMANENT: ReadonlySet<UpstreamReason> = new Set(['not-found', 'rejected']);
/**
 * The longer a collection has waited since its last run, the more urgent it is. For a recently viewed collection, the wait counts four
 * times.
 */
const VIEWED_WEIGHT = 4;
/** A collection is due again when this share of the period has passed since it was last processed completely. */
const DUE_SHARE = 0.5;

/**
 * Processes the collections that are due, until the upstream fails or a run that is not full has taken a period. Rejects when a database
 * fails and when the signal aborts. Also rejects when collections failed and none was processed; `failEmptyRun` states the exception.
 */
export async function runFollowed(run: FollowedRun): Promise<FollowedRunEnd> {
  const { isFull, periodMs, now, signal, report } = run;
  const problems: string[] = [];
  const reasons = new Set<UpstreamReason>();
  const startedAt = now();
  const due = listDue(run, startedAt);
  let done = 0;
  let soon = false;
  for (const [index, follow] of due.entries()) {
    signal.throwIfAborted();
    report({ done: index, total: due.length, what: 'collections' });
    if (!isFull && done > 0 && now() - startedAt >= periodMs) {
      problems.push(`${countWaiting(due.length - index)} for the next run`);
      soon = true;
      break;
    }
    const failure = await processOne(run, follow);
    if (failure === null) {
      done += 1;
      continue;
    }
    problems.push(`${follow.collectionId}: ${failure.message}`);
    reasons.add(failure.reason);
    if (!isUpstreamWide(failure.reason)) continue;
    const left = due.length - index - 1;
    if (left > 0) problems.push(countWaiting(left));
    soon = OUTAGES.has(failure.reason);
    break;
  }
  if (done === 0 && problems.length > 0)
    failEmptyRun(problems, { reasons, isPartial: due.length < run.follows.length });
  return { problems, soon };
}

function countWaiting(count: number): string {
  return count === 1 ? '1 more collection has to wait' : `${count} more collections have to wait`;
}

/** The failure of the upstream, or null when the collection was processed. */
async function processOne(run: FollowedRun, follow: Follow): Promise<UpstreamFailure | null> {
  const { now, signal, process, saveRun } = run;
  const { collectionId } = follow;
  // The attempt is stored first, so that a collection that always fails, or always exceeds the deadline, does not always come first.
  await saveRun(collectionId, { at: now(), isDone: false });
  try {
    await process(follow);
    await saveRun(collectionId, { at: now(), isDone: true });
    return null;
  } catch (error) {
    signal.throwIfAborted();
    if (error instanceof UpstreamFailure) return error;
    throw error;
  }
}

/**
 * Throws an error for a run in which no collection was processed. Does not throw if each failure concerns one collection only and the run
 * left out collections that were not due: the upstream may work for these collections.
 */
function failEmptyRun(
  problems: readonly string[],
  { reasons, isPartial }: { reasons: ReadonlySet<UpstreamReason>; isPartial: boolean },
): void {
  const message = problems.join('; ');
  if (!reasons.isSubsetOf(OF_COLLECTION)) throw new Error(message);
  if (isPartial) return;
  throw reasons.isSubsetOf(PERMANENT) ? new PermanentFailure(message) : new Error(message);
}

/** The most urgent first. Collections that were never tried come before all others. */
function listDue({ follows, viewed, lastRuns, isFull, periodMs }: FollowedRun, now: number): Follow[] {
  // A time in the future was stored by a process with a wrong clock. The collection then counts as never processed.
  const since = (at: number | null | undefined) =>
    at === null || at === undefined || at > now ? Number.POSITIVE_INFINITY : now - at;
  const isDue = ({ collectionId }: Follow) => since(lastRuns.get(collectionId)?.doneAt) >= periodMs * DUE_SHARE;
  const weight = ({ collectionId }: Follow) => (viewed.has(collectionId) ? VIEWED_WEIGHT : 1);
  const urgency = (follow: Follow) => since(lastRuns.get(follow.collectionId)?.triedAt) * weight(follow);
  return follows
    .filter((follow) => isFull || isDue(follow))
    .toSorted((a, b) => compare(urgency(b), urgency(a)) || weight(b) - weight(a));
}

/** Compares before it subtracts, because the difference of two infinite numbers is not a number. */
function compare(a: number, b: number): number {
  return a === b ? 0 : a - b;
}
