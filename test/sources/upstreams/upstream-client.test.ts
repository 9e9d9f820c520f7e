// Tests the client of HTTP upstreams with a local server that fails on demand.

import assert from 'node:assert/strict';
import { once } from 'node:events';
import { connect } from 'node:net';
import type { TestContext } from 'node:test';
import { test } from 'node:test';
import { JsonNumber } from '../../../src/platform/core/json-text.ts';
import { createLog } from '../../../src/platform/core/log.ts';
import type { Budget } from '../../../src/sources/upstreams/budget.ts';
import { ProcessBudget } from '../../../src/sources/upstreams/budget.ts';
import { parseExactJson } from '../../../src/sources/upstreams/exact-json.ts';
import type { UpstreamOptions } from '../../../src/sources/upstreams/upstream-client.ts';
import { UpstreamClient, toPath, UpstreamFailure } from '../../../src/sources/upstreams/upstream-client.ts';
import type { ReplayFault } from '../../support/replay/replay.ts';
import { REPLAY_FAULTS, startReplayServer } from '../../support/replay/replay.ts';

const HOUR_MS = 3_600_000;
const TIMEOUT_MS = 300;
/** This time limit only ends a test that hangs. No test expects a certain speed. */
const HANG_MS = 30_000;
const SECRET = 'key-7f3a';

type StartOptions = Partial<UpstreamOptions> & { hourlyBudget?: number };

async function start(t: TestContext, { hourlyBudget, ...options }: StartOptions = {}) {
  let now = Date.parse('2026-09-01T00:00:00Z');
  const replay = await startReplayServer(t, [
    {
      path: /\/v1\/things\/(?<name>[^/]+)/,
      origin: 'schema',
      answer: ({ groups }) => ({ name: groups['name'], list: [1] }),
    },
    {
      path: /\/v1\/amounts/,
      origin: 'schema',
      answer: () => '{"raw":12345678901234567890,"price":0.21618999999999997}',
    },
    {
      path: /\/v1\/query/,
      origin: 'schema',
      answer: ({ query, headers }) => ({ query: query.toString(), key: headers['x-api-key'] }),
    },
    {
      method: 'POST',
      path: /\/rpc/,
      origin: 'schema',
      answer: ({ body, query }) => ({ body: JSON.parse(body) as unknown, query: query.toString() }),
    },
  ]);
  const upstream = new UpstreamClient({
    name: 'things',
    baseUrl: replay.url,
    headers: { 'x-api-key': SECRET },
    timeoutMs: TIMEOUT_MS,
    log: createLog('silent'),
    clock: () => now,
    random: () => 0.5,
    retryMs: 1,
    ...(hourlyBudget !== undefined && { budget: new ProcessBudget({ perHour: hourlyBudget, clock: () => now }) }),
    ...options,
  });
  return { replay, upstream, pass: (ms: number) => (now += ms), now: () => now };
}

async function failureOf(promise: Promise<unknown>): Promise<UpstreamFailure> {
  const error = await promise.then(
    () => assert.fail('the call did not fail'),
    (thrown: unknown) => thrown,
  );
  assert.ok(error instanceof UpstreamFailure, String(error));
  return error;
}

const things = (upstream: UpstreamClient, options = {}) => upstream.getJson('/v1/things/one', {}, options);

test('a number in a response keeps every digit', async (t) => {
  const { upstream } = await start(t);
  const response = (await upstream.getJson('/v1/amounts')) as Record<string, JsonNumber>;
  assert.equal(response['raw']?.text, '12345678901234567890');
  assert.equal(response['price']?.text, '0.21618999999999997');
});

test('query parameters and keys are sent, including repeated parameters and parameters of the base URL', async (t) => {
  const { upstream, replay } = await start(t);
  const response = (await upstream.getJson('/v1/query', {
    'a[]': ['x y', 'z'],
    n: 7,
    none: null,
    un: undefined,
  })) as object;
  assert.deepEqual({ ...response }, { query: 'a%5B%5D=x+y&a%5B%5D=z&n=7', key: SECRET });
  const withKey = new UpstreamClient({
    name: 'rpc',
    baseUrl: `${replay.url}/rpc?api-key=${SECRET}`,
    timeoutMs: TIMEOUT_MS,
    log: createLog('silent'),
    clock: Date.now,
    random: () => 0.5,
  });
  const posted = (await withKey.postJson('', { method: 'getAsset' })) as Record<string, unknown>;
  assert.deepEqual({ ...posted }, { body: { method: 'getAsset' }, query: `api-key=${SECRET}` });
});

