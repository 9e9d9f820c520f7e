// The tasks that mirror OpenSea: the record of each followed collection, its tokens, its listings, its offers and its sales. They share the hourly
// budget of the key.

import type { Follow } from '../../../market/follows/queries/follows.ts';
import type { AssetId } from '../../../platform/core/address.ts';
import { CollectionRefresh } from './collection-sync.ts';
import { ListingRefresh } from './listing-refresh.ts';
import { walkOpenSeaOffers } from './offers.ts';
import { walkOpenSeaSales } from './sales.ts';
import { OPENSEA } from './names.ts';
import type { OpenSeaProcess, OpenSeaRun } from './run.ts';
import { isAtOpenSea, withCollection } from './run.ts';
import type { OpenSeaAccess } from './settings.ts';
import { readOpenSeaToken, walkOpenSeaTokens } from './tokens.ts';
import type { UpstreamPace } from '../upstream-client.ts';
import { concludeBids, createFollowedTask, createTaskUpstream } from '../followed-task.ts';
import { beginSaleRead, concludeSaleRead, describeIncompleteSales } from '../sale-reads.ts';
import { TokenWalk } from '../token-walk.ts';
import { createViewedTokensTask } from '../viewed-tokens.ts';
import type { Task } from '../../../platform/tasks/task.ts';
import type { UpstreamContext } from '../context.ts';

/** Shorter than half an hour, because a reported floor is not served for longer than half an hour. */
const COLLECTIONS_PERIOD_MS = 15 * 60_000;
const TOKENS_PERIOD_MS = 24 * 60 * 60_000;
const LISTINGS_PERIOD_MS = 5 * 60_000;
const SALES_PERIOD_MS = 5 * 60_000;
/** Longer than that of listings: a collection may have thousands of offers, and the listings share the budget. */
const OFFERS_PERIOD_MS = 15 * 60_000;
/**
 * The deadline of a run over all followed collections. The hourly budget may make such a run take hours. Each request has a deadline of its
 * own.
 */
const DEADLINE_MS = 6 * 60 * 60_000;
/**
 * The deadline of a run that lists all tokens. The longest list has 500 pages. A page is requested only while more than half of the requests
 * that the budget allows at once are left. Other tasks use the same budget, so each page may have to wait.
 */
const TOKENS_DEADLINE_MS = 48 * 60 * 60_000;
const TIMEOUT_MS = 15_000;
/**
 * How long a request waits for the budget. With a budget of 100 requests an hour or more, each task can send a request within this time.
 */
const PATIENCE_MS = 5 * 60_000;
/** A token that readers still view is refreshed again after this time. */
const VIEWED_TOKEN_MS = 60 * 60_000;
/** The share of the hourly budget that refreshing viewed tokens may use. */
const VIEWED_TOKENS_SHARE = 0.2;
const MINUTES_AN_HOUR = 60;
const HOUR_MS = 60 * 60_000;
/** The most pages of sales that the first run of a collection reads. The rest of the budget is left for fresh listings. */
const FIRST_SALE_PAGES_MAX = 5;

export function createOpenSeaTasks(
  context: UpstreamContext,
  { url, key, hourlyBudget }: OpenSeaAccess,
  pace: UpstreamPace,
): Task[] {
  const upstream = createTaskUpstream(context, {
    name: OPENSEA,
    baseUrl: url,
    headers: { 'x-api-key': key },
    timeoutMs: TIMEOUT_MS,
    ...pace,
    patienceMs: PATIENCE_MS,
    hourlyBudget,
  });
  const isWanted = ({ chain }: Follow) => isAtOpenSea(context.chains.get(chain));
  const collections = new CollectionRefresh();
  const listings = new ListingRefresh();
  const task = (name: string, periodMs: number, process: OpenSeaProcess, deadlineMs = DEADLINE_MS) =>
    createFollowedTask(context, {
      name,
      periodMs,
      deadlineMs,
      upstream,
      isWanted,
      process: withCollection(process),
    });
  return [
    task('opensea-collections', COLLECTIONS_PERIOD_MS, (_, run) => collections.refresh(context, run)),
    task('opensea-listings', LISTINGS_PERIOD_MS, (_, run) => listings.refresh(context, run)),
    task('opensea-sales', SALES_PERIOD_MS, syncSales),
    task('opensea-offers', OFFERS_PERIOD_MS, syncOffers),
    task('opensea-tokens', TOKENS_PERIOD_MS, syncTokens, TOKENS_DEADLINE_MS),
    createViewedTokensTask(context, {
      name: 'opensea-shown-tokens',
      upstream,
      refreshMs: VIEWED_TOKEN_MS,
      ...toRefreshPace(hourlyBudget * VIEWED_TOKENS_SHARE),
      batchMax: 1,
      isWanted,
      refresh: (_, run, assets) => withCollection((__, openSeaRun) => refreshTokens(openSeaRun, assets))(context, run),
    }),
  ];
}

/** Returns how many tokens are refreshed in a run. If the budget is smaller than one token a minute, also returns a longer period. */
function toRefreshPace(perHour: number): { tokensMax: number; periodMs?: number } {
  const tokensMax = Math.floor(perHour / MINUTES_AN_HOUR);
  return tokensMax >= 1 ? { tokensMax } : { tokensMax: 1, periodMs: HOUR_MS / perHour };
}

/** Sales are stored after the walk has ended, the oldest first, so that the next run can continue from the newest stored sale. */
async function syncSales(context: UpstreamContext, run: OpenSeaRun): Promise<void> {
  const { upstream, collection, ingester, signal } = run;
  const read = await beginSaleRead(context, run, OPENSEA);
  const { since } = read;
  const pages = walkOpenSeaSales(upstream, collection, {
    since,
    ...(since === null && { pagesMax: FIRST_SALE_PAGES_MAX }),
    signal,
  });
  const end = await ingester.ingestReversed(pages, signal);
  const problem = describeIncompleteSales(run, read, end);
  if (problem !== null) run.problems.push(problem);
  await concludeSaleRead(run, read, { end, isFromBeginning: true });
}

async function syncOffers({ clock }: UpstreamContext, run: OpenSeaRun): Promise<void> {
  const { upstream, collection, ingester, signal } = run;
  const offers = walkOpenSeaOffers(upstream, collection, { begunBy: clock(), signal });
  const { gap } = await ingester.ingestPages(offers, signal);
  await concludeBids(run, { source: OPENSEA, gap });
}

async function refreshTokens(run: OpenSeaRun, assets: readonly AssetId[]): Promise<void> {
  const { upstream, collection, ingester, signal } = run;
  for (const asset of assets) {
    await ingester.ingestPage(await readOpenSeaToken(upstream, collection, asset, { signal }), signal);
  }
}

async function syncTokens(context: UpstreamContext, run: OpenSeaRun): Promise<void> {
  const { upstream, follow, collection, ingester, signal } = run;
  const walk = new TokenWalk(context, run);
  const pages = walkOpenSeaTokens(upstream, collection, { signal });
  const { gap, rows } = await ingester.ingestPages(pages, signal, { change: (record) => walk.note(record) });
  if (gap !== null) run.problems.push(`${follow.collectionId}: tokens are incomplete: ${gap}`);
  // A disabled token has a row in the list, but no record. A list with a disabled token therefore does not cover all tokens.
  else if (walk.records === rows) await walk.conclude({ source: OPENSEA, subjects: ['tokens'] });
}
