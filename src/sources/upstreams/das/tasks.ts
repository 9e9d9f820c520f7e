// The tasks that read the tokens, owners and records of followed Solana collections from an endpoint that serves DAS.

import { isAborted, repeatAborted } from '../../../platform/database/port.ts';
import { changeIndexDetails } from '../../../market/index/change-index.ts';
import { upsertTokenMetadata } from '../../../market/index/queries/token-metadata.ts';
import { listRecordedCollections } from '../../../market/reads/queries/collections.ts';
import type { Follow } from '../../../market/follows/queries/follows.ts';
import type { AssetId } from '../../../platform/core/address.ts';
import type { Collection } from '../../../platform/core/collection.ts';
import type { TokenTraits } from './assets.ts';
import { DAS, readDasCollection, readDasTokens, readDasTokenTraits, walkDasCollection } from './assets.ts';
import type { DasAccess } from './settings.ts';
import type { ParsedPage, SourceRecord } from '../response-rows.ts';
import type { UpstreamPace } from '../upstream-client.ts';
import type { CollectionRun } from '../followed-task.ts';
import { createFollowedTask, createTaskUpstream } from '../followed-task.ts';
import { TokenWalk } from '../token-walk.ts';
import { createViewedTokensTask } from '../viewed-tokens.ts';
import type { Task } from '../../../platform/tasks/task.ts';
import type { UpstreamContext } from '../context.ts';

const PERIOD_MS = 10 * 60_000;
const DEADLINE_MS = 20 * 60_000;
const TIMEOUT_MS = 30_000;
const HOURLY_BUDGET = 3_600;
/** A token that readers still view is refreshed again after this time. */
const VIEWED_TOKEN_MS = 60_000;
/** How many viewed tokens one run refreshes at most, and how many tokens one request can return. */
const VIEWED_TOKENS_MAX = 1_000;

export function createDasTasks(context: UpstreamContext, { url }: DasAccess, pace: UpstreamPace): Task[] {
  const upstream = createTaskUpstream(context, {
    name: DAS,
    baseUrl: url,
    timeoutMs: TIMEOUT_MS,
    ...pace,
    hourlyBudget: HOURLY_BUDGET,
  });
  const isWanted = ({ chain }: Follow) => chain === 'solana';
  const task = { name: 'das-tokens', periodMs: PERIOD_MS, deadlineMs: DEADLINE_MS, upstream, isWanted };
  return [
    createFollowedTask(context, { ...task, process: syncTokens }),
    createViewedTokensTask(context, {
      name: 'das-shown-tokens',
      upstream,
      refreshMs: VIEWED_TOKEN_MS,
      tokensMax: VIEWED_TOKENS_MAX,
      batchMax: VIEWED_TOKENS_MAX,
      isWanted,
      refresh: refreshTokens,
    }),
  ];
}

async function refreshTokens(
  context: UpstreamContext,
  { upstream, follow, ingester, signal }: CollectionRun,
  assets: readonly AssetId[],
): Promise<void> {
  const page = await readDasTokens(upstream, assets, { collection: follow.contractAddress, signal });
  await ingester.ingestPage(page, signal);
  await saveDescribed(context, follow.collectionId, page);
}

async function syncTokens(context: UpstreamContext, run: CollectionRun): Promise<void> {
  const { upstream, follow, ingester, problems, signal } = run;
  const { collectionId, contractAddress } = follow;
  const page = await readDasCollection(upstream, contractAddress, { signal });
  const [stored] = await listRecordedCollections(context.main, [collectionId]);
  const traits =
    stored && stored.tokenStandard !== null && stored.royaltyBps !== null
      ? {}
      : toKnown(await readDasTokenTraits(upstream, contractAddress, { signal }));
  const records = page.records.map((record) => withoutStored({ ...record, ...traits }, stored));
  await ingester.ingestPage({ ...page, records }, signal);
  const walk = new TokenWalk(context, run);
  const pages = saveEach(context, collectionId, walkDasCollection(upstream, contractAddress, { signal }));
  let ownerless = 0;
  const note = (record: SourceRecord) => {
    if (record['owner'] === undefined) ownerless += 1;
    return walk.note(record);
  };
  const { gap } = await ingester.ingestPages(pages, signal, { change: note });
  if (gap !== null) problems.push(`${collectionId}: tokens are incomplete: ${gap}`);
  else await walk.conclude({ source: DAS, subjects: ownerless === 0 ? ['tokens', 'owners'] : ['tokens'] });
  if (ownerless > 0) problems.push(`${collectionId}: the endpoint has no owner for ${ownerless} tokens`);
}

/** Yields the pages. Once the consumer has ingested the tokens of a page and requests the next page, their traits are stored. */
async function* saveEach<End>(
  context: UpstreamContext,
  collectionId: string,
  pages: AsyncGenerator<ParsedPage, End>,
): AsyncGenerator<ParsedPage, End> {
  for (;;) {
    const page = await pages.next();
    if (page.done) return page.value;
    yield page.value;
    await saveDescribed(context, collectionId, page.value);
  }
}

/** Stores descriptions and traits. Names and pictures are in the records of the tokens. */
async function saveDescribed(
  { indexer, clock, onChanged }: UpstreamContext,
  collectionId: string,
  { described = [] }: ParsedPage,
): Promise<void> {
  if (described.length === 0) return;
  const none = { name: null, image: null, host: null, uriDigest: null };
  // A page may repeat an asset.
  const byAsset = new Map(described.map((one) => [one.asset, { ...none, ...one }]));
  const write = () =>
    indexer.transaction((tx) =>
      changeIndexDetails(tx, [collectionId], () =>
        upsertTokenMetadata(tx, [...byAsset.values()], { collectionId, source: DAS, at: clock() }),
      ),
    );
  const changed = await repeatAborted(write, { isRepeated: isAborted });
  if (changed.length > 0) onChanged({ collectionIds: new Set([collectionId]), kinds: new Set(['token']) });
}

/** Returns only the fields that are known. A null would replace a value that was read from the asset that represents the collection. */
function toKnown({ tokenStandard, royaltyBps }: TokenTraits): Partial<TokenTraits> {
  return { ...(tokenStandard !== null && { tokenStandard }), ...(royaltyBps !== null && { royaltyBps }) };
}

/** Removes the fields that the stored collection already has, because the operator or another vendor may have set them. */
function withoutStored(record: SourceRecord, stored: Collection | undefined): SourceRecord {
  if (!stored) return record;
  const { image, description, royaltyBps, tokenStandard, name, ...rest } = record;
  return {
    ...rest,
    // A collection that was added without a name has its address as its name.
    name: stored.name === stored.contractAddress ? name : stored.name,
    ...(stored.image === null && { image }),
    ...(stored.description === null && { description }),
    ...(stored.royaltyBps === null && { royaltyBps }),
    ...(stored.tokenStandard === null && { tokenStandard }),
  };
}
