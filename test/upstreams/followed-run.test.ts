// Runs over the followed collections: which collections a run processes, in which order, and when the next run is due after a run that
// was aborted or whose upstream failed.

import assert from 'node:assert/strict';
import { before, test } from 'node:test';
import type { Database } from '../../src/database/port.ts';
import type { LastRun } from '../../src/follows/queries/last-runs.ts';
import type { Follow } from '../../src/follows/queries/follows.ts';
import type { Address } from '../../src/core/address.ts';
import { createLog } from '../../src/core/log.ts';
import type { UpstreamReason } from '../../src/upstreams/upstream-client.ts';
import { UpstreamFailure } from '../../src/upstreams/upstream-client.ts';
import { runFollowed } from '../../src/upstreams/followed-run.ts';
import { runTask } from '../../src/tasks/run.ts';
import { NOTHING } from '../../src/tasks/task.ts';
import { forEachEngine } from '../support/engines/each-engine.ts';

const toFollow = (name: string): Follow => ({
  collectionId: name,
  chain: 'solana',
  contractAddress: name as Address,
  standard: null,
  fromBlock: null,
  names: new Map(),
  joined: false,
  readToBlock: null,
  createdAt: 0,
});

/**
 * Returns a function that runs over the collections a, b and c. Processing one takes a second. Those named in `failing` fail for the given
 * reason; the run is aborted at the collection `cutAt`. Resolves to the processed collections in their order, and to whether the next run
 * is due soon, or the message of the error.
 */
function startTurns({ periodMs = 60_000, shown = '' } = {}) {
  const turns = new Map<string, LastRun>();
  let now = 0;
  return async (
    failing: Readonly<Record<string, UpstreamReason>> = {},
    { afterMs = 0, isFull = false, cutAt = '' }: { afterMs?: number; isFull?: boolean; cutAt?: string } = {},
  ) => {
    const asked: string[] = [];
    const cut = new AbortController();
    now += afterMs;
    const end = await runFollowed({
      follows: ['a', 'b', 'c'].map(toFollow),
      viewed: new Set(shown),
      lastRuns: turns,
      isFull,
      periodMs,
      now: () => now,
      signal: AbortSignal.any([cut.signal, AbortSignal.timeout(10_000)]),
      report: () => undefined,
      process: async ({ collectionId }) => {
        asked.push(collectionId);
        now += 1_000;
        if (collectionId === cutAt) cut.abort(new Error('cut'));
        cut.signal.throwIfAborted();
        const reason = failing[collectionId];
        if (reason) throw new UpstreamFailure('test', reason);
      },
      saveRun: async (collectionId, { at, isDone }) => {
        turns.set(collectionId, { triedAt: at, doneAt: isDone ? at : (turns.get(collectionId)?.doneAt ?? null) });
      },
    }).catch((error: unknown) => (error as Error).message);
    return { asked: asked.join(''), end: typeof end === 'string' ? end : end.soon };
  };
}

