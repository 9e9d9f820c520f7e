// Tests how long the waits between retries are, and how the header Retry-After is read.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { backoffMs, parseRetryAfter, spreadMs } from '../../../src/platform/resilience/backoff.ts';

const share = fc.double({ min: 0, max: 1, noNaN: true });
const randomNumber = fc.double({ min: 0, max: 1, maxExcluded: true, noNaN: true });

test('a wait doubles with each failure up to its limit', () => {
  const backoff = { baseMs: 100, maxMs: 1_000, jitter: 0.5 };
  const waits = [1, 2, 3, 4, 5, 6, 1_000_000].map((failures) => backoffMs(failures, backoff, () => 0));
  assert.deepEqual(waits, [100, 200, 400, 800, 1_000, 1_000, 1_000]);
});

test('jitter shortens a wait by at most the given share of the wait', () => {
  fc.assert(
    fc.property(fc.integer({ min: 1, max: 100 }), share, randomNumber, (failures, jitter, random) => {
      const backoff = { baseMs: 100, maxMs: 1_000, jitter };
      const full = backoffMs(failures, backoff, () => 0);
      const wait = backoffMs(failures, backoff, () => random);
      return wait <= full && wait >= full * (1 - jitter);
    }),
  );
});

test('a spread lengthens a period by at most the given share of the period', () => {
  assert.equal(
    spreadMs(1_000, 0.1, () => 0),
    1_000,
  );
  assert.equal(
    spreadMs(1_000, 0.1, () => 0.5),
    1_050,
  );
});

test('Retry-After is read as seconds or as an HTTP date', () => {
  const now = Date.UTC(2026, 0, 1);
  assert.equal(parseRetryAfter('120', now), 120_000);
  assert.equal(parseRetryAfter('1.5', now), 1_500);
  assert.equal(parseRetryAfter(new Date(now + 60_000).toUTCString(), now), 60_000);
  assert.equal(parseRetryAfter(new Date(now - 60_000).toUTCString(), now), 0);
  for (const text of [null, '', '-1', 'soon', '2026-01-02', '1e9', 'Someday, later']) {
    assert.equal(parseRetryAfter(text, now), null, String(text));
  }
});
