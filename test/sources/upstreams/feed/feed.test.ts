// The operator's own feed: its lines become records. A feed can declare that it is a snapshot, which means that it contains all listings of
// its source. It counts as a snapshot only if its last line was received. An unchanged feed costs one response without a body. No fault
// leads to an incorrect row or to unbounded memory.

import assert from 'node:assert/strict';
import http from 'node:http';
import type { AddressInfo } from 'node:net';
import type { TestContext } from 'node:test';
import { test } from 'node:test';
import { setTimeout as delay } from 'node:timers/promises';
import { FeedClient } from '../../../../src/sources/upstreams/feed/feed.ts';
import type { FeedEnd } from '../../../../src/sources/upstreams/feed/feed.ts';
import type { SourceRecord } from '../../../../src/sources/upstreams/response-rows.ts';
import { UpstreamFailure } from '../../../../src/sources/upstreams/upstream-client.ts';
import { readFixture } from '../../../support/fixtures.ts';
import { assertValidRecords } from '../../../support/replay/every-fault.ts';
import { REPLAY_FAULTS, startReplayServer } from '../../../support/replay/replay.ts';
import { createFeedStore, feedRoutes } from '../../../support/replay/feed.ts';
import { watchLiveMemory } from '../../../support/measure/live-memory.ts';
import { addressOf } from '../../../support/replay/magic-eden.ts';

const COLLECTION = addressOf('co', 1);
const OPENING = { kind: 'feed', snapshot: ['listing'] };
const ENDING = { kind: 'feed', end: true };
/**
 * The time after which the client stops waiting for further bytes. A test pauses this long after each page, as a slow write to the
 * database would.
 */
const STALL_MS = 200;
const GROWTH_MAX = 160 * 2 ** 20;
const HELD_MAX = 64 * 2 ** 20;

const listing = (number: number) => ({
  kind: 'listing',
  source: 'mercat',
  chain: 'solana',
  contractAddress: COLLECTION,
  mint: addressOf('mt', number),
  id: `own-${number}`,
  priceRaw: String(1_000_000_000 + number),
  seller: addressOf('se', 1),
  timestamp: '2026-05-01T00:00:00Z',
});

async function start(t: TestContext, lines: (object | string)[]) {
  const store = createFeedStore(lines);
  const replay = await startReplayServer(t, feedRoutes(store));
  const create = (token: string | null = null) =>
    new FeedClient({ url: `${replay.url}/feed`, token, clock: Date.now, timeoutMs: 400 });
  return { store, replay, create, feed: create() };
}

type Read = { records: SourceRecord[]; rejected: string[]; end: FeedEnd | null; failure: string | null };

async function read(feed: FeedClient, etag: string | null = null): Promise<Read> {
  const outcome: Read = { records: [], rejected: [], end: null, failure: null };
  try {
    const pages = feed.read({ etag });
    for (;;) {
      const page = await pages.next();
      if (page.done) return { ...outcome, end: page.value };
      outcome.records.push(...page.value.records);
      outcome.rejected.push(...page.value.rejected);
    }
  } catch (error) {
    if (!(error instanceof UpstreamFailure)) throw error;
    return { ...outcome, failure: error.reason };
  }
}

test('the lines of a feed become records', async (t) => {
  const lines = readFixture('feed/feed.ndjson').trim().split('\n');
  const { feed, store } = await start(t, lines);
  const { records, rejected, end } = await read(feed);
  assertValidRecords(records);
  assert.deepEqual([records, rejected], [lines.slice(1, -1).map((line) => JSON.parse(line)), []]);
  assert.deepEqual([end?.snapshot, end?.problem], [{ kinds: ['listing'], source: null }, null]);
  store.lines = lines.slice(0, -1);
  assert.deepEqual((await read(feed)).end?.snapshot, null, 'a feed without its last line counts as a snapshot');
});

