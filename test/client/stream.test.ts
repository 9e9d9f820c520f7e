// The client follows the change stream over connections that fail.

import assert from 'node:assert/strict';
import type { TestContext } from 'node:test';
import { test } from 'node:test';
import type { ServerSentEvent, StreamState } from '../../client/src/event-stream.ts';
import { readEvents } from '../../client/src/event-stream.ts';
import type { FollowOptions, MarketReads } from '../../client/src/market.ts';
import { MercatError, createMarketClient } from '../../client/src/market.ts';
import type { ScriptedServer, Step } from './scripted-server.ts';
import { disconnects, fails, hangs, sends, startScriptedServer, streams } from './scripted-server.ts';

const offsetOf = (position: number, epoch = '6929f1a07c3e') => `${epoch}-${String(position).padStart(16, '0')}`;
const eventOf = (position: number) => {
  const price = { raw: String(position), decimal: 0, currency: 'ETH', usd: null };
  return `id: ${offsetOf(position)}\nevent: sale\ndata: ${JSON.stringify({ offset: offsetOf(position), kind: 'sale', price })}\n\n`;
};

/** Reads the first `count` activities, and returns their positions. */
async function followUntil(url: string, count: number, options: FollowOptions = {}): Promise<number[]> {
  const positions: number[] = [];
  for await (const { price } of createMarketClient({ baseUrl: url, random: () => 0 }).follow(options)) {
    positions.push(Number(price?.raw));
    if (positions.length === count) break;
  }
  return positions;
}

const start = (context: TestContext, ...steps: Step[]): Promise<ScriptedServer> =>
  startScriptedServer(context, ...steps);

/** `\\xff` stands for the byte 255. */
const toBytes = (text: string) =>
  Buffer.concat(
    text.split('\\xff').flatMap((part, index) => [...(index === 0 ? [] : [Buffer.of(255)]), Buffer.from(part)]),
  );

const parse = (chunks: readonly string[]) => parseChunks(chunks.map((chunk) => Buffer.from(chunk)));

function parseBytes(bytes: Buffer, size: number) {
  const count = Math.ceil(bytes.length / size);
  return parseChunks(Array.from({ length: count }, (_, index) => bytes.subarray(index * size, (index + 1) * size)));
}

async function parseChunks(chunks: readonly Uint8Array[]): Promise<{ events: ServerSentEvent[]; state: StreamState }> {
  const state: StreamState = { lastEventId: null, retryMs: null };
  const body = new ReadableStream<Uint8Array>({
    start: (controller) => {
      for (const chunk of chunks) controller.enqueue(chunk);
      controller.close();
    },
  });
  const events: ServerSentEvent[] = [];
  for await (const event of readEvents(body, state, { onBytes: () => undefined })) events.push(event);
  return { events, state };
}

test('events are parsed by the rules of the HTML standard, however the bytes are divided', async () => {
  const text =
    ': comment\r\nid: 1\r\nevent: sale\r\ndata: a\r\ndata:b\r\n\r\nid\rdata:  c\r\rretry: 10\nid: 3\n\ndata\n\nid: 4\ndata: cut off';
  const events = [
    { id: '1', event: 'sale', data: 'a\nb' },
    { id: '', event: 'message', data: ' c' },
    { id: '3', event: 'message', data: '' },
  ];
  for (let size = 1; size <= text.length; size += 1) {
    const chunks = text.match(new RegExp(`[\\s\\S]{1,${size}}`, 'g')) ?? [];
    assert.deepEqual(await parse(chunks), { events, state: { lastEventId: '3', retryMs: 10 } }, `chunks of ${size}`);
  }
});

