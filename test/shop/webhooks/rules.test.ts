// Tests the pure rules of webhooks: how the result of an attempt changes its delivery and the health of its receiver.

import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { toWebhookBody } from '../../../src/shop/events.ts';
import type { AttemptResult } from '../../../src/shop/webhooks/attempt.ts';
import { judgeAttempt } from '../../../src/shop/webhooks/attempt.ts';
import { FAILING_MAX_MS, combineSigns, judgeHealth, toHealthSign } from '../../../src/shop/webhooks/health.ts';
import { NOW } from './fixtures.ts';

const resultOf = (more: Partial<AttemptResult>): AttemptResult => ({
  status: null,
  retryAfter: null,
  error: null,
  durationMs: 1,
  ...more,
});
const judge = (result: Partial<AttemptResult>, attempts = 0, random = 0) =>
  judgeAttempt(resultOf(result), { attempts, now: NOW, random: () => random });

describe('an attempt', () => {
  test('an attempt with a 2xx status and without an error is a success', () => {
    for (const status of [200, 204, 299])
      assert.deepEqual(judge({ status }), { state: 'delivered', dueAt: null, error: null });
    for (const status of [199, 300, 404, 500]) assert.equal(judge({ status }).state, 'pending');
    assert.match(judge({ status: 302 }).error ?? '', /redirects are not followed/);
    assert.equal(judge({ status: 200, error: 'the response was cut off' }).state, 'pending');
  });

  test('an attempt that fails is repeated, ten attempts in all, and the number of failed attempts determines the delay', () => {
    assert.equal(judge({ status: 500 }).dueAt, NOW + 5_000);
    assert.equal(judge({ status: 500 }, 0, 0.999).dueAt, NOW + 5_500);
    assert.equal(judge({ status: 500 }, 8).dueAt, NOW + 24 * 3_600_000);
    assert.deepEqual(judge({ status: 500 }, 9), {
      state: 'dead',
      dueAt: null,
      error: 'the receiver responded with status 500',
    });
  });

  test('an attempt that fails with Retry-After is repeated after this time, but at the earliest after its normal delay and at the latest after a day', () => {
    const dueInMs = (retryAfter: string, attempts = 0) =>
      (judge({ status: 503, retryAfter }, attempts).dueAt ?? NOW) - NOW;
    assert.equal(dueInMs('120'), 120_000);
    assert.equal(dueInMs('1'), 5_000);
    assert.equal(dueInMs('999999999'), 24 * 3_600_000);
    assert.equal(dueInMs(new Date(NOW + 60_000).toUTCString()), 60_000);
    assert.equal(dueInMs(new Date(NOW - 60_000).toUTCString()), 5_000);
    assert.equal(dueInMs('tomorrow'), 5_000);
  });
});

describe('a receiver', () => {
  const working = { enabled: true, failingSince: null };
  const failing = { enabled: true, failingSince: NOW };
  const disabled = { enabled: false, failingSince: NOW };

  test('a receiver counts as failing from its first failure on, and is disabled after five days of failures', () => {
    assert.deepEqual(judgeHealth(working, 'fails', NOW), { failingSince: NOW, disabledReason: null });
    assert.equal(judgeHealth(failing, 'fails', NOW + FAILING_MAX_MS - 1), null);
    const change = judgeHealth(failing, 'fails', NOW + FAILING_MAX_MS);
    assert.equal(change?.failingSince, NOW);
    assert.match(change?.disabledReason ?? '', /five days/);
  });

  test('a receiver no longer counts as failing after one success', () => {
    assert.deepEqual(judgeHealth(failing, 'works', NOW), { failingSince: null, disabledReason: null });
    assert.equal(judgeHealth(working, 'works', NOW), null);
    assert.deepEqual(judgeHealth(disabled, 'works', NOW), { failingSince: null, disabledReason: null });
  });

  test('a receiver that responds with 410 has its webhook disabled immediately', () => {
    assert.match(judgeHealth(working, 'gone', NOW)?.disabledReason ?? '', /410/);
    assert.equal(judgeHealth(disabled, 'gone', NOW), null);
    assert.equal(judgeHealth(disabled, 'fails', NOW + FAILING_MAX_MS), null);
  });

  test('of several attempts that end together, a 410 counts before a success, and a success before a failure', () => {
    assert.equal(toHealthSign(resultOf({ status: 410 })), 'gone');
    assert.equal(toHealthSign(resultOf({ status: 500 })), 'fails');
    assert.equal(toHealthSign(resultOf({ status: 204 })), 'works');
    assert.equal(combineSigns('fails', 'works'), 'works');
    assert.equal(combineSigns('works', 'gone'), 'gone');
    assert.equal(combineSigns('fails', 'fails'), 'fails');
  });
});

test('the body of a delivery contains the recorded data byte for byte', () => {
  const event = {
    id: 'evt_1',
    type: 'product.deleted',
    sequence: '9007199254740993',
    data: '{"id": 1.0}',
    createdAt: NOW,
  };
  assert.equal(
    toWebhookBody(event),
    `{"type":"product.deleted","timestamp":"${new Date(NOW).toISOString()}","sequence":9007199254740993,"data":{"id": 1.0}}`,
  );
});
