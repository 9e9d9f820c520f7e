// Creates the tasks that mirror Magic Eden on Solana. They read the listings, sales and pools of each collection that is followed under a symbol.
// If no DAS endpoint is configured, a task also reads the tokens that readers viewed recently.

import type { Follow } from '../../../market/follows/queries/follows.ts';
import type { KnownListing } from '../../../market/index/queries/listings.ts';
import { listKnownListings, listListingsOf } from '../../../market/index/queries/listings.ts';
import {
  MAGIC_EDEN,
  readMagicEdenStats,
  readMagicEdenToken,
  walkMagicEdenListings,
  walkMagicEdenSales,
} from './solana.ts';
import { walkMagicEdenPools } from './pools.ts';
import type { MagicEdenCollection } from './solana.ts';
import type { MagicEdenSettings } from './settings.ts';
import { toKeyHeaders } from './settings.ts';
import { DAS } from '../das/assets.ts';
import type { ParsedPage, SourceRecord } from '../response-rows.ts';
import type { UpstreamPace } from '../upstream-client.ts';
import type { CollectionRun } from '../followed-task.ts';
import { beginWalk, concludeBids, concludeListings, createFollowedTask, createTaskUpstream } from '../followed-task.ts';
import { beginSaleRead, concludeSaleRead, describeIncompleteSales } from '../sale-reads.ts';
import type { WalkGap } from '../walk.ts';
import type { ViewedTokensOptions } from '../viewed-tokens.ts';
import { createViewedTokensTask } from '../viewed-tokens.ts';
import type { Task } from '../../../platform/tasks/task.ts';
import type { UpstreamContext } from '../context.ts';

const LISTINGS_PERIOD_MS = 2 * 60_000;
const SALES_PERIOD_MS = 2 * 60_000;
const POOLS_PERIOD_MS = 5 * 60_000;
const DEADLINE_MS = 10 * 60_000;
const TIMEOUT_MS = 15_000;
/** Requests an hour: half of the 7,200 that Magic Eden allows each IP address without a key. */
const HOURLY_BUDGET = 3_600;
/** A token that readers still view is refreshed again after this time. */
const VIEWED_TOKEN_MS = 15 * 60_000;
/** How many viewed tokens one run refreshes at most. A run starts once a minute. */
const VIEWED_TOKENS_MAX = 10;

/** The tasks send no request until a collection is followed under a symbol. */
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
      process: syncListings,
    }),
    createFollowedTask(context, { ...shared, name: 'magic-eden-sales', periodMs: SALES_PERIOD_MS, process: syncSales }),
    createFollowedTask(context, { ...shared, name: 'magic-eden-pools', periodMs: POOLS_PERIOD_MS, process: syncPools }),
    // With a DAS endpoint this task is not needed: one response of DAS has many tokens with their owners.
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
    refreshMs: VIEWED_TOKEN_MS,
    tokensMax: VIEWED_TOKENS_MAX,
    batchMax: 1,
    isWanted,
    refresh: async (_context, { follow, ingester, signal }, assets) => {
      const collection = toCollection(follow);
      if (collection === null) return;
      for (const mint of assets) {
        await ingester.ingestPage(await readMagicEdenToken(upstream, collection, { mint, signal }), signal);
      }
    },
  });
}

/** Null for a collection that is followed without a symbol. */
function toCollection({ names, contractAddress }: Follow): MagicEdenCollection | null {
  const symbol = names.get(MAGIC_EDEN);
  return symbol === undefined ? null : { symbol, contractAddress };
}

async function syncListings(context: UpstreamContext, run: CollectionRun): Promise<void> {
  const { upstream, follow, ingester, signal } = run;
  const { collectionId } = follow;
  const collection = toCollection(follow);
  if (collection === null) return;
  const now = context.clock();
  const stats = await readMagicEdenStats(upstream, collection, { now, signal });
  // Magic Eden returns an empty list for a symbol that it does not know. Such a list must not retire the stored listings.
  if (isUnknown(stats)) {
    run.problems.push(`${collectionId}: magic-eden has no statistics of the symbol ${collection.symbol}`);
    return;
  }
  await ingester.ingestPage({ ...stats, records: stats.records.map(withoutCount) }, signal);
  const walk = beginWalk(context, run);
  const stored = await listKnownListings(context.indexer, { source: MAGIC_EDEN, collectionId, now });
  const pages = walkMagicEdenListings(upstream, collection, { now, counted: readCount(stats), signal });
  const end = await ingester.ingestPages(pages, signal, { change: (record) => withFirstTime(record, stored) });
  // If the statistics could not be parsed, they do not show whether Magic Eden knows the symbol. An empty list then counts as incomplete.
  const isKnown = stats.records.length > 0;
  const gap = end.gap ?? (isKnown || end.rows > 0 ? null : 'no listings, and the statistics were rejected');
  await concludeListings(run, { source: MAGIC_EDEN, gap, ...(isKnown && { walk }) });
}

