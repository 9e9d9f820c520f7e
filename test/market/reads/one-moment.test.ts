// The floor, the buyer's total and the listed count of a response are of one moment, or marked as stale with their age. The test changes the books
// between the statements of a request, and breaks sources, at random. It reads each response that has these figures, and checks what can
// never be true of one moment.

import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { Random } from '../../../sample/random.ts';
import type { Databases } from '../../../src/platform/database/open.ts';
import { openDatabases } from '../../../src/platform/database/open.ts';
import type { Database, Statements } from '../../../src/platform/database/port.ts';
import { forOneEngine } from '../../support/engines/each-engine.ts';
import { runImport, toContext, toNdjson } from '../../support/service/intake.ts';
import type { TestCollection } from '../../support/service/market.ts';
import { MINUTE_MS, START, mintOf, newCollection, range, withoutDecimals } from '../../support/service/market.ts';
import type { McpClient } from '../../support/service/mcp-client.ts';
import { connectMcp } from '../../support/service/mcp-client.ts';
import type { TestService } from '../../support/service/service.ts';
import { startTestService } from '../../support/service/service.ts';

const ROUNDS = 24;
/** Few assets, so that the books are often empty, and that own orders often replace mirrored listings. */
const ASSETS = range(3);
/** The tables of a source. While a source is broken, every statement that names one of its tables fails. */
const SOURCES = {
  mirror: /indexer\.(listing|listed_asset|own_asset)\b/,
  book: /main\.book_order\b/,
  stats: /indexer\.collection_stats\b/,
  analytics: /indexer\.collection_analytics\b/,
};

type Shown = { raw: string } | null;

