// The tasks that mirror OpenSea: what it says of each followed collection, its tokens, its listings and its sales. All of them
// share the key's hourly budget: whoever waited longest is read first, at the pace that the budget allows.

import type { Follow } from '../../follows/queries/follows.ts';
import { insertFollowName } from '../../follows/queries/follows.ts';
import { listCollectionsByIds, listCollectionsByName } from '../../market/queries/collections.ts';
import { findFullSnapshot } from '../../market/queries/listing-snapshots.ts';
import { findNewestSaleTime } from '../../market/queries/sales.ts';
import type { AssetId } from '../../core/address.ts';
import type { Chain } from '../../core/chains.ts';
import type { Collection } from '../../core/collection.ts';
import { findOpenSeaContract, readOpenSeaCollection, readOpenSeaStats } from './collection.ts';
import { walkOpenSeaCheapest, walkOpenSeaListings } from './listings.ts';
import type { CheapestEnd } from './listings.ts';
import { walkOpenSeaSales } from './sales.ts';
import { PAGE } from './pages.ts';
import type { OpenSeaCollection } from './names.ts';
import { OPENSEA, toOpenSeaChain } from './names.ts';
import type { OpenSeaAccess } from './settings.ts';
import { readOpenSeaToken, walkOpenSeaTokens } from './tokens.ts';
import type { ParsedPage, SourceRecord } from '../rows.ts';
import type { UpstreamPace } from '../upstream-client.ts';
import type { Step } from '../followed-task.ts';
import { createFollowedTask, createTaskUpstream } from '../followed-task.ts';
import { ingestPage, ingestPages } from '../ingest-pages.ts';
import { createViewedTokensTask } from '../viewed-tokens.ts';
import type { Task } from '../../tasks/task.ts';
import type { UpstreamContext } from '../context.ts';

const COLLECTIONS_PERIOD_MS = 60 * 60_000;
const TOKENS_PERIOD_MS = 24 * 60 * 60_000;
const LISTINGS_PERIOD_MS = 5 * 60_000;
const SALES_PERIOD_MS = 5 * 60_000;
/** A turn over all that is followed takes as long as the budget makes it; each request has a deadline of its own. */
const DEADLINE_MS = 6 * 60 * 60_000;
/** The longest list has 500 pages, and where others use the budget up, half of its burst has to fill for each. */
const TOKENS_DEADLINE_MS = 48 * 60 * 60_000;
const TIMEOUT_MS = 15_000;
/** A budget of a hundred an hour and more, shared by four tasks, gives each its turn within this. */
const PATIENCE_MS = 5 * 60_000;
/** Two pages of 200 are more than the 250 assets of a window, and room for dearer listings of the same ones. */
const CHEAPEST_PAGES = 2;
const WHOLE_BOOK_MS = 60 * 60_000;
/** A token that readers go on asking for is looked at so often; the looks may take this share of the hour's budget. */
const SHOWN_TOKEN_MS = 60 * 60_000;
const SHOWN_TOKENS_SHARE = 0.2;
const MINUTES_AN_HOUR = 60;
const HOUR_MS = 60 * 60_000;
/** A sale may be told this long after newer ones. */
const SALE_OVERLAP_MS = 15 * 60_000;
/** How far back the first look at a collection's sales goes: older ones are worth less than fresh listings. */
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
  const isWanted = ({ chain }: Follow) => isThere(context.chains.get(chain));
  const task = (name: string, periodMs: number, work: Work, deadlineMs = DEADLINE_MS) =>
    createFollowedTask(context, {
      name,
      periodMs,
      deadlineMs,
      upstream,
      isWanted,
      work: withCollection(work),
    });
  return [
    task('opensea-collections', COLLECTIONS_PERIOD_MS, syncCollection),
    task('opensea-listings', LISTINGS_PERIOD_MS, createListingWork()),
    task('opensea-sales', SALES_PERIOD_MS, syncSales),
    task('opensea-tokens', TOKENS_PERIOD_MS, syncTokens, TOKENS_DEADLINE_MS),
    createViewedTokensTask(context, {
      name: 'opensea-shown-tokens',
      upstream,
      againMs: SHOWN_TOKEN_MS,
      ...toLookPace(hourlyBudget * SHOWN_TOKENS_SHARE),
      atOnceMax: 1,
      isWanted,
      look: (_, step, assets) => withCollection((__, named) => lookAtTokens(named, assets))(context, step),
    }),
  ];
}

