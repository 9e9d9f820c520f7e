// A stream whose filter matches few events costs what these events cost, however many other events the log has.

import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { TestContext } from 'node:test';
import { before, describe, test } from 'node:test';
import { readMatchingActivity } from '../../../../src/market/activity/queries/activity-events.ts';
import { createChains } from '../../../../src/platform/core/chains.ts';
import { systemClock } from '../../../../src/platform/core/clock.ts';
import { createLog } from '../../../../src/platform/core/log.ts';
import type { Database, Queryable } from '../../../../src/platform/database/port.ts';
import { createFeedReader } from '../../../../src/market/explore/http/stream/feed.ts';
import { STREAM_HEADERS } from '../../../../src/market/explore/http/stream/event-stream.ts';
import { Subscriptions } from '../../../../src/market/explore/http/stream/subscriptions.ts';
import { ActivityFeed } from '../../../../src/market/explore/stream/activity-feed.ts';
import type { StreamFilter } from '../../../../src/market/explore/stream/stream-entry.ts';
import { passesFilter, toStreamFilter } from '../../../../src/market/explore/stream/stream-entry.ts';
import { RejectionCounts } from '../../../../src/platform/http/rejection-counts.ts';
import { Market } from '../../../../src/market/reads/market.ts';
import { forEachEngine } from '../../../support/engines/each-engine.ts';
import { listPlanFaults } from '../../../support/engines/query-plans.ts';
import { EventStream } from '../../../support/http/event-stream.ts';
import { measureCpuMs } from '../../../support/measure/cost.ts';
import { until } from '../../../support/until.ts';

const LIMIT_MS = 60_000;
const EVENTS = 120_000;
const CONNECTIONS = 50;
const COMMENT_PERIOD_MS = 100;
const random = () => 0.5;
const idOf = (number: number) => `ethereum_0x${number.toString(16).padStart(40, '0')}`;

/**
 * Fills the log. Collection 1 has nearly all events, collection 2 one in a hundred, collection 3 five. The kinds are lists, with a sale for
 * every fifth and a burn for every thousandth event. Every 40,000th event is of no collection.
 */
const FILL = `insert into main.activity (position, kind, at, chain, collection_id, asset, origin, merged_at)
  select n, case when n % 1000 = 0 then 'burn' when n % 5 = 0 then 'sale' else 'list' end, now(), 'ethereum',
    case when n % 40000 = 0 then null when n % 24000 = 7 then $2 when n % 100 = 1 then $3 else $4 end, n::text, 'main', now()
  from generate_series(1, $1::bigint) as n`;

const positionOf = (offset: string) => Number(offset.split('-')[1]);

