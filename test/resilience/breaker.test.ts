// The steps of the circuit breaker, with a clock and randomness of the test.

import assert from 'node:assert/strict';
import type { TestContext } from 'node:test';
import { describe, test } from 'node:test';
import { BackgroundTrials, CircuitBreaker, FAILURES_MAX } from '../../src/resilience/breaker.ts';

function start(more: { random?: number; failuresMax?: number } = {}) {
  const time = { now: 1_000_000 };
  const { random = 0, ...options } = more;
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
  test('lets every call through, and opens after failures in a row', () => {
    const { breaker } = start();
    fail(breaker, FAILURES_MAX - 1);
    assert.deepEqual([breaker.state(), breaker.failures(), breaker.enter()], ['closed', 2, 'yes']);
    assert.equal(breaker.failed(), true);
    assert.deepEqual([breaker.state(), breaker.remainingMs(), breaker.enter()], ['open', 100, 'no']);
  });

  test('counts anew after a success', () => {
    const { breaker } = start();
    fail(breaker, FAILURES_MAX - 1);
    assert.equal(breaker.succeeded(), false);
    fail(breaker, FAILURES_MAX - 1);
    assert.equal(breaker.state(), 'closed');
  });

  test('opens at once after a failure that says so, and for as long as the other side demanded', () => {
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
  test('lets one call through as the trial when its time is over', () => {
    const { breaker, time } = start();
    fail(breaker);
    time.now += 99;
    assert.equal(breaker.enter(), 'no');
    time.now += 1;
    assert.deepEqual([breaker.enter(), breaker.enter(), breaker.state()], ['trial', 'no', 'trial']);
    assert.equal(breaker.succeeded(), true);
    assert.deepEqual([breaker.state(), breaker.failures(), breaker.enter()], ['closed', 0, 'yes']);
  });

  test('is open twice as long after each failed trial, up to its limit, and as at first after a success', () => {
    const { breaker, time } = start();
    fail(breaker);
    const waits = [];
    for (let trials = 0; trials < 4; trials += 1) {
      waits.push(breaker.remainingMs());
      time.now += breaker.remainingMs();
      assert.equal(breaker.enter(), 'trial');
      assert.equal(breaker.failed(), false, 'it was not closed');
    }
    assert.deepEqual(waits, [100, 200, 350, 350]);
    breaker.succeeded();
    fail(breaker);
    assert.equal(breaker.remainingMs(), 100);
  });

  test('is not open longer for calls that were under way when it opened', () => {
    const { breaker, time } = start();
    fail(breaker);
    time.now += 50;
    assert.equal(breaker.failed(), false);
    assert.equal(breaker.remainingMs(), 50);
  });

  test('is closed by the success of a call that was under way when it opened', () => {
    const { breaker } = start();
    fail(breaker);
    assert.equal(breaker.succeeded(), true);
    assert.equal(breaker.enter(), 'yes');
  });

  test('waits at most its own time when the clock is set back', () => {
    const { breaker, time } = start();
    fail(breaker);
    time.now -= 3_600_000;
    assert.equal(breaker.remainingMs(), 100);
  });

  test('is open for less than its time by the jitter, never for more', () => {
    const { breaker } = start({ random: 0.5 });
    fail(breaker);
    assert.equal(breaker.remainingMs(), 90);
  });
});

test('a trial that is given up leaves the next one to the next caller', () => {
  const { breaker, time } = start();
  fail(breaker);
  time.now += 100;
  assert.equal(breaker.enter(), 'trial');
  breaker.abandoned();
  assert.deepEqual([breaker.state(), breaker.enter()], ['open', 'trial']);
});

test('giving up a call of a closed breaker changes nothing', () => {
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

  test('go on, each after the time that the breaker is open, until one succeeds', async (t) => {
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

  test('are not made once a call that was under way has closed the breaker', async (t) => {
    const { breaker, pass, attempts } = startTrials(t, async () => undefined);
    breaker.succeeded();
    await pass(10_000);
    assert.deepEqual([attempts(), breaker.state()], [0, 'closed']);
  });

  test('do not count when the breaker was closed meanwhile', async (t) => {
    const under = Promise.withResolvers<void>();
    const { breaker, pass } = startTrials(t, () => under.promise);
    await pass(100);
    breaker.succeeded();
    under.resolve();
    await pass(0);
    assert.deepEqual([breaker.state(), breaker.failures()], ['closed', 0]);
  });

  test('end when they are stopped', async (t) => {
    const { trials, pass, attempts } = startTrials(t, async () => undefined);
    await pass(100);
    trials.stop();
    trials.start();
    await pass(10_000);
    assert.equal(attempts(), 1);
  });
});
