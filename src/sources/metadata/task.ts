// The task that reads the metadata of followed collections on EVM chains, and of their tokens. It reads URIs from the contracts, and
// documents from the hosts that the URIs name. A token is due when its metadata is to be read. Collections take turns, so that a slow host
// delays only the collections that use it. Viewed tokens are read first.

import type { AssetId } from '../../platform/core/address.ts';
import { Deadline } from '../../platform/core/deadline.ts';
import type { ContractUri } from '../chains/rpc/contract-reads.ts';
import { listFollows } from '../../market/follows/queries/follows.ts';
import { listViewedTokens } from '../../market/reads/queries/recent-views.ts';
import type { NewTokenMetadata } from '../../market/index/queries/token-metadata.ts';
import type { Report, Task, TaskResult } from '../../platform/tasks/task.ts';
import { SharedBudget } from '../upstreams/shared-budget.ts';
import { RECENT_VIEW_MS } from '../upstreams/followed-run.ts';
import type { MetadataContext, ReadCollection } from './context.ts';
import { ANNOUNCEMENTS_MAX, applyAnnouncements, makeMissingDue } from './make-due.ts';
import { MetadataClient } from './metadata-client.ts';
import type { MetadataFailure } from './metadata-failure.ts';
import { metadataRetryMs } from './metadata-failure.ts';
import { digestUri, fillTokenId } from './metadata-uri.ts';
import { hasFields, parseTokenDocument } from './parse-metadata.ts';
import type { DueToken, FailedRead } from './queries/due-tokens.ts';
import { listDueCollections, listDueTokens, listDueViewedTokens } from './queries/due-tokens.ts';
import { readDueCollections } from './read-collections.ts';
import { saveReads } from './save-reads.ts';
import { UriReads } from './uri-reads.ts';

/** Tests set shorter times. */
export type MetadataPace = { timeoutMs?: number; openMs?: number; sliceMs?: number };

const METADATA_TASK = 'metadata';
const PERIOD_MS = 5_000;
/** The period of the task while the settings turn the reading of metadata off. */
const ANNOUNCEMENTS_PERIOD_MS = 60_000;
const DEADLINE_MS = 5 * 60_000;
/** A run begins no further batch after this time. The next run then reads viewed tokens first again. */
const SLICE_MS = 30_000;
/** The most tokens in one batch. The calls for their URIs are sent together, and each URI may have 1 MiB. */
const BATCH_SIZE = 25;
/** How many collections are read at once. */
const LANES = 4;
/** How many documents of one collection are read at once. */
const DOCUMENTS_AT_ONCE = 4;
const VIEWED_MAX = 200;
/** The time between two searches for stored tokens that were never made due. The search makes them due. */
const MISSING_MS = 60 * 60_000;
/** A viewed token is read again when this time has passed since its last read. */
const VIEWED_REFRESH_MS = 24 * 60 * 60_000;

/**
 * A contract can announce that the metadata of tokens has changed. If the settings turn the reading of metadata off, the task only processes
 * these announcements: it makes the named tokens due and deletes the announcements. Otherwise the announcements would accumulate.
 */
export function createMetadataTask(context: MetadataContext, pace: MetadataPace = {}): Task {
  const { config, main, clock, random } = context;
  const perHour = config.metadataHourlyBudget;
  if (perHour === 0) return createAnnouncementTask(context);
  const client = new MetadataClient({
    ipfsGateways: config.ipfsGateways,
    arweaveGateways: config.arweaveGateways,
    hostBudget: config.metadataHostBudget,
    allowPrivate: config.metadataAllowPrivate,
    budget: new SharedBudget(main, { upstream: METADATA_TASK, perHour, clock }),
    clock,
    random,
    ...pace,
  });
  const uriReads = new UriReads(BATCH_SIZE);
  const turn: Turn = { last: null };
  let missingAt = 0;
  return {
    name: METADATA_TASK,
    periodMs: PERIOD_MS,
    deadlineMs: DEADLINE_MS,
    readsFollows: true,
    run: (signal, report, { isFull }) => {
      const findsMissing = isFull || performance.now() >= missingAt;
      if (findsMissing) missingAt = performance.now() + MISSING_MS;
      return new MetadataRun(context, {
        client,
        uriReads,
        turn,
        signal,
        report,
        findsMissing,
        sliceMs: pace.sliceMs ?? SLICE_MS,
      }).run();
    },
  };
}

