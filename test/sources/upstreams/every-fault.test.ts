// For each fault, runs the tasks of all vendors while every source has this fault. During a fault the tables keep exactly their
// earlier rows. Memory stays bounded. After the faults every table is up to date.

import assert from 'node:assert/strict';
import { before, beforeEach, test } from 'node:test';
import { readConfig } from '../../../src/service/config.ts';
import type { Database } from '../../../src/platform/database/port.ts';
import { createLog } from '../../../src/platform/core/log.ts';
import { createVendorTasks } from '../../../src/sources/upstreams/vendor.ts';
import { runTask } from '../../../src/platform/tasks/run.ts';
import type { ServiceContext } from '../../../src/service/context.ts';
import { forEachEngine } from '../../support/engines/each-engine.ts';
import { until } from '../../support/until.ts';
import { emptySyncTables, toContext } from '../../support/service/intake.ts';
import type { ReplayFault } from '../../support/replay/replay.ts';
import { REPLAY_FAULTS } from '../../support/replay/replay.ts';
import { SERVERS, startVendorServers } from '../../support/replay/all-vendors.ts';
import { watchLiveMemory } from '../../support/measure/live-memory.ts';

const LIMIT_MS = 60_000;
const PACE = { timeoutMs: 800, retryMs: 1, breakerOpenMs: 0, breakerOpenMaxMs: 0 };
/**
 * The clock moves by this time between runs. It is longer than any breaker stays open and longer than any pause between retries.
 */
const PAUSE_MS = 60_000;
const ROWS = 210;
/**
 * How many requests each server answers correctly before the fault begins. With one database engine the fault begins at the first request, with
 * the other engine at a later request.
 */
const SKIPPED = { embedded: 0, postgresql: 2 };
/** The limit for the growth of memory over all faults. It is less than the 256 MiB of one decompressed gzip bomb. */
const GROWTH_MAX = 250 * 2 ** 20;

forEachEngine('every fault at every source', (engine) => {
  let db: Database;
  before(async () => {
    db = await engine.open();
  });
  beforeEach(async () => {
    await emptySyncTables(db);
  });

  test('while every source has the same fault, no stored row changes', async (t) => {
    let passed = 0;
    const clock = () => Date.now() + passed;
    const world = await startVendorServers(t, { now: clock, rows: ROWS });
    await world.follow(db);
    const log = createLog('silent');
    const config = readConfig({ ...world.settings(), OPENSEA_HOURLY_BUDGET: '1000000' });
    const context: ServiceContext = { ...toContext(db, { clock }), config, log, random: () => 0.5 };
    const tasks = await createVendorTasks(config.vendors, context, PACE);
    const runAll = () =>
      Promise.all(
        tasks.map((task) =>
          runTask(task, { main: db, log, random: () => 0.5, stop: AbortSignal.timeout(LIMIT_MS), force: true }),
        ),
      );
    const setFault = (fault: ReplayFault | null, skip = 0) => {
      for (const server of SERVERS) {
        // The tasks run concurrently, so it can differ from run to run which tasks get the `skip` correct responses.
        if (fault) world.replays[server].fail(fault, { skip, ms: 30 });
        else world.replays[server].heal();
      }
    };
    /**
     * Repeats the run until every task ends without a problem. One run may not be enough: on a busy machine a correct response may come after its
     * deadline.
     */
    const runUntilComplete = () =>
      until(
        async () => {
          passed += PAUSE_MS;
          return (await runAll()).every((end) => end.kind === 'done' && end.result.problems?.length === 0);
        },
        LIMIT_MS,
        'in every run a task ended with a problem',
      );
    await runUntilComplete();
    const expected = await dump(db);
    assert.deepEqual(await world.missing(db), []);
    setFault('gzip-bomb');
    const memory = watchLiveMemory(t, GROWTH_MAX);
    for (const fault of REPLAY_FAULTS) {
      setFault(fault, SKIPPED[engine.name]);
      await runAll();
      passed += PAUSE_MS;
      assertKept(await dump(db), expected, fault);
      setFault(null);
    }
    world.makeNews();
    await runUntilComplete();
    assert.deepEqual(await world.missing(db), []);
    assert.ok(memory.growth() < GROWTH_MAX, `memory grew by ${Math.round(memory.growth() / 2 ** 20)} MiB`);
  });
});

type Dump = Record<string, Map<string, string>>;

/** The rows that the tasks write, without the columns that hold the time of writing. */
async function dump(db: Database): Promise<Dump> {
  const tables = {
    'indexer.listing': '{}',
    'main.book_order': '{}',
    'indexer.sale': '{}',
    'indexer.token': '{updated_at}',
    'main.rate': '{updated_at,at}',
    'main.collection': '{updated_at}',
  };
  const dumps: Dump = {};
  for (const [table, without] of Object.entries(tables)) {
    const rows = await db.query<{ row: string }>(`select (to_jsonb(t) - $1::text[])::text as row from ${table} as t`, [
      without,
    ]);
    dumps[table] = new Map(rows.map(({ row }) => [row, row]));
  }
  return dumps;
}

function assertKept(found: Dump, expected: Dump, when: string): void {
  for (const [table, rows] of Object.entries(expected)) {
    for (const row of found[table]?.keys() ?? [])
      assert.ok(rows.has(row), `${when}: ${table} has an unexpected row ${row}`);
    assert.equal(found[table]?.size, rows.size, `${when}: ${table} does not have its earlier number of rows`);
  }
}