test('a position is reported after its event was taken, and also where the stream sends an id without an event', async () => {
  const body = new Blob([
    'id: 1\n\nid: 2\ndata: a\n\ndata: b\n\nid: 5\n\nid: 6\ndata: c\n\nid: 7\ndata: cut off',
  ]).stream();
  const seen: string[] = [];
  const listeners = { onBytes: () => undefined, onPosition: (id: string) => void seen.push(id) };
  for await (const { data } of readEvents(body, { lastEventId: null, retryMs: null }, listeners)) seen.push(data);
  assert.deepEqual(seen, ['1', 'a', '2', 'b', '5', 'c', '6']);
});

const BOM = String.fromCharCode(0xfeff);
const NUL = String.fromCharCode(0);
const message = (data: string, id: string | null = null) => ({ id, event: 'message', data });

/**
 * The parsing rules of the HTML standard, section 9.2.6, in the cases that the tests of web-platform-tests (eventsource/format-*.any.js)
 * cover. Each key names a case. `text` is the stream, `events` are its events, and `retryMs` is the reconnection time if the stream sets one.
 */
const FORMATS: Record<string, { text: string; events: ServerSentEvent[]; retryMs?: number }> = {
  'one byte order mark at the start': { text: `${BOM}data: 1\n\n`, events: [message('1')] },
  'a second byte order mark, which makes the name of the field unknown': {
    text: `${BOM}${BOM}data: 1\n\ndata: 2\n\n`,
    events: [message('2')],
  },
  'a byte order mark inside the stream': {
    text: `data: 1\n\n${BOM}data: 2\n\ndata: 3\n\n`,
    events: [message('1'), message('3')],
  },
  comments: {
    text: `data: 1\r:${NUL}\n:\r\ndata: 2\n:${'x'.repeat(2_048)}\rdata: 3\n:data: no\r:\r\ndata: 4\n\n`,
    events: [message('1\n2\n3\n4')],
  },
  'an event that the end of the stream cuts off, which is dropped': {
    text: 'data: 1\n\ndata: 2\n',
    events: [message('1')],
  },
  'empty data': { text: 'data:\n\ndata\ndata\n\ndata: 1\n\n', events: [message(''), message('\n'), message('1')] },
  'only an event name': { text: 'event: a\n\ndata: 1\n\n', events: [message('1')] },
  'an event name': {
    text: 'event: a b\ndata: 1\n\ndata: 2\n\n',
    events: [{ id: null, event: 'a b', data: '1' }, message('2')],
  },
  'an empty event name': { text: 'event: \ndata: 1\n\n', events: [message('1')] },
  'field names with other spelling': {
    text: `data: 1\n data: 2\nDATA: 3\ndatA: 4\ndata : 5\ndata${NUL}: 6\ndatas: 7\n\n`,
    events: [message('1')],
  },
  'field values with colons and spaces': {
    text: 'data:: 1\ndata:  2 \ndata:\t3\n\n',
    events: [message(': 1\n 2 \n\t3')],
  },
  'ids, and an id that is reset': {
    text: 'id: 1\ndata: a\n\ndata: b\n\nid\ndata: c\n\n',
    events: [message('a', '1'), message('b', '1'), message('c', '')],
  },
  'an id with NUL, which is ignored': {
    text: `id: 1\ndata: a\n\nid: 2${NUL}\ndata: b\n\n`,
    events: [message('a', '1'), message('b', '1')],
  },
  'an id that is not ASCII': { text: 'id: …\ndata: a\n\n', events: [message('a', '…')] },
  'line ends of each kind': {
    text: 'data: 1\r\ndata: 2\ndata: 3\rdata: 4\r\n\r\ndata: 5\r\rdata: 6\n\n',
    events: [message('1\n2\n3\n4'), message('5'), message('6')],
  },
  'a reconnection time': { text: 'retry: 3000\ndata: 1\n\n', events: [message('1')], retryMs: 3_000 },
  'a reconnection time with leading zeros': { text: 'retry: 03000\n\n', events: [], retryMs: 3_000 },
  'reconnection times that are not digits': {
    text: 'retry: 1.5\nretry: -1\nretry: 2x\nretry:\nretry\ndata: 1\n\n',
    events: [message('1')],
  },
  'bytes that are not UTF-8': { text: 'data: \\xff\n\n', events: [message('\ufffd')] },
  'characters of several bytes': { text: 'data: ok…🦊\n\n', events: [message('ok…🦊')] },
};

