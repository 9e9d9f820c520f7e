// The tasks that mirror Magic Eden's Solana side: stats, listings and sales of each collection that is followed under a
// symbol. What ended there is concluded from whole snapshots only.

import type { Follow } from '../../follows/queries/follows.ts';
import type { KnownListing } from '../../market/queries/listings.ts';
import { findNewestSaleTime } from '../../market/queries/sales.ts';
import { listKnownListings } from '../../market/queries/listings.ts';
import {
  MAGIC_EDEN,
  readMagicEdenStats,
  readMagicEdenToken,
  walkMagicEdenListings,
  walkMagicEdenSales,
} from './solana.ts';
import type { MagicEdenCollection } from './solana.ts';
import type { MagicEdenSettings } from './settings.ts';
import { toKeyHeaders } from './settings.ts';
import { DAS } from '../das/assets.ts';
import type { ParsedPage, SourceRecord } from '../rows.ts';
import type { UpstreamPace } from '../upstream-client.ts';
import type { Step } from '../followed-task.ts';
import { createFollowedTask, createTaskUpstream } from '../followed-task.ts';
import { ingestPage, ingestPages } from '../ingest-pages.ts';
import type { ViewedTokensOptions } from '../viewed-tokens.ts';
import { createViewedTokensTask } from '../viewed-tokens.ts';
import type { Task } from '../../tasks/task.ts';
import type { UpstreamContext } from '../context.ts';

const LISTINGS_PERIOD_MS = 2 * 60_000;
const SALES_PERIOD_MS = 2 * 60_000;
const DEADLINE_MS = 10 * 60_000;
const TIMEOUT_MS = 15_000;
/** What is answered without a key is 120 a minute for everybody at one address. */
const HOURLY_BUDGET = 3_600;
/** Tokens that readers ask for are looked at so often, so many a minute. */
const SHOWN_TOKEN_MS = 15 * 60_000;
const SHOWN_TOKENS_MAX = 10;
/** A sale may be told this long after newer ones. */
const SALE_OVERLAP_MS = 15 * 60_000;

/** No task asks anything until a collection is followed under a symbol. */
export function createMagicEdenTasks(
  context: UpstreamContext,
  settings: MagicEdenSettings,
  pace: UpstreamPace,
): Task[] {
  const upstream = createTaskUpstream(context, {
    name: MAGIC_EDEN,
    baseUrl: settings.url,
    headers: toKeyHeaders(settings),
    timeoutMs: TIMEOUT_MS,
    ...pace,
    hourlyBudget: HOURLY_BUDGET,
  });
  const isWanted = ({ chain, names }: Follow) => chain === 'solana' && names.has(MAGIC_EDEN);
  const shared = { deadlineMs: DEADLINE_MS, upstream, isWanted };
  return [
    createFollowedTask(context, {
      ...shared,
      name: 'magic-eden-listings',
      periodMs: LISTINGS_PERIOD_MS,
      work: syncListings,
    }),
    createFollowedTask(context, { ...shared, name: 'magic-eden-sales', periodMs: SALES_PERIOD_MS, work: syncSales }),
    // A DAS endpoint returns many tokens in one response, and their owners.
    ...(isDasEnabled(context) ? [] : [createTokensTask(context, { upstream, isWanted })]),
  ];
}

function isDasEnabled({ config }: UpstreamContext): boolean {
  return config.vendors.some(({ name, isEnabled }) => name === DAS && isEnabled);
}

function createTokensTask(
  context: UpstreamContext,
  { upstream, isWanted }: Pick<ViewedTokensOptions, 'upstream' | 'isWanted'>,
): Task {
  return createViewedTokensTask(context, {
    name: 'magic-eden-shown-tokens',
    upstream,
    againMs: SHOWN_TOKEN_MS,
    tokensMax: SHOWN_TOKENS_MAX,
    atOnceMax: 1,
    isWanted,
    look: async (_context, { follow, ingester, signal }, assets) => {
      for (const mint of assets) {
        await ingestPage(ingester, await readMagicEdenToken(upstream, toCollection(follow), { mint, signal }), signal);
      }
    },
  });
}

function toCollection({ names, contractAddress }: Follow): MagicEdenCollection {
  return { symbol: names.get(MAGIC_EDEN) ?? '', contractAddress };
}

async function syncListings(context: UpstreamContext, step: Step): Promise<void> {
  const { upstream, follow, ingester, signal } = step;
  const { collectionId } = follow;
  const collection = toCollection(follow);
  const now = context.clock();
  // Its count checks the walk. Floor and count are not kept: they are read from the listings, over all books.
  const stats = await readMagicEdenStats(upstream, collection, { now, signal });
  const [told] = stats.records;
  await ingestPage(ingester, { ...stats, records: [] }, signal);
  const known = await listKnownListings(context.indexer, { source: MAGIC_EDEN, collectionId });
  const pages = walkMagicEdenListings(upstream, collection, {
    now,
    counted: (told?.['listedCount'] as number | undefined) ?? null,
    signal,
  });
  const end = await ingestPages(ingester, pages, signal, { change: (listing) => withKnownTime(listing, known) });
  if (!end.whole) {
    step.problems.push(`${collectionId}: listings not seen whole: ${end.why}`);
  } else if (!(await ingester.retireUnseen({ source: MAGIC_EDEN, collectionId }))) {
    step.problems.push(`${collectionId}: so many listings are gone at once that it is not believed yet`);
  }
}

/** Magic Eden tells no time of a listing: it is the one at which these terms were first seen. */
function withKnownTime(record: SourceRecord, known: ReadonlyMap<string, KnownListing>): SourceRecord {
  const before = record.kind === 'listing' ? known.get(String(record['id'])) : undefined;
  const isSame =
    before?.mint === record['mint'] && before?.priceRaw === record['priceRaw'] && before?.seller === record['seller'];
  return before && isSame ? { ...record, timestamp: new Date(before.listedAt).toISOString() } : record;
}

/** All or nothing: what is known is known without a gap up to the newest sale, from which the next run goes on. */
async function syncSales(context: UpstreamContext, step: Step): Promise<void> {
  const { upstream, follow, ingester, signal } = step;
  const { collectionId } = follow;
  const collection = toCollection(follow);
  const newest = await findNewestSaleTime(context.indexer, { source: MAGIC_EDEN, collectionId });
  const since = newest === null ? 0 : newest - SALE_OVERLAP_MS;
  const harvests: ParsedPage[] = [];
  const pages = walkMagicEdenSales(upstream, collection, { now: context.clock(), since, signal });
  for (;;) {
    const page = await pages.next();
    if (page.done) {
      const { whole, why } = page.value;
      // Older sales than the interface goes back to are not to be had.
      const isFirst = newest === null && why !== 'too many refused';
      if (!whole && !isFirst) step.problems.push(`${collectionId}: sales not seen whole: ${why}`);
      if (why === 'too many refused') return;
      break;
    }
    harvests.push(page.value);
  }
  for (const harvest of harvests.toReversed()) {
    await ingestPage(ingester, { ...harvest, records: harvest.records.toReversed() }, signal);
  }
}
