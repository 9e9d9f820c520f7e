// The task that reads the operator's own feed, the source of this service's own Solana listings. If the feed is a complete list, the task
// retires the stored listings that are missing from the list.

import { listCollectionsListedAt } from '../../../market/index/queries/listings.ts';
import { listCollectionsBidForAt } from '../../../market/orders/queries/reported-bids.ts';
import type { FeedEnd, FeedSnapshot } from './feed.ts';
import { FeedClient } from './feed.ts';
import type { FeedAccess } from './settings.ts';
import { describeDoubt } from '../followed-task.ts';
import { Ingester } from '../ingester.ts';
import type { Report, Task, TaskResult } from '../../../platform/tasks/task.ts';
import type { UpstreamContext } from '../context.ts';
import type { UpstreamPace } from '../upstream-client.ts';

const PERIOD_MS = 2 * 60_000;
const DEADLINE_MS = 110_000;
/** Even an unchanged feed is read in full after this time, because the database may have been restored from a backup. */
const FULL_MS = 60 * 60_000;
/** If more than this share of the lines of a list was rejected, no listings are retired. */
const REJECTED_SHARE_MAX = 0.1;

export function createFeedTasks(
  context: UpstreamContext,
  access: FeedAccess,
  { timeoutMs, stallMs }: UpstreamPace,
): Task[] {
  const client = new FeedClient({
    ...access,
    clock: context.clock,
    ...(timeoutMs !== undefined && { timeoutMs }),
    ...(stallMs !== undefined && { stallMs }),
  });
  const reader = new FeedReader(context, client);
  return [
    {
      name: 'feed',
      periodMs: PERIOD_MS,
      deadlineMs: DEADLINE_MS,
      upstreams: () => [client.status()],
      run: (signal, report) => reader.run(signal, report),
    },
  ];
}

/** Runs the task. Between runs, the reader keeps the ETag of the feed if the last run ingested the feed completely. */
class FeedReader {
  readonly #context: UpstreamContext;
  readonly #client: FeedClient;
  #ingested: { etag: string; at: number } | null = null;

  constructor(context: UpstreamContext, client: FeedClient) {
    this.#context = context;
    this.#client = client;
  }

  async run(signal: AbortSignal, report: Report): Promise<TaskResult> {
    // The feed is the operator's own. So its sales and listings of a collection count as complete up to now, like those of an import.
    const ingester = new Ingester(this.#context, { isImport: true });
    const startedAt = this.#context.clock();
    const isRecent = this.#ingested !== null && startedAt - this.#ingested.at < FULL_MS;
    const pages = this.#client.read({ etag: isRecent && this.#ingested ? this.#ingested.etag : null, signal });
    for (let done = 0; ;) {
      const page = await pages.next();
      if (page.done) {
        const problems = page.value.changed ? await this.#conclude(ingester, page.value, startedAt) : [];
        return ingester.result({ problems });
      }
      await ingester.ingestPage(page.value, signal);
      done += page.value.records.length + page.value.rejected.length;
      report({ done, total: null, what: 'lines' });
    }
  }

  /** Retires the listings that are missing from a complete list. Keeps the ETag of the feed if there were no problems. */
  async #conclude(ingester: Ingester, { etag, snapshot, problem }: FeedEnd, startedAt: number): Promise<string[]> {
    const problems = problem === null ? [] : [problem];
    const { read, refused } = ingester.result();
    if (snapshot && refused > read * REJECTED_SHARE_MAX) {
      problems.push('so many lines were rejected that the snapshot is not accepted');
    } else if (snapshot) {
      problems.push(...(await this.#retire(ingester, snapshot)));
    }
    // After a problem the ETag is forgotten, so that the next run reads the feed again even if it has not changed.
    this.#ingested = etag === null || problems.length > 0 ? null : { etag, at: startedAt };
    return problems;
  }

  /** Retires the listings and bids with the `source` of the list that the run has not seen, in every collection that has some with this `source`. */
  async #retire(ingester: Ingester, snapshot: FeedSnapshot): Promise<string[]> {
    const problems: string[] = [];
    const { main, indexer, clock, serviceName } = this.#context;
    const { kinds } = snapshot;
    const source = snapshot.source ?? serviceName;
    const stored = { source, now: clock() };
    const listed = kinds.includes('listing') ? await listCollectionsListedAt(indexer, stored) : [];
    for (const collectionId of listed) {
      if (!(await ingester.retireUnseen({ source, collectionId }))) problems.push(describeDoubt(collectionId));
    }
    const bidFor = kinds.includes('bid') ? await listCollectionsBidForAt(main, stored) : [];
    for (const { collectionId, chain } of bidFor) {
      const isAccepted = await ingester.retireUnseenBids({ source, collectionId, chain });
      if (!isAccepted) problems.push(describeDoubt(collectionId, 'bids'));
    }
    return problems;
  }
}
