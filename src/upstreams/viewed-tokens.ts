// Tasks that look again at the single tokens that readers asked for, a few at a time: what a walk over a whole collection tells
// late, or does not tell at all.

import type { Follow } from '../follows/queries/follows.ts';
import { listFollows } from '../follows/queries/follows.ts';
import { listViewedTokens, updateViewedTokensRefreshed } from '../market/queries/recent-views.ts';
import type { AssetId } from '../core/address.ts';
import type { UpstreamClient } from './upstream-client.ts';
import { UpstreamFailure } from './upstream-client.ts';
import { isHopeless, RECENT_VIEW_MS } from './followed-collections.ts';
import type { Step } from './followed-task.ts';
import { createIngester } from './ingester.ts';
import type { Task } from '../tasks/task.ts';
import type { UpstreamContext } from './context.ts';

export type ViewedTokensOptions = {
  name: string;
  upstream: UpstreamClient;
  /** How long after a look at a token it is looked at again, while readers go on asking for it. */
  againMs: number;
  /** Tokens that one run looks at, and how often it may: what it takes of the upstream's budget. */
  tokensMax: number;
  periodMs?: number;
  isWanted: (follow: Follow) => boolean;
  /** Tokens of a collection that one question is about. */
  atOnceMax: number;
  /** Asks about tokens of one collection and lands what is told; may reject with UpstreamFailure. */
  look: (context: UpstreamContext, step: Step, assets: readonly AssetId[]) => Promise<void>;
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
      const ingester = createIngester(context);
      const problems: string[] = [];
      const looks = await listLooks(context, options);
      let done = 0;
      for (const { follow, assets } of looks) {
        signal.throwIfAborted();
        report({ done, total: looks.length, what: 'looks' });
        const failure = await tryLook(() =>
          options.look(context, { upstream, follow, ingester, problems, isFull, signal }, assets),
        );
        signal.throwIfAborted();
        // One that cannot be told goes behind the others like one that was told.
        if (failure === null || !isHopeless(failure.reason)) await noteLook(context, { follow, assets });
        if (failure === null) {
          done += 1;
          continue;
        }
        const isOver = isHopeless(failure.reason) || failure.reason === 'server-error';
        if (isOver && done === 0) throw failure;
        problems.push(`${follow.collectionId}: ${failure.message}`);
        if (isOver) break;
      }
      return ingester.result({ problems });
    },
  };
}

async function tryLook(look: () => Promise<void>): Promise<UpstreamFailure | null> {
  try {
    await look();
    return null;
  } catch (error) {
    if (error instanceof UpstreamFailure) return error;
    throw error;
  }
}

async function noteLook({ main, clock }: UpstreamContext, { follow, assets }: Look): Promise<void> {
  await updateViewedTokensRefreshed(main, { collectionId: follow.collectionId, assets, at: clock() });
}

type Look = { follow: Follow; assets: readonly AssetId[] };

/** The questions of one run. */
async function listLooks({ main, clock }: UpstreamContext, options: ViewedTokensOptions): Promise<Look[]> {
  const { againMs, tokensMax, atOnceMax, isWanted } = options;
  const now = clock();
  const follows = (await listFollows(main)).filter(isWanted);
  const shown = await listViewedTokens(main, {
    collectionIds: follows.map(({ collectionId }) => collectionId),
    viewedSince: now - RECENT_VIEW_MS,
    refreshedBefore: now - againMs,
    now,
    limit: tokensMax,
  });
  const looks: Look[] = [];
  for (const follow of follows) {
    const assets = shown.flatMap(({ collectionId, asset }) => (collectionId === follow.collectionId ? [asset] : []));
    for (let start = 0; start < assets.length; start += atOnceMax) {
      looks.push({ follow, assets: assets.slice(start, start + atOnceMax) });
    }
  }
  return looks;
}