/** How many tokens each run may look at: several a minute, or one in as many minutes as that takes. */
function toLookPace(perHour: number): { tokensMax: number; periodMs?: number } {
  const tokensMax = Math.floor(perHour / MINUTES_AN_HOUR);
  return tokensMax >= 1 ? { tokensMax } : { tokensMax: 1, periodMs: HOUR_MS / perHour };
}

function isThere(chain: Chain | undefined): boolean {
  return chain !== undefined && toOpenSeaChain(chain) !== null;
}

type OpenSeaStep = Step & { collection: OpenSeaCollection };

type Work = (context: UpstreamContext, step: OpenSeaStep) => Promise<void>;

/** The work on what a collection is called there; nothing on one that OpenSea does not have. */
function withCollection(work: Work) {
  return async (context: UpstreamContext, step: Step): Promise<void> => {
    const { follow } = step;
    const chain = context.chains.get(follow.chain);
    const slug = chain && (await findSlug(context, { ...step, chain }));
    if (!chain || !slug) return;
    await work(context, { ...step, collection: { slug, chain, contractAddress: follow.contractAddress } });
  };
}

/** The slug that the operator gave, or the one that the contract has there, which is noted; null where it has none. */
async function findSlug(
  context: UpstreamContext,
  { upstream, follow, chain, signal }: Step & { chain: Chain },
): Promise<string | null> {
  const known = follow.names.get(OPENSEA);
  if (known !== undefined) return known;
  const { collectionId, contractAddress } = follow;
  const found = await findOpenSeaContract(upstream, { chain, contractAddress }, { signal });
  if (!found) return null;
  await insertFollowName(context.main, { collectionId, vendor: OPENSEA, name: found.slug });
  return found.slug;
}

async function syncCollection(context: UpstreamContext, step: OpenSeaStep): Promise<void> {
  const { upstream, follow, collection, ingester, signal } = step;
  const harvest = await readOpenSeaCollection(upstream, collection, { signal });
  const records: SourceRecord[] = [];
  for (const record of harvest.records) {
    const [stored = null] = await listCollectionsByIds(context.main, [follow.collectionId]);
    records.push(await fillIn(context, record, stored));
  }
  await ingestPage(ingester, { ...harvest, records }, signal);
  // What a chain tells is counted from its own events.
  if (isChainRead(context, follow)) return;
  const stats = await readOpenSeaStats(upstream, collection, { at: context.clock(), signal });
  const told = stats.records.map((record) => withSupply(withoutFloor(record), harvest.records));
  await ingestPage(ingester, { ...stats, records: told }, signal);
}

/** How many tokens there are is told with the collection: counting those that are known would tell how many were read so far. */
function withSupply(stats: SourceRecord, collections: readonly SourceRecord[]): SourceRecord {
  const [collection] = collections as readonly (SourceRecord & { snapshot?: { supply?: number } })[];
  const supply = collection?.snapshot?.supply;
  return stats.kind === 'stats' && supply !== undefined ? { ...stats, supply } : stats;
}

/** OpenSea fills in what is not known. What is known stays: the operator, or the chain, said so. */
async function fillIn(
  context: UpstreamContext,
  record: SourceRecord,
  stored: Collection | null,
): Promise<SourceRecord> {
  if (!stored) return record;
  const { snapshot, createdAt: _, ...told } = record as SourceRecord & { snapshot?: object };
  const isNamed = stored.name.toLowerCase() !== stored.contractAddress;
  const known = (field: string) => (stored as Readonly<Record<string, unknown>>)[field] ?? null;
  const news = Object.entries(told).filter(
    ([field]) => ['kind', 'chain', 'contractAddress', 'name'].includes(field) || known(field) === null,
  );
  const filled: Record<string, unknown> = { ...Object.fromEntries(news), ...(isNamed && { name: stored.name }) };
  if (stored.snapshot.supply === null && snapshot) filled['snapshot'] = snapshot;
  const slug = filled['slug'];
  if (typeof slug === 'string') {
    const holders = await listCollectionsByName(context.main, { id: '', slug, address: '' });
    if (holders.length > 0) delete filled['slug'];
  }
  return { ...filled, kind: record.kind };
}

/** The floor is read from the listings, which are fresher, and which know the own book. */
function withoutFloor(record: SourceRecord): SourceRecord {
  const { floorRaw: _, ...rest } = record;
  return { ...rest, kind: record.kind };
}

/**
 * A larger book is seen whole only so often, by whichever process, or when the operator wants it; in between its cheapest part is,
 * which is what readers see of it.
 */
