// Tests that faults of OpenSea and malformed pages never cause an incorrect record.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createLog } from '../../../../src/platform/core/log.ts';
import {
  findOpenSeaContract,
  readOpenSeaCollection,
  readOpenSeaStats,
} from '../../../../src/sources/upstreams/opensea/collection.ts';
import { walkOpenSeaListings } from '../../../../src/sources/upstreams/opensea/listings.ts';
import { walkOpenSeaSales } from '../../../../src/sources/upstreams/opensea/sales.ts';
import { readOpenSeaToken, walkOpenSeaTokens } from '../../../../src/sources/upstreams/opensea/tokens.ts';
import type { ParsedPage, SourceRecord } from '../../../../src/sources/upstreams/response-rows.ts';
import { UpstreamClient, UpstreamFailure } from '../../../../src/sources/upstreams/upstream-client.ts';
import type { WalkEnd } from '../../../../src/sources/upstreams/walk.ts';
import { watchLiveMemory } from '../../../support/measure/live-memory.ts';
import type { ReplayFault } from '../../../support/replay/replay.ts';
import { REPLAY_FAULTS, startReplayServer } from '../../../support/replay/replay.ts';
import type { Walked } from './opensea-market.ts';
import { AT, assetOf, apes, start, walk, makeMarket } from './opensea-market.ts';

const TIMEOUT_MS = 200;
/** This limit only ends a test that hangs. It is not a requirement of speed. */
const HANG_MS = 60_000;

/**
 * Reads everything that the tasks read from OpenSea. After a failed read the other reads still run, because a failed task does not
 * stop the other tasks.
 */
async function readAll(upstream: UpstreamClient) {
  const records: SourceRecord[] = [];
  const ends: WalkEnd[] = [];
  const failures: string[] = [];
  const attempt = async (work: () => Promise<ParsedPage | Walked>) => {
    try {
      const result = await work();
      records.push(...result.records);
      if ('end' in result) ends.push(result.end);
    } catch (error) {
      if (!(error instanceof UpstreamFailure)) throw error;
      failures.push(error.reason);
    }
  };
  await attempt(async () => {
    await findOpenSeaContract(upstream, apes);
    return readOpenSeaCollection(upstream, apes);
  });
  await attempt(() => readOpenSeaStats(upstream, apes, { at: AT }));
  await attempt(() => walk(walkOpenSeaListings(upstream, apes)));
  await attempt(() => walk(walkOpenSeaSales(upstream, apes, { since: null })));
  await attempt(() => walk(walkOpenSeaTokens(upstream, apes)));
  await attempt(() => readOpenSeaToken(upstream, apes, assetOf('7')));
  return { records, ends, failures };
}

const REQUESTS = 12;

/** Faults that take long because the client waits. They run concurrently. */
const WAITING: ReadonlySet<ReplayFault> = new Set(['slow', 'hang', 'hang-in-body', 'drip']);
const GROWTH_MAX = 200 * 2 ** 20;

test('with any fault at any request, the reads end in time and return no incorrect record', async (t) => {
  const { replay, connect } = await start(t, [makeMarket()]);
  const truth = await readAll(connect());
  assert.equal(replay.count(), REQUESTS);
  assert.deepEqual([truth.failures, truth.ends.map((end) => end.gap === null)], [[], [true, true, true]]);
  const identity = ({ kind, ...rest }: SourceRecord) =>
    JSON.stringify([kind, rest['id'] ?? rest['tx'] ?? rest['tokenId']]);
  const expected = new Map(truth.records.map((record) => [identity(record), record]));
  // Only the response for a single token has the owner and the rank of the token. So only the fields that a record has are
  // compared.
  const assertCorrect = (record: SourceRecord, where: string) => {
    const known = expected.get(identity(record));
    for (const [field, value] of Object.entries(record)) assert.deepEqual(value, known?.[field], `${where}: ${field}`);
  };
  const tryFault = async (fault: ReplayFault) => {
    const broken = await start(t, [makeMarket()]);
    // In each round the fault occurs at another request. In the last round it occurs at every request.
    for (let skip = 0; skip <= REQUESTS; skip += 1) {
      const where = `${fault} at ${skip}`;
      broken.replay.fail(fault, { ms: 50, ...(skip < REQUESTS && { skip, times: 1 }) });
      const begun = performance.now();
      const { records, ends } = await readAll(broken.connect(TIMEOUT_MS));
      assert.ok(performance.now() - begun < HANG_MS, `${where} took ${performance.now() - begun} ms`);
      for (const record of records) assertCorrect(record, where);
      for (const end of ends) if (end.gap === null) assert.ok([250, 450].includes(end.rows), where);
    }
    broken.replay.heal();
    const after = await readAll(broken.connect());
    assert.deepEqual(after.records, truth.records, `after ${fault}`);
  };
  const memory = watchLiveMemory(t, GROWTH_MAX);
  await Promise.all([...WAITING].map(tryFault));
  for (const fault of REPLAY_FAULTS) if (!WAITING.has(fault)) await tryFault(fault);
  assert.ok(memory.growth() < GROWTH_MAX, `memory grew by ${Math.round(memory.growth() / 2 ** 20)} MiB`);
});

test('a page with more rows than requested, or with an invalid cursor, is a malformed response', async (t) => {
  const { upstream } = await start(t, [makeMarket({ slug: 'other' })]);
  const answers = [
    { listings: Array.from({ length: 201 }, () => ({})) },
    { listings: [], next: 7 },
    { listings: [], next: 'x'.repeat(5_000) },
    {},
    [],
  ];
  for (const answer of answers) {
    const broken = await startReplayServer(t, [{ path: /.*/, origin: 'schema', answer: () => answer }]);
    const client = new UpstreamClient({
      name: 'opensea',
      baseUrl: broken.url,
      timeoutMs: 5_000,
      log: createLog('silent'),
      clock: Date.now,
      random: () => 0.5,
    });
    await assert.rejects(walk(walkOpenSeaListings(client, apes)), { reason: 'malformed' });
  }
  await assert.rejects(walk(walkOpenSeaListings(upstream, apes)), { reason: 'not-found' });
});
