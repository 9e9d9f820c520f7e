// One turn over the collections that a source follows: each by itself, so that one that fails leaves the others, and those
// that had to wait longest first, so that a budget that does not reach for all of them reaches each in time.

import type { Follow } from '../db/follows.ts';
import { UpstreamFailure } from '../sources/upstream.ts';
import type { Report } from './task.ts';

/** What a task remembers between its turns. */
export type Turns = {
  /** When each collection was last done. */
  doneAt: Map<string, number>;
  /** What is left of a turn in the middle of which the upstream went away; null when there is nothing left. */
  left: ReadonlySet<string> | null;
};

export function createTurns(): Turns {
  return { doneAt: new Map(), left: null };
}

export type Turn = {
  follows: readonly Follow[];
  turns: Turns;
  now: () => number;
  signal: AbortSignal;
  report: Report;
  work: (follow: Follow) => Promise<void>;
};

export type TurnEnd = { problems: string[]; soon: boolean };

/** Reasons for which the next collection would fail too. */
const HOPELESS = new Set(['resting', 'over-budget', 'rate-limited', 'unauthorized', 'unreachable', 'timeout']);
/** Those of them that the upstream itself ends, at any moment. */
const AWAY = new Set(['resting', 'rate-limited', 'unreachable', 'timeout']);

/**
 * Does the work for each, or for what is left of a turn that was cut off; returns what could not be done, in words, and
 * whether the upstream went away. Rejects when nothing at all could be done, when a database fails, and when the signal aborts.
 */
export async function eachFollowed({ follows, turns, now, signal, report, work }: Turn): Promise<TurnEnd> {
  const { doneAt, left: wanted } = turns;
  const problems: string[] = [];
  const waiting = follows
    .filter(({ collectionId }) => wanted?.has(collectionId) ?? true)
    .toSorted((a, b) => (doneAt.get(a.collectionId) ?? 0) - (doneAt.get(b.collectionId) ?? 0));
  turns.left = null;
  let done = 0;
  for (const [index, follow] of waiting.entries()) {
    signal.throwIfAborted();
    report({ done: index, total: waiting.length, what: 'collections' });
    try {
      await work(follow);
      doneAt.set(follow.collectionId, now());
      done += 1;
    } catch (error) {
      signal.throwIfAborted();
      if (!(error instanceof UpstreamFailure)) throw error;
      problems.push(`${follow.collectionId}: ${error.message}`);
      // Behind the others next time, or one that always fails would keep its place in front.
      doneAt.set(follow.collectionId, now());
      if (!HOPELESS.has(error.reason)) continue;
      const left = waiting.slice(index).map(({ collectionId }) => collectionId);
      if (left.length > 1) problems.push(`${left.length - 1} more collections have to wait`);
      // Where nothing was done the others are waiting too by the time the upstream is back.
      if (done > 0 && AWAY.has(error.reason)) turns.left = new Set(left);
      break;
    }
  }
  if (done === 0 && problems.length > 0) throw new Error(problems.join('; '));
  return { problems, soon: turns.left !== null };
}