test('a value in the path is encoded as a single segment', () => {
  assert.equal(toPath('v1', 'a/b', 'ü?#'), '/v1/a%2Fb/%C3%BC%3F%23');
  for (const segment of ['', '.', '..']) assert.throws(() => toPath('v1', segment));
});

test('after a server error or a broken connection, the request is retried within the call', async (t) => {
  const { upstream, replay } = await start(t);
  for (const fault of ['server-error', 'reset', 'truncated'] as const) {
    replay.reset();
    replay.fail(fault, { times: 2 });
    assert.equal(((await things(upstream)) as Record<string, unknown>)['name'], 'one', fault);
    assert.equal(replay.count(), 3, fault);
  }
  assert.equal(upstream.status().retries, 6);
  replay.reset();
  replay.fail('server-error');
  assert.equal((await failureOf(things(upstream))).reason, 'server-error');
  assert.equal(replay.count(), 3, 'there were not exactly two retries');
});

test('a request that the server rejects is not retried', async (t) => {
  const { upstream, replay } = await start(t);
  replay.fail('not-found');
  for (let call = 0; call < 5; call += 1) {
    const failure = await failureOf(things(upstream));
    assert.deepEqual([failure.reason, failure.status], ['not-found', 404]);
  }
  assert.equal(replay.count(), 5);
  assert.equal(upstream.status().breaker, 'closed');
});

test('no call is sent before the time in Retry-After', async (t) => {
  const live = await start(t, { clock: Date.now });
  live.replay.fail('too-many-requests', { times: 1, retryAfter: '1' });
  const begun = performance.now();
  await things(live.upstream);
  assert.ok(performance.now() - begun >= 990);
  const { upstream, replay, now } = await start(t);
  replay.fail('too-many-requests', { times: 1, retryAfter: '86400' });
  const failure = await failureOf(things(upstream));
  assert.deepEqual(
    [failure.reason, failure.retryAfterMs],
    ['rate-limited', 15 * 60_000],
    'the pause is not a quarter of an hour',
  );
  assert.equal((await failureOf(things(upstream))).reason, 'rate-limited');
  assert.equal(replay.count(), 1, 'the second call was sent');
  assert.equal(upstream.status().breaker, 'closed', 'the breaker opened although the upstream responded');
  assert.equal(upstream.status().lastFailureAt, now());
  assert.equal(upstream.status().refused, 1);
});

test('if Retry-After has a date, no call is sent before this date', async (t) => {
  const { upstream, replay, now, pass } = await start(t);
  const date = new Date(now() + 5 * 60_000).toUTCString();
  replay.fail('too-many-requests', { times: 1, retryAfter: date });
  assert.equal((await failureOf(things(upstream))).retryAfterMs, 5 * 60_000);
  pass(5 * 60_000);
  await things(upstream);
});

const REASONS: Partial<Record<ReplayFault, string>> = {
  hang: 'timeout',
  'hang-in-body': 'timeout',
  drip: 'timeout',
  reset: 'unreachable',
  truncated: 'unreachable',
  redirect: 'redirected',
  'too-many-requests': 'rate-limited',
  'server-error': 'server-error',
  unauthorized: 'unauthorized',
  'not-found': 'not-found',
  'not-json': 'malformed',
  'not-utf8': 'malformed',
  empty: 'malformed',
  deep: 'malformed',
  'gzip-bomb': 'too-large',
};

test('under every fault a call ends in time, and its error names neither the URL nor the key', async (t) => {
  const { upstream, replay } = await start(t, { breakerOpenMs: 0 });
  // On a busy machine, a large response takes longer to read than the short deadline allows.
  const patient = new UpstreamClient({
    name: 'things',
    baseUrl: replay.url,
    headers: { 'x-api-key': SECRET },
    timeoutMs: HANG_MS,
    breakerOpenMs: 0,
    log: createLog('silent'),
    clock: Date.now,
    random: () => 0.5,
  });
  for (const fault of REPLAY_FAULTS) {
    replay.fail(fault, { ms: 100 });
    const begun = performance.now();
    const reason = REASONS[fault];
    if (reason === undefined) await things(upstream);
    else {
      const failure = await failureOf(things(reason === 'too-large' ? patient : upstream));
      assert.equal(failure.reason, reason, fault);
      assert.doesNotMatch(failure.message, /127|key|http/);
    }
    assert.ok(performance.now() - begun < HANG_MS, fault);
  }
  replay.heal();
  await things(upstream);
  assert.equal(upstream.status().breaker, 'closed');
});

