// GET /explore/v1/stream and GET /explore/v1/stream/pages/{offset}.

import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { deleteOldActivity } from '../../../../src/market/activity/queries/activity-log.ts';
import { readConfig } from '../../../../src/service/config.ts';
import { createLog } from '../../../../src/platform/core/log.ts';
import type { Databases } from '../../../../src/platform/database/open.ts';
import { openDatabases } from '../../../../src/platform/database/open.ts';
import { appendActivity, listed } from '../../../support/activity-log.ts';
import { forEachEngine } from '../../../support/engines/each-engine.ts';
import type { StreamRequest } from '../../../support/http/event-stream.ts';
import { EventStream, StreamRejected } from '../../../support/http/event-stream.ts';
import type { TestService } from '../../../support/service/service.ts';
import { startTestService } from '../../../support/service/service.ts';
import { until } from '../../../support/until.ts';

const LIMIT_MS = 60_000;
const PER_CLIENT = 3;
const IN_ALL = 5;
const PAGE_SIZE = 500;
const LIMITS = { STREAM_CONNECTIONS_PER_CLIENT: String(PER_CLIENT), STREAM_CONNECTIONS: String(IN_ALL) };
const OTHER_COLLECTION = `base_0x${'d'.repeat(40)}`;

forEachEngine('the stream', (engine) => {
  describe('service', () => {
    let service: TestService;
    let databases: Databases;
    let epoch = '';
    const toOffset = (position: number) => `${epoch}-${String(position).padStart(16, '0')}`;
    const open: EventStream[] = [];
    before(async () => {
      const settings = { ...(await engine.settings()), ...LIMITS, TRUST_PROXY: 'true' };
      databases = await openDatabases(readConfig(settings), createLog('silent'));
      service = await startTestService({ settings, open: async () => databases });
      epoch = String((await databases.main.query('select epoch from main.activity_head'))[0]?.['epoch']);
      assert.match(epoch, /^[0-9a-f]{12}$/);
      const contractAddress = OTHER_COLLECTION.slice('base_'.length);
      await service.load([{ kind: 'collection', chain: 'base', contractAddress, name: 'Others', slug: 'others' }]);
    });
    after(() => service.close());

    const append = (...changes: Parameters<typeof listed>[]) =>
      appendActivity(
        databases.main,
        changes.map((change) => listed(...change)),
      );
    const follow = async (query = '', request: StreamRequest = {}) => {
      const stream = await EventStream.open(`${service.url}/explore/v1/stream${query}`, request);
      open.push(stream);
      return stream;
    };
    const closeAll = async () => {
      for (const stream of open.splice(0)) stream.close();
      await until(async () => (await readStatus()).subscribers === 0, LIMIT_MS, 'connections are still open');
    };
    const readStatus = async () => (await service.operate('status', {})).body.result.stream;
    /** The position of the newest event in the log, or 0 if the log is empty. */
    const newest = async () =>
      (await databases.main.query('select position from main.activity_head'))[0]?.['position'] ?? 0;
    /** Waits until the service has read the log to its end. */
    const settled = async (): Promise<string> => {
      const offset = toOffset(Number(await newest()));
      await until(async () => (await readStatus()).offset === offset, LIMIT_MS, 'the log was not read');
      return offset;
    };
    const rejectionOf = async (query: string, request: StreamRequest = {}) => {
      try {
        await follow(query, request);
      } catch (error) {
        if (error instanceof StreamRejected) return error;
        throw error;
      }
      throw new Error(`${query} was not rejected`);
    };
    const orderIdsOf = (stream: EventStream) => stream.events.map(({ data }) => data.orderId);

    test('a stream without an offset has each event after its beginning once, in the order of the log', async () => {
      await append([1]);
      const before = await settled();
      const stream = await follow();
      assert.equal(stream.headers['content-type'], 'text/event-stream; charset=utf-8');
      assert.equal(stream.headers['cache-control'], 'no-store, no-transform');
      assert.equal(stream.headers['x-accel-buffering'], 'no');
      assert.equal(stream.headers['content-encoding'], undefined);
      assert.equal(stream.headers['access-control-allow-origin'], '*');
      await append([2], [3, { kind: 'sale', from: `0x${'1'.repeat(40)}`, marketplace: 'opensea', tx: '0xabc' }]);
      const [first, second] = await stream.received(2);
      assert.deepEqual([first?.event, second?.event], ['list', 'sale']);
      assert.deepEqual([first?.id, second?.id], [first?.data.offset, second?.data.offset]);
      assert.ok(before < (first?.id ?? '') && (first?.id ?? '') < (second?.id ?? ''));
      assert.deepEqual(orderIdsOf(stream), ['2', '3']);
      const { data } = await service.ok(`/explore/v1/stream/pages/${before}`);
      assert.deepEqual(
        data,
        stream.events.map((event) => event.data),
      );
      assert.ok((stream.retryMs ?? 0) >= 1_000);
      await closeAll();
    });

    test('a client that is disconnected before its first event resumes at the offset at which its stream began', async () => {
      const start = await settled();
      const stream = await follow();
      await until(() => stream.lastEventId !== '', LIMIT_MS, 'the stream has not begun');
      assert.equal(stream.lastEventId, start);
      await closeAll();
      await append([4]);
      const again = await follow('', { lastEventId: stream.lastEventId });
      assert.deepEqual(
        (await again.received(1)).map(({ data }) => data.orderId),
        ['4'],
      );
      await closeAll();
    });

    test('over many disconnections a client that resumes gets every event once and in order', async () => {
      const start = await settled();
      const orders = Array.from({ length: 120 }, (_, index) => String(1_000 + index));
      const writer = (async () => {
        for (let index = 0; index < orders.length; index += 6) {
          await append(...orders.slice(index, index + 6).map((order): [number] => [Number(order)]));
        }
      })();
      const received: string[] = [];
      let lastEventId = start;
      for (let round = 0; received.length < orders.length; round += 1) {
        const stream = await follow('', { lastEventId });
        // The connection is closed after one to seven events, possibly in the middle of the next event.
        await stream.received(Math.min(1 + ((round * 5) % 7), orders.length - received.length));
        stream.close();
        await stream.ended;
        received.push(...orderIdsOf(stream));
        ({ lastEventId } = stream);
      }
      await writer;
      assert.deepEqual(received, orders);
      await closeAll();
    });

    test('filters select events by collection and by kind, and the collection id of an event without a collection is null', async () => {
      const start = await settled();
      await append(
        [20],
        [21, { collectionId: OTHER_COLLECTION }],
        [22, { collectionId: OTHER_COLLECTION, kind: 'cancel' }],
        [23, { kind: 'cancel' }],
      );
      // Events of the kind `reorg` have no collection, but the service logs them only if the reorganisation takes something back. So the test
      // removes the collection of another event.
      await databases.main.query('update main.activity set collection_id = null where order_id = $1', ['23']);
      await settled();
      const idsOf = async (query: string, count: number) => {
        const stream = await follow(`?from=${start}&${query}`);
        await append([29, { collectionId: OTHER_COLLECTION, kind: 'list' }]);
        await stream.received(count);
        const ids = orderIdsOf(stream);
        await closeAll();
        return ids.slice(0, count);
      };
      assert.deepEqual(await idsOf(`kinds=list&collections=${OTHER_COLLECTION}`, 2), ['21', '29']);
      const upperCase = OTHER_COLLECTION.replace('0xddd', '0xDDD');
      assert.deepEqual((await idsOf(`kinds=cancel&collections=${upperCase}`, 1))[0], '22');
      for (const name of ['others', OTHER_COLLECTION.slice('base_'.length)]) {
        assert.deepEqual((await idsOf(`kinds=cancel&collections=${name}`, 1))[0], '22', name);
      }
      const page = await service.ok(`/explore/v1/stream/pages/${start}`);
      const withoutCollection = page.data.find((event: any) => event.orderId === '23');
      assert.equal(withoutCollection.collectionId, null);
    });

    test('a filter that names a collection which does not exist is rejected with 404, and the message names it', async () => {
      for (const name of ['nobody', `base_0x${'e'.repeat(40)}`]) {
        const { status, body } = await rejectionOf(`?collections=${OTHER_COLLECTION},${name}`);
        assert.deepEqual([status, body.error.message], [404, `Collection ${name} not found`]);
      }
      await closeAll();
    });

    test('a malformed offset or filter is rejected with 400', async () => {
      const rejected = [
        ['?from=x', {}],
        ['?from=42', {}],
        ['?from=-1', {}],
        [`?from=${'9'.repeat(16)}`, {}],
        [`?from=${epoch}-${'9'.repeat(16)}`, {}],
        [`?from=${toOffset(1).toUpperCase()}x`, {}],
        [`?from=${toOffset(1)}`, { lastEventId: 'x' }],
        ['?kinds=list,unknown', {}],
        ['?kinds=list,', {}],
        ['?collections=,', {}],
        [`?collections=${Array.from({ length: 101 }, (_, index) => index).join(',')}`, {}],
      ] as const;
      for (const [query, request] of rejected) {
        const { status, body } = await rejectionOf(query, request);
        assert.deepEqual([status, body.error.code], [400, 'bad_request'], query);
      }
      assert.equal((await service.get('/explore/v1/stream/pages/x')).status, 400);
      assert.equal((await service.get('/explore/v1/stream/pages/42')).status, 400);
    });

    test('Last-Event-ID takes precedence over `from`, and an empty Last-Event-ID is ignored', async () => {
      const start = await settled();
      await append([30], [31]);
      await settled();
      const [, second] = (await service.ok(`/explore/v1/stream/pages/${start}`)).data;
      const resumed = await follow(`?from=${start}`, { lastEventId: second.offset });
      const fresh = await follow(`?from=${start}`, { lastEventId: '' });
      await append([32]);
      await Promise.all([resumed.received(1), fresh.received(3)]);
      assert.deepEqual([orderIdsOf(resumed), orderIdsOf(fresh)], [['32'], ['30', '31', '32']]);
      await closeAll();
    });

    test('pages cover the log, a full page never changes, and only the last page is cached for a short time', async () => {
      const position = Number(await newest());
      const boundary = Math.ceil((position + 1) / PAGE_SIZE) * PAGE_SIZE;
      const orders = Array.from({ length: boundary - position + 7 }, (_, index) => 10_000 + index);
      await append(...orders.map((order): [number] => [order]));
      await settled();
      const first = await service.get(`/explore/v1/stream/pages/${toOffset(position)}`);
      assert.equal(first.headers.get('cache-control'), 'public, max-age=31536000, immutable');
      assert.equal(first.body.next, toOffset(boundary));
      const last = await service.get(`/explore/v1/stream/pages/${first.body.next}`);
      assert.equal(last.headers.get('cache-control'), 'public, max-age=0, s-maxage=1, stale-while-revalidate=1');
      assert.equal(last.body.next, null);
      assert.deepEqual(
        [...first.body.data, ...last.body.data].map(({ orderId }: any) => orderId),
        orders.map(String),
      );
      await append([40]);
      await settled();
      assert.equal((await service.get(`/explore/v1/stream/pages/${toOffset(position)}`)).text, first.text);
      const stream = await follow(`?from=${toOffset(position)}`);
      await stream.received(orders.length + 1);
      assert.deepEqual(orderIdsOf(stream), [...orders.map(String), '40']);
      await closeAll();
    });

    test('a client, and all clients together, have a limited number of connections', async () => {
      const from = (address: string) => ({ headers: { 'x-forwarded-for': address } });
      for (let index = 0; index < PER_CLIENT; index += 1) await follow('', from('198.51.100.1'));
      const one = await rejectionOf('', from('198.51.100.1'));
      assert.deepEqual([one.status, one.body.error.code, one.headers['retry-after']], [429, 'rate_limited', '10']);
      for (let index = PER_CLIENT; index < IN_ALL; index += 1) await follow('', from(`198.51.100.${index}`));
      const all = await rejectionOf('', from('198.51.100.99'));
      assert.deepEqual([all.status, all.body.error.code], [503, 'unavailable']);
      assert.ok(Number(all.headers['retry-after']) > 0);
      assert.equal((await readStatus()).subscribers, IN_ALL);
      await closeAll();
      await follow('', from('198.51.100.1'));
      await closeAll();
    });

    test('HEAD has the headers of the stream and does not count as a connection', async () => {
      const response = await fetch(`${service.url}/explore/v1/stream`, { method: 'HEAD' });
      assert.deepEqual(
        [response.status, response.headers.get('content-type')],
        [200, 'text/event-stream; charset=utf-8'],
      );
      assert.equal((await readStatus()).subscribers, 0);
    });

    test('an offset beyond the log is rejected with 410, and an offset in the log is accepted before the process has read that far', async () => {
      const next = toOffset(Number(await newest()) + 1);
      const unknown = await rejectionOf(`?from=${next}`);
      assert.deepEqual([unknown.status, unknown.body.error.code], [410, 'gone']);
      await append([50], [51]);
      const stream = await follow(`?from=${next}`);
      assert.deepEqual(
        (await stream.received(1)).map(({ data }) => data.orderId),
        ['51'],
      );
      await closeAll();
    });

    test('an offset of another log is rejected with 410, whether or not this log has the position', async () => {
      await append([55], [56]);
      await settled();
      const positions = [0, 1, Number(await newest()), Number(await newest()) + 10];
      for (const position of positions) {
        const offset = toOffset(position).replace(epoch, '0123456789ab');
        const { status, body } = await rejectionOf(`?from=${offset}`);
        assert.deepEqual([status, body.error.code], [410, 'gone'], offset);
        assert.match(body.error.message, /^The offset is of another log/);
        assert.equal((await rejectionOf('', { lastEventId: offset })).status, 410);
        assert.equal((await service.get(`/explore/v1/stream/pages/${offset}`)).status, 410);
      }
      await closeAll();
    });

    test('the stream and its pages reject an offset older than the kept events with 410, and the offset 0 begins at the oldest kept event', async () => {
      await append([60], [61]);
      const end = Number(await newest());
      const gone = toOffset(end - 2);
      await databases.main.transaction((tx) => deleteOldActivity(tx, Date.now() + 1_000, end - 1));
      const isGone = async () => {
        try {
          await follow(`?from=${gone}`);
        } catch (error) {
          if (!(error instanceof StreamRejected)) throw error;
          assert.deepEqual([error.status, error.body.error.code], [410, 'gone']);
          return true;
        }
        await closeAll();
        return false;
      };
      await until(isGone, LIMIT_MS, 'the offset is still accepted');
      assert.equal((await service.get(`/explore/v1/stream/pages/${gone}`)).status, 410);
      const stream = await follow('?from=0');
      assert.deepEqual(
        (await stream.received(1)).map(({ data }) => data.orderId),
        ['61'],
      );
      const { data } = await service.ok('/explore/v1/stream/pages/0');
      assert.deepEqual(
        data.map(({ orderId }: any) => orderId),
        ['61'],
      );
      await closeAll();
    });

    test('the removal of a collection is an event that passes every filter, and no stream has the earlier events of the collection', async () => {
      const contractAddress = `0x${'a'.repeat(40)}`;
      const collectionId = `base_${contractAddress}`;
      await service.load([{ kind: 'collection', chain: 'base', contractAddress, name: 'Leaving', slug: 'leaving' }]);
      const start = await settled();
      const filtered = await follow(`?kinds=sale&collections=${OTHER_COLLECTION}`);
      const other = { collectionId: OTHER_COLLECTION, kind: 'sale' } as const;
      await append([70, { collectionId }], [71], [72, other]);
      await settled();
      const { status } = await service.operate('collections.remove', { id: collectionId, purge: true });
      assert.equal(status, 200);
      const live = await filtered.received(2);
      assert.deepEqual(
        live.map(({ event, data }) => [event, data.collectionId]),
        [
          ['sale', OTHER_COLLECTION],
          ['remove', collectionId],
        ],
      );
      await settled();
      await closeAll();
      // Many events later, the removal is not among the events in memory.
      const later = Array.from({ length: 2_100 }, (_, index): Parameters<typeof listed> => [80 + index]);
      for (const end of ['near', 'far']) {
        const all = await follow(`?from=${start}`);
        const one = await follow(`?from=${start}&kinds=sale&collections=${OTHER_COLLECTION}`);
        assert.deepEqual(
          (await all.received(3)).slice(0, 3).map(({ event, data }) => `${event} ${data.orderId}`),
          ['list 71', 'sale 72', 'remove null'],
          end,
        );
        assert.deepEqual(
          (await one.received(2)).map(({ event }) => event),
          ['sale', 'remove'],
          end,
        );
        // A client that followed the collection, and was away when it was removed.
        const removed = await follow(`?from=${start}&collections=${collectionId}`);
        assert.deepEqual(
          (await removed.received(1)).map(({ event }) => event),
          ['remove'],
          end,
        );
        await closeAll();
        const bySlug = async () => (await service.get(`/explore/v1/stream?from=${start}&collections=leaving`)).status;
        await until(async () => (await bySlug()) === 404, LIMIT_MS, 'the slug is still accepted');
        if (end === 'near') {
          await append(...later);
          await settled();
        }
      }
    });

    test('the status has the state of the stream', async () => {
      const expected = engine.name === 'postgresql' ? true : null;
      await until(async () => (await readStatus()).listening === expected, LIMIT_MS, 'no notification has arrived');
      const { offset, eventsSent, lagMs } = await readStatus();
      assert.equal(offset, toOffset(Number(await newest())));
      assert.ok(eventsSent > 0);
      assert.ok(lagMs !== null && lagMs >= 0);
    });
  });
});
