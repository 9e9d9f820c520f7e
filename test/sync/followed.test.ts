// A turn over what is followed when the upstream goes away in the middle of it.

import assert from 'node:assert/strict';
import { before, test } from 'node:test';
import type { Database } from '../../src/db/database.ts';
import type { Follow } from '../../src/db/follows.ts';
import type { Address } from '../../src/domain/address.ts';
import { createLog } from '../../src/log.ts';
import type { UpstreamReason } from '../../src/sources/upstream.ts';
import { UpstreamFailure } from '../../src/sources/upstream.ts';
import { createTurns, eachFollowed } from '../../src/sync/followed.ts';
import { runTask } from '../../src/sync/run.ts';
import { NOTHING } from '../../src/sync/task.ts';
import { forEachEngine } from '../support/engines.ts';

const toFollow = (name: string): Follow => ({
  collectionId: name,
  chain: 'solana',
  contractAddress: name as Address,
  standard: null,
  fromBlock: null,
  openseaSlug: null,
  magicedenSymbol: null,
  joined: false,
  readToBlock: null,
  createdAt: 0,
});

/** Turns over a, b and c, at which those named fail for their reason. */
function startTurns() {
  const turns = createTurns();
  let now = 0;
  return async (failing: Readonly<Record<string, UpstreamReason>> = {}) => {
    const asked: string[] = [];
    const end = await eachFollowed({
      follows: ['a', 'b', 'c'].map(toFollow),
      turns,
      now: () => (now += 1),
      signal: AbortSignal.timeout(10_000),
      report: () => undefined,
      work: async ({ collectionId }) => {
        asked.push(collectionId);
        const reason = failing[collectionId];
        if (reason) throw new UpstreamFailure('test', reason);
      },
    }).catch((error: unknown) => (error as Error).message);
    return { asked: asked.join(''), end: typeof end === 'string' ? end : end.soon };
  };
}

test('a turn that is cut off goes on soon, with what is left of it and nothing else', async () => {
  const turn = startTurns();
  assert.deepEqual(await turn({ b: 'unreachable' }), { asked: 'ab', end: true });
  assert.deepEqual(await turn({ b: 'resting' }), { asked: 'cb', end: true });
  assert.deepEqual(await turn(), { asked: 'b', end: false });
  assert.deepEqual((await turn()).asked.length, 3, 'then all have their period again');
});

test('once nothing can be done any more, all are read when the upstream is back', async () => {
  const turn = startTurns();
  assert.deepEqual(await turn({ b: 'timeout' }), { asked: 'ab', end: true });
  assert.match(String((await turn({ b: 'resting', c: 'resting' })).end), /^c: test: resting; 1 more/);
  assert.deepEqual((await turn()).asked.length, 3);
});

test('one collection that fails alone, or a key that is wrong, is no reason to come back soon', async () => {
  for (const reason of ['server-error', 'not-found', 'malformed', 'unauthorized', 'over-budget'] as const) {
    assert.equal((await startTurns()({ b: reason })).end, false, reason);
  }
});

forEachEngine('a task that was cut off', (engine) => {
  let db: Database;
  before(async () => {
    db = await engine.open();
  });

  test('is due again after a moment, one that was done after its period', async () => {
    const dueInS = async (soon: boolean) => {
      const task = {
        name: 'one',
        periodMs: 86_400_000,
        deadlineMs: 10_000,
        run: () => Promise.resolve({ ...NOTHING, soon }),
      };
      const stop = AbortSignal.timeout(10_000);
      await runTask(task, { main: db, log: createLog('silent'), stop, force: true, random: () => 0.5 });
      const [row] = await db.query(`select extract(epoch from due_at - last_ended)::int as s from main.sync_task`);
      return row?.['s'];
    };
    assert.deepEqual([await dueInS(true), await dueInS(false)], [20, 86_400]);
  });
});