test('a response that decompresses to a quarter of a gigabyte is aborted at the size limit', async (t) => {
  const { upstream, replay } = await start(t, { timeoutMs: 10_000 });
  replay.fail('gzip-bomb');
  await failureOf(things(upstream));
  const before = process.memoryUsage.rss();
  let peak = 0;
  const watch = setInterval(() => (peak = Math.max(peak, process.memoryUsage.rss())), 2);
  await failureOf(things(upstream));
  clearInterval(watch);
  assert.ok(peak - before < 64 * 2 ** 20, `${Math.round((peak - before) / 2 ** 20)} MiB were held`);
});

test('after three failed calls the breaker opens', async (t) => {
  const { upstream, replay, pass, now } = await start(t, { breakerOpenMs: 5_000, breakerOpenMaxMs: 30_000 });
  replay.fail('not-json');
  for (let call = 0; call < 3; call += 1) await failureOf(things(upstream));
  assert.deepEqual([upstream.status().breaker, upstream.status().failures], ['open', 3]);
  const sent = replay.count();
  const refused = await failureOf(things(upstream));
  assert.equal(refused.reason, 'breaker-open');
  assert.ok((refused.retryAfterMs ?? 0) > 0 && (refused.retryAfterMs ?? 0) <= 5_000);
  assert.equal(upstream.status().restsUntil, now() + (refused.retryAfterMs ?? 0));
  assert.equal(replay.count(), sent);

  pass(5_000);
  replay.fail('server-error');
  const reasons = await Promise.all([1, 2, 3].map(async () => (await failureOf(things(upstream))).reason));
  assert.deepEqual(reasons.toSorted(), ['breaker-open', 'breaker-open', 'server-error']);
  assert.equal(replay.count(), sent + 1, 'the trial request was retried');
  pass(5_000);
  assert.equal(
    (await failureOf(things(upstream))).reason,
    'breaker-open',
    'the breaker did not stay open longer the second time',
  );

  replay.heal();
  pass(25_000);
  await things(upstream);
  assert.deepEqual([upstream.status().breaker, upstream.status().failures], ['closed', 0]);
  assert.equal(upstream.status().lastSuccessAt, now());
});

test('in an outage of an hour about four requests a minute are sent', async (t) => {
  const { upstream, replay, pass } = await start(t);
  replay.fail('not-json');
  for (let second = 0; second < 3_600; second += 1) {
    await failureOf(things(upstream));
    pass(1_000);
  }
  assert.ok(replay.count() < 260, `${replay.count()} requests`);
  replay.heal();
  let waited = 0;
  while (upstream.status().breaker !== 'closed') {
    await things(upstream).catch(() => pass(1_000));
    waited += 1;
  }
  assert.ok(waited <= 60, `${waited} s`);
});

test('an aborted call does not count as a failure of the upstream', async (t) => {
  const { upstream, replay } = await start(t, { timeoutMs: 60_000 });
  replay.fail('hang');
  for (let call = 0; call < 4; call += 1) {
    const failure = await failureOf(things(upstream, { signal: AbortSignal.timeout(20) }));
    assert.equal(failure.reason, 'aborted');
  }
  assert.equal(upstream.status().breaker, 'closed');
});

test('the number of requests in any hour is at most the hourly budget', async () => {
  let now = 0;
  const budget = new ProcessBudget({ perHour: 600, clock: () => now });
  const sent: number[] = [];
  for (; now < 5 * HOUR_MS; now += 500)
    if (now % HOUR_MS < HOUR_MS / 2 && (await budget.take({ patienceMs: 0 })) === 0) sent.push(now);
  for (const start of sent) {
    const inHour = sent.filter((at) => at >= start && at < start + HOUR_MS).length;
    assert.ok(inHour <= 600, `${inHour} requests were sent in the hour from ${start}`);
  }
  assert.ok(sent.length > 5 * 300, `only ${sent.length} requests were sent in all`);
});

