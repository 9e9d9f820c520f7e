// What the tasks have in common that go through the followed collections of one upstream, turn by turn. Which collections
// those are, and what is done with one, is theirs to say.

import { listLastRuns, upsertLastRun } from '../follows/queries/last-runs.ts';
import type { Follow } from '../follows/queries/follows.ts';
import { listFollows } from '../follows/queries/follows.ts';
import { listViewedCollections } from '../market/queries/recent-views.ts';
import type { UpstreamOptions } from './upstream-client.ts';
import { UpstreamClient } from './upstream-client.ts';
import { eachFollowed, RECENT_VIEW_MS } from './followed-collections.ts';
import type { Ingester } from './ingester.ts';
import { createIngester } from './ingester.ts';
import { SharedBudget } from './shared-budget.ts';
import type { RunRequest, Task } from '../tasks/task.ts';
import type { UpstreamContext } from './context.ts';

/** One collection's turn in a run. What cannot be done of it, and is no failure of the upstream, is told in `problems`. */
export type Step = RunRequest & {
  upstream: UpstreamClient;
  follow: Follow;
  ingester: Ingester;
  problems: string[];
  signal: AbortSignal;
};

export type FollowedTaskOptions = {
  name: string;
  periodMs: number;
  deadlineMs: number;
  upstream: UpstreamClient;
  /** Whether a followed collection is one of this task's. */
  isWanted: (follow: Follow) => boolean;
  work: (context: UpstreamContext, step: Step) => Promise<void>;
};

export function createFollowedTask(context: UpstreamContext, options: FollowedTaskOptions): Task {
  const { name, periodMs, deadlineMs, upstream, isWanted, work } = options;
  const { main, clock } = context;
  return {
    name,
    periodMs,
    deadlineMs,
    readsFollows: true,
    upstreams: () => [upstream.status()],
    run: async (signal, report, { isFull }) => {
      const ingester = createIngester(context);
      const told: string[] = [];
      const { problems, soon } = await eachFollowed({
        follows: (await listFollows(main)).filter(isWanted),
        shown: await listViewedCollections(main, clock() - RECENT_VIEW_MS),
        turns: await listLastRuns(main, name),
        isFull,
        periodMs,
        now: clock,
        signal,
        report,
        work: (follow) => work(context, { upstream, follow, ingester, problems: told, isFull, signal }),
        note: (collectionId, turn) => upsertLastRun(main, { task: name, collectionId, ...turn }),
      });
      return ingester.result({ problems: [...problems, ...told], soon });
    },
  };
}

/** An upstream that tasks share, its budget with it, which is that of every process. */
export function createTaskUpstream(
  { main, log, clock, random }: UpstreamContext,
  { hourlyBudget, ...options }: TaskUpstreamOptions,
): UpstreamClient {
  const budget = new SharedBudget(main, { upstream: options.name, perHour: hourlyBudget, clock });
  return new UpstreamClient({ ...options, budget, log, clock, random });
}

type TaskUpstreamOptions = Omit<UpstreamOptions, 'budget' | 'log' | 'clock' | 'random'> & { hourlyBudget: number };
