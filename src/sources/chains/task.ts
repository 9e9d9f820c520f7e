// The task that follows one chain while its process holds the lease. One loop reads new blocks, and past blocks for added collections.
// Another loop writes the chain log into the indexer. After failures, each loop retries with growing pauses.

import { setTimeout as delay } from 'node:timers/promises';
import { findChainCursor } from '../../market/chain-log/queries/chain-cursors.ts';
import type { Change } from '../../platform/core/collection-versions.ts';
import type { Report, Task } from '../../platform/tasks/task.ts';
import { backoffMs } from '../../platform/resilience/backoff.ts';
import { NOTHING } from '../../platform/tasks/task.ts';
import { backfillOnce } from './backfill.ts';
import type { ChainContext } from './context.ts';
import { projectAndCover } from './coverage.ts';
import type { FollowContext, StepResult } from './follower.ts';
import { followOnce } from './follower.ts';
import type { ChainReader } from './rpc/chain-reader.ts';
import { rereadOnce } from './reread.ts';
import { createUnreadChainsTask } from './unread-chains.ts';

/** A run lasts until its process ends or loses the lease, at most until this deadline. Then the next run starts. */
const RUN_MS = 24 * 60 * 60_000;
const RESTART_MS = 1_000;
/** How long the lease lasts without a renewal. When a process dies, another process follows the chain after at most this time. */
const LEASE_MS = 6_000;
/**
 * The longest pause of the loop that writes into the indexer, unless a step failed. A new listing is dormant until this loop has judged it.
 */
const PROJECTION_POLL_MS_MAX = 1_000;
const PAUSE_MS_MAX = 15_000;
const PAUSE_JITTER = 0.2;

function toChainTaskName(chainId: string): string {
  return `chain-${chainId}`;
}

/** A task for each live chain (`FollowedChains.modeOf`), and one for all other chains together. */
export function createChainTasks(context: ChainContext): Task[] {
  const live = [...context.chains.keys()].flatMap((chainId) => {
    const reader = context.followed.readerOf(chainId);
    return reader ? [createChainTask(context, reader)] : [];
  });
  return [...live, createUnreadChainsTask(context)];
}

function createChainTask(context: ChainContext, reader: ChainReader): Task {
  return {
    name: toChainTaskName(reader.chain.id),
    periodMs: RESTART_MS,
    deadlineMs: RUN_MS,
    leaseMs: LEASE_MS,
    run: async (signal, report) => {
      const loop = { chainId: reader.chain.id, signal };
      await Promise.all([
        repeat(context, { ...loop, part: 'chain' }, () => follow(context, reader, report)),
        repeat(context, { ...loop, part: 'indexer' }, () => project(context, reader)),
      ]);
      return NOTHING;
    },
  };
}

/** Repeats the step until the signal aborts. While there is more to do, the next step starts without a pause. */
async function repeat(
  { log, onChanged, config, random }: ChainContext,
  { chainId: chain, part, signal }: { chainId: string; part: 'chain' | 'indexer'; signal: AbortSignal },
  step: () => Promise<StepResult>,
): Promise<void> {
  const pollMs = part === 'chain' ? config.chainPollMs : Math.min(config.chainPollMs, PROJECTION_POLL_MS_MAX);
  let failures = 0;
  while (!signal.aborted) {
    let waitMs = pollMs;
    try {
      const { changed, more } = await step();
      if (changed.size > 0) onChanged(toChange(changed));
      if (failures > 0) log.info('following a chain works again', { chain, part });
      failures = 0;
      if (more) waitMs = 0;
    } catch (error) {
      if (signal.aborted) return;
      log[failures === 0 ? 'warn' : 'debug']('following a chain failed', { chain, part, error });
      failures += 1;
      waitMs = backoffMs(failures, { baseMs: 2 * pollMs, maxMs: PAUSE_MS_MAX, jitter: PAUSE_JITTER }, random);
    }
    // Even a wait of 0 yields to the event loop between steps.
    await delay(waitMs, undefined, { signal }).catch(() => undefined);
  }
}

function toChange(collectionIds: ReadonlySet<string>): Change {
  return { collectionIds, kinds: new Set(['order', 'sale', 'token']) };
}

async function follow(context: ChainContext, reader: ChainReader, report: Report): Promise<StepResult> {
  const { main, clock, log, followed, onChanged, copyCatalog } = context;
  const chainId = reader.chain.id;
  const following: FollowContext = { main, reader, protocols: followed.protocolsOf(chainId), clock, log };
  // Committed changes are reported here, before anything else is read. `repeat` reports them again after the copy to the indexer.
  const live = await followOnce(following);
  if (live.changed.size > 0) onChanged(toChange(live.changed));
  const past = await backfillOnce(following, (collectionIds) => onChanged(toChange(collectionIds)));
  const again = await rereadOnce(following);
  const cursor = await findChainCursor(main, chainId);
  if (cursor) report({ done: cursor.number, total: null, what: 'blocks' });
  const changed = live.changed.union(past.changed).union(again.changed);
  if (changed.size > 0) await copyCatalog();
  return { changed, more: live.more || past.more || again.more };
}

async function project(context: ChainContext, { chain }: ChainReader): Promise<StepResult> {
  const changed = await projectAndCover({ ...context, chain });
  return { changed: changed ?? new Set(), more: changed !== null };
}