function createAnnouncementTask(context: MetadataContext): Task {
  return {
    name: METADATA_TASK,
    periodMs: ANNOUNCEMENTS_PERIOD_MS,
    deadlineMs: DEADLINE_MS,
    run: async (signal) => {
      let changed = 0;
      for (let applied = ANNOUNCEMENTS_MAX; applied === ANNOUNCEMENTS_MAX; changed += applied) {
        signal.throwIfAborted();
        applied = await applyAnnouncements(context);
      }
      return { read: changed, changed, refused: 0 };
    },
  };
}

/** `last`: the collection whose batch was read last. The next run begins with the next collection. */
type Turn = { last: string | null };

/** `findsMissing`: the run searches all tokens for those that were never made due, and makes them due. */
type RunOptions = {
  client: MetadataClient;
  uriReads: UriReads;
  turn: Turn;
  signal: AbortSignal;
  report: Report;
  sliceMs: number;
  findsMissing: boolean;
};

class MetadataRun {
  readonly #context: MetadataContext;
  readonly #options: RunOptions;
  #end: Deadline;
  readonly #counts = { read: 0, changed: 0, refused: 0 };
  readonly #problems = new Set<string>();
  /** Whether a budget is used up, so that some due tokens were not read. */
  #isOverBudget = false;

  constructor(context: MetadataContext, options: RunOptions) {
    this.#context = context;
    this.#options = options;
    this.#end = Deadline.after(options.sliceMs);
  }

