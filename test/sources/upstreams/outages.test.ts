// Tests an outage of all sources at the same time. The tasks have the periods and pauses of the real service. The test moves time forward in
// the process and in the stored schedule. The servers count the requests.

import assert from 'node:assert/strict';
import type { TestContext } from 'node:test';
import { before, beforeEach, test } from 'node:test';
import { readConfig } from '../../../src/service/config.ts';
import type { Database } from '../../../src/platform/database/port.ts';
import { listTasks, listTaskSchedules } from '../../../src/platform/tasks/queries/tasks.ts';
import { createLog } from '../../../src/platform/core/log.ts';
import { createVendorTasks } from '../../../src/sources/upstreams/vendor.ts';
import { runTask } from '../../../src/platform/tasks/run.ts';
import type { ServiceContext } from '../../../src/service/context.ts';
import { forEachEngine } from '../../support/engines/each-engine.ts';
import { emptySyncTables, toContext } from '../../support/service/intake.ts';
import type { ReplayFault } from '../../support/replay/replay.ts';
import type { Server } from '../../support/replay/all-vendors.ts';
import { SERVERS, startVendorServers } from '../../support/replay/all-vendors.ts';

const MINUTE_MS = 60_000;
const LIMIT_MS = 60_000;
/** The minutes after which every breaker is open. By then three calls with their retries have failed. */
const SETTLING_MINUTES = 2;
/**
 * The length of the outage. If null, OUTAGE_MINUTES_DEFAULT is used. After some minutes the pauses no longer grow, so more minutes
 * test nothing new.
 */
const OUTAGE_MINUTES = Number(process.env['OUTAGE_MINUTES'] ?? 0) || null;
const OUTAGE_MINUTES_DEFAULT = { embedded: 6, postgresql: 20 };
/** Tasks that become due within this time are started together. */
const STEP_MS = 2_000;
/**
 * The most requests to a server in a minute of an outage. A breaker allows one trial in 14 seconds. Magic Eden has two breakers.
 */
const REQUESTS_A_MINUTE_MAX: Record<Server, number> = {
  opensea: 5,
  magicEden: 10,
  das: 5,
  feed: 5,
  coinbase: 5,
  coingecko: 5,
};

forEachEngine('an outage of all sources', (engine) => {
  let db: Database;
  before(async () => {
    db = await engine.open();
  });
  beforeEach(async () => {
    await emptySyncTables(db);
  });

  const start = async (t: TestContext) => {
    let passed = 0;
    const clock = () => Date.now() + passed;
    const world = await startVendorServers(t, { now: clock, rows: 40 });
    await world.follow(db);
    await world.show(db);
    const log = createLog('silent');
    const random = createRandom(engine.name === 'embedded' ? 1 : 2);
    const config = readConfig(world.settings());
    const context: ServiceContext = { ...toContext(db, { clock }), config, log, random };
    const tasks = await createVendorTasks(config.vendors, context);
    const names = tasks.map(({ name }) => name);
    const countRequests = () => Object.fromEntries(SERVERS.map((server) => [server, world.replays[server].count()]));

    const pass = async (ms: number) => {
      passed += ms;
      await db.query(`update main.sync_task set due_at = due_at - $1 * interval '1 ms'`, [ms]);
      await db.query(`update main.request_budget set at = at - $1 * interval '1 ms'`, [ms]);
    };
    /** Moves the clock forward by `ms`, and runs each task when it is due. Returns the number of requests to each server in each minute. */
    const live = async (ms: number) => {
      const begun = clock();
      const minutes: Record<string, number>[] = [];
      for (;;) {
        const dueIn = new Map((await listTaskSchedules(db, names)).map(({ name, dueInMs }) => [name, dueInMs]));
        const nextMs = Math.min(...names.map((name) => dueIn.get(name) ?? 0)) + STEP_MS;
        const leftMs = begun + ms - clock();
        await pass(Math.min(nextMs, leftMs));
        if (nextMs >= leftMs) return minutes;
        const minute = Math.floor((clock() - begun) / MINUTE_MS);
        const sent = countRequests();
        const due = tasks.filter(({ name }) => (dueIn.get(name) ?? 0) <= nextMs);
        await Promise.all(
          due.map((task) => runTask(task, { main: db, log, random, stop: AbortSignal.timeout(LIMIT_MS) })),
        );
        const now = countRequests();
        const before = minutes[minute] ?? {};
        minutes[minute] = Object.fromEntries(
          SERVERS.map((server) => [server, (before[server] ?? 0) + (now[server] ?? 0) - (sent[server] ?? 0)]),
        );
      }
    };
    const allDue = async () => {
      await db.query(`update main.sync_task set due_at = clock_timestamp()`);
      await db.query(`update main.follow_run set done_at = done_at - interval '1 day'`);
      await db.query(`update main.recent_view set refreshed_at = null`);
    };
    const setFault = (fault: ReplayFault | null) => {
      for (const server of SERVERS) {
        if (fault) world.replays[server].fail(fault);
        else world.replays[server].heal();
      }
    };
    const sum = (minutes: readonly Record<string, number>[], server: Server) =>
      minutes.reduce((total, minute) => total + (minute?.[server] ?? 0), 0);
    return { world, live, allDue, setFault, sum, names };
  };

  test('a minute after a long outage all data is fresh, and during the outage few requests are sent', async (t) => {
    const { world, live, allDue, setFault, sum, names } = await start(t);
    await live(MINUTE_MS);
    assert.deepEqual(await world.missing(db), []);
    await allDue();
    const ordinary = await live(MINUTE_MS);

    setFault(engine.name === 'embedded' ? 'reset' : 'server-error');
    await allDue();
    const outage = await live((OUTAGE_MINUTES ?? OUTAGE_MINUTES_DEFAULT[engine.name]) * MINUTE_MS);
    for (const [minute, counts] of outage.entries()) {
      for (const server of minute < SETTLING_MINUTES ? [] : SERVERS) {
        const count = counts?.[server] ?? 0;
        assert.ok(count <= REQUESTS_A_MINUTE_MAX[server], `${server}: ${count} requests in minute ${minute}`);
      }
    }
    const failing = (await listTasks(db)).filter(({ failures }) => failures > 0).map(({ name }) => name);
    // After an invalid response, a viewed token is not requested again soon. So a task that refreshes viewed tokens can have nothing to request,
    // and then it does not fail.
    const usual = names.filter((name) => !name.endsWith('-shown-tokens'));
    assert.deepEqual(
      failing.filter((name) => usual.includes(name)).toSorted(),
      usual.toSorted(),
      'a task did not fail during the outage',
    );

    // The three outages differ in their length. So the sources recover at three different moments between two trials of a breaker.
    for (const outageMs of [0, 111_000, 97_000]) {
      if (outageMs > 0) {
        setFault('not-json');
        await allDue();
        await live(outageMs);
      }
      world.makeNews();
      setFault(null);
      const back = await live(MINUTE_MS);
      assert.deepEqual(await world.missing(db), [], 'some data is not fresh a minute after the recovery');
      assert.deepEqual(
        (await listTasks(db)).filter(({ failures }) => failures > 0).map(({ name }) => name),
        [],
      );
      for (const server of SERVERS) {
        const [count, usual] = [sum(back, server), sum(ordinary, server)];
        assert.ok(
          count <= usual,
          `${server}: ${count} requests in the minute after the recovery, but only ${usual} in an ordinary minute in which every task is due`,
        );
      }
    }
  });
});

/** A generator of numbers from 0 to 1 (mulberry32). The same seed gives the same numbers. */
function createRandom(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}
