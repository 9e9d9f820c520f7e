// The task that mirrors Magic Eden's listings on EVM chains. Magic Eden's API calls these listings asks. The task reads the asks of the
// followed collections whose symbol at Magic Eden is stored. If the API does not respond, the run fails and no listing is retired.

import type { Follow } from '../../../market/follows/queries/follows.ts';
import { hasMagicEdenAsks, walkMagicEdenAsks } from './evm.ts';
import type { MagicEdenSettings } from './settings.ts';
import { toKeyHeaders } from './settings.ts';
import { MAGIC_EDEN } from './solana.ts';
import type { UpstreamPace } from '../upstream-client.ts';
import type { CollectionRun } from '../followed-task.ts';
import { beginWalk, concludeListings, createFollowedTask, createTaskUpstream } from '../followed-task.ts';
import type { Task } from '../../../platform/tasks/task.ts';
import type { UpstreamContext } from '../context.ts';

const PERIOD_MS = 5 * 60_000;
const DEADLINE_MS = 10 * 60_000;
const TIMEOUT_MS = 15_000;
const HOURLY_BUDGET = 3_600;

export function createMagicEdenEvmTasks(
  context: UpstreamContext,
  settings: MagicEdenSettings,
  pace: UpstreamPace,
): Task[] {
  const upstream = createTaskUpstream(context, {
    name: 'magic-eden-evm',
    baseUrl: settings.evmUrl,
    headers: toKeyHeaders(settings),
    timeoutMs: TIMEOUT_MS,
    ...pace,
    hourlyBudget: HOURLY_BUDGET,
  });
  const isWanted = (follow: Follow) => {
    const chain = context.chains.get(follow.chain);
    return chain !== undefined && follow.names.has(MAGIC_EDEN) && hasMagicEdenAsks(chain);
  };
  const task = { name: 'magic-eden-asks', periodMs: PERIOD_MS, deadlineMs: DEADLINE_MS, upstream, isWanted };
  return [createFollowedTask(context, { ...task, process: syncAsks })];
}

async function syncAsks(context: UpstreamContext, run: CollectionRun): Promise<void> {
  const { upstream, follow, ingester, signal } = run;
  const chain = context.chains.get(follow.chain);
  if (!chain) return;
  const walk = beginWalk(context, run);
  const contract = { chain, contractAddress: follow.contractAddress, begunBy: walk.startedAt };
  const { gap } = await ingester.ingestPages(walkMagicEdenAsks(upstream, contract, { signal }), signal);
  await concludeListings(run, { source: MAGIC_EDEN, gap, walk });
}
