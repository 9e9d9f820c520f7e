// The reads that tools make: they count in the rate limits, prices have the units of their chains, and a source may fail.

import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import type { Databases } from '../../../src/platform/database/open.ts';
import { openDatabases } from '../../../src/platform/database/open.ts';
import { MARKETPLACE_LIMITS } from '../../../src/platform/http/rate-limit.ts';
import { forOneEngine } from '../../support/engines/each-engine.ts';
import { MINUTE_MS, SECOND_MS, START, newCollection } from '../../support/service/market.ts';
import type { McpClient } from '../../support/service/mcp-client.ts';
import { connectMcp } from '../../support/service/mcp-client.ts';
import type { TestService } from '../../support/service/service.ts';
import { startTestService } from '../../support/service/service.ts';

const LIMITS = { list: 3, single: 3, message: 20 };

forOneEngine('the reads of tools', (engine) => {
  describe('service', () => {
    const [ethereum, solana, tiny] = [
      newCollection(),
      newCollection({ chain: 'solana' }),
      newCollection({ chain: 'tiny', slug: 'tiny-things' }),
    ];
    let now = START;
    let service: TestService;
    let databases: Databases;
    let client: McpClient;
    before(async () => {
      service = await startTestService({
        settings: { ...(await engine.settings()), EXTRA_CHAIN: 'tiny:evm:TINY:6' },
        clock: () => now,
        limits: LIMITS,
        open: async (config, log) => (databases = await openDatabases(config, log)),
      });
      await service.load([
        ...[ethereum, solana, tiny].map((one) => one.collection()),
        ethereum.listing('1', 5n * 10n ** 17n),
        tiny.listing('1', 7),
        solana.listing('4zMMC9srt5Ri5X14GAgXhaHii3GnPAEERYPJgZJDncDU', 9),
      ]);
      client = await connectMcp(service.url);
    });
    after(() => service.close());

    /** Begins a new window of the rate limits. */
    const nextMinute = () => (now += MINUTE_MS);
    const statusOf = async (path: string) => (await fetch(`${service.url}${path}`)).status;

    test('a call of a tool counts in the rate limits like the reads that it makes', async () => {
      nextMinute();
      await client.ok('list_listings', { collection: ethereum.slug });
      assert.equal(await statusOf('/v1/collections'), 200);
      await client.ok('list_listings', { collection: ethereum.slug });
      assert.equal(
        await client.error('list_sales', { collection: ethereum.slug }),
        'Too many requests, try again in 60 s',
      );
      assert.equal(await statusOf('/v1/collections'), 429);
      await client.ok('get_collection', { collection: ethereum.slug });
      assert.match(await client.error('get_collection', { collection: ethereum.slug }), /^Too many requests/);
      assert.equal(await statusOf('/v1'), 429);
    });

    test('messages to the MCP server have their own rate limit, which is larger than the sum of the limits of lists and single reads', async () => {
      nextMinute();
      for (let sent = 0; sent < LIMITS.message; sent += 1) await client.error('get_order', {});
      await assert.rejects(client.error('get_order', {}), /Too many requests, try again in 60 s/);
      assert.equal(await statusOf('/v1'), 200);
      assert.ok(MARKETPLACE_LIMITS.message > MARKETPLACE_LIMITS.list + MARKETPLACE_LIMITS.single);
    });

    test('a price is in the native currency of its chain, and `rawUnit` states the decimals of this currency, such as 10^-18 ETH', async () => {
      nextMinute();
      const units = [];
      for (const { slug } of [ethereum, solana, tiny]) {
        const { data } = await client.ok('list_listings', { collection: slug });
        units.push([data[0].price.raw, data[0].price.rawUnit, data[0].price.decimal]);
      }
      assert.deepEqual(units, [
        ['500000000000000000', '10^-18 ETH', 0.5],
        ['9', '10^-9 SOL', 9e-9],
        ['7', '10^-6 TINY', 7e-6],
      ]);
      const { data } = await client.ok('get_collection', { collection: tiny.slug });
      assert.deepEqual([data.askFloor.rawUnit, data.figures[0].unit], ['10^-6 TINY', 'TINY']);
    });

    test('a result is degraded while a source cannot be read, and says when its data was read', async () => {
      nextMinute();
      const given = { collection: ethereum.slug };
      const before = await client.ok('list_listings', given);
      assert.deepEqual([before.degraded, before.readAt], [false, new Date(now).toISOString()]);
      await databases.indexer.query('alter table indexer.listing rename to away_listing');
      try {
        nextMinute();
        const result = await client.ok('list_listings', given);
        assert.deepEqual([result.degraded, result.data], [true, []]);
        assert.equal((await client.ok('get_collection', given)).degraded, true);
        await databases.main.query('alter table main.collection rename to away_collection');
        now += 10 * SECOND_MS;
        const stored = await client.ok('list_listings', given);
        assert.deepEqual([stored.degraded, Date.parse(stored.readAt)], [true, now - 10 * SECOND_MS]);
      } finally {
        await databases.main.query('alter table if exists main.away_collection rename to collection');
        await databases.indexer.query('alter table indexer.away_listing rename to listing');
      }
    });
  });
});
