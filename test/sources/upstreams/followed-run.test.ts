// The runs of a task over the followed collections: which collections a run processes, in which order, and when the next run is due
// after an aborted run or a failure of the upstream.

import assert from 'node:assert/strict';
import { before, test } from 'node:test';
import type { Database } from '../../../src/platform/database/port.ts';
import type { LastRun } from '../../../src/market/follows/queries/last-runs.ts';
import type { Follow } from '../../../src/market/follows/queries/follows.ts';
import type { Address } from '../../../src/platform/core/address.ts';
import { createLog } from '../../../src/platform/core/log.ts';
import type { UpstreamReason } from '../../../src/sources/upstreams/upstream-client.ts';
import { UpstreamFailure } from '../../../src/sources/upstreams/upstream-client.ts';
import { runFollowed } from '../../../src/sources/upstreams/followed-run.ts';
import { runTask } from '../../../src/platform/tasks/run.ts';
import { NOTHING } from '../../../src/platform/tasks/task.ts';
import { forOneEngine } from '../../support/engines/each-engine.ts';

const toFollow = (name: string): Follow => ({
  collectionId: name,
  chain: 'solana',
  contractAddress: name as Address,
  standard: null,
  unindexed: false,
  fromBlock: null,
  names: new Map(),
  joined: false,
  readToBlock: null,
  createdAt: 0,
});

/**
 * Returns a function that runs a task over the collections a, b and c. Processing a collection takes a second. A collection in `failing`
 * fails for the given reason. The run is aborted while it processes the collection `abortAt`. `processed` has the names of the processed
 * collections in their order. `end` says whether the next run is due soon, or has the error message of a failed run.
 */
function startRuns({ periodMs = 60_000, viewed = '' } = {}) {
  const lastRuns = new Map<string, LastRun>();
  let now = 0;
  return async (
    failing: Readonly<Record<string, UpstreamReason>> = {},
    { afterMs = 0, isFull = false, abortAt = '' }: { afterMs?: number; isFull?: boolean; abortAt?: string } = {},
  ) => {
    const processed: string[] = [];
    const stop = new AbortController();
    now += afterMs;
    const end = await runFollowed({
      follows: ['a', 'b', 'c'].map(toFollow),
      viewed: new Set(viewed),
      lastRuns,
      isFull,
      periodMs,
      now: () => now,
      signal: AbortSignal.any([stop.signal, AbortSignal.timeout(10_000)]),
      report: () => undefined,
      process: async ({ collectionId }) => {
        processed.push(collectionId);
        now += 1_000;
        if (collectionId === abortAt) stop.abort(new Error('aborted'));
        stop.signal.throwIfAborted();
        const reason = failing[collectionId];
        if (reason) throw new UpstreamFailure('test', reason);
      },
      saveRun: async (collectionId, { at, isDone }) => {
        lastRuns.set(collectionId, { triedAt: at, doneAt: isDone ? at : (lastRuns.get(collectionId)?.doneAt ?? null) });
      },
    }).catch((error: unknown) => (error as Error).message);
    return { processed: processed.join(''), end: typeof end === 'string' ? end : end.soon };
  };
}

/** Runs a task over as many collections as there are reasons. Each collection fails for one of the reasons. */
function runWithFailures(reasons: readonly UpstreamReason[]) {
  const left = [...reasons];
  return runFollowed({
    follows: reasons.map((_, index) => toFollow(String(index))),
    viewed: new Set(),
    lastRuns: new Map(),
    isFull: true,
    periodMs: 60_000,
    now: () => 0,
    signal: AbortSignal.timeout(10_000),
    report: () => undefined,
    process: async () => {
      throw new UpstreamFailure('test', left.shift() ?? 'aborted');
    },
    saveRun: async () => undefined,
  });
}

test('when an outage ends a run early, the next run processes only the remaining collections', async () => {
  const run = startRuns();
  assert.deepEqual(await run({ b: 'unreachable' }), { processed: 'ab', end: true });
  assert.deepEqual(await run({ b: 'breaker-open' }), { processed: 'cb', end: true });
  assert.deepEqual(await run(), { processed: 'b', end: false });
  assert.deepEqual(await run(), { processed: '', end: false });
  assert.deepEqual(
    (await run({}, { afterMs: 60_000 })).processed,
    'acb',
    'not all collections were processed again a period later',
  );
});

test('a collection that was processed just now is processed again only in a full run that the operator starts', async () => {
  const run = startRuns();
  await run();
  assert.equal((await run({}, { afterMs: 20_000 })).processed, '');
  assert.equal((await run({}, { isFull: true })).processed, 'abc');
  assert.equal((await run({}, { afterMs: 29_000 })).processed, 'ab', 'a and b were not due half a period later');
});

test('after an outage of an hour all collections are processed', async () => {
  const run = startRuns();
  assert.deepEqual(await run({ b: 'timeout' }), { processed: 'ab', end: true });
  assert.match(
    String((await run({ b: 'breaker-open', c: 'breaker-open' })).end),
    /^c: test: breaker-open; 1 more collection has to wait$/,
  );
  assert.deepEqual((await run({}, { afterMs: 3_600_000 })).processed, 'abc');
});