/** The pools that buy tokens of the collection. They are the bids of Magic Eden that its API lists by collection. */
async function syncPools(context: UpstreamContext, run: CollectionRun): Promise<void> {
  const { upstream, follow, ingester, signal, problems } = run;
  const collection = toCollection(follow);
  if (collection === null) return;
  const { gap, rows } = await ingester.ingestPages(walkMagicEdenPools(upstream, collection, { signal }), signal);
  // The list of a symbol that Magic Eden does not know is empty too. Such a list must not retire the stored bids.
  if (gap === null && rows === 0) {
    const stats = await readMagicEdenStats(upstream, collection, { now: context.clock(), signal });
    if (stats.records.length === 0) {
      problems.push(
        `${follow.collectionId}: no pools, and magic-eden has no statistics of the symbol ${collection.symbol}`,
      );
      return;
    }
  }
  await concludeBids(run, { source: MAGIC_EDEN, gap });
}

/** Whether Magic Eden does not know the symbol. For such a symbol, the page that `readMagicEdenStats` returns is empty. */
function isUnknown({ records, rejected, unsupported }: ParsedPage): boolean {
  return records.length + rejected.length + unsupported.length === 0;
}

function readCount({ records }: ParsedPage): number | null {
  const count = records[0]?.['listedCount'];
  return typeof count === 'number' ? count : null;
}

/** Removes the number of listings, because Magic Eden counts only its own, and the collection may be listed elsewhere too. */
function withoutCount(record: SourceRecord): SourceRecord {
  const { listedCount: _, ...rest } = record;
  return { ...rest, kind: record.kind };
}

/** Magic Eden reports no time for a listing. A listing with the stored mint, price and seller keeps the stored time. */
function withFirstTime(record: SourceRecord, stored: ReadonlyMap<string, KnownListing>): SourceRecord {
  const known = record.kind === 'listing' ? stored.get(String(record['id'])) : undefined;
  const isSame =
    known?.mint === record['mint'] && known?.priceRaw === record['priceRaw'] && known?.seller === record['seller'];
  return known && isSame ? { ...record, timestamp: new Date(known.listedAt).toISOString() } : record;
}

/** Sales are stored after the walk has ended, the oldest first, so that the next run can continue from the newest stored sale. */
async function syncSales(context: UpstreamContext, run: CollectionRun): Promise<void> {
  const { upstream, follow, ingester, signal } = run;
  const { collectionId } = follow;
  const collection = toCollection(follow);
  if (collection === null) return;
  const read = await beginSaleRead(context, run, MAGIC_EDEN);
  const walk = walkMagicEdenSales(upstream, collection, { now: read.startedAt, since: read.since ?? 0, signal });
  const pages = withListingIds(context, collectionId, walk);
  const end = await ingester.ingestReversed(pages, signal, ({ gap }) => gap !== TOO_MANY_REJECTED);
  const problem = describeIncompleteSales(run, read, end);
  if (problem !== null) run.problems.push(problem);
  // Magic Eden does not document how far back its list of activities reaches.
  await concludeSaleRead(run, read, { end, isFromBeginning: false });
}

/**
 * Adds the id of the filled listing to sales, because Magic Eden does not report it. The filled listing is the stored listing of the same
 * token by the same seller.
 */
async function* withListingIds<End>(
  { indexer }: UpstreamContext,
  collectionId: string,
  pages: AsyncGenerator<ParsedPage, End>,
): AsyncGenerator<ParsedPage, End> {
  for (;;) {
    const page = await pages.next();
    if (page.done) return page.value;
    const { records } = page.value;
    const assets = records.map((record) => String(record['mint']));
    const stored = await listListingsOf(indexer, { source: MAGIC_EDEN, collectionId, assets });
    yield { ...page.value, records: records.map((record) => withListingId(record, stored)) };
  }
}

/**
 * A seller may have listed a token both in a pool and outside of it. Then the listing with the price of the sale was filled. If no listing
 * has this price, no id is set.
 */
function withListingId(sale: SourceRecord, stored: readonly KnownListing[]): SourceRecord {
  const offers = stored.filter(({ mint, seller }) => mint === sale['mint'] && seller === sale['seller']);
  const filled = offers.length > 1 ? offers.find(({ priceRaw }) => priceRaw === sale['price']) : offers[0];
  return filled ? { ...sale, listingId: filled.id } : sale;
}

const TOO_MANY_REJECTED: WalkGap = 'too many rejected';
