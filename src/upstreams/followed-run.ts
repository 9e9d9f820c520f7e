// One run of a task over the followed collections of a vendor. Each collection is processed separately, so that a failure of one does not
// stop the others. Collections with the oldest last run come first, so that a small budget reaches every collection in time.

import type { LastRun } from '../follows/queries/last-runs.ts';
import type { Follow } from '../follows/queries/follows.ts';
import type { UpstreamReason } from './upstream-client.ts';
import { UpstreamFailure } from './upstream-client.ts';
import type { Report } from '../tasks/task.ts';
import { PermanentFailure } from '../tasks/task.ts';

export type FollowedRun = {
  follows: readonly Follow[];
  /** Ids of the collections that readers viewed recently. */
  viewed: ReadonlySet<string>;
  lastRuns: ReadonlyMap<string, LastRun>;
  /** Process all collections, including those that were processed a moment ago. */
  isFull: boolean;
  /** A run that has taken this long ends, unless it is a full run, because other collections have become more urgent. */
  periodMs: number;
  now: () => number;
  signal: AbortSignal;
  report: Report;
  process: (follow: Follow) => Promise<void>;
  /** Stores that a collection was tried at the time `at`, and with `isDone` that it was processed completely. */
  saveRun: (collectionId: string, run: { at: number; isDone: boolean }) => Promise<void>;
};

export type FollowedRunEnd = { problems: string[]; soon: boolean };

/** How long a view counts as recent. */
export const RECENT_VIEW_MS = 15 * 60_000;

/** Failures that any other request to the upstream would have at the same time. */
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

/** Upstream-wide failures that may end at any moment. */
const OUTAGES: ReadonlySet<UpstreamReason> = new Set(['breaker-open', 'rate-limited', 'unreachable', 'timeout']);
/** Failures that concern the requested collection and not the upstream. */
const OF_COLLECTION: ReadonlySet<UpstreamReason> = new Set(['not-found', 'rejected', 'malformed', 'too-large']);
/** Failures of a collection that an outage of the upstream is unlikely to cause. */
const PERMANENT: ReadonlySet<UpstreamReason> = new Set(['not-found', 'rejected']);
/** The urgency of a recently viewed collection, as a multiple of the time since its last run. */
const VIEWED_WEIGHT = 4;
/** A collection is due again after this share of the period. */
const DUE_SHARE = 0.5;

/**
 * Processes each collection that is due. Returns descriptions of the problems, and whether the next run should start soon. Rejects when
 * every collection failed (see `failWithout` for the exception), when a database fails, and when the signal aborts.
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
      problems.push(`${due.length - index} more collections have to wait for the next run`);
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
    if (left > 0) problems.push(`${left} more collections have to wait`);
    soon = OUTAGES.has(failure.reason);
    break;
  }
  if (done === 0 && problems.length > 0) failWithout(problems, { reasons, isPartial: due.length < run.follows.length });
  return { problems, soon };
}

/** The failure of the upstream, or null when the collection was processed. */
async function processOne(run: FollowedRun, follow: Follow): Promise<UpstreamFailure | null> {
  const { now, signal, process, saveRun } = run;
  const { collectionId } = follow;
  // The attempt is stored first, so that a collection that always fails or never ends is not always processed before the others.
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
 * Throws for a run in which no collection was processed. It does not throw when every failure concerns its collection alone and other
 * followed collections were not due.
 */
function failWithout(
  problems: readonly string[],
  { reasons, isPartial }: { reasons: ReadonlySet<UpstreamReason>; isPartial: boolean },
): void {
  const message = problems.join('; ');
  if (!reasons.isSubsetOf(OF_COLLECTION)) throw new Error(message);
  if (isPartial) return;
  throw reasons.isSubsetOf(PERMANENT) ? new PermanentFailure(message) : new Error(message);
}

/** The collections that are due, most urgent first. Collections that were never tried precede those with the oldest last run. */
function listDue({ follows, viewed, lastRuns, isFull, periodMs }: FollowedRun, now: number): Follow[] {
  // A time in the future was stored by a process with a wrong clock. It counts as never.
  const since = (at: number | null | undefined) =>
    at === null || at === undefined || at > now ? Number.POSITIVE_INFINITY : now - at;
  const isDue = ({ collectionId }: Follow) => since(lastRuns.get(collectionId)?.doneAt) >= periodMs * DUE_SHARE;
  const weight = ({ collectionId }: Follow) => (viewed.has(collectionId) ? VIEWED_WEIGHT : 1);
  const urgency = (follow: Follow) => since(lastRuns.get(follow.collectionId)?.triedAt) * weight(follow);
  return follows
    .filter((follow) => isFull || isDue(follow))
    .toSorted((a, b) => compare(urgency(b), urgency(a)) || weight(b) - weight(a));
}

/** Infinities are equal. */
function compare(a: number, b: number): number {
  return a === b ? 0 : a - b;
}