/** One run over as many collections as there are reasons: each collection fails for its reason. */
function startTurnsThatFail(reasons: readonly UpstreamReason[]) {
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

test('after a run that the upstream interrupted the next run is due soon, and processes only the remaining collections', async () => {
  const turn = startTurns();
  assert.deepEqual(await turn({ b: 'unreachable' }), { asked: 'ab', end: true });
  assert.deepEqual(await turn({ b: 'breaker-open' }), { asked: 'cb', end: true });
  assert.deepEqual(await turn(), { asked: 'b', end: false });
  assert.deepEqual(await turn(), { asked: '', end: false });
  assert.deepEqual((await turn({}, { afterMs: 60_000 })).asked, 'acb', 'a period later all are processed again');
});

test('a collection that was processed just now is processed again only in a full run of the operator', async () => {
  const turn = startTurns();
  await turn();
  assert.equal((await turn({}, { afterMs: 20_000 })).asked, '');
  assert.equal((await turn({}, { isFull: true })).asked, 'abc');
  assert.equal((await turn({}, { afterMs: 29_000 })).asked, 'ab', 'half a period after they were processed');
});

test('after an outage of an hour all collections are processed', async () => {
  const turn = startTurns();
  assert.deepEqual(await turn({ b: 'timeout' }), { asked: 'ab', end: true });
  assert.match(String((await turn({ b: 'breaker-open', c: 'breaker-open' })).end), /^c: test: breaker-open; 1 more/);
  assert.deepEqual((await turn({}, { afterMs: 3_600_000 })).asked, 'abc');
});

test('a single collection that fails, or a wrong key, does not make the next run due soon', async () => {
  for (const reason of ['server-error', 'not-found', 'malformed', 'unauthorized', 'over-budget'] as const) {
    assert.equal((await startTurns()({ b: reason })).end, false, reason);
  }
});

test('a full run of the operator may take longer than a period', async () => {
  assert.deepEqual(await startTurns({ periodMs: 2_000 })({}, { isFull: true }), { asked: 'abc', end: false });
});

test('one collection that fails does not make the next run due soon when the others were processed just now', async () => {
  for (const reason of ['not-found', 'rejected', 'malformed', 'too-large'] as const) {
    const turn = startTurns();
    await turn({ b: reason });
    assert.deepEqual(await turn({ b: reason }), { asked: 'b', end: false }, reason);
  }
  const turn = startTurns();
  await turn({ b: 'server-error' });
  assert.match(
    String((await turn({ b: 'server-error' })).end),
    /server-error/,
    'this may be an outage that began with it',
  );
  assert.match(String((await startTurns()({ a: 'not-found', b: 'not-found', c: 'not-found' })).end), /not-found/);
});

test('a collection at which a run was aborted comes after the others in the next run', async () => {
  const turn = startTurns();
  assert.deepEqual(await turn({}, { cutAt: 'a' }), { asked: 'a', end: 'cut' });
  assert.deepEqual(await turn({}, { cutAt: 'c' }), { asked: 'bc', end: 'cut' });
  assert.deepEqual(await turn(), { asked: 'ac', end: false });
});

test('the record of a run in the future, from a wrong clock, is ignored', async () => {
  const turn = startTurns();
  await turn({}, { afterMs: 86_400_000 });
  assert.equal((await turn({}, { afterMs: -86_400_000 })).asked, 'abc');
  assert.equal((await turn({}, { afterMs: 30_000 })).asked, 'abc', 'afterwards all are due as usual');
});

test('viewed collections are processed first, and more often than others when there is not enough time for all', async () => {
  assert.equal(
    (await startTurns({ shown: 'c' })()).asked,
    'cab',
    'among collections that were never processed the viewed one is first',
  );
  const turn = startTurns({ periodMs: 1_000, shown: 'c' });
  let asked = '';
  for (let turns = 0; turns < 60; turns += 1) asked += (await turn()).asked;
  assert.equal(asked.length, 60, 'each run processes one collection');
  const times = (name: string) => asked.split(name).length - 1;
  assert.ok(times('c') >= 25 && times('c') <= 45, asked);
  assert.ok(Math.min(times('a'), times('b')) >= 8, `every collection is processed: ${asked}`);
});

test('after a run that took longer than its period the next run is due soon, and begins with the collection that waited longest', async () => {
  const turn = startTurns({ periodMs: 2_000 });
  assert.deepEqual(await turn(), { asked: 'ab', end: true });
  assert.deepEqual(await turn(), { asked: 'ca', end: false }, 'b was processed just now');
  assert.deepEqual(await turn({}, { afterMs: 2_000 }), { asked: 'bc', end: true });
});

forEachEngine('the next run of a task over followed collections', (engine) => {
  let db: Database;
  before(async () => {
    db = await engine.open();
  });

  test('is due after 20 seconds when the run was interrupted, and after the period when it was complete', async () => {
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

  test('is due after a quarter of an hour, or a shorter period, when no collection was found; after any other failure it is due soon', async () => {
    const dueInS = async (reasons: readonly UpstreamReason[], periodMs: number) => {
      const task = {
        name: 'one',
        periodMs,
        deadlineMs: 10_000,
        run: async () => {
          const end = await startTurnsThatFail(reasons);
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