forOneEngine('figures of one moment', (engine) => {
  describe('service', () => {
    const random = new Random('one moment', engine.name);
    const subjects = ['ethereum', 'base', 'solana'].map((chain) => newCollection({ chain, royaltyBps: 500 }));
    let now = START;
    let service: TestService;
    let agent: McpClient;
    let databases: Databases;
    /** What happens before each statement of a request. */
    let beforeStatement: (sql: string) => Promise<void> = () => Promise.resolve();

    const disturbed = (db: Database): Database => ({
      ...db,
      within: (...bounds) => {
        const statements = db.within(...bounds);
        const query: Statements['query'] = async (sql, params) => {
          await beforeStatement(sql);
          return statements.query(sql, params);
        };
        return { ...statements, query };
      },
    });

    before(async () => {
      service = await startTestService({
        settings: { ...(await engine.settings()), SOURCE_TIMEOUT_MS: '60000' },
        clock: () => now,
        open: async (config, log) => {
          databases = await openDatabases(config, log);
          const main = disturbed(databases.main);
          const indexer = databases.indexer === databases.main ? main : disturbed(databases.indexer);
          return { ...databases, main, indexer };
        },
      });
      agent = await connectMcp(service.url);
      await service.load(subjects.map((subject) => subject.collection({ snapshot: { floorRaw: '500' } })));
    });
    after(() => service.close());

    const load = async (records: readonly object[]) => {
      const { main, indexer } = databases;
      const context = toContext(main, { main, indexer, clock: () => now });
      assert.equal((await runImport(context, toNdjson(records))).summary.refused, 0);
      await context.copyCatalog();
    };

    function randomRecord(subject: TestCollection): object {
      const number = random.pick(ASSETS);
      const asset = subject.chain === 'solana' ? mintOf(subject.slug, String(number)) : String(number);
      const price = random.integer(1, 60) * 10;
      const status = random.boolean(0.45) ? 'active' : random.pick(['filled', 'cancelled']);
      const soon = new Date(now + random.integer(1, 10) * MINUTE_MS).toISOString();
      const more = { status, ...(random.boolean(0.3) && { expiresAt: soon }) };
      const observed = { at: new Date(now - random.integer(0, 40) * MINUTE_MS).toISOString() };
      const floor = random.boolean(0.7) && { floorRaw: String(random.integer(1, 60) * 10) };
      switch (random.integer(0, 9)) {
        case 0:
          return subject.stats({ ...observed, ...floor, listedCount: random.integer(0, 2) });
        case 1:
          return subject.analytics({ ...observed, ...floor });
        case 2:
          return subject.collection({ snapshot: { floorRaw: String(random.integer(1, 60) * 10) } });
        case 3:
        case 4:
        case 5:
          if (subject.chain !== 'solana') return subject.order(asset, price, more);
          return subject.listing(asset, price, { ...more, source: 'mercat', id: `mercat_${subject.slug}_${number}` });
        default: {
          const total = random.boolean(0.6) && { buyerTotalRaw: String(price + random.integer(0, 30)) };
          return subject.listing(asset, price, { ...more, ...total, id: `${subject.slug}_${number}` });
        }
      }
    }

    /** `listedCount`: undefined if the response does not have it. `buyerFloor` likewise. */
    type Response = { ask: Shown; buyer?: Shown; isStale?: boolean; listedCount?: number | null };

    function assertPossible({ ask, buyer, isStale = false, listedCount }: Response, what: string): void {
      for (const price of [ask, buyer]) assert.notEqual(price?.raw, '0', `${what}: a floor of zero`);
      if (ask && buyer) {
        assert.ok(
          BigInt(buyer.raw) >= BigInt(ask.raw),
          `${what}: a buyer pays ${buyer.raw}, below the ask of ${ask.raw}`,
        );
      }
      if (buyer && !isStale) assert.ok(ask, `${what}: a total of ${buyer.raw} without an ask`);
      if (listedCount !== 0) return;
      assert.equal(ask, null, `${what}: a floor, and nothing is listed`);
      assert.ok(!buyer || isStale, `${what}: a total of a buyer, and nothing is listed`);
    }

    const ofExplored = (row: any): Response => {
      const { floor, buyerFloor, listedCount } = withoutDecimals(row.stats);
      if (!buyerFloor) return { ask: floor, buyer: null, listedCount };
      const { price, stale, observedAt } = buyerFloor;
      assert.equal(stale, observedAt !== null, 'a total is stale, or has an age, but not both');
      if (stale) {
        const age = now - Date.parse(observedAt);
        assert.ok(age >= 0 && age <= 30 * MINUTE_MS, `the total of a buyer is ${age} ms old`);
      }
      return { ask: floor, buyer: price, isStale: stale, listedCount };
    };

    const data = async (path: string): Promise<any> => {
      const { status, body } = await service.get(path);
      // The lists need the index, and answer 502 while it cannot be read.
      assert.ok(status === 200 || (status === 502 && /\/collections\?/.test(path)), `${status} ${path}`);
      return status === 200 ? body.data : [];
    };

    async function readAll(subject: TestCollection): Promise<Record<string, Response>> {
      const detail = await data(subject.path);
      const { askFloor, buyerFloor, stale } = await data(`${subject.path}/floor`);
      const explored = await data(`/explore${subject.path}`);
      const isSubject = ({ id }: { id: string }) => id === subject.id;
      const summary = (await data(`/v1/collections?chain=${subject.chain}&limit=100`)).find(isSubject);
      const row = (await data(`/explore/v1/collections?chain=${subject.chain}&limit=100`)).find(isSubject);
      const report = (await agent.ok('get_collection', { collection: subject.id })).data;
      const figureOf = (name: string) => report.figures.find(({ figure }: any) => figure === name).value;
      assert.equal(figureOf('floor'), report.askFloor?.decimal ?? null);
      return {
        detail: { ask: detail.stats.floor, listedCount: detail.stats.listedCount },
        floor: { ask: askFloor, buyer: buyerFloor, isStale: stale },
        explored: ofExplored(explored),
        agent: {
          ask: report.askFloor,
          buyer: report.buyerFloor,
          isStale: report.buyerFloorStale,
          listedCount: figureOf('listedCount'),
        },
        ...(summary && { summary: { ask: summary.stats.floor } }),
        ...(row && { row: ofExplored(row) }),
      };
    }

    test('while nothing changes, all responses show the same floor, and both floors are those of the listings', async () => {
      for (let round = 0; round < ROUNDS / 3; round += 1) {
        await load(range(4).map(() => randomRecord(random.pick(subjects))));
        now += random.integer(1, 40) * MINUTE_MS;
        for (const subject of subjects) {
          const { detail, floor, explored, summary, row } = await readAll(subject);
          assert.ok(detail && floor && explored && summary && row);
          for (const other of [detail, explored, summary, row]) assert.deepEqual(other.ask, floor.ask, subject.chain);
          assert.deepEqual([explored.buyer, row.buyer], [floor.buyer, floor.buyer], subject.chain);
          assert.deepEqual([explored.listedCount, row.listedCount], [detail.listedCount, detail.listedCount]);
          const listings = (await service.ok(`${subject.path}/listings?limit=100`)).data;
          const what = `${subject.chain}, round ${round}`;
          if (listings.length === 0) assert.equal(floor.buyer, null, what);
          else assert.equal(floor.ask?.raw, listings[0].price.raw, what);
          assert.equal(floor.buyer === null, listings.length === 0, what);
        }
      }
    });

    test('whatever changes between the reads of a request, and whatever cannot be read, the figures of a response are possible', async () => {
      let changes = 0;
      for (let round = 0; round < ROUNDS; round += 1) {
        const broken = random.boolean(0.4) ? random.pick(Object.values(SOURCES)) : null;
        let isChanging = false;
        beforeStatement = async (sql) => {
          if (isChanging) return;
          if (broken?.test(sql)) throw new Error('the test broke this source');
          if (!random.boolean(0.25)) return;
          isChanging = true;
          try {
            await load([randomRecord(random.pick(subjects))]);
            changes += 1;
          } finally {
            isChanging = false;
          }
        };
        for (const subject of subjects) {
          const responses = await readAll(subject);
          for (const [name, response] of Object.entries(responses)) {
            assertPossible(response, `round ${round}, ${name} of ${subject.chain}`);
          }
          now += random.integer(1, 3) * MINUTE_MS;
        }
      }
      assert.ok(changes > ROUNDS, `only ${changes} changes were made between the reads`);
    });
  });
});
