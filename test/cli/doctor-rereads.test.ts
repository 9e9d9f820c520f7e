// The check of `mercat doctor` for blocks that only one endpoint of a chain has served.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { fail, ok } from '../../src/cli/doctor/findings.ts';
import { judgeRereads } from '../../src/cli/doctor/rereads.ts';

const SINCE = Date.UTC(2026, 0, 1);
const MINUTE_MS = 60_000;
const since = new Date(SINCE).toISOString();
const ranges = [7, 20, 30, 40, 50, 60].map((from) => ({ from, to: from === 7 ? 7 : from + 2, since }));
const outside = [
  ok('ethereum endpoint 1 of 2', 'it responds in 3 ms'),
  fail('ethereum endpoint 2 of 2', 'it cannot be reached', 'see RPC_URL_ETHEREUM'),
  fail('base endpoint 1 of 2', 'it cannot be reached', 'see RPC_URL_BASE'),
];

test('a chain without such blocks has no finding', () => {
  assert.deepEqual(judgeRereads([{ chain: 'ethereum', toReadAgain: [] }], { outside, now: SINCE }), []);
});

test('blocks that have waited for a short time are named', () => {
  const now = SINCE + 9 * MINUTE_MS;
  const [finding] = judgeRereads([{ chain: 'ethereum', toReadAgain: ranges }], { outside, now });
  assert.equal(finding?.level, 'ok');
  // The stored ranges do not tell which of the two it was.
  assert.match(finding?.message ?? '', /only one endpoint served them or an audit found wrong data/);
  assert.match(finding?.message ?? '', /: 7, 20 to 22, 30 to 32, 40 to 42, 50 to 52 and 1 further ranges$/);
});

test('blocks that have waited for ten minutes are a warning that names the endpoints of their chain that do not respond', () => {
  const now = SINCE + 10 * MINUTE_MS;
  const [finding, ...others] = judgeRereads([{ chain: 'ethereum', toReadAgain: ranges }], { outside, now });
  assert.deepEqual([finding?.level, others], ['warn', []]);
  assert.match(finding?.message ?? '', /these do not respond as they should: ethereum endpoint 2 of 2$/);
  const [agreeing] = judgeRereads([{ chain: 'polygon', toReadAgain: ranges }], { outside, now });
  assert.match(agreeing?.message ?? '', /all endpoints respond now$/);
});
