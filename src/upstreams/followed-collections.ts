// One turn over the collections that a source follows: each by itself, so that one that fails leaves the others, and those
// that had to wait longest first, so that a budget that does not reach for all of them reaches each in time. What readers look
// at waits less.

import type { LastRun } from '../follows/queries/last-runs.ts';
import type { Follow } from '../follows/queries/follows.ts';
import type { UpstreamReason } from './upstream-client.ts';
import { UpstreamFailure } from './upstream-client.ts';
import type { Report } from '../tasks/task.ts';
import { PermanentFailure } from '../tasks/task.ts';

export type Turn = {
  follows: readonly Follow[];
  /** The collections that readers asked for lately. */
  shown: ReadonlySet<string>;
  /** The last turn of each. */
  turns: ReadonlyMap<string, LastRun>;
  /** Whether those too have a turn that had theirs just now. */
  isFull: boolean;
  /** A turn that has taken so long goes on later: by then others have waited longer than what is left of it. */
  periodMs: number;
  now: () => number;
  signal: AbortSignal;
  report: Report;
  work: (follow: Follow) => Promise<void>;
  /** Keeps for the next time that a collection had its turn, and whether it was done or only tried. */
  note: (collectionId: string, turn: { at: number; isDone: boolean }) => Promise<void>;
};

export type TurnEnd = { problems: string[]; soon: boolean };

/** What readers asked for within this is on somebody's screen, or in a cache that will ask again: it is looked at. */
export const RECENT_VIEW_MS = 15 * 60_000;

const HOPELESS: ReadonlySet<UpstreamReason> = new Set([
  'breaker-open',
  'over-budget',
  'rate-limited',
  'unauthorized',
  'unreachable',
  'timeout',
]);

/** Whether the next question would fail for the same reason. */
export function isHopeless(reason: UpstreamReason): boolean {
  return HOPELESS.has(reason);
}

/** Those of them that the upstream itself ends, at any moment. */
const AWAY: ReadonlySet<UpstreamReason> = new Set(['breaker-open', 'rate-limited', 'unreachable', 'timeout']);
/** What was answered says something of the collection that was asked for, and nothing of the upstream. */
const OF_ITSELF: ReadonlySet<UpstreamReason> = new Set(['not-found', 'rejected', 'malformed', 'too-large']);
/** Those of them that an outage hardly says. */
const ANSWERED: ReadonlySet<UpstreamReason> = new Set(['not-found', 'rejected']);
/** So many times as long has a collection to wait that nobody looks at, where not all can have their turn. */
const SHOWN_WEIGHT = 4;
/** What was done within this share of the period has had its turn. */
const JUST_NOW_SHARE = 0.5;

/**
 * Does the work for each that is due; returns what could not be done, in words, and whether the rest should be tried soon. Rejects
 * when nothing at all could be done, when a database fails, and when the signal aborts.
 */
export async function eachFollowed(turn: Turn): Promise<TurnEnd> {
  const { follows, isFull, periodMs, now, signal, report, work, note } = turn;
  const problems: string[] = [];
  const startedAt = now();
  const waiting = listWaiting(turn, startedAt);
  let done = 0;
  let soon = false;
  const reasons = new Set<UpstreamReason>();
  for (const [index, follow] of waiting.entries()) {
    const { collectionId } = follow;
    signal.throwIfAborted();
    report({ done: index, total: waiting.length, what: 'collections' });
    if (!isFull && done > 0 && now() - startedAt >= periodMs) {
      problems.push(`${waiting.length - index} more collections have to wait for the next turn`);
      soon = true;
      break;
    }
    // Behind the others next time, however this ends: what always fails, or never ends, would keep its place in front.
    await note(collectionId, { at: now(), isDone: false });
    try {
      await work(follow);
      done += 1;
      await note(collectionId, { at: now(), isDone: true });
    } catch (error) {
      signal.throwIfAborted();
      if (!(error instanceof UpstreamFailure)) throw error;
      problems.push(`${collectionId}: ${error.message}`);
      reasons.add(error.reason);
      if (!isHopeless(error.reason)) continue;
      const left = waiting.length - index - 1;
      if (left > 0) problems.push(`${left} more collections have to wait`);
      // Where nothing was done this is a failure, which is tried again soon anyway.
      soon = AWAY.has(error.reason);
      break;
    }
  }
  if (done > 0 || problems.length === 0) return { problems, soon };
  const words = problems.join('; ');
  if (!reasons.isSubsetOf(OF_ITSELF)) throw new Error(words);
  // Where the others had their turn just now, what cannot be told of one has to wait as it would beside them.
  if (waiting.length < follows.length) return { problems, soon };
  throw reasons.isSubsetOf(ANSWERED) ? new PermanentFailure(words) : new Error(words);
}

/**
 * Whose turn it is, the most urgent first: who was never tried, then who waited longest since. A turn of a time that is yet to
 * come was noted by a clock that was wrong, and is none.
 */
function listWaiting({ follows, shown, turns, isFull, periodMs }: Turn, now: number): Follow[] {
  const since = (at: number | null | undefined) =>
    at === null || at === undefined || at > now ? Number.POSITIVE_INFINITY : now - at;
  const isDue = ({ collectionId }: Follow) => since(turns.get(collectionId)?.doneAt) >= periodMs * JUST_NOW_SHARE;
  const weight = ({ collectionId }: Follow) => (shown.has(collectionId) ? SHOWN_WEIGHT : 1);
  const urgency = (follow: Follow) => since(turns.get(follow.collectionId)?.triedAt) * weight(follow);
  return follows
    .filter((follow) => isFull || isDue(follow))
    .toSorted((a, b) => compare(urgency(b), urgency(a)) || weight(b) - weight(a));
}

/** Infinities are equal. */
function compare(a: number, b: number): number {
  return a === b ? 0 : a - b;
}