for (const [name, { text, events, retryMs = null }] of Object.entries(FORMATS)) {
  test(`a stream of server-sent events is parsed, however its bytes are divided: ${name}`, async () => {
    for (const size of [1, 2, 3, 7, 4_096]) {
      const parsed = await parseBytes(toBytes(text), size);
      assert.deepEqual(parsed.events, events, `chunks of ${size} bytes`);
      assert.equal(parsed.state.retryMs, retryMs);
    }
  });
}

test('an event without an end is an error, and does not fill the memory', async () => {
  const isTooLong = (error: unknown) => error instanceof MercatError && error.code === 'invalid_response';
  const part = 'x'.repeat(600_000);
  await assert.rejects(parse([`data: ${part}`, part]), isTooLong);
  await assert.rejects(parse([`data: ${part}\n`, `data: ${part}\n`]), isTooLong);
});

test('the stream continues after the last complete event of a lost connection', async (context) => {
  const cutOff = eventOf(3).slice(0, -1);
  const { url, requests } = await start(
    context,
    streams(eventOf(1) + eventOf(2) + cutOff, { cut: true }),
    streams(eventOf(3) + eventOf(4)),
  );
  const read = await followUntil(url, 4, { from: offsetOf(0), collections: ['a', 'b'], kinds: ['sale', 'list'] });
  assert.deepEqual(read, [1, 2, 3, 4]);
  const [first, second] = requests;
  assert.equal(first?.url, `/explore/v1/stream?from=${offsetOf(0)}&collections=a%2Cb&kinds=sale%2Clist`);
  assert.equal(second?.url, '/explore/v1/stream?collections=a%2Cb&kinds=sale%2Clist');
  assert.deepEqual([first?.headers['last-event-id'], second?.headers['last-event-id']], [undefined, offsetOf(2)]);
});

test('if the first connection is lost before an event has arrived, the next connection begins at the same offset', async (context) => {
  const { url, requests } = await start(context, disconnects, fails(503, 'unavailable'), streams(eventOf(1)));
  assert.deepEqual(await followUntil(url, 1, { from: offsetOf(0) }), [1]);
  assert.equal(new Set(requests.map((request) => request.url)).size, 1);
});

test('the next connection begins at the last offset that was sent, even if the offset was sent without an event', async (context) => {
  const { url, requests } = await start(context, streams(`id: ${offsetOf(7)}\n\n`, { cut: true }), streams(eventOf(8)));
  assert.deepEqual(await followUntil(url, 1), [8]);
  assert.equal(requests[1]?.headers['last-event-id'], offsetOf(7));
});

test('a connection that has become silent is replaced', async (context) => {
  const { url, requests } = await start(context, streams(eventOf(1)), streams(eventOf(2)));
  const states: string[] = [];
  const onConnection = (state: string) => void states.push(state);
  assert.deepEqual(await followUntil(url, 2, { silenceMaxMs: 200, onConnection }), [1, 2]);
  assert.deepEqual(states, ['open', 'lost', 'open']);
  assert.equal(requests[1]?.headers['last-event-id'], offsetOf(1));
});

test('an offset that is too old is an error, and the message says to take a new snapshot', async (context) => {
  const { url, requests } = await start(context, fails(410, 'gone', { 'x-request-id': 'r7' }));
  await assert.rejects(followUntil(url, 1, { from: offsetOf(1) }), (error) => {
    assert.ok(error instanceof MercatError);
    assert.deepEqual([error.code, error.status, error.requestId], ['offset_expired', 410, 'r7']);
    assert.match(error.message, /new snapshot/);
    return true;
  });
  assert.equal(requests.length, 1);
});

