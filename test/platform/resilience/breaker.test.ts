// Tests the states of the circuit breaker. The tests control the clock and the random source.

import assert from 'node:assert/strict';
import { AsyncLocalStorage } from 'node:async_hooks';
import type { TestContext } from 'node:test';
import { describe, test } from 'node:test';
import { BackgroundTrials, CircuitBreaker, FAILURES_MAX } from '../../../src/platform/resilience/breaker.ts';

function start(overrides: { random?: number; failuresMax?: number } = {}) {
  const time = { now: 1_000_000 };
  const { random = 0, ...options } = overrides;
  const breaker = new CircuitBreaker({
    openMs: 100,
    openMaxMs: 350,
    clock: () => time.now,
    random: () => random,
    ...options,
  });
  return { breaker, time };
}

function fail(breaker: CircuitBreaker, times = FAILURES_MAX): void {
  for (let failures = 0; failures < times; failures += 1) breaker.failed();
}

describe('a closed breaker', () => {
  test('a closed breaker opens after `failuresMax` consecutive failures', () => {
    const { breaker } = start();
    fail(breaker, FAILURES_MAX - 1);
    assert.deepEqual([breaker.state(), breaker.failures(), breaker.enter()], ['closed', 2, 'yes']);
    assert.equal(breaker.failed(), true);
    assert.deepEqual([breaker.state(), breaker.remainingMs(), breaker.enter()], ['open', 100, 'no']);
  });

  test('a success restarts the failure count of a closed breaker', () => {
    const { breaker } = start();
    fail(breaker, FAILURES_MAX - 1);
    assert.equal(breaker.succeeded(), false);
    fail(breaker, FAILURES_MAX - 1);
    assert.equal(breaker.state(), 'closed');
  });

  test('a failure with `opens` opens the breaker immediately, for at least `leastMs`', () => {
    const { breaker, time } = start();
    assert.equal(breaker.failed({ opens: true, leastMs: 5_000 }), true);
    assert.equal(breaker.remainingMs(), 5_000);
    time.now += 4_999;
    assert.equal(breaker.enter(), 'no');
    time.now += 1;
    assert.equal(breaker.enter(), 'trial');
  });
});

describe('an open breaker', () => {
  test('an open breaker lets one call through as a trial when its open time is over', () => {
    const { breaker, time } = start();
    fail(breaker);
    time.now += 99;
    assert.equal(breaker.enter(), 'no');
    time.now += 1;
    assert.deepEqual([breaker.enter(), breaker.enter(), breaker.state()], ['trial', 'no', 'trial']);
    assert.equal(breaker.succeeded(), true);
    assert.deepEqual([breaker.state(), breaker.failures(), breaker.enter()], ['closed', 0, 'yes']);
  });

  test('the open time doubles after each failed trial up to `openMaxMs`', () => {
    const { breaker, time } = start();
    fail(breaker);
    const waits = [];
    for (let trials = 0; trials < 4; trials += 1) {
      waits.push(breaker.remainingMs());
      time.now += breaker.remainingMs();
      assert.equal(breaker.enter(), 'trial');
      assert.equal(breaker.failed(), false, 'a failed trial was counted as a new opening');
    }
    assert.deepEqual(waits, [100, 200, 350, 350]);
    breaker.succeeded();
    fail(breaker);
    assert.equal(breaker.remainingMs(), 100);
  });

  test('the open time is not extended when a call that began before the opening fails', () => {
    const { breaker, time } = start();
    fail(breaker);
    time.now += 50;
    assert.equal(breaker.failed(), false);
    assert.equal(breaker.remainingMs(), 50);
  });

  test('after the clock is set back, an open breaker stays open for one more open time', () => {
    const { breaker, time } = start();
    fail(breaker);
    time.now -= 600_000;
    assert.equal(breaker.remainingMs(), 100);
    time.now += 100;
    assert.equal(breaker.enter(), 'trial');
  });

  test('an open breaker closes when a call that began before the opening succeeds', () => {
    const { breaker } = start();
    fail(breaker);
    assert.equal(breaker.succeeded(), true);
    assert.equal(breaker.enter(), 'yes');
  });

  test('jitter shortens the open time', () => {
    const { breaker } = start({ random: 0.5 });
    fail(breaker);
    assert.equal(breaker.remainingMs(), 90);
  });
});

