// The task that mirrors Magic Eden's asks on EVM chains, for collections that are followed under a symbol there. Where the
// interface no longer answers, that is told, and nothing is concluded.

import type { Follow } from '../../follows/queries/follows.ts';
import { hasMagicEdenAsks, walkMagicEdenAsks } from './evm.ts';
import type { MagicEdenSettings } from './settings.ts';
import { toKeyHeaders } from './settings.ts';
import { MAGIC_EDEN } from './solana.ts';
import type { UpstreamPace } from '../upstream-client.ts';
import type { Step } from '../followed-task.ts';
import { createFollowedTask, createTaskUpstream } from '../followed-task.ts';
import { ingestPages } from '../ingest-pages.ts';
import type { Task } from '../../tasks/task.ts';
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
  return [createFollowedTask(context, { ...task, work: syncAsks })];
}

async function syncAsks({ chains, clock }: UpstreamContext, step: Step): Promise<void> {
  const { upstream, follow, ingester, problems, signal } = step;
  const { collectionId, contractAddress } = follow;
  const chain = chains.get(follow.chain);
  if (!chain) return;
  const begunBy = clock();
  const asks = walkMagicEdenAsks(upstream, { chain, contractAddress, begunBy }, { signal });
  const end = await ingestPages(ingester, asks, signal);
  if (!end.whole) problems.push(`${collectionId}: asks not seen whole: ${end.why}`);
  else if (!(await ingester.retireUnseen({ source: MAGIC_EDEN, collectionId }))) {
    problems.push(`${collectionId}: so many asks are gone at once that it is not believed yet`);
  }
}
