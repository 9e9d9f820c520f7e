// What the tasks have in common that go through the followed collections of one upstream, turn by turn. Which collections
// those are, and what is done with one, is theirs to say.

import type { Follow } from '../db/follows.ts';
import { listFollows } from '../db/follows.ts';
import type { Upstream, UpstreamOptions } from '../sources/upstream.ts';
import { createUpstream } from '../sources/upstream.ts';
import { createTurns, eachFollowed } from './followed.ts';
import type { Lander } from './land.ts';
import { createLander } from './land.ts';
import type { SyncContext, SyncTask } from './task.ts';

/** One collection's turn in a run. What cannot be done of it, and is no failure of the upstream, is told in `problems`. */
export type Step = { upstream: Upstream; follow: Follow; lander: Lander; problems: string[]; signal: AbortSignal };

export type FollowedTaskOptions = {
  name: string;
  periodMs: number;
  deadlineMs: number;
  upstream: Upstream;
  /** Whether a followed collection is one of this task's. */
  isWanted: (follow: Follow) => boolean;
  work: (context: SyncContext, step: Step) => Promise<void>;
};

export function createFollowedTask(context: SyncContext, options: FollowedTaskOptions): SyncTask {
  const { name, periodMs, deadlineMs, upstream, isWanted, work } = options;
  const turns = createTurns();
  return {
    name,
    periodMs,
    deadlineMs,
    upstreams: () => [upstream.status()],
    run: async (signal, report) => {
      const lander = createLander(context);
      const told: string[] = [];
      const { problems, soon } = await eachFollowed({
        follows: (await listFollows(context.main)).filter(isWanted),
        turns,
        now: context.clock,
        signal,
        report,
        work: (follow) => work(context, { upstream, follow, lander, problems: told, signal }),
      });
      return lander.result({ problems: [...problems, ...told], soon });
    },
  };
}

/** An upstream that tasks share, its budget with it. */
export function createTaskUpstream(
  { log, clock, random }: SyncContext,
  options: Omit<UpstreamOptions, 'log' | 'clock' | 'random'>,
): Upstream {
  return createUpstream({ ...options, log, clock, random });
}