test('a request beyond the budget of a process waits for the budget, or fails if the wait is longer than the caller accepts', async (t) => {
  const { upstream, replay, pass } = await start(t, { hourlyBudget: 20 });
  assert.deepEqual(upstream.status().budget, { perHour: 20, left: 2 });
  await things(upstream);
  await things(upstream);
  assert.deepEqual(upstream.status().budget, { perHour: 20, left: 0 });
  const failure = await failureOf(things(upstream));
  assert.deepEqual([failure.reason, failure.retryAfterMs], ['over-budget', Math.ceil(HOUR_MS / 17)]);
  assert.equal(replay.count(), 2);
  pass(HOUR_MS / 17 - 30);
  await things(upstream);
  assert.equal(replay.count(), 3);
  const waiting = failureOf(things(upstream, { patienceMs: HOUR_MS, signal: AbortSignal.timeout(10) }));
  assert.equal((await waiting).reason, 'aborted');
  pass(HOUR_MS / 17);
  await things(upstream);
});

test('retries count against the budget', async (t) => {
  const { upstream, replay } = await start(t, { hourlyBudget: 30 });
  replay.fail('server-error');
  await failureOf(things(upstream));
  assert.equal(replay.count(), 3);
  assert.equal(upstream.status().budget?.left, 0);
});

test('no request is sent if the budget cannot be read, or if the call is aborted before the budget allows it', async (t) => {
  const putBack: string[] = [];
  let take: () => Promise<number> = () => Promise.reject(new Error('the budget is out of reach'));
  let giveBack: () => Promise<void> = () => Promise.resolve();
  const budget: Budget = {
    perHour: 20,
    take: () => take(),
    giveBack: () => {
      putBack.push('back');
      return giveBack();
    },
    left: () => 0,
  };
  const { upstream, replay } = await start(t, { budget });
  await assert.rejects(things(upstream), /the budget is out of reach/);
  assert.deepEqual([replay.count(), putBack.length, upstream.status().breaker], [0, 0, 'closed']);

  take = () => Promise.resolve(5_000);
  for (const back of [
    () => Promise.reject(new Error('out of reach again')),
    () => new Promise<void>(() => undefined),
  ]) {
    giveBack = back;
    assert.equal((await failureOf(things(upstream, { signal: AbortSignal.timeout(10) }))).reason, 'aborted');
  }
  const stop = new AbortController();
  take = async () => {
    stop.abort();
    return 0;
  };
  assert.equal(
    (await failureOf(things(upstream, { signal: stop.signal }))).reason,
    'aborted',
    'a call that was aborted while it took a request from the budget did not end as aborted',
  );
  assert.deepEqual([replay.count(), putBack.length], [0, 3]);
});

test('JSON that is nested too deeply is rejected before it is parsed', () => {
  const nested = (depth: number) => Buffer.from('{"a":'.repeat(depth) + '1' + '}'.repeat(depth));
  assert.doesNotThrow(() => parseExactJson(nested(32)));
  assert.throws(() => parseExactJson(nested(33)), /deep/);
  assert.throws(() => parseExactJson(nested(200_000)), /deep/);
  assert.doesNotThrow(() => parseExactJson(Buffer.from(JSON.stringify('[{'.repeat(100) + '\\"'))));
  assert.ok(parseExactJson(Buffer.from('1e400')) instanceof JsonNumber);
});

test('the replay server of the tests continues to serve after a client has disconnected in the middle of a request body', async (t) => {
  const replay = await startReplayServer(t, [{ path: /\/one/, origin: 'schema', answer: () => ({}) }]);
  const socket = connect({ host: '127.0.0.1', port: Number(new URL(replay.url).port) });
  await once(socket, 'connect');
  socket.write('POST /one HTTP/1.1\r\nhost: localhost\r\ncontent-length: 100\r\n\r\npart');
  assert.equal((await fetch(`${replay.url}/one`)).status, 200);
  socket.destroy();
  await once(socket, 'close');
  assert.equal((await fetch(`${replay.url}/one`)).status, 200);
  assert.equal(replay.count(), 2);
});
