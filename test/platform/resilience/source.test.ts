// Tests the deadline and the breaker of a source. The reads succeed, fail or hang as each test needs.

import assert from 'node:assert/strict';
import type { TestContext } from 'node:test';
import { test } from 'node:test';
import { createLog } from '../../../src/platform/core/log.ts';
import { systemClock } from '../../../src/platform/core/clock.ts';
import { systemRandom } from '../../../src/platform/core/random.ts';
import { FAILURES_MAX } from '../../../src/platform/resilience/breaker.ts';
import { Source } from '../../../src/platform/resilience/source.ts';
import { until } from '../../support/until.ts';

const RETRY_MS = 30;
const LIMIT_MS = 5_000;
const SYSTEM = { clock: systemClock, random: systemRandom };

function start(t: TestContext, more: { timeoutMs?: number } = {}): { source: Source; logged: string[] } {
  const logged: string[] = [];
  const log = createLog('info', (line) => logged.push(line));
  const source = new Source({ ...SYSTEM, name: 'tested', timeoutMs: 1_000, retryMs: RETRY_MS, log, ...more });
  t.after(() => source.close());
  return { source, logged };
}

const fail = () => Promise.reject(new Error('out of order'));
const hang = () => new Promise<never>(() => undefined);

async function open(source: Source, work: () => Promise<unknown> = fail): Promise<void> {
  for (let failures = 0; failures < FAILURES_MAX; failures += 1) await source.read(work);
  assert.equal(source.state(), 'open');
}

test('the function of a read receives the shorter of two time limits: that of the source and that of the caller', async (t) => {
  const { source } = start(t);
  assert.deepEqual(await source.read((timeoutMs) => Promise.resolve(timeoutMs)), { ok: true, value: 1_000 });
  assert.deepEqual(await source.read((timeoutMs) => Promise.resolve(timeoutMs), 5), { ok: true, value: 5 });
  assert.deepEqual(await source.read((timeoutMs) => Promise.resolve(timeoutMs), 9_999), { ok: true, value: 1_000 });
});

test('a read that never ends fails at its deadline', async (t) => {
  const { source } = start(t, { timeoutMs: 20 });
  assert.deepEqual(await source.read(hang), { ok: false, reason: 'timeout' });
});

test('a read that rejects or throws resolves to a failed result', async (t) => {
  const { source, logged } = start(t);
  assert.deepEqual(await source.read(fail), { ok: false, reason: 'error' });
  const thrown = () => {
    throw new Error('at once');
  };
  assert.deepEqual(await source.read(thrown), { ok: false, reason: 'error' });
  assert.match(logged.join('\n'), /out of order[^]*at once/);
});

test('a read that fails after its deadline causes no unhandled rejection', async (t) => {
  const { source } = start(t, { timeoutMs: 5 });
  const pending = Promise.withResolvers<never>();
  assert.equal((await source.read(() => pending.promise)).ok, false);
  pending.reject(new Error('too late'));
  await new Promise((resolve) => setImmediate(resolve));
});

test('consecutive failures open the breaker, and a success restarts the count', async (t) => {
  const { source } = start(t);
  for (let round = 0; round < 3; round += 1) {
    for (let failures = 1; failures < FAILURES_MAX; failures += 1) await source.read(fail);
    assert.equal(source.state(), 'closed');
    assert.equal((await source.read(() => Promise.resolve(1))).ok, true);
  }
  await open(source);
});

test('while the breaker is open, a read fails without being run', async (t) => {
  const { source } = start(t);
  await open(source);
  let ran = false;
  const result = await source.read(() => {
    ran = true;
    return Promise.resolve(1);
  });
  assert.deepEqual(result, { ok: false, reason: 'open' });
  assert.equal(ran, false);
});

test('while the breaker is open, a read is tried in the background until it succeeds', async (t) => {
  const { source, logged } = start(t);
  let broken = true;
  let trials = 0;
  const read = () => {
    trials += 1;
    return broken ? fail() : Promise.resolve('value');
  };
  await open(source, read);
  const before = trials;
  await until(() => trials >= before + 2, LIMIT_MS, 'the read was not tried again');
  assert.equal(source.state(), 'open');
  broken = false;
  await until(() => source.state() === 'closed', LIMIT_MS, 'the source did not recover');
  assert.deepEqual(await source.read(read), { ok: true, value: 'value' });
  assert.equal(logged.filter((line) => line.includes('a source works again')).length, 1);
});

test('while its breaker is open, a source logs no failures', async (t) => {
  const { source, logged } = start(t);
  let trials = 0;
  await open(source, () => {
    trials += 1;
    return fail();
  });
  const before = logged.length;
  await until(() => trials > FAILURES_MAX + 3, LIMIT_MS, 'the read was not tried again');
  assert.equal(logged.length, before);
});

test('a trial runs the read that was requested last, so a read that always fails does not keep the breaker open', async (t) => {
  const { source } = start(t, { timeoutMs: 10 });
  await open(source, hang);
  assert.deepEqual(await source.read(() => Promise.resolve('easy')), { ok: false, reason: 'open' });
  await until(() => source.state() === 'closed', LIMIT_MS, 'the source did not recover');
});

test('a read that was in progress when the breaker opened closes the breaker when it succeeds', async (t) => {
  const { source } = start(t);
  const slow = Promise.withResolvers<string>();
  const reading = source.read(() => slow.promise);
  const trial = Promise.withResolvers<never>();
  let trials = 0;
  await open(source, () => {
    trials += 1;
    return trials > FAILURES_MAX ? trial.promise : fail();
  });
  await until(() => trials > FAILURES_MAX, LIMIT_MS, 'the read was not tried again');
  slow.resolve('at last');
  assert.deepEqual(await reading, { ok: true, value: 'at last' });
  assert.equal(source.state(), 'closed');
  // The trial that was in progress at that time has no further effect.
  trial.reject(new Error('still broken'));
  await new Promise((resolve) => setImmediate(resolve));
  assert.equal(source.state(), 'closed');
});

test('after close(), a source makes no trials in the background', async (t) => {
  const { source } = start(t);
  let trials = 0;
  await open(source, () => {
    trials += 1;
    return fail();
  });
  source.close();
  const before = trials;
  await source.read(fail);
  await source.read(fail);
  await source.read(fail);
  assert.equal(source.state(), 'closed');
  const probe = new Source({ ...SYSTEM, name: 'probe', timeoutMs: 100, retryMs: RETRY_MS, log: createLog('silent') });
  t.after(() => probe.close());
  let probes = 0;
  await open(probe, () => {
    probes += 1;
    return fail();
  });
  // The probe is another source, whose breaker opened later. If the closed source made trials, at least one of them would run before the
  // probe has made several trials.
  await until(() => probes > FAILURES_MAX + 2, LIMIT_MS, 'the probe was not tried again');
  assert.equal(trials, before);
});