forEachEngine('filters of the stream that few events pass', (engine) => {
  describe('server', () => {
    let main: Database;
    before(async () => {
      main = await engine.open();
      await main.query(FILL, [EVENTS, idOf(3), idOf(2), idOf(1)]);
      await main.query('update main.activity_head set position = $1', [EVENTS]);
      await main.query('analyze main.activity');
    });

    function openMarket() {
      const rules = { serviceName: 'mercat', platformFeeBps: 0, custodyWallets: new Map(), sourceTimeoutMs: LIMIT_MS };
      const log = createLog('silent');
      const common = { main, indexer: main, chains: createChains(null), clock: systemClock, random, log };
      return new Market({ ...rules, ...common });
    }

    /** Serves the stream of a filter to every request, and counts the events that were read from the log. */
    async function serve(t: TestContext, commentPeriodMs = COMMENT_PERIOD_MS) {
      const log = createLog('silent');
      const counts = { reads: 0, events: 0 };
      const market = openMarket();
      const reader = createFeedReader(market);
      const feed = new ActivityFeed({
        random,
        log,
        read: async (range) => {
          const found = await reader(range);
          counts.reads += 1;
          counts.events += found.entries.length;
          return found;
        },
      });
      const limits = { connectionsMax: 100, connectionsPerClient: 100, commentPeriodMs };
      const subscriptions = new Subscriptions({
        feed,
        clock: systemClock,
        random,
        rejections: new RejectionCounts(),
        limits,
      });
      feed.run();
      await until(() => feed.offset !== null, LIMIT_MS, 'the log was not read');
      const filters: StreamFilter[] = [];
      const server = createServer((request, response) => {
        const [, start = '', index = ''] = (request.url ?? '').split('/');
        const filter = filters[Number(index)] ?? assert.fail();
        response.writeHead(200, STREAM_HEADERS);
        subscriptions.open(response, subscriptions.enter('client'), {
          start: { epoch: feed.newest.epoch, position: Number(start) },
          filter,
        });
      });
      await once(server.listen(0, '127.0.0.1'), 'listening');
      const streams: EventStream[] = [];
      t.after(async () => {
        for (const stream of streams) stream.close();
        subscriptions.close();
        server.closeAllConnections();
        server.close();
        await feed.stop();
        await market.close();
      });
      const follow = async (filter: StreamFilter, start = 0) => {
        filters.push(filter);
        const port = (server.address() as AddressInfo).port;
        const stream = await EventStream.open(`http://127.0.0.1:${port}/${start}/${filters.length - 1}`);
        streams.push(stream);
        return stream;
      };
      return { follow, counts };
    }

    const FILTERS: [name: string, filter: StreamFilter, matches: number][] = [
      ['a kind without events', toStreamFilter(null, ['reorg']), 0],
      [
        'an unknown collection, and a kind that the events without a collection do not have',
        toStreamFilter([idOf(9)], ['sale']),
        0,
      ],
      ['a kind that a large collection does not have', toStreamFilter([idOf(1)], ['mint']), 0],
      ['a small collection', toStreamFilter([idOf(3)], ['list', 'sale']), 5],
      ['all kinds of an unknown collection, and the events without a collection', toStreamFilter([idOf(9)], null), 3],
      ['a rare kind', toStreamFilter(null, ['burn', 'reorg']), 120],
      [
        'a hundred unknown collections',
        toStreamFilter(
          Array.from({ length: 100 }, (_, index) => idOf(100 + index)),
          ['sale'],
        ),
        0,
      ],
    ];

    test('an event stays as it was when it got its offset, also after a later event has taken it back', async (t) => {
      const market = openMarket();
      t.after(() => market.close());
      const reader = createFeedReader(market);
      const read = async () => (await reader({ after: 4, limit: 1 })).entries.map(({ json }) => json);
      const before = await read();
      await main.query('update main.activity set voided_by = 9 where position = 5');
      assert.deepEqual(await read(), before);
      await main.query('update main.activity set voided_by = null where position = 5');
    });

    test('the statement reads the events that pass, and no other events', async () => {
      for (const [name, filter, matches] of FILTERS) {
        const statements: { sql: string; params: readonly unknown[] }[] = [];
        const recorder: Queryable = {
          query: (sql, params = []) => {
            statements.push({ sql, params });
            return main.query(sql, params);
          },
        };
        const { events, newest } = await readMatchingActivity(recorder, { after: 0, limit: 100 }, filter);
        assert.deepEqual([events.length, newest], [Math.min(matches, 100), EVENTS], name);
        const faults = await listPlanFaults(main, statements, { rowsMax: 3 * matches + 10, sortMax: 3 * matches + 10 });
        assert.deepEqual(faults, [], name);
      }
    });

    test('fifty connections with a filter that no event passes read no event', async (t) => {
      const { follow, counts } = await serve(t);
      const before = { ...counts };
      const cpuMs = await measureCpuMs(async () => {
        const streams: EventStream[] = [];
        for (let index = 0; index < CONNECTIONS; index += 1)
          streams.push(await follow(toStreamFilter(null, ['reorg'])));
        // A comment names the position that a connection has reached.
        const isAtEnd = ({ lastEventId }: EventStream) => positionOf(lastEventId) === EVENTS;
        await until(() => streams.every(isAtEnd), LIMIT_MS, 'not all connections have reached the end of the log');
      });
      t.diagnostic(`${cpuMs.toFixed(0)} ms of processor time for ${CONNECTIONS} connections`);
      assert.equal(counts.events - before.events, 0);
    });

    test('a connection gets the position that it has reached without waiting for a comment, once at the end and not for each read', async (t) => {
      const { follow } = await serve(t, 1_000_000);
      for (const [filter, matches, last] of [
        [toStreamFilter(null, ['reorg']), 0, EVENTS],
        [toStreamFilter([idOf(3)], ['list', 'sale']), 5, EVENTS],
        [toStreamFilter(null, ['burn']), 120, EVENTS],
      ] as const) {
        const stream = await follow(filter);
        await until(
          () => positionOf(stream.lastEventId) === last,
          LIMIT_MS,
          `the position of ${filter.key} did not arrive`,
        );
        assert.deepEqual([stream.events.length, stream.comments <= 2], [matches, true], filter.key);
      }
    });

    test('every filter gets exactly the events that pass it, in order, whether they are read with the filter or in pages', async (t) => {
      const { follow } = await serve(t);
      const all = (await main.query('select position, kind, collection_id from main.activity order by position')).map(
        (row) => ({
          position: Number(row['position']),
          kind: String(row['kind']),
          collectionId: row['collection_id'] as string | null,
          reorgIds: null,
          loggedAt: 0,
          json: '',
        }),
      );
      const filters: [StreamFilter, number][] = [
        [toStreamFilter(null, ['burn']), 0],
        [toStreamFilter(null, ['burn']), 60_000],
        [toStreamFilter([idOf(2)], null), 3],
        [toStreamFilter([idOf(2)], ['sale']), 0],
        [toStreamFilter([idOf(2), idOf(3)], ['list', 'burn']), 0],
        [toStreamFilter([idOf(3)], null), 0],
        [toStreamFilter([idOf(1)], null), EVENTS - 3_000],
        [toStreamFilter(null, ['sale']), EVENTS - 3_000],
      ];
      for (const [filter, start] of filters) {
        const expected = all
          .filter((one) => one.position > start && passesFilter(one, filter))
          .map((one) => one.position);
        const stream = await follow(filter, start);
        await stream.received(expected.length);
        assert.deepEqual(
          stream.events.map(({ id }) => positionOf(id)),
          expected,
          filter.key,
        );
      }
    });
  });
});
