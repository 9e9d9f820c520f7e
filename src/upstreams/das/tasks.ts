// The task that keeps the tokens, owners and words of followed Solana collections fresh through an endpoint that speaks DAS.

import { listCollectionsByIds } from '../../market/queries/collections.ts';
import type { Follow } from '../../follows/queries/follows.ts';
import type { AssetId } from '../../core/address.ts';
import type { Collection } from '../../core/collection.ts';
import { DAS, readDasCollection, readDasTokens, walkDasCollection } from './assets.ts';
import type { DasAccess } from './settings.ts';
import type { SourceRecord } from '../rows.ts';
import type { UpstreamPace } from '../upstream-client.ts';
import type { Step } from '../followed-task.ts';
import { createFollowedTask, createTaskUpstream } from '../followed-task.ts';
import { ingestPage, ingestPages } from '../ingest-pages.ts';
import { createViewedTokensTask } from '../viewed-tokens.ts';
import type { Task } from '../../tasks/task.ts';
import type { UpstreamContext } from '../context.ts';

const PERIOD_MS = 10 * 60_000;
const DEADLINE_MS = 20 * 60_000;
const TIMEOUT_MS = 30_000;
const HOURLY_BUDGET = 3_600;
/** Who holds a token that somebody looks at is known to the minute: one question tells it of as many as these. */
const SHOWN_TOKEN_MS = 60_000;
const SHOWN_TOKENS_MAX = 1_000;

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
    createFollowedTask(context, { ...task, work: syncTokens }),
    createViewedTokensTask(context, {
      name: 'das-shown-tokens',
      upstream,
      againMs: SHOWN_TOKEN_MS,
      tokensMax: SHOWN_TOKENS_MAX,
      atOnceMax: SHOWN_TOKENS_MAX,
      isWanted,
      look: lookAtTokens,
    }),
  ];
}

async function lookAtTokens(_context: UpstreamContext, step: Step, assets: readonly AssetId[]): Promise<void> {
  const { upstream, follow, ingester, signal } = step;
  const harvest = await readDasTokens(upstream, assets, { collection: follow.contractAddress, signal });
  await ingestPage(ingester, harvest, signal);
}

async function syncTokens(context: UpstreamContext, step: Step): Promise<void> {
  const { upstream, follow, ingester, problems, signal } = step;
  const { collectionId, contractAddress } = follow;
  const told = await readDasCollection(upstream, contractAddress, { signal });
  const [stored] = await listCollectionsByIds(context.main, [collectionId]);
  await ingestPage(ingester, { ...told, records: told.records.map((record) => withoutKnown(record, stored)) }, signal);
  const end = await ingestPages(ingester, walkDasCollection(upstream, contractAddress, { signal }), signal);
  if (!end.whole) problems.push(`${collectionId}: tokens not seen whole: ${end.why}`);
}

/** What the operator said of a collection, or another source before, stays: only what is missing is taken. */
function withoutKnown(record: SourceRecord, stored: Collection | undefined): SourceRecord {
  if (!stored) return record;
  const { image, description, royaltyBps, name, ...rest } = record;
  return {
    ...rest,
    // A collection that was added without a name carries its address.
    name: stored.name === stored.contractAddress ? name : stored.name,
    ...(stored.image === null && { image }),
    ...(stored.description === null && { description }),
    ...(stored.royaltyBps === null && { royaltyBps }),
  };
}
