// The tasks that mirror OpenSea: what it says of each followed collection, its tokens, its listings and its sales. All of them
// share the key's hourly budget: whoever waited longest is read first, at the pace that the budget allows.

import type { Follow } from '../db/follows.ts';
import { findFollow, upsertFollow } from '../db/follows.ts';
import { listCollectionsByIds, listCollectionsByName } from '../db/collections.ts';
import { findNewestSaleTime } from '../db/listing-times.ts';
import type { Chain } from '../domain/chain.ts';
import type { Collection } from '../domain/collection.ts';
import { findOpenSeaContract, readOpenSeaCollection, readOpenSeaStats } from '../sources/opensea/collection.ts';
import { walkOpenSeaListings } from '../sources/opensea/listings.ts';
import { walkOpenSeaSales } from '../sources/opensea/sales.ts';
import type { OpenSeaSubject } from '../sources/opensea/subject.ts';
import { OPENSEA, toOpenSeaChain } from '../sources/opensea/subject.ts';
import { walkOpenSeaTokens } from '../sources/opensea/tokens.ts';
import type { Harvest, SourceRecord } from '../sources/rows.ts';
import type { UpstreamPace } from '../sources/upstream.ts';
import type { Step } from './followed-task.ts';
import { createFollowedTask, createTaskUpstream } from './followed-task.ts';
import { landHarvest, landPages } from './land-harvest.ts';
import type { SyncContext, SyncTask } from './task.ts';

const COLLECTIONS_PERIOD_MS = 60 * 60_000;
const TOKENS_PERIOD_MS = 24 * 60 * 60_000;
const LISTINGS_PERIOD_MS = 5 * 60_000;
const SALES_PERIOD_MS = 5 * 60_000;
/** A turn over all that is followed takes as long as the budget makes it; each request has a deadline of its own. */
const DEADLINE_MS = 6 * 60 * 60_000;
const TIMEOUT_MS = 15_000;
/** A budget of a hundred an hour and more, shared by four tasks, gives each its turn within this. */
const PATIENCE_MS = 5 * 60_000;
/** A sale may be told this long after newer ones. */
const SALE_OVERLAP_MS = 15 * 60_000;
/** How far back the first look at a collection's sales goes: older ones are worth less than fresh listings. */
const FIRST_SALE_PAGES_MAX = 5;

/** No tasks without a key: OpenSea answers nobody without one. */
export function createOpenSeaTasks(context: SyncContext, pace: UpstreamPace = { timeoutMs: TIMEOUT_MS }): SyncTask[] {
  const { config } = context;
  if (config.openseaKey === null) return [];
  const upstream = createTaskUpstream(context, {
    name: OPENSEA,
    baseUrl: config.openseaUrl,
    headers: { 'x-api-key': config.openseaKey },
    ...pace,
    patienceMs: PATIENCE_MS,
    hourlyBudget: config.openseaHourlyBudget,
  });
  const isWanted = ({ chain }: Follow) => isThere(context.chains.get(chain));
  const task = (name: string, periodMs: number, work: Work) =>
    createFollowedTask(context, {
      name,
      periodMs,
      deadlineMs: DEADLINE_MS,
      upstream,
      isWanted,
      work: withSubject(work),
    });
  return [
    task('opensea-collections', COLLECTIONS_PERIOD_MS, syncCollection),
    task('opensea-listings', LISTINGS_PERIOD_MS, syncListings),
    task('opensea-sales', SALES_PERIOD_MS, syncSales),
    task('opensea-tokens', TOKENS_PERIOD_MS, syncTokens),
  ];
}

function isThere(chain: Chain | undefined): boolean {
  return chain !== undefined && toOpenSeaChain(chain) !== null;
}

type OpenSeaStep = Step & { subject: OpenSeaSubject };

type Work = (context: SyncContext, step: OpenSeaStep) => Promise<void>;

/** The work on what a collection is called there; nothing on one that OpenSea does not have. */
function withSubject(work: Work) {
  return async (context: SyncContext, step: Step): Promise<void> => {
    const { follow } = step;
    const chain = context.chains.get(follow.chain);
    const slug = chain && (await findSlug(context, { ...step, chain }));
    if (!chain || !slug) return;
    await work(context, { ...step, subject: { slug, chain, contractAddress: follow.contractAddress } });
  };
}

