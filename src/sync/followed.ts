// One turn over the collections that a source follows: each by itself, so that one that fails leaves the others, and those
// that had to wait longest first, so that a budget that does not reach for all of them reaches each in time.

import type { Follow } from '../db/follows.ts';
import { UpstreamFailure } from '../sources/upstream.ts';
import type { Report } from './task.ts';

export type Turn = {
  follows: readonly Follow[];
  /** When each collection was last done, kept by the task between its runs. */
  doneAt: Map<string, number>;
  now: () => number;
  signal: AbortSignal;
  report: Report;
  work: (follow: Follow) => Promise<void>;
};

/** Reasons for which the next collection would fail too. */
const HOPELESS = new Set(['resting', 'over-budget', 'rate-limited', 'unauthorized', 'unreachable', 'timeout']);

/**
 * Does the work for each; returns what could not be done, in words. Rejects when nothing at all could be done, when a
 * database fails, and when the signal aborts.
 */
export async function eachFollowed({ follows, doneAt, now, signal, report, work }: Turn): Promise<string[]> {
  const problems: string[] = [];
  const waiting = [...follows].sort((a, b) => (doneAt.get(a.collectionId) ?? 0) - (doneAt.get(b.collectionId) ?? 0));
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
      const left = waiting.length - index - 1;
      if (left > 0) problems.push(`${left} more collections have to wait`);
      break;
    }
  }
  if (done === 0 && problems.length > 0) throw new Error(problems.join('; '));
  return problems;
}
