// The supervisor of serving processes that cannot serve.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { OperatorError } from '../../src/core/errors.ts';
import { createLog } from '../../src/core/log.ts';
import type { SupervisorOptions } from '../../src/processes/supervisor.ts';
import { Supervisor } from '../../src/processes/supervisor.ts';

const PROGRAM = fileURLToPath(new URL('./crashing-process.ts', import.meta.url));

const optionsOf = (logged: string[], ...args: string[]): SupervisorOptions => ({
  processes: 1,
  tasks: true,
  overrides: {},
  compileCache: null,
  program: [PROGRAM, ...args],
  log: createLog('info', (line) => logged.push(line)),
  random: () => 0,
});

test('processes that end again and again end the service, with the exit code of the last one', async () => {
  const logged: string[] = [];
  const supervisor = await Supervisor.start(optionsOf(logged));
  await assert.rejects(supervisor.failed, (error) => {
    assert.ok(error instanceof OperatorError);
    assert.match(error.message, /ended 5 times within a minute \(the last one with exit code 7\), so the service ends/);
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

test('a first process that cannot start ends the command with its message and exit code', async () => {
  await assert.rejects(Supervisor.start(optionsOf([], 'fails')), (error) => {
    assert.ok(error instanceof OperatorError);
    assert.deepEqual([error.message, error.exitCode], ['the port is taken', 2]);
    return true;
  });
});
