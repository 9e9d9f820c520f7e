// The task for chains that have followed collections but are not read in this deployment: chains without an endpoint, and frozen chains, which
// FROZEN_CHAINS names. If the indexer lacks entries of the stored log, the task writes these entries into the indexer. For a chain without an
// endpoint, the task also judges mirrored listings by the log. The listings of a frozen chain are not judged, because the log of the chain
// stays out of date. So listings that were dormant because of the log become visible again.

import type { Chain } from '../../platform/core/chains.ts';
import { listFollows } from '../../market/follows/queries/follows.ts';
import type { Task } from '../../platform/tasks/task.ts';
import { NOTHING } from '../../platform/tasks/task.ts';
import type { ChainContext } from './context.ts';
import { projectNext } from './projection.ts';
import { listJudgedChains } from './queries/judged-collections.ts';

const PERIOD_MS = 10_000;
const DEADLINE_MS = 10 * 60_000;
/** One run calls `projectNext` at most this many times for one chain. The next run continues. */
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

/** The EVM chains that are not live, and that have joined collections or collections whose listings are still judged by the log. */
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