test('after an abandoned trial the next call becomes the trial', () => {
  const { breaker, time } = start();
  fail(breaker);
  time.now += 100;
  assert.equal(breaker.enter(), 'trial');
  breaker.abandoned();
  assert.deepEqual([breaker.state(), breaker.enter()], ['open', 'trial']);
});

test('an abandoned call of a closed breaker does not change its state', () => {
  const { breaker } = start();
  fail(breaker, 1);
  breaker.abandoned();
  assert.deepEqual([breaker.state(), breaker.failures()], ['closed', 1]);
});

describe('trials in the background', () => {
  function startTrials(t: TestContext, attempt: (breaker: CircuitBreaker) => Promise<void>) {
    t.mock.timers.enable({ apis: ['setTimeout'] });
    const { breaker } = start();
    let attempts = 0;
    const trials = new BackgroundTrials(breaker, () => {
      attempts += 1;
      return attempt(breaker);
    });
    const pass = async (ms: number) => {
      t.mock.timers.tick(ms);
      await new Promise((resolve) => setImmediate(resolve));
    };
    fail(breaker);
    trials.start();
    return { breaker, trials, pass, attempts: () => attempts };
  }

  test('a trial in the background does not run in the async context of the request that started it', async () => {
    const requests = new AsyncLocalStorage<string>();
    const options = { openMs: 1, openMaxMs: 1, clock: () => performance.now(), random: () => 0 };
    const breaker = new CircuitBreaker(options);
    const tried = Promise.withResolvers<unknown>();
    const trials = new BackgroundTrials(breaker, async () => {
      breaker.succeeded();
      tried.resolve(requests.getStore());
    });
    fail(breaker);
    requests.run('a', () => trials.start());
    const waiting = setTimeout(() => undefined, 60_000);
    assert.equal(await tried.promise, undefined);
    clearTimeout(waiting);
  });

  test('trials in the background are repeated until one succeeds, each after the open time of the breaker', async (t) => {
    let isBack = false;
    const { breaker, pass, attempts } = startTrials(t, async (tried) => {
      assert.equal(tried.state(), 'trial');
      if (isBack) tried.succeeded();
    });
    await pass(99);
    assert.equal(attempts(), 0);
    await pass(1);
    assert.deepEqual([attempts(), breaker.state()], [1, 'open']);
    await pass(199);
    assert.equal(attempts(), 1);
    isBack = true;
    await pass(1);
    assert.deepEqual([attempts(), breaker.state()], [2, 'closed']);
    await pass(10_000);
    assert.equal(attempts(), 2);
  });

  test('no trial is made after a call in progress has closed the breaker', async (t) => {
    const { breaker, pass, attempts } = startTrials(t, async () => undefined);
    breaker.succeeded();
    await pass(10_000);
    assert.deepEqual([attempts(), breaker.state()], [0, 'closed']);
  });

  test('a trial does not change the state of a breaker that was closed during the trial', async (t) => {
    const trial = Promise.withResolvers<void>();
    const { breaker, pass } = startTrials(t, () => trial.promise);
    await pass(100);
    breaker.succeeded();
    trial.resolve();
    await pass(0);
    assert.deepEqual([breaker.state(), breaker.failures()], ['closed', 0]);
  });

  test('when a call in progress fails during a trial, another trial follows', async (t) => {
    const trial = Promise.withResolvers<void>();
    const { breaker, pass, attempts } = startTrials(t, () => trial.promise);
    await pass(100);
    assert.equal(breaker.state(), 'trial');
    breaker.failed();
    trial.resolve();
    await pass(0);
    await pass(200);
    assert.equal(attempts(), 2, 'no second trial was made, so without callers the breaker would stay open for ever');
  });

  test('stopped trials cannot be started again', async (t) => {
    const { trials, pass, attempts } = startTrials(t, async () => undefined);
    await pass(100);
    trials.stop();
    trials.start();
    await pass(10_000);
    assert.equal(attempts(), 1);
  });
});
