// Tasks that refresh the tokens that readers viewed recently, a few in each run. Without these tasks the tokens would be out of date: walks
// over complete collections are rare, and some upstreams state owners only in a response about a single token.

import type { Follow } from '../../market/follows/queries/follows.ts';
import { listFollows } from '../../market/follows/queries/follows.ts';
import { listViewedTokens, updateViewedTokensRefreshed } from '../../market/reads/queries/recent-views.ts';
import type { AssetId } from '../../platform/core/address.ts';
import type { UpstreamClient } from './upstream-client.ts';
import { UpstreamFailure } from './upstream-client.ts';
import { isUpstreamWide, RECENT_VIEW_MS } from './followed-run.ts';
import type { CollectionRun } from './followed-task.ts';
import { Ingester } from './ingester.ts';
import type { Task } from '../../platform/tasks/task.ts';
import type { UpstreamContext } from './context.ts';

export type ViewedTokensOptions = {
  name: string;
  upstream: UpstreamClient;
  /** A token that readers still view is refreshed again after this time. */
  refreshMs: number;
  /** The most tokens in one run. Together with `periodMs` this limits the task's share of the upstream's budget. */
  tokensMax: number;
  periodMs?: number;
  isWanted: (follow: Follow) => boolean;
  /** The most tokens of a collection that one request can return. */
  batchMax: number;
  /** Requests tokens of one collection and ingests them. May reject with UpstreamFailure. */
  refresh: (context: UpstreamContext, run: CollectionRun, assets: readonly AssetId[]) => Promise<void>;
};

const PERIOD_MS = 60_000;
const DEADLINE_MS = 5 * 60_000;

export function createViewedTokensTask(context: UpstreamContext, options: ViewedTokensOptions): Task {
  const { name, upstream, periodMs = PERIOD_MS } = options;
  return {
    name,
    periodMs,
    deadlineMs: DEADLINE_MS,
    upstreams: () => [upstream.status()],
    run: async (signal, report, { isFull }) => {
      const ingester = new Ingester(context, { source: upstream.name });
      const problems: string[] = [];
      const batches = await listBatches(context, options);
      let done = 0;
      for (const { follow, assets } of batches) {
        signal.throwIfAborted();
        report({ done, total: batches.length, what: 'refreshes' });
        const run = { upstream, follow, ingester, problems, isFull, signal };
        const failure = await tryRefresh(() => options.refresh(context, run, assets));
        signal.throwIfAborted();
        // The time of the refresh is stored even if the refresh failed, unless every request to the upstream would fail now. Without the
        // stored time, tokens whose refresh always fails would come first in every run, and all other tokens would never be refreshed.
        if (failure === null || !isUpstreamWide(failure.reason)) await saveRefresh(context, { follow, assets });
        if (failure === null) {
          done += 1;
          continue;
        }
        const endsRun = isUpstreamWide(failure.reason) || failure.reason === 'server-error';
        if (endsRun && done === 0) throw failure;
        problems.push(`${follow.collectionId}: ${failure.message}`);
        if (endsRun) break;
      }
      return ingester.result({ problems });
    },
  };
}

async function tryRefresh(refresh: () => Promise<void>): Promise<UpstreamFailure | null> {
  try {
    await refresh();
    return null;
  } catch (error) {
    if (error instanceof UpstreamFailure) return error;
    throw error;
  }
}

async function saveRefresh({ main, clock }: UpstreamContext, { follow, assets }: TokenBatch): Promise<void> {
  await updateViewedTokensRefreshed(main, { collectionId: follow.collectionId, assets, at: clock() });
}

type TokenBatch = { follow: Follow; assets: readonly AssetId[] };

async function listBatches({ main, clock }: UpstreamContext, options: ViewedTokensOptions): Promise<TokenBatch[]> {
  const { refreshMs, tokensMax, batchMax, isWanted } = options;
  const now = clock();
  const follows = (await listFollows(main)).filter(isWanted);
  const tokens = await listViewedTokens(main, {
    collectionIds: follows.map(({ collectionId }) => collectionId),
    viewedSince: now - RECENT_VIEW_MS,
    refreshedBefore: now - refreshMs,
    now,
    limit: tokensMax,
  });
  const batches: TokenBatch[] = [];
  for (const follow of follows) {
    const assets = tokens.flatMap(({ collectionId, asset }) => (collectionId === follow.collectionId ? [asset] : []));
    for (let start = 0; start < assets.length; start += batchMax) {
      batches.push({ follow, assets: assets.slice(start, start + batchMax) });
    }
  }
  return batches;
}
