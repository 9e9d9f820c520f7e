// Follows a simulated chain through reorganisations and lying endpoints, and compares what is stored in the end with what happened on the
// chain. The clock of the follower is the time of the chain, so that a run takes no longer than its reads and writes.

import { createRandom } from '../../../../devnet/random.ts';
import type { Address } from '../../../../src/platform/core/address.ts';
import { mergeChanges } from '../../../../src/market/activity/merge.ts';
import { listRereadRanges } from '../../../../src/market/chain-log/queries/reread-ranges.ts';
import { backfillOnce } from '../../../../src/sources/chains/backfill.ts';
import type { StepResult } from '../../../../src/sources/chains/follower.ts';
import { followOnce } from '../../../../src/sources/chains/follower.ts';
import { projectNext } from '../../../../src/sources/chains/projection.ts';
import { listProtocolContracts } from '../../../../src/sources/chains/protocols/registry.ts';
import { rereadOnce } from '../../../../src/sources/chains/reread.ts';
import { createChains } from '../../../../src/platform/core/chains.ts';
import { createLog } from '../../../../src/platform/core/log.ts';
import type { Database } from '../../../../src/platform/database/port.ts';
import { listFollows, upsertFollow } from '../../../../src/market/follows/queries/follows.ts';
import { createTestReader } from '../reader.ts';
import { compareWithChain } from './compare-with-chain.ts';
import { FakeChain } from './fake-chain.ts';
import type { FakeEndpoint } from './fake-endpoint.ts';
import { FAKE_MODES, startFakeEndpoint } from './fake-endpoint.ts';
import { COLLECTIONS } from './fake-logs.ts';

export type FakeRun = {
  /** The height of the canonical chain at the end, at least. */
  blocks: number;
  reorganisations: number;
  /** The first endpoint lies. The second one fails often, and a third one is late often. */
  endpoints: 2 | 3;
  seed: number;
};

export type FakeReport = {
  height: number;
  mined: number;
  reorganisations: number;
  deepest: number;
  /** Reorganisations as the follower saw them: some lie between two of its reads. */
  followed: number;
  requests: number;
  falseRequests: number;
  /** Stored blocks that were wrong and have been corrected. */
  corrected: number;
  compared: Record<string, number>;
  /** What differs from the chain. Empty if everything is right. */
  wrong: string[];
};

const DEPTH_MAX = 60;
/** How many blocks the first endpoint stays in one mode. */
const MODE_BLOCKS_MAX = 20;
const OUTAGE_BLOCKS = 6;
const OUTAGE_SHARE = 0.1;
const SECOND_FAILURE_SHARE = 0.05;
const THIRD_FAILURE_SHARE = 0.1;
/** Altered logs are the hardest to notice, so they are more frequent. */
const MODES = [...FAKE_MODES, 'altered-receivers', 'altered-receivers', 'altered-receivers', 'some-logs'] as const;
/** The most steps of the follower after some blocks. More steps follow after the next blocks. */
const STEPS_MAX = 6;
const SETTLE_ROUNDS_MAX = 200;
const PAUSE_MS = 15_000;
const MERGE_LIMITS = { timeoutMs: 60_000, batchesMax: 1_000 };

