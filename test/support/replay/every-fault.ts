// Runs a walk under every fault at every request. Each outcome must be correct rows, no rows, or a failure with its reason. A
// test fails if a row is incorrect, or if an incomplete walk is reported as complete.

import assert from 'node:assert/strict';
import { createLog } from '../../../src/platform/core/log.ts';
import { createChains } from '../../../src/platform/core/chains.ts';
import { parseRecord } from '../../../src/intake/records/parse.ts';
import type { ParsedPage, SourceRecord } from '../../../src/sources/upstreams/response-rows.ts';
import { UpstreamClient, UpstreamFailure } from '../../../src/sources/upstreams/upstream-client.ts';
import type { WalkEnd } from '../../../src/sources/upstreams/walk.ts';
import { watchLiveMemory } from '../measure/live-memory.ts';
import type { ReplayFault, ReplayServer } from './replay.ts';
import { REPLAY_FAULTS } from './replay.ts';

/** The timeout while a fault makes the walk wait, so that a run does not take long. */
const HANGING_TIMEOUT_MS = 400;
/** The timeout while no fault makes the walk wait. Only a test that hangs reaches this timeout, however busy the machine is. */
const TIMEOUT_MS = 30_000;
const HANGING_FAULTS: ReadonlySet<ReplayFault> = new Set(['slow', 'hang', 'hang-in-body', 'drip']);
let timeoutMs = TIMEOUT_MS;
/**
 * The most memory that all runs together may add. A decompressed gzip bomb of 256 MiB exceeds this limit. If a walk kept a page
 * of 20,000 rows for each request, the pages would also exceed this limit.
 */
const GROWTH_MAX = 160 * 2 ** 20;
const recordContext = { chains: createChains(), serviceName: 'mercat', seaport: new Map(), now: () => Date.now() };

/** A client whose timeout is short only under a fault that makes it wait. Its breaker stays open for at most a millisecond. */
export function createTestUpstream(baseUrl: string): UpstreamClient {
  return new UpstreamClient({
    name: 'test',
    baseUrl,
    get timeoutMs() {
      return timeoutMs;
    },
    retryMs: 1,
    breakerOpenMs: 1,
    breakerOpenMaxMs: 1,
    log: createLog('error', () => undefined),
    clock: Date.now,
    random: () => 0.5,
  });
}

export type WalkOutcome = { records: SourceRecord[]; rejected: string[]; end: WalkEnd | null; failure: string | null };

/**
 * Reads all pages of a walk, or all pages before the walk failed. An error that is not an UpstreamFailure is a bug and is thrown.
 */
export async function collectPages(pages: AsyncGenerator<ParsedPage, WalkEnd>): Promise<WalkOutcome> {
  const outcome: WalkOutcome = { records: [], rejected: [], end: null, failure: null };
  try {
    for (;;) {
      const page = await pages.next();
      if (page.done) return { ...outcome, end: page.value };
      outcome.records.push(...page.value.records);
      outcome.rejected.push(...toReasons(page.value));
    }
  } catch (error) {
    if (!(error instanceof UpstreamFailure)) throw error;
    return { ...outcome, failure: error.reason };
  }
}

/** The reasons for rejected and unsupported rows, as the ingester counts them. */
export function toReasons({ rejected, unsupported }: Pick<ParsedPage, 'rejected' | 'unsupported'>): string[] {
  return [...rejected, ...unsupported.map((reason) => `unsupported: ${reason}`)];
}

/** Fails unless the intake accepts every record. */
export function assertValidRecords(records: readonly SourceRecord[]): void {
  for (const record of records) {
    const parsed = parseRecord(recordContext, record);
    assert.ok(parsed.record, `${JSON.stringify(record)}: ${parsed.record === null && parsed.reason}`);
  }
}

/**
 * Repeats a run for each fault and for each request of the run: the fault begins at that request and lasts until the run ends. After each
 * such run, a run without the fault must have the outcome `good` again.
 */
export async function underEveryFault(
  replay: ReplayServer,
  run: () => Promise<WalkOutcome>,
  { good, except = [] }: { good: WalkOutcome; except?: readonly ReplayFault[] },
): Promise<void> {
  replay.reset();
  assert.deepEqual(await run(), good);
  const requests = replay.count();
  const known = new Set(good.records.map((record) => JSON.stringify(record)));
  const cleanups: (() => void)[] = [];
  const memory = watchLiveMemory({ after: (cleanup) => cleanups.push(cleanup) }, GROWTH_MAX);
  for (const fault of REPLAY_FAULTS) {
    if (except.includes(fault)) continue;
    for (let skip = 0; skip < requests; skip += 1) {
      const what = `${fault} at request ${skip + 1}`;
      replay.fail(fault, { skip });
      timeoutMs = HANGING_FAULTS.has(fault) ? HANGING_TIMEOUT_MS : TIMEOUT_MS;
      const outcome = await run().finally(() => (timeoutMs = TIMEOUT_MS));
      assertValidRecords(outcome.records);
      for (const record of outcome.records) {
        assert.ok(known.has(JSON.stringify(record)), `${what}: ${JSON.stringify(record)} is not in the complete list`);
      }
      if (outcome.end?.gap === null) {
        const found = new Set(outcome.records.map((record) => JSON.stringify(record)));
        assert.equal(found.size, known.size, `${what}: the walk misses rows, but was reported as complete`);
      }
      replay.heal();
      await recover(run, good, what);
    }
  }
  const growth = memory.growth();
  for (const cleanup of cleanups) cleanup();
  assert.ok(growth < GROWTH_MAX, `memory grew by ${Math.round(growth / 2 ** 20)} MiB`);
}

/** A walk must succeed again within this time after a fault. Only a test that hangs reaches the end of this time. */
const RECOVERY_MS = 60_000;

/** Repeats the run until the breaker closes. This takes milliseconds here. */
async function recover(run: () => Promise<WalkOutcome>, good: WalkOutcome, what: string): Promise<void> {
  const deadline = performance.now() + RECOVERY_MS;
  for (;;) {
    const outcome = await run();
    if (outcome.failure === null) return assert.deepEqual(outcome, good, `after ${what}`);
    assert.ok(performance.now() < deadline, `after ${what} the walk still fails: ${outcome.failure}`);
    await new Promise((resolve) => setTimeout(resolve, 5));
  }
}
