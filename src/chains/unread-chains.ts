// The task for followed chains that this deployment does not read: the stored log still decides about listings that marketplaces report,
// and what it has not written into the indexer is written. On a frozen chain the log is out of date for good, so it decides about no
// listing: the hidden ones are listed again.

import type { Chain } from '../core/chains.ts';
import { listFollows } from '../follows/queries/follows.ts';
import type { Task } from '../tasks/task.ts';
import { NOTHING } from '../tasks/task.ts';
import type { ChainContext } from './context.ts';
import { projectNext } from './projection.ts';
import { listJudgedChains } from './queries/judged-collections.ts';

const PERIOD_MS = 10_000;
const DEADLINE_MS = 10 * 60_000;
/** The most steps for one chain in one run. The next run continues. */
const STEPS_MAX = 10_000;

export function createUnreadChainsTask(context: ChainContext): Task {
  return {
    name: 'unread-chains',
    periodMs: PERIOD_MS,
    deadlineMs: DEADLINE_MS,
    run: async (signal) => {
      for (const chain of await listUnreadChains(context)) await projectAll(context, chain, signal);
      return NOTHING;
    },
  };
}

/** The chains of followed collections, and of collections whose listings the log still decides about, that are not live. */
async function listUnreadChains({ main, indexer, chains, followed }: ChainContext): Promise<Chain[]> {
  const joined = (await listFollows(main)).flatMap((follow) => (follow.joined ? [follow.chain] : []));
  const ids = new Set([...joined, ...(await listJudgedChains(indexer))]);
  return [...chains.values()].filter(
    ({ id, family }) => family === 'evm' && ids.has(id) && followed.modeOf(id) !== 'live',
  );
}

async function projectAll(context: ChainContext, chain: Chain, signal: AbortSignal): Promise<void> {
  const projection = { ...context, chain, isFrozen: context.followed.modeOf(chain.id) === 'frozen' };
  for (let steps = 0; steps < STEPS_MAX; steps += 1) {
    signal.throwIfAborted();
    const changed = await projectNext(projection);
    if (changed === null) return;
    if (changed.size > 0) {
      context.onChanged({ collectionIds: changed, kinds: new Set(['listing', 'sale', 'token']) });
    }
  }
}
