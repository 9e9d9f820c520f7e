// Imports records of tokens, stats, analytics, rates and collections over stored rows, and checks how the rows change. A
// batch with several records of one row must have the same effect as the records one by one.

import assert from 'node:assert/strict';
import { before, beforeEach, describe, test } from 'node:test';
import type { Database } from '../../src/platform/database/port.ts';
import { forOneEngine } from '../support/engines/each-engine.ts';
import {
  ASSET,
  EVM,
  MINT,
  SELLER,
  collection,
  dumpTables,
  emptyTables,
  ingest,
  listing,
  runImport,
  sale,
  toContext,
  toNdjson,
  token,
} from '../support/service/intake.ts';

const OTHER = '0x00000000000000000000000000000000000000bb';
const OTHER_CASE = MINT.replace('So', 'so');
const may = (day: number) => `2026-05-${String(day).padStart(2, '0')}T00:00:00Z`;
const INSERTED = [1, 0, 0];
const UPDATED = [0, 1, 0];
const UNCHANGED = [0, 0, 1];

forOneEngine('upserts of metadata', (engine) => {
  let db: Database;
  before(async () => {
    db = await engine.open();
  });
  beforeEach(() => emptyTables(db));

  const only = async (table: string): Promise<any> => {
    const rows = await db.query(`select * from ${table}`);
    assert.equal(rows.length, 1);
    return rows[0];
  };
  const rejectionsOf = async (...records: unknown[]) => {
    const { refused } = await runImport(toContext(db), toNdjson(records));
    return refused.map(({ line, reason }) => `${line}: ${reason}`);
  };

  /** Imports the records one by one, and then as one batch into empty tables. Fails unless both imports result in the same rows. */
  const sameInOneBatch = async (...records: unknown[]) => {
    await emptyTables(db);
    for (const record of records) await ingest(db, record);
    const apart = await dumpTables(db);
    await emptyTables(db);
    const [inserted, updated, unchanged] = await ingest(db, ...records);
    assert.deepEqual(await dumpTables(db), apart);
    assert.equal(inserted + updated + unchanged, records.length);
    assert.deepEqual(await ingest(db, records.at(-1)), UNCHANGED);
  };

  describe('tokens, stats, analytics and rates', () => {
    test('a record of a token replaces only the fields that it gives', async () => {
      assert.deepEqual(await ingest(db, token({ name: 'One', owner: SELLER })), INSERTED);
      assert.deepEqual(await ingest(db, token()), UNCHANGED);
      assert.deepEqual(await ingest(db, token({ owner: OTHER, rarityRank: 3 })), UPDATED);
      const { name, owner, rarity_rank: rank } = await only('indexer.token');
      assert.deepEqual([name, owner, rank], ['One', OTHER, '3']);
      await sameInOneBatch(token({ name: 'One' }), token({ owner: SELLER }), token(), token({ name: 'Two' }));
    });

    test('the traits of a record replace all imported traits of the token', async () => {
      const traits = [{ name: 'Hat', value: 'Cap' }, 'Eyes: Blue: dark', { name: 'Level', value: 7 }, 'Hat:Cap'];
      const traitsOf = () => db.query(`select name, value, kind from indexer.token_trait order by position`);
      assert.deepEqual(await ingest(db, token({ traits })), INSERTED);
      assert.deepEqual(await ingest(db, token({ traits })), UNCHANGED);
      assert.deepEqual(await traitsOf(), [
        { name: 'Hat', value: 'Cap', kind: 'text' },
        { name: 'Eyes', value: 'Blue: dark', kind: 'text' },
        { name: 'Level', value: '7', kind: 'number' },
      ]);
      assert.deepEqual(await ingest(db, token({ name: 'One' })), UPDATED);
      assert.equal((await traitsOf()).length, 3);
      assert.deepEqual(await ingest(db, token({ traits: ['Hat: Fez'] })), UPDATED);
      assert.deepEqual(await traitsOf(), [{ name: 'Hat', value: 'Fez', kind: 'text' }]);
      assert.deepEqual(await ingest(db, token({ traits: [] })), UPDATED);
      assert.deepEqual(await traitsOf(), []);
      await sameInOneBatch(token({ traits: ['Hat: Cap'] }), token({ name: 'One' }), token({ traits: ['Hat: Fez'] }));
    });

    for (const [kind, table, field, column] of [
      ['stats', 'indexer.collection_stats', 'owners', 'owners'],
      ['analytics', 'indexer.collection_analytics', 'floorRaw', 'floor_raw'],
    ] as const) {
      const record = (value: number | null, at?: string) => ({
        kind,
        chain: 'ethereum',
        contractAddress: EVM,
        [field]: field === 'floorRaw' && value !== null ? String(value) : value,
        at,
      });

      test(`a ${kind} record replaces all fields of the stored row of its collection unless the row is newer`, async () => {
        assert.deepEqual(await ingest(db, record(1, may(5))), INSERTED);
        assert.deepEqual(await ingest(db, record(1, may(5))), UNCHANGED);
        assert.deepEqual(await ingest(db, record(2, may(4))), UNCHANGED);
        assert.deepEqual(await ingest(db, record(2, may(5))), UPDATED);
        assert.deepEqual(await ingest(db, record(null, may(6))), UPDATED);
        assert.equal((await only(table))[column], null);
        await sameInOneBatch(record(1, may(5)), record(2, may(4)), record(3, may(5)), record(4, may(6)));
      });

      test(`a ${kind} record without a time has the time of its import`, async () => {
        assert.deepEqual(await ingest(db, record(1)), INSERTED);
        const later = toContext(db, { clock: () => Date.parse(may(31)) + 86_400_000 * 30 });
        const again = await runImport(later, toNdjson([record(1)]));
        assert.equal(again.summary.unchanged, 1);
        const other = await runImport(later, toNdjson([record(2)]));
        assert.equal(other.summary.updated, 1);
        assert.deepEqual((await only(table)).at, new Date(later.clock()));
      });
    }

    test('the values of each time window of analytics are stored in the columns of that window', async () => {
      const windows = { allTime: 3.5, sevenDay: 2.25, twentyFourHour: 1 };
      const sales = { allTime: 30, sevenDay: 20, twentyFourHour: 10 };
      await ingest(db, { kind: 'analytics', chain: 'base', contractAddress: EVM, volume: windows, sales, at: may(1) });
      assert.deepEqual(await only('indexer.collection_analytics'), {
        collection_id: `base_${EVM}`,
        floor_raw: null,
        volume_all_time: 3.5,
        volume_seven_day: 2.25,
        volume_day: 1,
        sales_all_time: '30',
        sales_seven_day: '20',
        sales_day: '10',
        at: new Date(may(1)),
      });
    });

    test('a rate replaces the stored rate of its symbol unless the stored rate is newer', async () => {
      const rate = (usd: number, at: string) => ({ kind: 'rate', symbol: 'ETH', usd, at });
      assert.deepEqual(await ingest(db, rate(3000.5, may(5))), INSERTED);
      assert.deepEqual(await ingest(db, rate(1, may(4))), UNCHANGED);
      assert.deepEqual(await ingest(db, rate(3001, may(5))), UPDATED);
      assert.deepEqual(await ingest(db, rate(3001, may(6))), UPDATED);
      assert.deepEqual([(await only('main.rate')).usd, (await only('main.rate')).at], [3001, new Date(may(6))]);
      await sameInOneBatch(rate(1, may(5)), rate(2, may(4)), rate(3, may(5)));
    });
  });

  describe('collections', () => {
    test('a record replaces only the fields that it gives', async () => {
      const snapshot = { floorRaw: '5', volumeAllTime: 2.5, supply: 10, owners: 3 };
      assert.deepEqual(await ingest(db, collection({ image: 'ipfs://a', royaltyBps: 500, snapshot })), INSERTED);
      assert.deepEqual(await ingest(db, collection()), UNCHANGED);
      const changed = { name: 'B', launched: true, royaltyBps: 0, slug: null, snapshot: { owners: 4 } };
      const later = toContext(db, { clock: () => Date.parse(may(31)) });
      assert.equal((await runImport(later, toNdjson([collection(changed)]))).summary.updated, 1);
      const row = await only('main.collection');
      assert.deepEqual(
        [row.name, row.slug, row.image, row.launched, row.royalty_bps, row.created_at],
        ['B', 'aa', 'ipfs://a', true, 0, new Date('2026-06-01T00:00:00Z')],
      );
      assert.deepEqual(
        [row.snapshot_floor_raw, row.snapshot_volume, row.snapshot_supply, row.snapshot_owners],
        ['5', 2.5, '10', '4'],
      );
      assert.deepEqual(await ingest(db, collection({ name: 'B', createdAt: may(2) })), UPDATED);
      assert.deepEqual((await only('main.collection')).created_at, new Date(may(2)));
      await sameInOneBatch(
        collection({ image: 'a' }),
        collection({ banner: 'b' }),
        collection({ name: 'C', launched: true }),
      );
    });

    test('a record with the slug of another collection is rejected with the id of that collection', async () => {
      const duplicate = collection({ contractAddress: OTHER, name: 'Other' });
      const reason = `2: slug: aa belongs to the collection ethereum_${EVM}`;
      assert.deepEqual(await rejectionsOf(collection(), duplicate, collection({ chain: 'base', slug: 'bb' })), [
        reason,
      ]);
      assert.deepEqual(await rejectionsOf(collection({ name: 'New' }), duplicate), [reason]);
      assert.deepEqual(await rejectionsOf({ kind: 'collection', slug: 'aa', name: 'By slug' }), [
        `1: ${reason.slice(3)}`,
      ]);
      assert.equal((await db.query('select from main.collection')).length, 2);
    });

    test('a slug that a collection no longer uses can be given to another collection', async () => {
      const a = (slug: string) => collection({ slug });
      const b = (slug: string) => collection({ contractAddress: OTHER, slug });
      await sameInOneBatch(a('x'), a('y'), b('x'));
      await emptyTables(db);
      await ingest(db, a('x'), b('y'));
      await ingest(db, a('z'), b('x'), a('y'));
      const rows = await db.query('select contract_address, slug from main.collection order by 1');
      assert.deepEqual(rows, [
        { contract_address: EVM, slug: 'y' },
        { contract_address: OTHER, slug: 'x' },
      ]);
    });

    test('a collection whose id is made from its slug is not replaced by another record with the same id', async () => {
      await ingest(db, { kind: 'collection', chain: 'solana', slug: 'monkey_business', name: 'A' });
      const same = { kind: 'collection', slug: 'solana_monkey_business', name: 'B' };
      assert.deepEqual(await rejectionsOf(same), [
        '1: slug: the id solana_monkey_business belongs to the collection with the slug monkey_business',
      ]);
    });

    test('a record is rejected if its Solana address differs from the stored one only in letter case', async () => {
      const solana = { chain: 'solana', contractAddress: OTHER_CASE };
      const item = { ...solana, tokenId: undefined, mint: ASSET };
      const reason = `contractAddress: differs only in letter case from ${MINT}, which is stored`;
      const found = await rejectionsOf(
        collection({ chain: 'solana', contractAddress: MINT }),
        collection({ ...solana, slug: 'bb' }),
        token({ ...item, name: 'lost' }),
        listing({ ...item, seller: MINT }),
        sale(item),
        { kind: 'stats', ...solana, owners: 1 },
        { kind: 'analytics', ...solana, floorRaw: '1' },
        token({ ...item, contractAddress: MINT }),
      );
      assert.deepEqual(
        found,
        [2, 3, 4, 5, 6, 7].map((line) => `${line}: ${reason}`),
      );
      assert.equal((await only('main.collection')).contract_address, MINT);
      assert.equal((await only('indexer.token')).name, null);
      assert.deepEqual(await rejectionsOf(token(item)), [`1: ${reason}`]);
    });
  });
});
