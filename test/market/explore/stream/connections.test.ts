// Tests connections to the stream: clients that do not read, comments that keep connections open, and the end of all connections.

import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { TestContext } from 'node:test';
import { before, describe, test } from 'node:test';
import { createChains } from '../../../../src/platform/core/chains.ts';
import { systemClock } from '../../../../src/platform/core/clock.ts';
import { createLog } from '../../../../src/platform/core/log.ts';
import type { Database } from '../../../../src/platform/database/port.ts';
import { CHUNK_BYTES_MAX } from '../../../../src/market/explore/http/stream/chunks.ts';
import { STREAM_HEADERS } from '../../../../src/market/explore/http/stream/event-stream.ts';
import { parseOffset } from '../../../../src/market/explore/stream/offset.ts';
import { createActivityFeed } from '../../../../src/market/explore/http/stream/feed.ts';
import type { SubscriptionsOptions } from '../../../../src/market/explore/http/stream/subscriptions.ts';
import { Subscriptions } from '../../../../src/market/explore/http/stream/subscriptions.ts';
import { toStreamFilter } from '../../../../src/market/explore/stream/stream-entry.ts';
import { RejectionCounts } from '../../../../src/platform/http/rejection-counts.ts';
import { Market } from '../../../../src/market/reads/market.ts';
import { appendActivity, listed } from '../../../support/activity-log.ts';
import { forOneEngine } from '../../../support/engines/each-engine.ts';
import { EventStream } from '../../../support/http/event-stream.ts';
import { until } from '../../../support/until.ts';

const LIMIT_MS = 60_000;
const random = () => 0.5;

forOneEngine('connections to the stream', (engine) => {
  describe('server', () => {
    let main: Database;
    before(async () => {
      main = await engine.open();
    });

    /** Serves the stream to every request. The path of a request has the start position and, optionally, a kind of event. */
    async function serve(t: TestContext, limits: Partial<SubscriptionsOptions['limits']> = {}) {
      const log = createLog('silent');
      const rules = { serviceName: 'mercat', platformFeeBps: 0, custodyWallets: new Map(), sourceTimeoutMs: LIMIT_MS };
      const market = new Market({
        ...rules,
        main,
        indexer: main,
        chains: createChains(null),
        clock: systemClock,
        random,
        log,
      });
      const feed = createActivityFeed({ market, random, log });
      const subscriptions = new Subscriptions({
        feed,
        clock: systemClock,
        random,
        rejections: new RejectionCounts(),
        limits: { connectionsMax: 10, connectionsPerClient: 10, ...limits },
      });
      feed.run();
      await until(() => feed.offset !== null, LIMIT_MS, 'the log was not read');
      const server = createServer((request, response) => {
        const [, start = '', kinds] = (request.url ?? '').split('/');
        response.writeHead(200, STREAM_HEADERS);
        const filter = toStreamFilter(null, kinds === undefined ? null : [kinds]);
        subscriptions.open(response, subscriptions.enter('client'), {
          start: { epoch: feed.newest.epoch, position: Number(start) },
          filter,
        });
      });
      await once(server.listen(0, '127.0.0.1'), 'listening');
      t.after(async () => {
        subscriptions.close();
        server.closeAllConnections();
        server.close();
        await feed.stop();
        await market.close();
      });
      const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
      return { subscriptions, feed, url };
    }

    /** Appends more events than the sockets of both sides can buffer. Returns the order ids of the events. */
    async function appendMuch(): Promise<string[]> {
      const reason = 'x'.repeat(16_000);
      const changes = Array.from({ length: 800 }, (_, index) => listed(index, { reason }));
      await appendActivity(main, changes);
      return changes.map(({ orderId }) => orderId ?? '');
    }
    const orderIdsOf = (stream: EventStream): string[] => stream.events.map(({ data }) => data.orderId);

    test('a limited number of bytes is held for a client that does not read, and another client gets every event', async (t) => {
      const { subscriptions, feed, url } = await serve(t, { slowMs: 10 * LIMIT_MS });
      const start = feed.newest.position;
      const slow = await EventStream.open(`${url}/${start}`);
      slow.pause();
      const reader = await EventStream.open(`${url}/${start}`);
      let bufferedMax = 0;
      const sampler = setInterval(() => (bufferedMax = Math.max(bufferedMax, subscriptions.counts.bufferedBytes)), 5);
      t.after(() => clearInterval(sampler));
      const orders = await appendMuch();
      feed.hint();
      await reader.received(orders.length);
      assert.deepEqual(orderIdsOf(reader), orders);
      assert.ok(slow.events.length < orders.length);
      // One chunk for each connection, and its framing.
      assert.ok(bufferedMax > 0 && bufferedMax <= 2 * (CHUNK_BYTES_MAX + 1_000), String(bufferedMax));
    });

    test('a client that does not read is disconnected, and gets the remaining events when it connects again', async (t) => {
      const { subscriptions, feed, url } = await serve(t, { slowMs: 50 });
      const slow = await EventStream.open(`${url}/${feed.newest.position}`);
      slow.pause();
      const orders = await appendMuch();
      feed.hint();
      await until(() => subscriptions.counts.slowReaders === 1, LIMIT_MS, 'the client is still connected');
      assert.deepEqual([subscriptions.counts.subscribers, subscriptions.counts.bufferedBytes], [0, 0]);
      slow.resume();
      assert.equal(await slow.ended, false);
      assert.ok(slow.events.length < orders.length);
      const again = await serve(t);
      const resumed = await EventStream.open(`${again.url}/${Number(slow.lastEventId.split('-')[1])}`);
      await resumed.received(orders.length - slow.events.length);
      assert.deepEqual([...orderIdsOf(slow), ...orderIdsOf(resumed)], orders);
    });

    test('a comment keeps the connection open, and names the offset of events that the filter left out', async (t) => {
      const { feed, url } = await serve(t, { commentPeriodMs: 20 });
      const stream = await EventStream.open(`${url}/${feed.newest.position}/sale`);
      await until(() => stream.comments > 1, LIMIT_MS, 'no comment arrived');
      const before = stream.lastEventId;
      await appendActivity(main, [listed(1), listed(2)]);
      feed.hint();
      await until(() => stream.lastEventId > before, LIMIT_MS, 'the offset did not arrive');
      assert.deepEqual([stream.events.length, stream.lastEventId], [0, feed.offset]);
    });

    test('when the process drains, every response is completed within the grace period', async (t) => {
      const { subscriptions, feed, url } = await serve(t);
      const streams = await Promise.all(
        Array.from({ length: 7 }, () => EventStream.open(`${url}/${feed.newest.position}`)),
      );
      subscriptions.drain(100);
      const ends = await Promise.all(streams.map(({ ended }) => ended));
      assert.deepEqual(new Set(ends), new Set([true]));
      assert.equal(subscriptions.counts.subscribers, 0);
    });

    test('when the log has become shorter, all connections end, because an offset may now name another event', async (t) => {
      const { feed, url } = await serve(t);
      await appendActivity(main, [listed(1), listed(2)]);
      feed.hint();
      await until(() => feed.newest.position > 1, LIMIT_MS, 'the log was not read');
      const stream = await EventStream.open(`${url}/${feed.newest.position}`);
      await main.query('truncate main.activity');
      await main.query('update main.activity_head set position = 1');
      feed.hint();
      assert.equal(await stream.ended, true);
      await assert.rejects(feed.requireKept(parseOffset(stream.lastEventId) ?? assert.fail()), { code: 'gone' });
    });
  });
});
