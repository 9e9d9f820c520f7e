// The driver: one run at a time between processes, deadlines, nudges, what is recorded and what is logged.

import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { afterEach, before, beforeEach, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { readConfig } from '../../src/config.ts';
import type { Database } from '../../src/database/port.ts';
import { migrate } from '../../src/database/migrate.ts';
import { openDatabases } from '../../src/database/open.ts';
import { claimTask, listTasks, updateTasksNudged } from '../../src/tasks/queries/tasks.ts';
import { createLog } from '../../src/core/log.ts';
import type { Driver } from '../../src/tasks/driver.ts';
import { startDriver } from '../../src/tasks/driver.ts';
import { runTask } from '../../src/tasks/run.ts';
import type { Task, TaskResult } from '../../src/tasks/task.ts';
import { forEachEngine } from '../support/engines/each-engine.ts';
import { until } from '../support/until.ts';

const VICTIM = fileURLToPath(new URL('./killed-process.ts', import.meta.url));
const LIMIT_MS = 15_000;
const HOUR_MS = 3_600_000;
const DONE: TaskResult = { read: 3, changed: 2, refused: 1 };

forEachEngine('the driver of tasks', (engine) => {
  let db: Database;
  let drivers: Driver[] = [];
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

  const log = createLog('info', (line) => logged.push(line));
  const warnings = () => logged.map((line) => JSON.parse(line)).filter(({ level }) => level === 'warn');
  const start = (task: Partial<Task> & Pick<Task, 'run'>) => {
    const whole = { name: 'one', periodMs: HOUR_MS, deadlineMs: HOUR_MS, ...task };
    const driver = startDriver([whole], { main: db, log, pollMs: 50, random: () => 0.5 });
    drivers.push(driver);
    return driver;
  };
  const record = async () => {
    const [found] = await listTasks(db);
    return found ?? assert.fail('there is no record');
  };
  const signalled = (signal: AbortSignal): Promise<never> =>
    new Promise((_, reject) => signal.addEventListener('abort', () => reject(signal.reason as Error)));

  test('a new task runs at once, its result is stored, and it is due again a period later', async () => {
    let runs = 0;
    start({ run: () => Promise.resolve((runs += 1)).then(() => DONE) });
    await until(async () => runs > 0 && (await record()).lastOk !== null, LIMIT_MS, 'it did not run');
    const { result, failures, lastError, isRunning, lagMs } = await record();
    assert.deepEqual([result, failures, lastError, isRunning], [DONE, 0, null, false]);
    assert.ok(lagMs !== null && lagMs < LIMIT_MS);
    const [due] = await db.query(`select extract(epoch from due_at - last_ended)::int as s from main.sync_task`);
    assert.equal(due?.['s'], HOUR_MS / 1_000);
    assert.equal(runs, 1);
  });

  test('a task runs every period', async () => {
    let runs = 0;
    start({ periodMs: 20, run: () => Promise.resolve((runs += 1)).then(() => DONE) });
    await until(() => runs >= 4, LIMIT_MS, 'it did not run again');
  });

  test('of several drivers one runs a task at a time, and the schedule is theirs together', async () => {
    let now = 0;
    let most = 0;
    let runs = 0;
    const run = async () => {
      now += 1;
      runs += 1;
      most = Math.max(most, now);
      await db.query('select pg_sleep(0.02)');
      now -= 1;
      return DONE;
    };
    for (let n = 0; n < 4; n += 1) start({ periodMs: 10, run });
    await until(() => runs >= 6, LIMIT_MS, 'it did not run');
    assert.equal(most, 1);
    await Promise.all(drivers.map((driver) => driver.stop()));
    runs = 0;
    await db.query('delete from main.sync_task');
    for (let n = 0; n < 4; n += 1) start({ run });
    await until(async () => (await listTasks(db)).some(({ lastOk }) => lastOk !== null), LIMIT_MS, 'it did not run');
    for (const driver of drivers) driver.nudge('another one');
    await new Promise((resolve) => setImmediate(resolve));
    assert.equal(runs, 1, 'one run a period, however many drivers');
  });

  test('a nudge makes it run, one during a run makes it run once more, one by the database as well', async () => {
    let runs = 0;
    let release = () => undefined as void;
    const driver = start({
      run: async () => {
        runs += 1;
        if (runs === 2) await new Promise<void>((resolve) => (release = resolve));
        return DONE;
      },
    });
    const idle = async (count: number) => {
      await until(async () => runs === count && !(await record()).isRunning, LIMIT_MS, `${count} runs did not come`);
    };
    await idle(1);
    driver.nudge('one');
    await until(() => runs === 2, LIMIT_MS, 'it did not run');
    driver.nudge('one');
    driver.nudge('one');
    release();
    await idle(3);
    assert.deepEqual(await updateTasksNudged(db, ['one', 'unknown']), ['one']);
    await idle(4);
  });

  test('a nudge is not lost with the one that dies over it: another runs the task when the lease has run out', async () => {
    const task = { name: 'one', periodMs: HOUR_MS, deadlineMs: HOUR_MS, run: () => Promise.resolve(DONE) };
    await runTask(task, { main: db, log, stop: AbortSignal.timeout(LIMIT_MS) });
    await updateTasksNudged(db, ['one']);
    const claim = { name: 'one', holder: randomUUID(), leaseMs: 100, periodMs: HOUR_MS, force: false };
    assert.equal(await claimTask(db, claim), true);
    let runs = 0;
    start({ run: () => Promise.resolve((runs += 1)).then(() => DONE) });
    await until(() => runs === 1, LIMIT_MS, 'nobody took it over');
    assert.equal(await claimTask(db, claim), false, 'and then it has its period again');
  });

  test('the deadline ends a run by its signal, which is a failure', async () => {
    start({ deadlineMs: 30, run: signalled });
    await until(async () => (await listTasks(db))[0]?.failures === 1, LIMIT_MS, 'it went on');
    const { lastError, lastOk, isRunning } = await record();
    assert.deepEqual([lastError, lastOk, isRunning], ['not done within 0.03 s', null, false]);
  });

  test('what fails is tried again, told once when it begins to fail and once when it works again', async () => {
    let runs = 0;
    let works = false;
    start({
      periodMs: 20,
      run: () => {
        runs += 1;
        return works ? Promise.resolve(DONE) : Promise.reject(new Error('no answer'));
      },
    });
    await until(() => runs >= 4, LIMIT_MS, 'it was not tried again');
    assert.equal((await record()).lastError, 'no answer');
    works = true;
    await until(async () => (await record()).failures === 0, LIMIT_MS, 'it did not recover');
    const told = logged.map((line) => JSON.parse(line)).map(({ level, message }) => `${level} ${message}`);
    assert.deepEqual(told, ['warn a task failed', 'info a task works again']);
    assert.equal((await record()).lastError, null);
  });

  test('what a run could not do is told once, until it could', async () => {
    let runs = 0;
    start({ periodMs: 20, run: () => Promise.resolve({ ...DONE, problems: [`the ${(runs += 1)}th page`] }) });
    await until(() => runs >= 3, LIMIT_MS, 'it did not run');
    assert.deepEqual(
      warnings().map(({ message, problems }) => [message, problems]),
      [['a task could not do all', ['the 1th page']]],
    );
  });

  test('stopping ends the run under way and waits for it, and it is due again at once', async () => {
    let ended = false;
    const driver = start({
      run: async (signal) => {
        try {
          return await signalled(signal);
        } finally {
          await db.query('select pg_sleep(0.05)');
          ended = true;
        }
      },
    });
    await until(async () => (await listTasks(db))[0]?.isRunning === true, LIMIT_MS, 'it did not begin');
    await driver.stop();
    assert.ok(ended);
    const { isRunning, failures, lastOk, result } = await record();
    assert.deepEqual([isRunning, failures, lastOk, result], [false, 0, null, null]);
    let again = false;
    start({ run: () => Promise.resolve((again = true)).then(() => DONE) });
    await until(() => again, LIMIT_MS, 'it was not due');
  });

  test('a run renews its lease and tells its progress; one that has lost it is ended and records nothing', async () => {
    const stop = new AbortController();
    const options = { main: db, log, stop: stop.signal, leaseMs: 300 };
    let why: unknown;
    const task: Task = {
      name: 'one',
      periodMs: HOUR_MS,
      deadlineMs: HOUR_MS,
      run: (signal, report) => {
        report({ done: 1, total: 7, what: 'pages' });
        signal.addEventListener('abort', () => (why = signal.reason));
        return signalled(signal);
      },
    };
    const run = runTask(task, options);
    await until(async () => (await listTasks(db)).some(({ progress }) => progress !== null), LIMIT_MS, 'no progress');
    assert.deepEqual((await record()).progress, { done: 1, total: 7, what: 'pages' });
    const renewals = async () => (await db.query('select leased_until from main.sync_task'))[0]?.['leased_until'];
    const first = await renewals();
    await until(async () => (await renewals()) > first, LIMIT_MS, 'the lease was not renewed');
    assert.deepEqual(await runTask(task, { ...options, force: true }), { kind: 'busy' });
    await db.query(`update main.sync_task set holder = 'somebody else'`);
    assert.deepEqual(await run, { kind: 'lost' });
    assert.match(String(why), /taken the task over/);
    assert.equal((await record()).lastEnded, null);
  });

  test('a primary that cannot be read is told once, and the tasks run when it can', async () => {
    await db.query('alter table main.sync_task rename to away');
    let runs = 0;
    start({ run: () => Promise.resolve((runs += 1)).then(() => DONE) });
    await until(() => warnings().length > 0, LIMIT_MS, 'nothing was said');
    await db.query('select pg_sleep(0.3)');
    assert.equal(warnings().length, 1);
    await db.query('alter table main.away rename to sync_task');
    await until(() => runs === 1, LIMIT_MS, 'it did not run');
  });
});

forEachEngine('processes that share the tasks', (engine) => {
  const LEASE_MS = 1_000;

  test('kill -9 of the one that runs a task: another runs it when the lease has run out', async () => {
    const settings = await engine.settings();
    const withDatabase = async <T>(work: (main: Database) => Promise<T>): Promise<T> => {
      const { main, close } = await openDatabases(readConfig({ ...settings }), createLog('silent'));
      try {
        return await work(main);
      } finally {
        await close();
      }
    };
    await withDatabase((main) => migrate(main, 'main'));
    const startVictim = () => {
      const child = spawn(process.execPath, [VICTIM, String(LEASE_MS)], {
        env: { PATH: process.env['PATH'], ...settings },
        stdio: ['ignore', 'pipe', 'inherit'],
      });
      let said = '';
      child.stdout.setEncoding('utf8').on('data', (chunk: string) => (said += chunk));
      return { child, begun: () => said === 'begun\n', closed: once(child, 'close') };
    };
    const first = startVictim();
    await until(first.begun, LIMIT_MS, 'the first did not begin');
    // On a server another process is there all the time; the embedded database has room for one.
    const second = engine.name === 'postgresql' ? startVictim() : null;
    if (second) {
      await withDatabase(async (main) => {
        const lease = async () => (await main.query('select holder, leased_until from main.sync_task'))[0];
        const before = await lease();
        const renewed = async () => (await lease())?.['leased_until'] > before?.['leased_until'];
        await until(renewed, LIMIT_MS, 'the lease was not renewed');
        assert.equal((await lease())?.['holder'], before?.['holder']);
      });
      assert.ok(!second.begun(), 'two run at once');
    }
    const killedAt = performance.now();
    first.child.kill('SIGKILL');
    await first.closed;
    const next = second ?? startVictim();
    await until(next.begun, LIMIT_MS, 'nobody took over');
    assert.ok(performance.now() - killedAt > LEASE_MS / 3, 'the lease was not waited for');
    next.child.kill('SIGTERM');
    assert.deepEqual(await next.closed, [0, null]);
    await withDatabase(async (main) => {
      const [task] = await listTasks(main);
      assert.deepEqual([task?.isRunning, task?.failures], [false, 0], 'stopped in good order');
    });
  });
});