test('a request that is rejected ends the stream with an error, and so does a response that is not an event stream', async (context) => {
  const { url } = await start(context, fails(400, 'bad_request'), sends(200, {}));
  for (const [code, status] of [
    ['bad_request', 400],
    ['invalid_response', 200],
  ] as const) {
    await assert.rejects(followUntil(url, 1), (error) => {
      assert.ok(error instanceof MercatError);
      assert.deepEqual([error.code, error.status], [code, status]);
      return true;
    });
  }
});

test('the next connection waits for the time that the service names', async (context) => {
  const limited = fails(429, 'rate_limited', { 'retry-after': '1' });
  const { url, requests } = await start(
    context,
    limited,
    streams(`retry: 600\n\n`, { cut: true }),
    streams(eventOf(1)),
  );
  await followUntil(url, 1);
  const [first = 0, second = 0, third = 0] = requests.map(({ atMs }) => atMs);
  assert.equal(second - first >= 990, true, String(second - first));
  assert.equal(third - second >= 590, true, String(third - second));
});

test('an abort ends the stream with the reason of the abort, whether the stream is connected or waits to connect', async (context) => {
  const reason = new Error('the page was closed');
  for (const step of [hangs, streams(': open\n\n'), fails(503, 'unavailable', { 'retry-after': '30' })]) {
    const { url, requests } = await start(context, step);
    const controller = new AbortController();
    const ended = assert.rejects(followUntil(url, 1, { signal: controller.signal }), (error) => error === reason);
    while (requests.length === 0) await new Promise((resolve) => setTimeout(resolve, 5));
    controller.abort(reason);
    await ended;
  }
});

test('leaving the loop closes the connection', async (context) => {
  const closed = Promise.withResolvers<void>();
  const { url } = await start(context, (response) => {
    response.on('close', closed.resolve);
    streams(eventOf(1))(response);
  });
  const states: string[] = [];
  await followUntil(url, 1, { onConnection: (state) => states.push(state) });
  await closed.promise;
  assert.deepEqual(states, ['open']);
});

test('the stream after a snapshot begins at the oldest offset of the responses of the snapshot', async (context) => {
  const page = (position: number, nextCursor: string | null) => {
    const pagination = { nextCursor, hasMore: nextCursor !== null };
    return sends(200, { data: [position], pagination, meta: { offset: offsetOf(position) } });
  };
  const { url, requests } = await start(context, page(6, 'a'), page(5, 'b'), page(9, null), streams(eventOf(6)));
  const market = createMarketClient({ baseUrl: url });
  const { snapshot, offset, changes } = await market.snapshotThenFollow((reads) =>
    reads.listTokens({ id: 'a' }).take(10),
  );
  assert.deepEqual([snapshot, offset], [[6, 5, 9], offsetOf(5)]);
  await changes.next();
  await changes.return();
  assert.equal(requests.at(-1)?.url, `/explore/v1/stream?from=${offsetOf(5)}`);
});

test('a snapshot during which the service was restored cannot be followed', async (context) => {
  const holders = (offset: string) => sends(200, { data: {}, meta: { offset } });
  const { url } = await start(context, holders(offsetOf(6)), holders(offsetOf(5, '692a00000000')));
  const market = createMarketClient({ baseUrl: url });
  const read = (reads: MarketReads) => Promise.all([reads.getHolders({ id: 'a' }), reads.getHolders({ id: 'b' })]);
  await assert.rejects(market.snapshotThenFollow(read), { code: 'offset_expired' });
});

test('a snapshot whose offset is missing or unknown cannot be followed', async (context) => {
  const { url } = await start(context, sends(200, { data: {} }), sends(200, { data: {}, meta: { offset: null } }));
  const market = createMarketClient({ baseUrl: url });
  const read = () => market.snapshotThenFollow((reads) => reads.getHolders({ id: 'a' }));
  await assert.rejects(read(), /explore/);
  await assert.rejects(read(), /cannot read its activity/);
});
