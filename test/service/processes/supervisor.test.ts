// Tests what the supervisor does when serving processes end, hang or cannot start.

import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import path from 'node:path';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { OperatorError } from '../../../src/platform/core/errors.ts';
import { createLog } from '../../../src/platform/core/log.ts';
import type { SupervisorOptions } from '../../../src/service/processes/supervisor.ts';
import { Supervisor } from '../../../src/service/processes/supervisor.ts';
import { temporaryDirectory } from '../../support/temporary-directory.ts';
import { until } from '../../support/until.ts';

const PROGRAM = fileURLToPath(new URL('./tested-process.ts', import.meta.url));
const ENDING_SUPERVISOR = fileURLToPath(new URL('./ending-supervisor.ts', import.meta.url));
const LIMIT_MS = 60_000;

const optionsOf = (
  logged: string[],
  mode: 'serves' | 'waits' | 'crashes' | 'crashes-once' | 'hangs' | 'fails',
  file = '',
): SupervisorOptions => ({
  processes: 1,
  tasks: true,
  overrides: {},
  compileCache: null,
  program: [PROGRAM, mode, file],
  log: createLog('info', (line) => logged.push(line)),
  random: () => 0,
  signal: new AbortController().signal,
});

test('when processes end again and again, the service ends, and the message has the exit code of the last process', async () => {
  const logged: string[] = [];
  const supervisor = await Supervisor.start(optionsOf(logged, 'crashes'));
  await assert.rejects(supervisor.failed, (error) => {
    assert.ok(error instanceof OperatorError);
    assert.match(
      error.message,
      /ended or failed to start 5 times within a minute \(the last one with exit code 7\), so the service ends/,
    );
    return true;
  });
  await supervisor.stop(0);
  const restarts = logged.map((line) => JSON.parse(line)).filter(({ code }) => code === 7);
  // Each wait is twice as long as the one before.
  assert.deepEqual(
    restarts.map(({ inMs, servingProcess }) => [inMs, servingProcess]),
    [
      [100, 1],
      [200, 1],
      [400, 1],
      [800, 1],
    ],
  );
});

test('if the first process cannot start, the command ends with the message and exit code of this process', async () => {
  await assert.rejects(Supervisor.start(optionsOf([], 'fails')), (error) => {
    assert.ok(error instanceof OperatorError);
    assert.deepEqual([error.message, error.exitCode], ['the port is taken', 2]);
    return true;
  });
});

test('a process that hangs is killed and started again', async () => {
  const logged: string[] = [];
  const supervisor = await Supervisor.start({ ...optionsOf(logged, 'hangs'), checkIntervalMs: 20 });
  const isRestarted = () => supervisor.reportOnProcesses().some(({ restarts }) => restarts > 0);
  await until(isRestarted, LIMIT_MS, 'the process was not started again');
  await supervisor.stop(0);
  assert.match(logged.join(''), /a serving process does not respond, and is killed/);
  assert.match(logged.join(''), /"signal":"SIGKILL"/);
});

test('processes that are killed because they hang are started again any number of times', async () => {
  const logged: string[] = [];
  const supervisor = await Supervisor.start({ ...optionsOf(logged, 'hangs'), checkIntervalMs: 20 });
  const isRestarted = () => supervisor.reportOnProcesses().some(({ restarts }) => restarts > 5);
  await Promise.race([until(isRestarted, LIMIT_MS, 'the process was not started again'), supervisor.failed]);
  await supervisor.stop(0);
});

test('no serving process outlives the supervisor, not even a process that hangs', () => {
  // `spawnSync` waits until the output is closed, and so until every process that has inherited the output has ended.
  const run = spawnSync(process.execPath, [ENDING_SUPERVISOR], { encoding: 'utf8', timeout: LIMIT_MS });
  const child = Number(run.stdout);
  assert.ok(child > 0, run.stderr);
  if (run.error) process.kill(child, 'SIGKILL');
  assert.deepEqual([run.error, run.status], [undefined, 0]);
});

// For a program that does not exist, Node emits an error, as when the system has no resources for a process. For a malformed name, Node
// throws.
for (const unusable of ['/nowhere/node', '\0']) {
  test(`if a process cannot be created, the supervisor creates it later (${JSON.stringify(unusable)})`, async (t) => {
    const logged: string[] = [];
    const { execPath } = process;
    t.after(() => (process.execPath = execPath));
    process.execPath = unusable;
    const starting = Supervisor.start(optionsOf(logged, 'serves'));
    await until(() => logged.join('').includes('cannot be created'), LIMIT_MS, 'the failure was not logged');
    process.execPath = execPath;
    const supervisor = await starting;
    const [report] = supervisor.reportOnProcesses();
    assert.equal(report?.state, 'serving');
    assert.ok((report?.restarts ?? 0) > 0);
    await supervisor.stop(0);
  });
}

test('when a stop is requested during the start, `Supervisor.start` resolves, and the processes run until the caller stops them', async () => {
  const file = path.join(temporaryDirectory(), 'waits');
  const stop = new AbortController();
  const starting = Supervisor.start({ ...optionsOf([], 'waits', file), processes: 2, signal: stop.signal });
  await until(() => existsSync(file), LIMIT_MS, 'the second process was not created');
  stop.abort();
  const supervisor = await starting;
  const states = supervisor.reportOnProcesses().map(({ state }) => state);
  assert.deepEqual(states, ['serving', 'starting']);
  await supervisor.stop(0);
});

test('the service continues if each of five processes ends once', async () => {
  const file = path.join(temporaryDirectory(), 'crashed');
  const supervisor = await Supervisor.start({ ...optionsOf([], 'crashes-once', file), processes: 5 });
  const areRestarted = () =>
    supervisor.reportOnProcesses().every(({ state, restarts }) => state === 'serving' && restarts === 1);
  await Promise.race([until(areRestarted, LIMIT_MS, 'the processes were not started again'), supervisor.failed]);
  await supervisor.stop(0);
});
