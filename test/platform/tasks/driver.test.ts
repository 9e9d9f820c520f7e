// Tests the driver of tasks in one process: its schedule, leases, deadlines, nudges, stored results and log lines. A nudge makes a task due
// before its time. takeover.test.ts tests several processes that share the tasks.

import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { afterEach, before, beforeEach, test } from 'node:test';
import type { Database } from '../../../src/platform/database/port.ts';
import { claimTask, listTasks, updateTasksNudged } from '../../../src/platform/tasks/queries/tasks.ts';
import { createLog } from '../../../src/platform/core/log.ts';
import { TaskDriver } from '../../../src/platform/tasks/driver.ts';
import { runTask } from '../../../src/platform/tasks/run.ts';
import type { Task, TaskResult } from '../../../src/platform/tasks/task.ts';
import { forEachEngine } from '../../support/engines/each-engine.ts';
import { until } from '../../support/until.ts';

const LIMIT_MS = 60_000;
const HOUR_MS = 3_600_000;
const POLL_MS = 50;
const DONE: TaskResult = { read: 3, changed: 2, refused: 1 };
/** The result DONE as it is stored. */
const STORED = { ...DONE, retired: 0, problems: [], refusals: [] };

forEachEngine('the driver of tasks', (engine) => {
  let db: Database;
  let drivers: TaskDriver[] = [];
  let logged: string[] = [];
  before(async () => {
    db = await engine.open();
  });
  beforeEach(async () => {
    logged = [];
    await db.query('delete from main.sync_task');
  });
  afterEach(async () => {
    await Promise.all(drivers.map((driver) => driver.stop()));
    drivers = [];
  });

  const random = () => 0;
  const log = createLog('info', (line) => logged.push(line));
  const warnings = () => logged.map((line) => JSON.parse(line)).filter(({ level }) => level === 'warn');
  const start = (task: Partial<Task> & Pick<Task, 'run'>, { main = db, pollMs = POLL_MS } = {}) => {
    const complete = { name: 'one', periodMs: HOUR_MS, deadlineMs: HOUR_MS, ...task };
    const driver = new TaskDriver([complete], { main, log, pollMs, random });
    driver.start();
    drivers.push(driver);
    return driver;
  };
  const readRecord = async () => {
    const [found] = await listTasks(db);
    return found ?? assert.fail('the task has no record');
  };
  const rejectOnAbort = (signal: AbortSignal): Promise<never> =>
    new Promise((_, reject) => signal.addEventListener('abort', () => reject(signal.reason as Error)));

  test('a task that has never run starts immediately', async () => {
    let runs = 0;
    start({ run: () => Promise.resolve((runs += 1)).then(() => DONE) });
    await until(async () => runs > 0 && (await readRecord()).lastOk !== null, LIMIT_MS, 'the task did not run');
    const { result, failures, lastError, isRunning, lagMs } = await readRecord();
    assert.deepEqual([result, failures, lastError, isRunning], [STORED, 0, null, false]);
    assert.ok(lagMs !== null && lagMs >= 0);
    const [due] = await db.query(`select extract(epoch from due_at - last_ended)::int as s from main.sync_task`);
    assert.equal(due?.['s'], HOUR_MS / 1_000);
    assert.equal(runs, 1);
  });

  test('a task runs again after each period', async () => {
    let runs = 0;
    start({ periodMs: 20, run: () => Promise.resolve((runs += 1)).then(() => DONE) });
    await until(() => runs >= 4, LIMIT_MS, 'the task did not run again');
  });

  test('several drivers together run a task once in each period', async () => {
    let concurrent = 0;
    let most = 0;
    let runs = 0;
    const run = async () => {
      concurrent += 1;
      runs += 1;
      most = Math.max(most, concurrent);
      await db.query('select pg_sleep(0.02)');
      concurrent -= 1;
      return DONE;
    };
    for (let n = 0; n < 4; n += 1) start({ periodMs: 10, run });
    await until(() => runs >= 6, LIMIT_MS, 'the task did not run');
    assert.equal(most, 1);
    await Promise.all(drivers.map((driver) => driver.stop()));
    runs = 0;
    await db.query('delete from main.sync_task');
    const { main, countOf } = countStatements(db);
    for (let n = 0; n < 4; n += 1) start({ run }, { main });
    await until(
      async () => (await listTasks(db)).some(({ lastOk }) => lastOk !== null),
      LIMIT_MS,
      'the task did not run',
    );
    for (const driver of drivers) driver.nudge('another one');
    const read = countOf(SCHEDULE);
    await until(() => countOf(SCHEDULE) >= read + 8, LIMIT_MS, 'the schedule is not read again');
    assert.equal(runs, 1, 'the task ran more than once in a period');
  });

  test('a driver does not claim a task before the lease of another run has ended', async () => {
    const claim = { name: 'one', holder: randomUUID(), leaseMs: HOUR_MS, periodMs: HOUR_MS, force: false };
    assert.equal(await claimTask(db, claim), true);
    let runs = 0;
    const { main, countOf } = countStatements(db);
    const driver = start({ run: () => Promise.resolve((runs += 1)).then(() => DONE) }, { main });
    driver.nudge('one');
    await until(() => countOf(SCHEDULE) >= 4, LIMIT_MS, 'the schedule is not read again');
    assert.deepEqual([runs, countOf(CLAIM)], [0, 0]);
    await db.query('update main.sync_task set leased_until = clock_timestamp()');
    await until(() => runs === 1, LIMIT_MS, 'the task did not run after the lease');
    assert.equal(countOf(CLAIM), 1);
  });

  test('a task runs when the driver is nudged, and when the task is nudged in the database', async () => {
    let runs = 0;
    let release = () => undefined as void;
    const driver = start({
      run: async () => {
        runs += 1;
        if (runs === 2) await new Promise<void>((resolve) => (release = resolve));
        return DONE;
      },
    });
    const idleAfter = async (count: number) => {
      const isIdle = async () => runs === count && !(await readRecord()).isRunning;
      await until(isIdle, LIMIT_MS, `there were not ${count} runs`);
    };
    await idleAfter(1);
    driver.nudge('one');
    await until(() => runs === 2, LIMIT_MS, 'the task did not run');
    driver.nudge('one');
    driver.nudge('one');
    release();
    await idleAfter(3);
    assert.deepEqual(await updateTasksNudged(db, ['one', 'unknown']), ['one']);
    await idleAfter(4);
  });

  test('a nudged task of a process that has died runs when the lease has ended', async () => {
    const task = { name: 'one', periodMs: HOUR_MS, deadlineMs: HOUR_MS, run: () => Promise.resolve(DONE) };
    await runTask(task, { main: db, log, random, stop: AbortSignal.timeout(LIMIT_MS) });
    await updateTasksNudged(db, ['one']);
    const claim = { name: 'one', holder: randomUUID(), leaseMs: 100, periodMs: HOUR_MS, force: false };
    assert.equal(await claimTask(db, claim), true);
    let runs = 0;
    start({ run: () => Promise.resolve((runs += 1)).then(() => DONE) });
    await until(async () => runs === 1 && !(await readRecord()).isRunning, LIMIT_MS, 'the task was not taken over');
    assert.equal(await claimTask(db, claim), false, 'the task was due again before its period had passed');
  });

  test('after the clock of the database was set back, a task runs although its stored due time is far in the future', async () => {
    let runs = 0;
    const run = () => Promise.resolve((runs += 1)).then(() => DONE);
    const task = { name: 'one', periodMs: HOUR_MS, deadlineMs: HOUR_MS, run };
    const options = { main: db, log, random, stop: AbortSignal.timeout(LIMIT_MS) };
    await runTask(task, options);
    assert.deepEqual([(await runTask(task, options)).kind, runs], ['busy', 1]);
    // As if this time had been written while the clock was three hours ahead.
    await db.query(`update main.sync_task set due_at = due_at + interval '3 hours'`);
    start({ run });
    await until(() => runs === 2, LIMIT_MS, 'the task waits for the clock');
  });

  test('a run that exceeds its deadline is aborted and recorded as a failure', async () => {
    start({ deadlineMs: 30, run: rejectOnAbort });
    await until(async () => (await listTasks(db))[0]?.failures === 1, LIMIT_MS, 'the run was not aborted');
    const { lastError, lastOk, isRunning } = await readRecord();
    assert.deepEqual([lastError, lastOk, isRunning], ['not done within 0.03 s', null, false]);
  });

  test('a failing task is retried, and only its first failure and its recovery are logged', async () => {
    let runs = 0;
    let works = false;
    start({
      periodMs: 20,
      run: () => {
        runs += 1;
        return works ? Promise.resolve(DONE) : Promise.reject(new Error('no response'));
      },
    });
    await until(() => runs >= 4, LIMIT_MS, 'the task was not retried');
    assert.equal((await readRecord()).lastError, 'no response');
    works = true;
    await until(async () => (await readRecord()).failures === 0, LIMIT_MS, 'the task did not recover');
    const messages = logged.map((line) => JSON.parse(line)).map(({ level, message }) => `${level} ${message}`);
    assert.deepEqual(messages, ['warn a task failed', 'info a task works again']);
    assert.equal((await readRecord()).lastError, null);
  });

  test('the problems of a run are logged once, and again only after a run without problems', async () => {
    let runs = 0;
    const run = () => {
      runs += 1;
      return Promise.resolve({ ...DONE, problems: runs === 3 ? [] : [`page ${runs} is missing`] });
    };
    start({ periodMs: 20, run });
    await until(() => runs >= 6, LIMIT_MS, 'the task did not run');
    assert.deepEqual(
      warnings().map(({ message, problems }) => [message, problems]),
      ['page 1 is missing', 'page 4 is missing'].map((problem) => ['a task did only part of its work', [problem]]),
    );
  });

  test('stopping the driver aborts the run and makes the task due immediately', async () => {
    let hasEnded = false;
    const driver = start({
      run: async (signal) => {
        try {
          return await rejectOnAbort(signal);
        } finally {
          await db.query('select pg_sleep(0.05)');
          hasEnded = true;
        }
      },
    });
    await until(async () => (await listTasks(db))[0]?.isRunning === true, LIMIT_MS, 'the run did not begin');
    await driver.stop();
    assert.ok(hasEnded);
    const { isRunning, failures, lastOk, result } = await readRecord();
    assert.deepEqual([isRunning, failures, lastOk, result], [false, 0, null, null]);
    let hasRun = false;
    start({ run: () => Promise.resolve((hasRun = true)).then(() => DONE) });
    await until(() => hasRun, LIMIT_MS, 'the task was not due');
  });

  test('a run that has lost its lease is aborted, and its result is not recorded', async () => {
    const stop = new AbortController();
    const options = { main: db, log, random, stop: stop.signal, leaseMs: 3_000 };
    let reason: unknown;
    const task: Task = {
      name: 'one',
      periodMs: HOUR_MS,
      deadlineMs: HOUR_MS,
      run: (signal, report) => {
        report({ done: 1, total: 7, what: 'pages' });
        signal.addEventListener('abort', () => (reason = signal.reason));
        return rejectOnAbort(signal);
      },
    };
    const run = runTask(task, options);
    await until(
      async () => (await listTasks(db)).some(({ progress }) => progress !== null),
      LIMIT_MS,
      'no progress was stored',
    );
    assert.deepEqual((await readRecord()).progress, { done: 1, total: 7, what: 'pages' });
    const leasedUntil = async () => (await db.query('select leased_until from main.sync_task'))[0]?.['leased_until'];
    const first = await leasedUntil();
    await until(async () => (await leasedUntil()) > first, LIMIT_MS, 'the lease was not renewed');
    assert.deepEqual(await runTask(task, { ...options, force: true }), { kind: 'busy' });
    await db.query(`update main.sync_task set holder = 'another run'`);
    assert.deepEqual(await run, { kind: 'lost' });
    assert.match(String(reason), /the lease of the task is lost/);
    assert.equal((await readRecord()).lastEnded, null);
  });

  test('after a database failure, the task runs when the database can be read again, without the wait between two polls', async () => {
    let isBroken = true;
    let runs = 0;
    const { main, countOf } = countStatements(db, () => isBroken);
    start({ run: () => Promise.resolve((runs += 1)).then(() => DONE) }, { main, pollMs: HOUR_MS });
    const startedAt = performance.now();
    await until(() => countOf(SCHEDULE) >= READS, LIMIT_MS, 'the schedule is not read again');
    // A wait that doubled with each failure would have become five seconds long.
    assert.ok(performance.now() - startedAt < READS * RETRY_MS_MAX + 3_000, 'the waits become longer');
    const messages = warnings().map(({ message }) => message);
    assert.deepEqual([runs, messages], [0, ['the schedule of tasks cannot be read']]);
    isBroken = false;
    await until(() => runs === 1, LIMIT_MS, 'the task did not run');
  });

  test('a task that cannot be claimed is claimed again without the wait between two polls', async () => {
    let runs = 0;
    const { main, countOf } = countStatements(db, (sql) => sql.startsWith(CLAIM) && countOf(CLAIM) < 3);
    start({ run: () => Promise.resolve((runs += 1)).then(() => DONE) }, { main, pollMs: HOUR_MS });
    await until(() => runs === 1, LIMIT_MS, 'the task did not run');
    assert.equal(countOf(CLAIM), 3);
  });
});

const SCHEDULE = 'select name, case when';
const READS = 8;
const RETRY_MS_MAX = 500;
/** The beginning of the statement that claims a task. */
const CLAIM = 'insert into main.sync_task';

/** Wraps a database so that its statements are counted. While `isBroken` returns true, every statement is rejected. */
function countStatements(db: Database, isBroken: (sql: string) => boolean = () => false) {
  const statements: string[] = [];
  const main: Database = {
    ...db,
    within: (timeoutMs, lane) => ({
      ...db.within(timeoutMs, lane),
      query: (sql, params) => {
        statements.push(sql);
        if (isBroken(sql)) return Promise.reject(new Error('the database is unavailable'));
        return db.within(timeoutMs, lane).query(sql, params);
      },
    }),
  };
  return { main, countOf: (start: string) => statements.filter((sql) => sql.startsWith(start)).length };
}