  async run(): Promise<TaskResult> {
    const { main, indexer, followed, clock } = this.#context;
    const collections = (await listFollows(main)).flatMap((follow): ReadCollection[] => {
      const reader = follow.fromBlock === null ? null : followed.readerOf(follow.chain);
      return reader ? [{ follow, reader }] : [];
    });
    const ids = collections.map(({ follow }) => follow.collectionId);
    const { client, signal } = this.#options;
    this.#counts.changed += await readDueCollections(this.#context, {
      client,
      collections,
      signal,
      problems: this.#problems,
    });
    await applyAnnouncements(this.#context);
    if (this.#options.findsMissing) await makeMissingDue(this.#context, ids);
    await this.#readViewed(collections);
    const due = new Set(await listDueCollections(indexer, ids, clock()));
    const lastAt = collections.findIndex(({ follow }) => follow.collectionId === this.#options.turn.last);
    const inTurn = [...collections.slice(lastAt + 1), ...collections.slice(0, lastAt + 1)];
    const queue = inTurn.filter(({ follow }) => due.has(follow.collectionId));
    await runLanes(
      LANES,
      () => this.#drain(queue),
      () => {
        this.#end = Deadline.after(0);
      },
    );
    const left = queue.length > 0 || this.#isOverBudget;
    return { ...this.#counts, problems: [...this.#problems], ...(left && { soon: true }) };
  }

  /**
   * Takes collections from the queue until the queue is empty or the time of the run is over. Reads one batch of each collection, and puts the
   * collection back at the end of the queue if it may have more due tokens.
   */
  async #drain(queue: ReadCollection[]): Promise<void> {
    const { indexer, clock } = this.#context;
    while (!this.#end.hasPassed) {
      const collection = queue.shift();
      if (!collection) return;
      const { collectionId } = collection.follow;
      this.#options.turn.last = collectionId;
      const limit = this.#options.uriReads.batchSize(collectionId);
      const tokens = await listDueTokens(indexer, collectionId, { now: clock(), limit });
      const isDone = await this.#readBatch(collection, tokens);
      if (isDone && tokens.length === limit) queue.push(collection);
    }
  }

  async #readViewed(collections: readonly ReadCollection[]): Promise<void> {
    const { main, indexer, clock } = this.#context;
    const now = clock();
    const collectionIds = collections.map(({ follow }) => follow.collectionId);
    const views = { collectionIds, viewedSince: now - RECENT_VIEW_MS, refreshedBefore: now, now, limit: VIEWED_MAX };
    const viewed = Map.groupBy(await listViewedTokens(main, views), ({ collectionId }) => collectionId);
    const fetchedBefore = now - VIEWED_REFRESH_MS;
    for (const collection of collections) {
      const assets = (viewed.get(collection.follow.collectionId) ?? []).map(({ asset }) => asset);
      if (assets.length === 0 || this.#end.hasPassed) continue;
      const due = await listDueViewedTokens(indexer, collection.follow.collectionId, { assets, now, fetchedBefore });
      const size = this.#options.uriReads.batchSize(collection.follow.collectionId);
      for (let start = 0; start < due.length && !this.#end.hasPassed; start += size) {
        if (!(await this.#readBatch(collection, due.slice(start, start + size)))) break;
      }
    }
  }

  /** Reads and stores the metadata of tokens. Returns false when the collection must wait: for its chain, or for a budget. */
  async #readBatch({ follow, reader }: ReadCollection, tokens: readonly DueToken[]): Promise<boolean> {
    const { signal, report, uriReads } = this.#options;
    const assets = tokens.map(({ asset }) => asset);
    const uris = await uriReads.read({ follow, reader }, assets, this.#problems);
    if (!uris) return false;
    const read: NewTokenMetadata[] = [];
    const failed: FailedRead[] = [];
    let isOverBudget = false;
    const queue = [...tokens.entries()];
    const lane = async () => {
      for (let next = queue.shift(); next && !isOverBudget; next = queue.shift()) {
        const [index, token] = next;
        const result = await this.#readToken(token.asset, uris[index] ?? { kind: 'none' });
        if ('metadata' in result) read.push(result.metadata);
        else if (result.failure === 'over-budget') isOverBudget = true;
        else failed.push(this.#toFailedRead(token, { ...result, failure: result.failure }));
      }
    };
    await runLanes(DOCUMENTS_AT_ONCE, lane, () => queue.splice(0));
    signal.throwIfAborted();
    this.#counts.changed += await saveReads(this.#context, { collectionId: follow.collectionId, read, failed });
    this.#counts.read += read.length + failed.length;
    this.#counts.refused += failed.length;
    report({ done: this.#counts.read, total: null, what: 'tokens' });
    if (isOverBudget) {
      this.#isOverBudget = true;
      this.#problems.add(`${follow.collectionId}: the budget of requests for metadata is used up for now`);
    }
    return !isOverBudget;
  }

  async #readToken(asset: AssetId, contractUri: ContractUri): Promise<TokenRead> {
    if (contractUri.kind !== 'uri') {
      return { failure: contractUri.kind === 'none' ? 'no-uri' : contractUri.kind, host: null };
    }
    const uri = fillTokenId(contractUri.uri, asset);
    const result = await this.#options.client.read(uri, this.#options.signal);
    const { host } = result;
    if (!result.ok) return { failure: result.failure, host };
    const { mediaType, body } = result.document;
    // The URI of some tokens points to a picture, and not to a document.
    const isPicture = mediaType.startsWith('image/') && mediaType !== 'image/json';
    const document = isPicture ? toPictureDocument(uri) : parseTokenDocument(body);
    if (document === null) return { failure: 'not-json', host };
    if (!hasFields(document)) return { failure: 'no-fields', host };
    return { metadata: { asset, ...document, host, uriDigest: digestUri(uri) } };
  }

  #toFailedRead(token: DueToken, { failure, host }: { failure: MetadataFailure; host: string | null }): FailedRead {
    const attempts = token.attempts + 1;
    const { clock, random } = this.#context;
    return { ...token, attempts, failure, host, dueAt: clock() + metadataRetryMs(failure, attempts, random) };
  }
}

/**
 * Runs `count` concurrent calls of `lane`. If a call fails, `stop` must make the other calls return. The error is thrown after all calls
 * have ended.
 */
async function runLanes(count: number, lane: () => Promise<void>, stop: () => void): Promise<void> {
  const run = async () => {
    try {
      await lane();
    } catch (error) {
      stop();
      throw error;
    }
  };
  const ended = await Promise.allSettled(Array.from({ length: count }, run));
  for (const one of ended) if (one.status === 'rejected') throw one.reason;
}

type TokenRead = { metadata: NewTokenMetadata } | { failure: MetadataFailure | 'over-budget'; host: string | null };

function toPictureDocument(uri: string) {
  return parseTokenDocument(Buffer.from(JSON.stringify({ image: uri })));
}