test('blank lines are skipped, and a large number keeps all its digits', async (t) => {
  const sale = '{"kind":"sale","price":12345678901234567890,"tx":"a"}';
  const { feed } = await start(t, [listing(1), '', sale, '  ', listing(2)]);
  const { records, rejected, end } = await read(feed);
  assert.deepEqual(records, [listing(1), { kind: 'sale', price: '12345678901234567890', tx: 'a' }, listing(2)]);
  assert.deepEqual(rejected, []);
  assert.deepEqual([end?.changed, end?.snapshot, end?.problem], [true, null, null]);
});

test('a feed is a snapshot only if its first line declares a snapshot and its last line was received', async (t) => {
  const { feed, store } = await start(t, [OPENING, listing(1), ENDING]);
  const complete = await read(feed);
  assert.deepEqual(complete.records, [listing(1)]);
  assert.deepEqual(complete.end?.snapshot, { kinds: ['listing'], source: null });
  store.lines = [{ ...OPENING, source: 'partner' }, ENDING];
  assert.deepEqual((await read(feed)).end?.snapshot, { kinds: ['listing'], source: 'partner' });
  store.lines = [{ ...OPENING, snapshot: ['bid', 'listing'], source: 'partner' }, ENDING];
  assert.deepEqual((await read(feed)).end?.snapshot, { kinds: ['bid', 'listing'], source: 'partner' });
  for (const [lines, problem] of [
    [[OPENING, listing(1)], 'the snapshot has no last line: the feed was cut off'],
    [[OPENING, ENDING, listing(1)], 'the snapshot has no last line: the feed was cut off'],
    [[listing(1), ENDING], null],
    [[listing(1), OPENING, ENDING], null],
    [[], null],
  ] as const) {
    store.lines = [...lines];
    const { end } = await read(feed);
    assert.deepEqual([end?.snapshot, end?.problem], [null, problem], JSON.stringify(lines));
  }
});

test('invalid lines are rejected with a reason, and do not affect other lines', async (t) => {
  const long = `{"kind":"token","name":"${'x'.repeat(300_000)}"}`;
  const { feed } = await start(t, [
    OPENING,
    '{"kind":',
    '[1]',
    'null',
    long,
    { kind: 'feed', snapshot: ['sale'] },
    { kind: 'feed', snapshot: ['listing'], sauce: 'x' },
    { ...OPENING, source: 7 },
    listing(1),
    ENDING,
  ]);
  const { records, rejected, end } = await read(feed);
  assert.deepEqual(records, [listing(1)]);
  assert.deepEqual(rejected, [
    'a line is not JSON',
    'a line is not a JSON object',
    'a line is not a JSON object',
    'a line is longer than 262144 bytes',
    'a feed line declares neither a snapshot of listings or bids nor the end',
    'a feed line has an unknown field',
    'the source of a feed is not text',
  ]);
  assert.deepEqual(end?.snapshot, { kinds: ['listing'], source: null });
});

