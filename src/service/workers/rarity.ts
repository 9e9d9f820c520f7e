// The task that ranks the tokens of each collection by their traits, except where a marketplace or an import reports the ranks.

import { describeError } from '../../platform/core/errors.ts';
import { listDueRankings } from '../../market/index/queries/rarity.ts';
import { rankTokens } from '../../market/reads/token-ranking.ts';
import type { Task } from '../../platform/tasks/task.ts';
import type { WorkerContext } from './context.ts';

const PERIOD_MS = 30_000;
const DEADLINE_MS = 10 * 60_000;
/** The most collections that one run examines. */
const COLLECTIONS_MAX = 50;

export function createRarityTask(context: Pick<WorkerContext, 'main' | 'indexer' | 'clock' | 'onChanged'>): Task {
  const { indexer, clock, onChanged } = context;
  return {
    name: 'rarity',
    periodMs: PERIOD_MS,
    deadlineMs: DEADLINE_MS,
    run: async (signal, report) => {
      const due = await listDueRankings(indexer, { now: clock(), limit: COLLECTIONS_MAX });
      const problems: string[] = [];
      const errors: unknown[] = [];
      let changed = 0;
      for (const [index, ranking] of due.entries()) {
        signal.throwIfAborted();
        report({ done: index, total: due.length, what: 'collections' });
        try {
          const ranked = await rankTokens(context, ranking, signal);
          changed += ranked.changed;
          if (ranked.state === 'too-large') {
            problems.push(`${ranking.collectionId}: too many tokens, or too many different traits, to compute ranks`);
          }
          if (ranked.changed > 0) {
            onChanged({ collectionIds: new Set([ranking.collectionId]), kinds: new Set(['token']) });
          }
        } catch (error) {
          signal.throwIfAborted();
          errors.push(error);
          problems.push(`${ranking.collectionId}: the ranks cannot be computed: ${describeError(error)}`);
        }
      }
      if (errors.length > 0 && errors.length === due.length) throw errors[0];
      return { read: due.length, changed, refused: 0, problems, ...(due.length === COLLECTIONS_MAX && { soon: true }) };
    },
  };
}