function createListingWork(): Work {
  /** Of how many pages each book was: more than its listings tell where most are in other currencies. */
  const pagesOf = new Map<string, number>();
  const doubtful = new Set<string>();
  return async (context, step) => {
    const { collectionId } = step.follow;
    const book = `${collectionId} ${step.collection.slug}`;
    const last = await findFullSnapshot(context.indexer, { source: OPENSEA, collectionId });
    const now = context.clock();
    const isFresh = last !== null && last.isAccepted && last.takenAt <= now && now - last.takenAt < WHOLE_BOOK_MS;
    const pages = Math.max(pagesOf.get(book) ?? 0, Math.ceil((last?.listings ?? 0) / PAGE));
    if (isFresh && pages > CHEAPEST_PAGES && !step.isFull && !doubtful.has(book)) {
      // What is doubtful in it is decided by the whole book, next time.
      if (!(await syncCheapest(context, step))) doubtful.add(book);
      return;
    }
    const seen = await syncBook(context, step);
    if (seen === null) return;
    pagesOf.set(book, seen);
    doubtful.delete(book);
  };
}

/** Returns of how many pages the book is; null when it was not seen whole, or is not believed. */
async function syncBook({ clock }: UpstreamContext, step: OpenSeaStep): Promise<number | null> {
  const { upstream, collection, ingester, signal } = step;
  const walk = walkOpenSeaListings(upstream, collection, { begunBy: clock(), signal });
  const end = await ingestPages(ingester, walk, signal);
  return (await conclude(step, { ...end, below: null })) ? end.pages : null;
}

async function syncCheapest({ clock }: UpstreamContext, step: OpenSeaStep): Promise<boolean> {
  const { upstream, collection, ingester, signal } = step;
  const walk = walkOpenSeaCheapest(upstream, collection, { pages: CHEAPEST_PAGES, begunBy: clock(), signal });
  return conclude(step, await ingestPages(ingester, walk, signal));
}

/** Retires what a look at a book should have shown and did not; whether the look is believed. */
async function conclude(
  { follow, ingester, problems }: OpenSeaStep,
  { whole, why, below }: CheapestEnd,
): Promise<boolean> {
  const { collectionId } = follow;
  if (!whole) {
    problems.push(`${collectionId}: listings not seen whole: ${why}`);
    return false;
  }
  if (await ingester.retireUnseen({ source: OPENSEA, collectionId, below })) return true;
  problems.push(`${collectionId}: so many listings are gone at once that it is not believed yet`);
  return false;
}

/** All or nothing: what is known is known without a gap up to the newest sale, from which the next run goes on. */
async function syncSales(context: UpstreamContext, step: OpenSeaStep): Promise<void> {
  const { upstream, follow, collection, ingester, signal } = step;
  // A chain that is read tells every sale with its place in the block: told twice, it would be counted twice.
  if (isChainRead(context, follow)) return;
  const { collectionId } = follow;
  const newest = await findNewestSaleTime(context.indexer, { source: OPENSEA, collectionId });
  const options =
    newest === null
      ? { since: null, pagesMax: FIRST_SALE_PAGES_MAX, signal }
      : { since: newest - SALE_OVERLAP_MS, signal };
  const harvests: ParsedPage[] = [];
  const pages = walkOpenSeaSales(upstream, collection, options);
  for (;;) {
    const page = await pages.next();
    if (page.done) {
      const { whole, why } = page.value;
      if (!whole && newest !== null) step.problems.push(`${collectionId}: sales not seen whole: ${why}`);
      break;
    }
    harvests.push(page.value);
  }
  for (const harvest of harvests.toReversed()) {
    await ingestPage(ingester, { ...harvest, records: harvest.records.toReversed() }, signal);
  }
}

async function lookAtTokens(step: OpenSeaStep, assets: readonly AssetId[]): Promise<void> {
  const { upstream, collection, ingester, signal } = step;
  for (const asset of assets)
    await ingestPage(ingester, await readOpenSeaToken(upstream, collection, asset, { signal }), signal);
}

async function syncTokens(_context: UpstreamContext, step: OpenSeaStep): Promise<void> {
  const { upstream, follow, collection, ingester, signal } = step;
  const end = await ingestPages(ingester, walkOpenSeaTokens(upstream, collection, { signal }), signal);
  if (!end.whole) step.problems.push(`${follow.collectionId}: tokens not seen whole: ${end.why}`);
}

/** Whether the chain of a collection is read, so that its sales, owners and supply are known first hand. */
function isChainRead({ config }: UpstreamContext, { chain, fromBlock }: Follow): boolean {
  return fromBlock !== null && config.rpcUrls.has(chain) && !config.frozenChains.has(chain);
}
