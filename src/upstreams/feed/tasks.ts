// The task that reads the operator's own feed: where the service's own Solana listings come in. A feed that has not changed
// costs one small request; a snapshot that arrived whole ends the listings that it no longer has.

import { listCollectionsListedAt } from '../../market/queries/listings.ts';
import { createFeed } from './feed.ts';
import type { FeedAccess } from './settings.ts';
import type { Ingester } from '../ingester.ts';
import { createIngester } from '../ingester.ts';
import { ingestPage } from '../ingest-pages.ts';
import type { Task } from '../../tasks/task.ts';
import type { UpstreamContext } from '../context.ts';
import type { UpstreamPace } from '../upstream-client.ts';

const PERIOD_MS = 2 * 60_000;
const DEADLINE_MS = 110_000;
/** So often it is read in full even when it says that nothing has changed: the database may have been put back. */
const FULL_MS = 60 * 60_000;
/** A snapshot in which more than this share of the lines makes no sense ends nothing. */
const REFUSED_SHARE_MAX = 0.1;

export function createFeedTasks(
  context: UpstreamContext,
  access: FeedAccess,
  { timeoutMs, stallMs }: UpstreamPace,
): Task[] {
  const { clock } = context;
  const feed = createFeed({
    ...access,
    clock,
    ...(timeoutMs !== undefined && { timeoutMs }),
    ...(stallMs !== undefined && { stallMs }),
  });
  /** The state of the feed that has been landed without a rest. */
  let landed: { etag: string; at: number } | null = null;
  return [
    {
      name: 'feed',
      periodMs: PERIOD_MS,
      deadlineMs: DEADLINE_MS,
      upstreams: () => [feed.status()],
      run: async (signal, report) => {
        const ingester = createIngester(context);
        const startedAt = clock();
        const isRecent = landed !== null && startedAt - landed.at < FULL_MS;
        const pages = feed.read({ etag: isRecent && landed ? landed.etag : null, signal });
        for (let done = 0; ;) {
          const page = await pages.next();
          if (!page.done) {
            await ingestPage(ingester, page.value, signal);
            done += page.value.records.length + page.value.refused.length;
            report({ done, total: null, what: 'lines' });
            continue;
          }
          const { changed, etag, snapshot, problem } = page.value;
          if (!changed) return ingester.result();
          const problems = problem === null ? [] : [problem];
          const { read, refused } = ingester.result();
          if (snapshot && refused > read * REFUSED_SHARE_MAX)
            problems.push('too many lines were refused for a snapshot');
          else if (snapshot)
            problems.push(...(await retire(context, ingester, snapshot.source ?? context.serviceName)));
          // One that has to come back before it is believed has to be read again.
          landed = etag === null || problems.length > 0 ? null : { etag, at: startedAt };
          return ingester.result({ problems });
        }
      },
    },
  ];
}

/** Ends what a whole snapshot of a source no longer has, in every collection where it had any. */
async function retire(context: UpstreamContext, ingester: Ingester, source: string): Promise<string[]> {
  const problems: string[] = [];
  for (const collectionId of await listCollectionsListedAt(context.indexer, source)) {
    if (await ingester.retireUnseen({ source, collectionId })) continue;
    problems.push(`${collectionId}: so many listings are gone at once that it is not believed yet`);
  }
  return problems;
}
