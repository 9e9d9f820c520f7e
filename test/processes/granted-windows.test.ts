// Several serving processes count rate limits, each with the part of the limit that the supervisor grants it. In these tests the processes
// and the supervisor are objects in one process, and their messages arrive after random delays.

import assert from 'node:assert/strict';
import { setImmediate as turn } from 'node:timers/promises';
import { test } from 'node:test';
import fc from 'fast-check';
import type { CallTable, Link } from '../../src/processes/channel.ts';
import { Channel } from '../../src/processes/channel.ts';
import type { WindowPart, WindowRequest } from '../../src/processes/granted-windows.ts';
import { GrantedWindows } from '../../src/processes/granted-windows.ts';
import { GrantedRateLimiter } from '../../src/processes/granted-rate-limiter.ts';

const WINDOW_MS = 60_000;
const LIMIT_MS = 60_000;

type FromProcess = { take: { input: WindowRequest; output: WindowPart } };
type FromSupervisor = { giveBack: { input: { id: number; key: string }; output: number } };

/** `delays` returns for how many turns of the event loop the next message is on its way. */
function connect(processes: number, limit: number, delays: () => number) {
  const time = { now: 1_000 };
  const clocks = { clock: () => time.now, monotonic: () => time.now };
  let messages = 0;
  const toProcess: Channel<FromSupervisor, FromProcess>[] = [];
  const windows = new GrantedWindows<number>({
    monotonic: clocks.monotonic,
    processes,
    recall: (process, window) => toProcess[process - 1]?.call('giveBack', window) ?? Promise.reject(new Error('ended')),
    recallTimeoutMs: LIMIT_MS,
  });
  const limiters = Array.from({ length: processes }, (_, index) => {
    const [supervisorEnd, processEnd] = createLinks(() => {
      messages += 1;
      return delays();
    });
    toProcess.push(new Channel(supervisorEnd, { take: (request) => windows.take(index + 1, request) }));
    const channel: Channel<FromProcess, FromSupervisor> = new Channel<FromProcess, FromSupervisor>(processEnd, {
      giveBack: ({ id, key }) => limiter.giveBack(key, id),
    });
    const limiter = new GrantedRateLimiter({ list: limit }, clocks, (request) => channel.call('take', request));
    return limiter;
  });
  return { limiters, time, toProcess, messagesSent: () => messages };
}

/** Two ends of a connection. Messages of one direction arrive in the order in which they were sent. */
function createLinks(delays: () => number): [Link, Link] {
  const receivers: ((message: unknown) => void)[] = [];
  const toLink = (own: number, other: number): Link => {
    let previous = Promise.resolve();
    return {
      send: (message) => {
        const text = JSON.stringify(message);
        const turns = delays();
        previous = previous.then(async () => {
          for (let left = turns; left > 0; left -= 1) await turn();
          receivers[other]?.(JSON.parse(text));
        });
      },
      onMessage: (receive) => void (receivers[own] = receive),
    };
  };
  return [toLink(0, 1), toLink(1, 0)];
}

const passedOf = (results: readonly unknown[]): number => results.filter((result) => result === null).length;

test('all processes together admit exactly the limit, whichever processes the requests reach and however late messages arrive', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.integer({ min: 1, max: 4 }),
      fc.integer({ min: 0, max: 40 }),
      fc.array(fc.nat({ max: 3 }), { minLength: 1, maxLength: 120 }),
      fc.array(fc.nat({ max: 5 }), { minLength: 1, maxLength: 20 }),
      fc.array(fc.nat({ max: 4 }), { minLength: 1, maxLength: 20 }),
      async (processes, limit, targets, delays, pauses) => {
        let sent = 0;
        const { limiters, time } = connect(processes, limit, () => delays[(sent += 1) % delays.length] ?? 0);
        for (const length of [WINDOW_MS, WINDOW_MS]) {
          const counted: unknown[] = [];
          for (const [index, target] of targets.entries()) {
            counted.push(limiters[target % processes]?.count('list', 'client'));
            for (let left = pauses[index % pauses.length] ?? 0; left > 0; left -= 1) await turn();
          }
          assert.equal(passedOf(await Promise.all(counted)), Math.min(limit, targets.length));
          time.now += length;
        }
      },
    ),
    { numRuns: 200 },
  );
});