export async function followFakeChain(db: Database, run: FakeRun): Promise<FakeReport> {
  const { blocks, reorganisations, seed } = run;
  const random = createRandom(seed);
  const chain = new FakeChain(seed);
  const ethereum = createChains().get('ethereum');
  if (!ethereum) throw new Error('ethereum is not a chain');
  const endpoints = await Promise.all(
    Array.from({ length: run.endpoints }, (_, index) => startFakeEndpoint(chain, createRandom(seed + 1 + index))),
  );
  const [liar, second, third] = endpoints;
  let passedMs = 0;
  const startedAt = performance.now();
  const clock = () => Math.floor(chain.time + passedMs + performance.now() - startedAt);
  const log = createLog('silent');
  const urls = endpoints.map(({ url }) => url);
  const reader = createTestReader({ chain: ethereum, urls, clock, timeoutMs: 1_000, patienceMs: 100, openMs: 200 });
  const context = { main: db, reader, protocols: listProtocolContracts(ethereum, new Map()), clock, log };
  const projection = { main: db, indexer: db, chain: ethereum, chains: createChains(), serviceName: 'mercat', clock };
  /** Returns whether more work is left. A step that fails is not repeated at once. */
  const step = async (): Promise<boolean> => {
    const results: (StepResult | null)[] = [];
    for (const work of [followOnce, backfillOnce, rereadOnce]) results.push(await tryStep(() => work(context)));
    for (let more: unknown = true; more !== null;) more = await projectNext(projection);
    return results.some((result) => result?.more);
  };
  const steps = async () => {
    for (let count = 0; count < STEPS_MAX && (await step()); count += 1);
  };

  let done = 0;
  let deepest = 0;
  let modeEnds = 0;
  let outageEnds = 0;
  try {
    chain.mine(DEPTH_MAX + 10);
    await steps();
    for (const contract of COLLECTIONS.slice(0, 2)) await followCollection(db, contract, clock());
    let isThirdFollowed = false;
    while (chain.head.number < blocks || done < reorganisations) {
      chain.mine(1 + random.below(3));
      if (chain.mined >= modeEnds && liar) {
        liar.mode = random.pick(MODES) ?? 'honest';
        modeEnds = chain.mined + 1 + random.below(MODE_BLOCKS_MAX);
      }
      if (second) {
        if (random.happens(OUTAGE_SHARE)) outageEnds = chain.mined + OUTAGE_BLOCKS;
        second.mode = chain.mined < outageEnds ? 'unavailable' : 'honest';
        second.failureShare = SECOND_FAILURE_SHARE;
      }
      if (third) third.failureShare = THIRD_FAILURE_SHARE;
      if (done * blocks < reorganisations * chain.head.number) {
        const depth = Math.min(
          chain.head.number - 1,
          random.happens(0.4) ? 1 + random.below(DEPTH_MAX) : 1 + random.below(5),
        );
        deepest = Math.max(deepest, depth);
        const isLower = random.happens(0.3);
        chain.reorganise(depth, isLower ? Math.ceil(depth / 2) : depth + 1 + random.below(2));
        done += 1;
      }
      if (!isThirdFollowed && chain.head.number > blocks / 3) {
        await followCollection(db, COLLECTIONS[2], clock());
        isThirdFollowed = true;
      }
      await steps();
    }
    for (const endpoint of endpoints) Object.assign(endpoint, { mode: 'honest', failureShare: 0 });
    await settle();
    const compared = await compareWithChain(db, chain);
    return { ...reportOf(chain, endpoints), ...(await storedCounts(db)), reorganisations: done, deepest, ...compared };
  } finally {
    reader.close();
    await Promise.all(endpoints.map((endpoint) => endpoint.close()));
  }

  /** Mines until the follower is at the newest block and no block waits to be read again. */
  async function settle(): Promise<void> {
    for (let round = 0; round < SETTLE_ROUNDS_MAX; round += 1) {
      passedMs += PAUSE_MS;
      if (round % 10 === 0) chain.mine();
      const isBusy = await step();
      const isBehind =
        (await db.query(`select 1 from main.chain_cursor where block_number = $1`, [chain.head.number])).length === 0;
      const waits = (await listRereadRanges(db)).length > 0 || (await listFollows(db)).some(({ joined }) => !joined);
      if (!isBusy && !isBehind && !waits) {
        await mergeChanges({ main: db, indexer: db, clock }, MERGE_LIMITS);
        return;
      }
    }
    const [cursor] = await db.query(`select block_number, note from main.chain_cursor`);
    const rereads = await listRereadRanges(db);
    throw new Error(
      `not settled: head ${chain.head.number}, ${JSON.stringify({ cursor, rereads, of: reader.comparison.status() })}`,
    );
  }
}

/** Failures that end when the endpoints tell the truth again. An endpoint that is alone can claim that all stored blocks were replaced. */
const isExpected = (error: Error) =>
  ['RpcFailure', 'ChainUnavailable'].includes(error.name) || error.message.includes('deeper than the stored blocks');

/** Null if the step failed, because endpoints fail or disagree. */
async function tryStep(step: () => Promise<StepResult>): Promise<StepResult | null> {
  try {
    return await step();
  } catch (error) {
    if (error instanceof Error && isExpected(error)) return null;
    throw error;
  }
}

async function followCollection(db: Database, contract: string, now: number): Promise<void> {
  await upsertFollow(db, {
    collectionId: `ethereum_${contract}`,
    chain: 'ethereum',
    contractAddress: contract as Address,
    standard: 'erc721',
    fromBlock: 0,
    names: new Map(),
    createdAt: now,
  });
}

function reportOf(chain: FakeChain, endpoints: readonly FakeEndpoint[]) {
  const sum = (count: (endpoint: FakeEndpoint) => number) => endpoints.reduce((total, each) => total + count(each), 0);
  return {
    height: chain.head.number,
    mined: chain.mined,
    requests: sum(({ requests }) => requests.all),
    falseRequests: sum(({ requests }) => requests.false),
  };
}

async function storedCounts(db: Database): Promise<{ followed: number; corrected: number }> {
  const [row] = await db.query(
    `select count(*) filter (where corrected is null)::int as followed, coalesce(sum(cardinality(corrected)), 0)::int as corrected from main.chain_reorg`,
  );
  return { followed: Number(row?.['followed']), corrected: Number(row?.['corrected']) };
}
