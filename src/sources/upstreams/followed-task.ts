// Creates tasks that process the followed collections of a vendor one after another, and the client that the tasks of a vendor share.

import { listLastRuns, upsertLastRun } from '../../market/follows/queries/last-runs.ts';
import type { Follow } from '../../market/follows/queries/follows.ts';
import { listFollows } from '../../market/follows/queries/follows.ts';
import { listViewedCollections } from '../../market/reads/queries/recent-views.ts';
import type { CoverageSubject } from '../../market/provenance/coverage.ts';
import type { UpstreamOptions } from './upstream-client.ts';
import { UpstreamClient } from './upstream-client.ts';
import { RECENT_VIEW_MS, runFollowed } from './followed-run.ts';
import { Ingester } from './ingester.ts';
import { SharedBudget } from './shared-budget.ts';
import type { RunRequest, Task } from '../../platform/tasks/task.ts';
import type { UpstreamContext } from './context.ts';

/** One collection in one run of a task. A problem that is not a failure of the upstream, such as an incomplete list, goes to `problems`. */
export type CollectionRun = RunRequest & {
  upstream: UpstreamClient;
  follow: Follow;
  ingester: Ingester;
  problems: string[];
  signal: AbortSignal;
};

export type FollowedTaskOptions = {
  name: string;
  periodMs: number;
  deadlineMs: number;
  upstream: UpstreamClient;
  isWanted: (follow: Follow) => boolean;
  process: (context: UpstreamContext, run: CollectionRun) => Promise<void>;
};

export function createFollowedTask(context: UpstreamContext, options: FollowedTaskOptions): Task {
  const { name, periodMs, deadlineMs, upstream, isWanted, process } = options;
  const { main, clock } = context;
  return {
    name,
    periodMs,
    deadlineMs,
    readsFollows: true,
    upstreams: () => [upstream.status()],
    run: async (signal, report, { isFull }) => {
      const ingester = new Ingester(context, { source: upstream.name });
      const ownProblems: string[] = [];
      const { problems, soon } = await runFollowed({
        follows: (await listFollows(main)).filter(isWanted),
        viewed: await listViewedCollections(main, clock() - RECENT_VIEW_MS),
        lastRuns: await listLastRuns(main, name),
        isFull,
        periodMs,
        now: clock,
        signal,
        report,
        process: (follow) => process(context, { upstream, follow, ingester, problems: ownProblems, isFull, signal }),
        saveRun: (collectionId, run) => upsertLastRun(main, { task: name, collectionId, ...run }),
      });
      return ingester.result({ problems: [...problems, ...ownProblems], soon });
    },
  };
}

/** The client of a vendor, with a budget that all processes share. */
export function createTaskUpstream(
  { main, log, clock, random }: UpstreamContext,
  { hourlyBudget, ...options }: TaskUpstreamOptions,
): UpstreamClient {
  const budget = new SharedBudget(main, { upstream: options.name, perHour: hourlyBudget, clock });
  return new UpstreamClient({ ...options, budget, log, clock, random });
}

type TaskUpstreamOptions = Omit<UpstreamOptions, 'budget' | 'log' | 'clock' | 'random'> & { hourlyBudget: number };

/**
 * A walk reads a list of a vendor page by page. This type has the time at which a walk began, in milliseconds, and how many rows the run had
 * read and rejected before.
 */
export type WalkStart = { startedAt: number; readBefore: number; rejectedBefore: number };

export function beginWalk({ clock }: UpstreamContext, { ingester }: CollectionRun): WalkStart {
  return { startedAt: clock(), readBefore: ingester.readRows(), rejectedBefore: ingester.rejectedRows() };
}

/**
 * `gap`: why the list is incomplete, or null. `below`: the list has only the listings below this price, in base units; null for all
 * listings. `walk`: the start of a walk over all listings; without it, no coverage is stored.
 */
export type ListingsEnd = { source: string; gap: string | null; below?: bigint | null; walk?: WalkStart };

/**
 * Retires the listings of a collection that are missing from a complete list. If the list is incomplete or not accepted, no listing is
 * retired and the reason is added to `problems`. Returns whether the list was complete and accepted.
 */
export async function concludeListings(
  { follow, ingester, problems }: CollectionRun,
  { source, gap, below = null, walk }: ListingsEnd,
): Promise<boolean> {
  const { collectionId } = follow;
  if (gap !== null) {
    problems.push(`${collectionId}: listings are incomplete: ${gap}`);
    return false;
  }
  if (!(await ingester.retireUnseen({ source, collectionId, below }))) {
    problems.push(describeDoubt(collectionId));
    return false;
  }
  if (walk) await coverWalk({ follow, ingester }, 'listings', { source, walk });
  return true;
}

/** As `concludeListings`, for a list of all bids of the collection. */
export async function concludeBids(
  { follow, ingester, problems }: CollectionRun,
  { source, gap }: Pick<ListingsEnd, 'source' | 'gap'>,
): Promise<boolean> {
  const { collectionId, chain } = follow;
  if (gap !== null) problems.push(`${collectionId}: bids are incomplete: ${gap}`);
  else if (await ingester.retireUnseenBids({ source, collectionId, chain })) return true;
  else problems.push(describeDoubt(collectionId, 'bids'));
  return false;
}

/** A list of at least this many rows counts as complete coverage of the listings even if one row was rejected. */
const TOLERANT_ROWS_MIN = 10;
/** A long list counts as complete coverage of the listings even if this share of its rows was rejected. */
const TOLERATED_SHARE = 0.01;

/**
 * How many rejected rows a list may have and still cover the subject. A list of listings may have one rejected row for each hundred rows. A
 * list of 10 to 99 listings may have one rejected row. A rejected listing is not served, so the floor agrees with the served listings. The
 * error in the number of listings is smaller than the usual change of this number between two reads. A list for another subject may have no
 * rejected row, because a token or sale that is left out would be missing from the figures forever.
 */
function toleratedRows(subject: CoverageSubject, rows: number): number {
  if (subject !== 'listings' || rows < TOLERANT_ROWS_MIN) return 0;
  return Math.max(1, Math.floor(rows * TOLERATED_SHARE));
}

/**
 * Stores that a walk over a complete list has covered a subject. A walk with more rejected rows than are tolerated covers nothing, because
 * what these rows describe is not stored.
 */
export async function coverWalk(
  { follow, ingester }: Pick<CollectionRun, 'follow' | 'ingester'>,
  subject: CoverageSubject,
  { source, walk }: { source: string; walk: WalkStart },
): Promise<void> {
  const rows = ingester.readRows() - walk.readBefore;
  if (ingester.rejectedRows() - walk.rejectedBefore > toleratedRows(subject, rows)) return;
  await ingester.saveCoverage({
    collectionId: follow.collectionId,
    subject,
    source,
    from: null,
    to: walk.startedAt,
  });
}

export function describeDoubt(collectionId: string, what: 'listings' | 'bids' = 'listings'): string {
  return `${collectionId}: so many ${what} are missing at once that the list is not accepted yet`;
}