test('a rejection names the same end of the window in every process, and a client over its limit causes no messages', async () => {
  const { limiters, time, messagesSent } = connect(2, 3, () => 0);
  const count = async (index: number) => limiters[index]?.count('list', 'client');
  const results = [];
  for (let sent = 0; sent < 8; sent += 1) {
    results.push(await count(sent % 2));
    time.now += 10;
  }
  const rejected = results.filter((result) => result !== null && result !== undefined);
  assert.equal(rejected.length, 5);
  assert.deepEqual(new Set(rejected.map(({ resetAt }) => resetAt)), new Set([1_000 + WINDOW_MS]));
  const before = messagesSent();
  for (let sent = 0; sent < 100; sent += 1) assert.notEqual(await count(sent % 2), null);
  assert.equal(messagesSent(), before);
});

test('a window of 120 requests costs few messages, and other clients are counted separately', async () => {
  const { limiters, messagesSent } = connect(2, 120, () => 0);
  const counted = [];
  for (let sent = 0; sent < 200; sent += 1) counted.push(await limiters[sent % 2]?.count('list', 'client'));
  assert.equal(passedOf(counted), 120);
  assert.ok(messagesSent() <= 60, `${messagesSent()} messages`);
  assert.equal(await limiters[0]?.count('list', 'other'), null);
});

test('if all requests of a client reach one process, 100 requests under a limit of 120 cost two calls to the supervisor', async () => {
  const { limiters, messagesSent } = connect(8, 120, () => 0);
  for (let sent = 0; sent < 100; sent += 1) assert.equal(await limiters[0]?.count('list', 'client'), null);
  assert.equal(messagesSent(), 4);
});

test('after a second process has requested a part, both processes get smaller parts', async () => {
  const windows = new GrantedWindows<number>({
    monotonic: () => 1_000,
    processes: 2,
    recall: () => Promise.resolve(0),
    recallTimeoutMs: LIMIT_MS,
  });
  const take = async (process: number) =>
    (await windows.take(process, { key: 'list client', limit: 120, at: 1_000 })).requests;
  assert.deepEqual([await take(1), await take(1), await take(2), await take(1)], [90, 22, 4, 2]);
});

test('when a process ends, the other process can use the complete part of the ended process, so that no client is rejected early', async () => {
  const { limiters, toProcess } = connect(2, 100, () => 0);
  for (let sent = 0; sent < 10; sent += 1) assert.equal(await limiters[0]?.count('list', 'client'), null);
  toProcess[0]?.close();
  const counted = [];
  for (let sent = 0; sent < 120; sent += 1) counted.push(await limiters[1]?.count('list', 'client'));
  assert.equal(passedOf(counted), 100);
});

test('a process that is started again has no part of the windows of the ended process', async () => {
  const recalled: string[] = [];
  const windows = new GrantedWindows<string>({
    monotonic: () => 1_000,
    processes: 2,
    recall: (process) => {
      recalled.push(process);
      return process === 'ended' ? Promise.reject(new Error('ended')) : Promise.resolve(0);
    },
    recallTimeoutMs: LIMIT_MS,
  });
  const take = async (process: string) =>
    (await windows.take(process, { key: 'list client', limit: 4, at: 1_000 })).requests;
  assert.deepEqual([await take('ended'), await take('restarted'), await take('restarted')], [3, 1, 1]);
  assert.deepEqual(recalled, ['ended', 'restarted']);
});

test('a process that does not respond blocks no other process, and its granted requests count as used until it returns them', async () => {
  const givenBack = Promise.withResolvers<number>();
  const recall = (process: number) => (process === 1 ? givenBack.promise : Promise.resolve(0));
  const windows = new GrantedWindows<number>({ monotonic: () => 1_000, processes: 2, recall, recallTimeoutMs: 10 });
  const take = (process: number) => windows.take(process, { key: 'list client', limit: 4, at: 1_000 });
  assert.equal((await take(1)).requests, 3);
  assert.equal((await take(2)).requests, 1);
  assert.equal((await take(2)).requests, 0);
  givenBack.resolve(3);
  await turn();
  assert.equal((await take(2)).requests, 1);
});

test('a call to another process is rejected with the error message of its handler, and a call without a handler is rejected too', async () => {
  const [left, right] = createLinks(() => 0);
  type Calls = CallTable & { fail: { input: null; output: null }; unknown: { input: null; output: null } };
  const caller: Channel<Calls, CallTable> = new Channel<Calls, CallTable>(left, {});
  const handler = new Channel<CallTable, CallTable>(right, {
    fail: () => {
      throw new Error('no such thing');
    },
  });
  await assert.rejects(caller.call('fail', null), /no such thing/);
  await assert.rejects(caller.call('unknown', null), /there is no call unknown/);
  const waiting = caller.call('fail', null);
  caller.close();
  await assert.rejects(waiting, /has ended/);
  await assert.rejects(caller.call('fail', null), /is closed/);
  handler.close();
});
