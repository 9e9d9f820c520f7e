// Tests DatabaseClock, with which the processes of a service follow the clock of the primary database.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { DatabaseClock } from '../../../src/platform/database/clock.ts';
import type { Row, Statements } from '../../../src/platform/database/port.ts';
import { createLog } from '../../../src/platform/core/log.ts';

const NOW = Date.UTC(2026, 5, 1);

/**
 * A database with a simulated clock. It reads the clock `delayMs` after a request for the time, and responds another `delayMs`
 * later. Time passes only during a request for the time and in `pass`.
 */
function createTimeServer() {
  const time = { monotonic: 1_000, server: NOW, delayMs: 0 };
  const pass = (ms: number) => {
    time.monotonic += ms;
    time.server += ms;
  };
  const query = async (sql: string): Promise<Row[]> => {
    if (!sql.includes('clock_timestamp')) return [];
    pass(time.delayMs);
    const at = new Date(time.server);
    pass(time.delayMs);
    return [{ at }];
  };
  const db = { within: () => ({ query }) as unknown as Statements };
  const lines: string[] = [];
  const log = createLog('warn', (line) => lines.push(line));
  return { time, pass, lines, start: () => DatabaseClock.start({ db, log, monotonic: () => time.monotonic }) };
}

const assertNear = (actual: number, expected: number, toleranceMs: number) =>
  assert.ok(Math.abs(actual - expected) <= toleranceMs, `${actual} is not within ${toleranceMs} ms of ${expected}`);

test('the clock has the time of the database, and continues between two readings', async () => {
  const server = createTimeServer();
  const clock = await server.start();
  assertNear(clock.now(), NOW, 1);
  server.pass(8_000);
  assertNear(clock.now(), NOW + 8_000, 1);
});

test('a slow response of the database does not move the clock', async () => {
  const server = createTimeServer();
  const clock = await server.start();
  server.time.delayMs = 2_000;
  await clock.adjust();
  assertNear(clock.now(), server.time.server, 1);
});

test('when the clock of the database is set, the clock of the service follows it', async () => {
  const server = createTimeServer();
  const clock = await server.start();
  for (const stepMs of [-10 * 60_000, 31 * 60_000]) {
    server.time.server += stepMs;
    await clock.adjust();
    assertNear(clock.now(), server.time.server, 2);
  }
  assert.equal(server.lines.filter((line) => line.includes('was set')).length, 2);
  await clock.adjust();
  assert.equal(server.lines.length, 2);
});