test('a failure that is no outage does not make the next run due soon', async () => {
  for (const reason of ['server-error', 'not-found', 'malformed', 'unauthorized', 'over-budget'] as const) {
    assert.equal((await startRuns()({ b: reason })).end, false, reason);
  }
});

test('a full run that the operator starts may take longer than a period', async () => {
  assert.deepEqual(await startRuns({ periodMs: 2_000 })({}, { isFull: true }), { processed: 'abc', end: false });
});

test('a single collection that fails does not make the next run due soon', async () => {
  for (const reason of ['not-found', 'rejected', 'malformed', 'too-large'] as const) {
    const run = startRuns();
    await run({ b: reason });
    assert.deepEqual(await run({ b: reason }), { processed: 'b', end: false }, reason);
  }
  const run = startRuns();
  await run({ b: 'server-error' });
  assert.match(
    String((await run({ b: 'server-error' })).end),
    /server-error/,
    'the run did not fail, although a server error may be the beginning of an outage',
  );
  assert.match(String((await startRuns()({ a: 'not-found', b: 'not-found', c: 'not-found' })).end), /not-found/);
});

test('a collection at which a run was aborted is the last collection of the next run', async () => {
  const run = startRuns();
  assert.deepEqual(await run({}, { abortAt: 'a' }), { processed: 'a', end: 'aborted' });
  assert.deepEqual(await run({}, { abortAt: 'c' }), { processed: 'bc', end: 'aborted' });
  assert.deepEqual(await run(), { processed: 'ac', end: false });
});

test('a last run in the future, stored by a process with a wrong clock, is ignored', async () => {
  const run = startRuns();
  await run({}, { afterMs: 86_400_000 });
  assert.equal((await run({}, { afterMs: -86_400_000 })).processed, 'abc');
  assert.equal(
    (await run({}, { afterMs: 30_000 })).processed,
    'abc',
    'afterwards the collections were not due as usual',
  );
});

test('viewed collections are processed first, and more often when time is short', async () => {
  assert.equal(
    (await startRuns({ viewed: 'c' })()).processed,
    'cab',
    'the viewed collection is not the first of the collections without a last run',
  );
  const run = startRuns({ periodMs: 1_000, viewed: 'c' });
  let processed = '';
  for (let count = 0; count < 60; count += 1) processed += (await run()).processed;
  assert.equal(processed.length, 60, 'a run did not process exactly one collection');
  const times = (name: string) => processed.split(name).length - 1;
  assert.ok(times('c') >= 25 && times('c') <= 45, processed);
  assert.ok(Math.min(times('a'), times('b')) >= 8, `a collection was processed too rarely: ${processed}`);
});

test('after a run that took longer than its period, the next run begins with the collection that waited longest', async () => {
  const run = startRuns({ periodMs: 2_000 });
  assert.deepEqual(await run(), { processed: 'ab', end: true });
  assert.deepEqual(await run(), { processed: 'ca', end: false }, 'the order is wrong, or b is due again immediately');
  assert.deepEqual(await run({}, { afterMs: 2_000 }), { processed: 'bc', end: true });
});

forOneEngine('the next run of a task over followed collections', (engine) => {
  let db: Database;
  before(async () => {
    db = await engine.open();
  });

  test('the next run is due 20 seconds after an interrupted run, and one period after a complete run', async () => {
    const dueInS = async (soon: boolean) => {
      const task = {
        name: 'one',
        periodMs: 86_400_000,
        deadlineMs: 10_000,
        run: () => Promise.resolve({ ...NOTHING, soon }),
      };
      const stop = AbortSignal.timeout(10_000);
      await runTask(task, { main: db, log: createLog('silent'), stop, force: true, random: () => 0 });
      const [row] = await db.query(`select extract(epoch from due_at - last_ended)::int as s from main.sync_task`);
      return row?.['s'];
    };
    assert.deepEqual([await dueInS(true), await dueInS(false)], [20, 86_400]);
  });

  test('when the upstream has none of the collections, the next run is due after at most a quarter of an hour', async () => {
    const dueInS = async (reasons: readonly UpstreamReason[], periodMs: number) => {
      const task = {
        name: 'one',
        periodMs,
        deadlineMs: 10_000,
        run: async () => {
          const end = await runWithFailures(reasons);
          return { ...NOTHING, ...end };
        },
      };
      const stop = AbortSignal.timeout(10_000);
      const run = await runTask(task, { main: db, log: createLog('silent'), stop, force: true, random: () => 0 });
      assert.equal(run.kind, 'failed');
      const [row] = await db.query(`select extract(epoch from due_at - last_ended)::int as s from main.sync_task`);
      return row?.['s'];
    };
    const dayMs = 86_400_000;
    assert.equal(await dueInS(['not-found', 'rejected'], dayMs), 900);
    assert.equal(await dueInS(['not-found'], 120_000), 120);
    for (const reason of ['malformed', 'too-large', 'server-error', 'unauthorized', 'timeout'] as const)
      assert.equal(await dueInS(['not-found', reason], dayMs), 20, reason);
  });
});
