// The task that follows one chain for as long as its process has the lease: to the head, then a look at every poll, with the
// collections that catch up and the indexer written beside it. A chain or an indexer that is away is waited for.

import { toMarketplace } from './protocols/registry.ts';
import { setTimeout as delay } from 'node:timers/promises';
import { findChainCursor } from '../chain-log/queries/chain-cursors.ts';
import type { Address } from '../core/address.ts';
import type { OrderFulfilled } from '../chain-log/chain-event.ts';
import type { Chain } from '../core/chains.ts';
import type { ChainReader } from './rpc/chain-reader.ts';
import type { Report, Task } from '../tasks/task.ts';
import type { ChainContext } from './context.ts';
import { NOTHING } from '../tasks/task.ts';
import { backfillOnce } from './backfill.ts';
import type { FollowContext, Round } from './follower.ts';
import { followOnce } from './follower.ts';
import type { ProjectionContext } from './projection.ts';
import { projectNext } from './projection.ts';

export type ChainTaskOptions = {
  chain: Chain;
  reader: ChainReader;
  protocols: readonly Address[];
  wrappedNative: Address | null;
  attribute: (fill: OrderFulfilled) => string;
  /** How often the head is looked at once it has been reached. */
  pollMs: number;
};

/** A run goes on until its process ends or loses the lease; the deadline only bounds what a bug could hold. */
const RUN_MS = 24 * 60 * 60_000;
const RESTART_MS = 1_000;
/** A process that died is replaced after this. */
const LEASE_MS = 6_000;
/** The longest pause after failures in a row. */
const PAUSE_MS_MAX = 15_000;

/** The name of the task that follows a chain. */
export function toChainTaskName(chainId: string): string {
  return `chain-${chainId}`;
}

/** A task for each chain that is live. */
export function createChainTasks(context: ChainContext): Task[] {
  const { followed } = context;
  return [...context.chains.values()].flatMap((chain) => {
    const reader = followed.readerOf(chain.id);
    if (!reader) return [];
    const options = {
      chain,
      reader,
      protocols: followed.protocolsOf(chain.id),
      wrappedNative: chain.wrappedNative,
      attribute: toMarketplace,
      pollMs: context.config.chainPollMs,
    };
    return [createChainTask(context, options)];
  });
}

export function createChainTask(context: ChainContext, options: ChainTaskOptions): Task {
  const { chain } = options;
  return {
    name: toChainTaskName(chain.id),
    periodMs: RESTART_MS,
    deadlineMs: RUN_MS,
    leaseMs: LEASE_MS,
    run: async (signal, report) => {
      await Promise.all([
        repeat(context, signal, options, 'chain', () => follow(context, options, report)),
        repeat(context, signal, options, 'indexer', () => project(context, options)),
      ]);
      return NOTHING;
    },
  };
}

/** Does the work again and again until the signal aborts: at once while there is more to do, else at every poll. */
async function repeat(
  { log, onChanged }: ChainContext,
  signal: AbortSignal,
  { chain, pollMs }: ChainTaskOptions,
  part: 'chain' | 'indexer',
  work: () => Promise<Round>,
): Promise<void> {
  let failures = 0;
  while (!signal.aborted) {
    let waitMs = pollMs;
    try {
      const { changed, more } = await work();
      if (changed.size > 0) onChanged({ collectionIds: changed, kinds: new Set(['order', 'sale', 'token']) });
      if (failures > 0) log.info('a chain is read again', { chain: chain.id, part });
      failures = 0;
      if (more) waitMs = 0;
    } catch (error) {
      if (signal.aborted) return;
      log[failures === 0 ? 'warn' : 'debug']('a chain cannot be read now', { chain: chain.id, part, error });
      failures += 1;
      waitMs = Math.min(PAUSE_MS_MAX, pollMs * 2 ** Math.min(failures, 10));
    }
    // Also between steps, so that a chain that has much to catch up with leaves others their turn.
    await delay(waitMs, undefined, { signal }).catch(() => undefined);
  }
}

async function follow(context: ChainContext, options: ChainTaskOptions, report: Report): Promise<Round> {
  const { main, clock, log } = context;
  const { reader, protocols } = options;
  const following: FollowContext = { main, reader, protocols, clock, log };
  const live = await followOnce(following);
  const past = await backfillOnce(following);
  const cursor = await findChainCursor(main, options.chain.id);
  if (cursor) report({ done: cursor.number, total: null, what: 'blocks' });
  return { changed: live.changed.union(past.changed), more: live.more || past.more };
}

async function project(context: ChainContext, options: ChainTaskOptions): Promise<Round> {
  const { main, indexer, serviceName, clock } = context;
  const { chain, wrappedNative, attribute } = options;
  const projection: ProjectionContext = {
    main,
    indexer,
    chain: chain.id,
    serviceName,
    clock,
    wrappedNative,
    attribute,
  };
  const changed = await projectNext(projection);
  return { changed: changed ?? new Set(), more: changed !== null };
}
