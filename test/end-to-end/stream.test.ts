// Two processes of the service share one PostgreSQL and follow a local chain. Consumers copy the market: each reads the complete market once
// (a snapshot) and then follows the stream. The chain is reorganised, the processes are killed, and the connections are reset at random
// times. Each new connection goes to the other process. At the end every copy must equal what the interfaces serve. `npm run test:stream`
// runs this test for a longer time, with more consumers, reorganisations and kills. STREAM_SEED sets the random seed.

import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import type { Activity } from '../../client/src/market.ts';
import { createMarketClient } from '../../client/src/market.ts';
import { createRandom } from '../../devnet/random.ts';
import { cleanUp } from '../support/engines/cleanup.ts';
import { canRunPostgres } from '../support/engines/postgres-server.ts';
import { until } from '../support/until.ts';
import type { Consumer } from './stream/consumer.ts';
import { startConsumer } from './stream/consumer.ts';
import { startLiveMarket } from './stream/live-market.ts';
import { findDifferences, readRows } from './stream/market-copy.ts';

const SEED = Number(process.env['STREAM_SEED'] ?? 1);
const CONSUMERS = Number(process.env['STREAM_CONSUMERS'] ?? 2);
const DISCONNECTIONS = Number(process.env['STREAM_DISCONNECTIONS'] ?? 6);
const REORGANISATIONS = Number(process.env['STREAM_REORGANISATIONS'] ?? 3);
const KILLS = Number(process.env['STREAM_KILLS'] ?? 1);
const BOOK_SIZE = 60;
const BLOCKS_PER_REORGANISATION = 6;
const REORG_DEPTH_MAX = 8;
/** Only a service that hangs needs longer than this. */
const LIMIT_MS = 180_000;
const DIFFERENCES_PRINTED = 20;

after(cleanUp);

test('copies made from one snapshot and the stream equal what the interfaces serve, over reorganisations, kills and lost connections', async (t) => {
  if (!canRunPostgres() && process.env['REQUIRE_POSTGRES'] !== '1') return t.skip('PostgreSQL is not on this machine');
  const live = await startLiveMarket(t, { seed: SEED, bookSize: BOOK_SIZE, settings: { TRUST_PROXY: 'true' } });
  const { nodes, world, simulation, book, collections } = live;
  // Some orders are in the snapshot, also several of one token, and the others arrive as events.
  const inSnapshot = book.slice(0, Math.ceil(book.length / 2));
  await simulation.post(inSnapshot);
  const people = world.people.map(({ address }) => address.toLowerCase());
  const random = createRandom(SEED * 7);
  const consumers: Consumer[] = [];
  live.atEnd(() => Promise.all(consumers.map((consumer) => consumer.stop())));
  for (let index = 1; index <= CONSUMERS; index += 1)
    consumers.push(
      await startConsumer({
        nodes: nodes.urls,
        collections,
        random: createRandom(SEED + index),
        address: `10.0.0.${index}`,
      }),
    );
  await simulation.post(book.filter((listing) => !inSnapshot.includes(listing)));
  const disconnections = () => consumers.reduce((sum, one) => sum + one.disconnections(), 0);

  const trade = async () => {
    for (let block = 0; block < BLOCKS_PER_REORGANISATION; block += 1) await simulation.step();
    // The reorganisation causes an event only if a process has read the blocks that it replaces.
    await live.waitUntilFollowed();
    await simulation.reorganise(Math.min(1 + random.below(REORG_DEPTH_MAX), simulation.reorgDepth()));
  };
  let clients = 0;
  /** Reads what the interfaces serve, with the activity after the offset. Each read has a different client address, so no rate limit applies. */
  const readServed = ({ offset, copy }: Consumer) => {
    clients += 1;
    const headers = { 'x-forwarded-for': `10.1.${clients >> 8}.${clients & 255}` };
    const client = createMarketClient({ baseUrl: nodes.urls[clients % nodes.urls.length] ?? '', headers });
    return readRows(client, { collections, wallets: new Set([...people, ...copy.wallets()]), offset });
  };
  const compareAll = async () => {
    await live.waitUntilFollowed();
    for (const consumer of consumers) {
      const { copy } = consumer;
      let differences: string[] = [];
      const isEqual = async () => {
        differences = findDifferences(copy.rows(), await readServed(consumer));
        return differences.length === 0;
      };
      await until(isEqual, LIMIT_MS, 'a copy differs').catch((error: unknown) => {
        for (const difference of differences.slice(0, DIFFERENCES_PRINTED)) t.diagnostic(difference);
        throw error;
      });
      assert.deepEqual(copy.faults, []);
    }
  };

  let reorganisations = 0;
  for (let kills = 0; kills < KILLS; kills += 1) {
    const restarted = nodes.kill(kills % nodes.urls.length);
    restarted.catch(() => undefined);
    for (; reorganisations < Math.ceil(((kills + 1) * REORGANISATIONS) / KILLS); reorganisations += 1) await trade();
    await restarted;
    await compareAll();
  }
  for (; disconnections() < DISCONNECTIONS; reorganisations += 1) await trade();
  await compareAll();

  t.diagnostic(`${reorganisations} reorganisations, ${KILLS} kills, ${disconnections()} disconnections`);
  for (const [index, consumer] of consumers.entries()) {
    const { copy, offset } = consumer;
    const log = await readLog(nodes.urls[0] ?? '', offset);
    await until(() => copy.events.length >= log.length, LIMIT_MS, 'the end of the log was not received');
    await consumer.stop();
    const offsets = copy.events.map((event) => event.offset);
    const received = new Set(offsets);
    const figures = {
      disconnections: consumer.disconnections(),
      events: log.length,
      reorganisations: log.filter(({ kind }) => kind === 'reorg').length,
      lost: log.filter((event) => !received.has(event.offset ?? '')).length,
      doubled: offsets.length - received.size,
    };
    t.diagnostic(`consumer ${index + 1}: ${JSON.stringify(figures)}`);
    assert.deepEqual([figures.lost, figures.doubled], [0, 0]);
    assert.ok(figures.reorganisations > 0);
    assert.deepEqual(copy.events.slice(0, log.length), log);
  }
});

/** The events of the log after the offset, read in pages. */
async function readLog(baseUrl: string, after: string): Promise<Activity[]> {
  const client = createMarketClient({ baseUrl, headers: { 'x-forwarded-for': '10.2.0.1' } });
  const events: Activity[] = [];
  for (let offset: string | null = after; offset !== null;) {
    const page = await client.listActivityAfter({ offset });
    events.push(...page.data);
    offset = page.next;
  }
  return events;
}