/** The slug that the operator gave, or the one that the contract has there, which is noted; null where it has none. */
async function findSlug(
  context: SyncContext,
  { upstream, follow, chain, signal }: Step & { chain: Chain },
): Promise<string | null> {
  if (follow.openseaSlug !== null) return follow.openseaSlug;
  const { collectionId, contractAddress } = follow;
  const found = await findOpenSeaContract(upstream, { chain, contractAddress }, { signal });
  if (!found) return null;
  await context.main.transaction(async (tx) => {
    // It may be followed no more, or under a name that the operator gave meanwhile.
    const current = await findFollow(tx, collectionId);
    if (current?.openseaSlug === null) await upsertFollow(tx, { ...current, openseaSlug: found.slug });
  });
  return found.slug;
}

async function syncCollection(context: SyncContext, step: OpenSeaStep): Promise<void> {
  const { upstream, follow, subject, lander, signal } = step;
  const harvest = await readOpenSeaCollection(upstream, subject, { signal });
  const records: SourceRecord[] = [];
  for (const record of harvest.records) {
    const [stored = null] = await listCollectionsByIds(context.main, [follow.collectionId]);
    records.push(await fillIn(context, record, stored));
  }
  await landHarvest(lander, { ...harvest, records }, signal);
  // What a chain tells is counted from its own events.
  if (isChainRead(context, follow)) return;
  const stats = await readOpenSeaStats(upstream, subject, { at: context.clock(), signal });
  await landHarvest(lander, { ...stats, records: stats.records.map(withoutFloor) }, signal);
}

/** OpenSea fills in what is not known. What is known stays: the operator, or the chain, said so. */
async function fillIn(context: SyncContext, record: SourceRecord, stored: Collection | null): Promise<SourceRecord> {
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

async function syncListings({ clock }: SyncContext, step: OpenSeaStep): Promise<void> {
  const { upstream, follow, subject, lander, signal } = step;
  const { collectionId } = follow;
  const listings = walkOpenSeaListings(upstream, subject, { begunBy: clock(), signal });
  const end = await landPages(lander, listings, signal);
  if (!end.whole) {
    step.problems.push(`${collectionId}: listings not seen whole: ${end.why}`);
  } else if (!(await lander.retireUnseen({ source: OPENSEA, collectionId }))) {
    step.problems.push(`${collectionId}: so many listings are gone at once that it is not believed yet`);
  }
}

/** All or nothing: what is known is known without a gap up to the newest sale, from which the next run goes on. */
async function syncSales(context: SyncContext, step: OpenSeaStep): Promise<void> {
  const { upstream, follow, subject, lander, signal } = step;
  // A chain that is read tells every sale with its place in the block: told twice, it would be counted twice.
  if (isChainRead(context, follow)) return;
  const { collectionId } = follow;
  const newest = await findNewestSaleTime(context.indexer, { source: OPENSEA, collectionId });
  const options =
    newest === null
      ? { since: null, pagesMax: FIRST_SALE_PAGES_MAX, signal }
      : { since: newest - SALE_OVERLAP_MS, signal };
  const harvests: Harvest[] = [];
  const pages = walkOpenSeaSales(upstream, subject, options);
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
    await landHarvest(lander, { ...harvest, records: harvest.records.toReversed() }, signal);
  }
}

async function syncTokens(_context: SyncContext, step: OpenSeaStep): Promise<void> {
  const { upstream, follow, subject, lander, signal } = step;
  const end = await landPages(lander, walkOpenSeaTokens(upstream, subject, { signal }), signal);
  if (!end.whole) step.problems.push(`${follow.collectionId}: tokens not seen whole: ${end.why}`);
}

/** Whether the chain of a collection is read, so that its sales, owners and supply are known first hand. */
function isChainRead({ config }: SyncContext, { chain, fromBlock }: Follow): boolean {
  return fromBlock !== null && config.rpcUrls.has(chain) && !config.frozenChains.has(chain);
}