test('a line that is not UTF-8 is rejected, and the next line is read', async (t) => {
  const name = 'Mönk 🦊';
  const good = Buffer.from(`${JSON.stringify({ kind: 'token', name })}\n`);
  const server = http.createServer((_request, response) => {
    response.write(Buffer.from([0x7b, 0xff, 0x7d, 0x0a]));
    for (const byte of good) response.write(Buffer.from([byte]));
    response.end();
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  t.after(() => server.closeAllConnections());
  t.after(() => server.close());
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/`;
  const { records, rejected } = await read(new FeedClient({ url, token: null, clock: Date.now }));
  assert.deepEqual([records, rejected], [[{ kind: 'token', name }], ['a line is not UTF-8']]);
});

test('an unchanged feed costs one response without a body', async (t) => {
  const { store, create } = await start(t, [listing(1)]);
  store.token = 'secret';
  const feed = create('secret');
  const first = await read(feed);
  const again = await read(feed, first.end?.etag ?? null);
  assert.deepEqual(again, { records: [], rejected: [], failure: null, end: { ...first.end, changed: false } });
  assert.equal(store.unchanged, 1);
  store.lines = [listing(2)];
  assert.deepEqual((await read(feed, first.end?.etag ?? null)).records, [listing(2)]);
  const withoutToken = create();
  assert.equal((await read(withoutToken)).failure, 'unauthorized');
  assert.equal(withoutToken.status().lastFailure, 'unauthorized');
  assert.doesNotMatch(JSON.stringify(withoutToken.status()) + JSON.stringify(feed.status()), /secret|127\.0/);
});

test('a 304 response to a request without an entity tag is a failure', async (t) => {
  const server = http.createServer((_request, response) => response.writeHead(304).end());
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  t.after(() => server.closeAllConnections());
  t.after(() => server.close());
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/`;
  assert.equal((await read(new FeedClient({ url, token: null, clock: Date.now }))).failure, 'rejected');
});

test('no fault leads to an incorrect row, or to an incomplete snapshot that counts as complete', async (t) => {
  const rows = Array.from({ length: 3_000 }, (_, index) => listing(index));
  const { feed, replay } = await start(t, [OPENING, ...rows, ENDING]);
  const good = await read(feed);
  assertValidRecords(good.records);
  assert.equal(good.records.length, 3_000);
  const memory = watchLiveMemory(t, GROWTH_MAX);
  for (const fault of REPLAY_FAULTS) {
    replay.fail(fault);
    const { records, end } = await read(feed);
    for (const [index, record] of records.entries()) assert.deepEqual(record, rows[index], fault);
    if (end?.snapshot) assert.equal(records.length, 3_000, `${fault}: an incomplete feed counts as a snapshot`);
    replay.heal();
    assert.deepEqual(await read(feed), good, `after ${fault}`);
  }
  const growth = memory.growth();
  assert.ok(growth < GROWTH_MAX, `memory grew by ${Math.round(growth / 2 ** 20)} MiB`);
});

test('a feed that decompresses to a quarter of a gigabyte is not held in memory', async (t) => {
  const { replay } = await start(t, []);
  const feed = new FeedClient({ url: `${replay.url}/feed`, token: null, clock: Date.now, timeoutMs: 60_000 });
  replay.fail('gzip-bomb');
  const memory = watchLiveMemory(t, HELD_MAX);
  const { failure, rejected } = await read(feed);
  assert.deepEqual([failure, rejected], [null, ['a line is longer than 262144 bytes']]);
  const growth = memory.growth();
  assert.ok(growth < HELD_MAX, `${Math.round(growth / 2 ** 20)} MiB were held`);
});

test('when the caller stops reading early, the connection to the feed is closed', async (t) => {
  const { feed, replay } = await start(
    t,
    Array.from({ length: 3_000 }, (_, index) => listing(index)),
  );
  for await (const page of feed.read({ etag: null })) {
    assert.equal(page.records.length, 500);
    break;
  }
  const stop = new AbortController();
  replay.fail('hang');
  const reading = feed.read({ etag: null, signal: stop.signal }).next();
  stop.abort();
  await assert.rejects(reading, (error) => error instanceof UpstreamFailure && error.reason === 'aborted');
  assert.equal(feed.status().failures, 0, 'an aborted read counts as a failure of the feed');
});

test('a read is aborted when the feed stops sending, but not when the caller takes the pages slowly', async (t) => {
  const { replay } = await start(
    t,
    Array.from({ length: 3_000 }, (_, index) => listing(index)),
  );
  const feed = new FeedClient({
    url: `${replay.url}/feed`,
    token: null,
    clock: Date.now,
    timeoutMs: 60_000,
    stallMs: STALL_MS,
  });
  for (const fault of ['hang', 'hang-in-body'] as const) {
    replay.fail(fault);
    const begun = performance.now();
    assert.equal((await read(feed)).failure, 'timeout', fault);
    assert.ok(performance.now() - begun < 60_000, fault);
  }
  replay.heal();
  let count = 0;
  for await (const { records } of feed.read({ etag: null })) {
    count += records.length;
    await delay(STALL_MS);
  }
  assert.equal(count, 3_000);
});
