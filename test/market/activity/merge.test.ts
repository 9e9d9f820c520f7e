// Merges recorded changes into the activity log, with both schemas in one database and in two databases.

import assert from 'node:assert/strict';
import { before, beforeEach, test } from 'node:test';
import type { ChangeOrigin, MarketChange } from '../../../src/market/activity/market-change.ts';
import { mergeChanges } from '../../../src/market/activity/merge.ts';
import { deleteOldActivity, findActivityHead } from '../../../src/market/activity/queries/activity-log.ts';
import type { ActivityRow } from '../../../src/market/activity/queries/activity-rows.ts';
import { ACTIVITY_COLUMNS, decodeActivity } from '../../../src/market/activity/queries/activity-rows.ts';
import { insertMarketChanges } from '../../../src/market/activity/queries/market-changes.ts';
import type { Database } from '../../../src/platform/database/port.ts';
import { removeCollections } from '../../../src/market/reads/remove-collections.ts';
import { createActivityTask } from '../../../src/service/workers/activity.ts';
import { forEachEngine } from '../../support/engines/each-engine.ts';
import { NOW } from '../../support/service/intake.ts';

const LIMITS = { timeoutMs: 30_000, batchesMax: 100 };
const list = (orderId: string): MarketChange => ({
  kind: 'list',
  at: NOW,
  chain: 'ethereum',
  collectionId: 'c',
  orderId,
});
const sale = (fact: string, blockNumber: number | null = null): MarketChange => ({
  kind: 'sale',
  at: NOW,
  chain: 'ethereum',
  collectionId: 'c',
  fact,
  blockNumber,
});

forEachEngine('the merge of the activity log', (engine) => {
  let main: Database;
  let indexer: Database;
  before(async () => {
    [main, indexer] = [await engine.open(), await engine.open()];
  });
  beforeEach(async () => {
    for (const db of [main, indexer]) {
      await db.query('truncate main.market_change, indexer.market_change, main.activity');
      await db.query(`update main.activity_head set position = 0, oldest = 1, revision = 0, merged = '{}'`);
    }
  });
  const databasesOf = (databases: 'one' | 'two') => ({ main, indexer: databases === 'one' ? main : indexer });
  const record = (databases: 'one' | 'two', origin: ChangeOrigin, changes: readonly MarketChange[]) =>
    databasesOf(databases)[origin].transaction((tx) => insertMarketChanges(tx, origin, changes));
  const merge = (databases: 'one' | 'two', now = NOW) =>
    mergeChanges({ ...databasesOf(databases), clock: () => now }, LIMITS);
  const readLog = async (): Promise<(ActivityRow & { name: string | null })[]> => {
    const rows = await main.query(`select ${ACTIVITY_COLUMNS} from main.activity order by position`);
    return rows.map(decodeActivity).map((row) => ({ ...row, name: row.orderId ?? row.fact }));
  };
  const readNames = async () =>
    (await readLog()).map(({ position, kind, name }) => `${position} ${kind} ${name ?? ''}`);

  for (const databases of ['one', 'two'] as const) {
    test(`changes of both schemas get positions without gaps, and the changes of each schema keep their order (${databases} databases)`, async () => {
      await record(databases, 'main', [list('a'), list('b')]);
      await record(databases, 'indexer', [list('m'), list('n')]);
      assert.equal(await merge(databases), 4);
      await record(databases, 'main', [list('c')]);
      assert.equal(await merge(databases), 1);
      assert.deepEqual(await readNames(), ['1 list a', '2 list b', '3 list m', '4 list n', '5 list c']);
      assert.equal(await merge(databases), 0);
      assert.equal((await findActivityHead(main)).position, 5);
    });

    test(`a merge of more changes than fit into one transaction appends all of them in order (${databases} databases)`, async () => {
      const names = Array.from({ length: 2_100 }, (_, index) => `o${index}`);
      await record(databases, 'indexer', names.map(list));
      await merge(databases);
      assert.deepEqual(
        (await readLog()).map(({ name }) => name),
        names,
      );
    });

    test(`a reorganisation takes back the changes of orphaned blocks that the same schema recorded, and lists the positions of these changes (${databases} databases)`, async () => {
      await record(databases, 'main', [sale('own', 12)]);
      await record(databases, 'indexer', [
        sale('kept', 10),
        sale('orphaned', 11),
        { kind: 'reorg', at: NOW, chain: 'ethereum', blockNumber: 10 },
        sale('orphaned', 11),
      ]);
      await merge(databases);
      assert.deepEqual(
        (await readLog()).map(({ name, voids, voidedBy }) => [name, voids, voidedBy]),
        [
          ['own', null, null],
          ['kept', null, null],
          ['orphaned', null, 4],
          [null, [3], null],
          ['orphaned', null, null],
        ],
      );
    });
  }

  test('a correction takes back the facts that it names, and a correction that takes nothing back is not appended', async () => {
    const correct = (facts: string[]): MarketChange => ({
      kind: 'reorg',
      at: NOW,
      chain: 'ethereum',
      reason: 'correction',
      facts,
    });
    await record('one', 'indexer', [sale('a'), sale('b'), correct(['b', 'x']), correct(['x']), sale('c')]);
    await merge('one');
    assert.deepEqual(
      (await readLog()).map(({ position, name, voids }) => [position, name, voids]),
      [
        [1, 'a', null],
        [2, 'b', null],
        [3, null, [2]],
        [4, 'c', null],
      ],
    );
  });

  test('a fact that is in the log is not appended again', async () => {
    await record('one', 'indexer', [sale('a')]);
    await merge('one');
    await record('one', 'indexer', [sale('a'), sale('b')]);
    await merge('one');
    assert.deepEqual(await readNames(), ['1 sale a', '2 sale b']);
  });

  test('when a process ends between the merge and the deletion in the indexer, no change is repeated and none is lost', async () => {
    await record('two', 'indexer', [list('a'), list('b')]);
    const [stored] = await indexer.query(`select json_agg(change)::text as rows from indexer.market_change as change`);
    await merge('two');
    // The state between the two transactions: the primary has committed, and the indexer still has the rows.
    await indexer.query(
      `insert into indexer.market_change overriding system value select * from json_populate_recordset(null::indexer.market_change, $1)`,
      [stored?.['rows']],
    );
    await main.query(
      `update main.activity_head set merged = (select array_agg((row ->> 'seq')::bigint) from json_array_elements($1::json) as row)`,
      [stored?.['rows']],
    );
    await record('two', 'indexer', [list('c')]);
    await merge('two');
    assert.deepEqual(await readNames(), ['1 list a', '2 list b', '3 list c']);
  });

  test('changes that a merge has read before their collection was removed are not appended afterwards', async () => {
    await record('two', 'indexer', [list('removed'), { ...list('kept'), collectionId: 'other' }]);
    const remove = () =>
      removeCollections({ main, indexer, clock: () => NOW, onChanged: () => undefined }, [
        { collectionId: 'c', chain: 'ethereum' },
      ]);
    let removal: ReturnType<typeof remove> | null = null;
    const removing: Database = {
      ...indexer,
      within: () => ({
        ...indexer,
        query: async (sql, params) => {
          const rows = await indexer.query<never>(sql, params);
          if (sql.startsWith('delete')) return rows;
          removal ??= remove();
          await removal;
          return rows;
        },
      }),
    };
    await mergeChanges({ main, indexer: removing, clock: () => NOW }, LIMITS);
    assert.ok(removal);
    assert.deepEqual(await readNames(), ['1 list kept']);
  });

  test('a merge between the two transactions of a removal leaves no change of the removed collection', async () => {
    await record('two', 'indexer', [list('removed'), { ...list('kept'), collectionId: 'other' }]);
    const merging: Database = {
      ...indexer,
      transaction: async (work) => {
        await merge('two');
        return indexer.transaction(work);
      },
    };
    await removeCollections({ main, indexer: merging, clock: () => NOW, onChanged: () => undefined }, [
      { collectionId: 'c', chain: 'ethereum' },
    ]);
    assert.deepEqual(await readNames(), ['2 list kept']);
  });

  test('with concurrent writers and mergers, no position appears that is smaller than a position that was already read', async () => {
    const writing = new AbortController();
    const write = async (writer: number) => {
      for (let index = 0; index < 20; index += 1) {
        const origin = index % 2 === 0 ? 'main' : 'indexer';
        await main.transaction(async (tx) => {
          await insertMarketChanges(tx, origin, [list(`${writer} ${index} first`)]);
          await tx.query('select pg_sleep(0.001 * $1)', [(writer * 7 + index * 3) % 5]);
          await insertMarketChanges(tx, origin, [list(`${writer} ${index} second`)]);
        });
        await merge('one');
      }
    };
    const seen: number[] = [];
    const read = async () => {
      while (!writing.signal.aborted) {
        const rows = await main.query(`select position::int as position from main.activity order by position`);
        const positions = rows.map((row) => Number(row['position']));
        assert.deepEqual(
          positions,
          Array.from(positions, (_, index) => index + 1),
        );
        seen.push(positions.length);
      }
    };
    const reading = read();
    await Promise.all([1, 2, 3, 4].map(write));
    writing.abort();
    await reading;
    await merge('one');
    assert.ok(seen.length > 0);
    assert.equal((await readLog()).length, 160);
  });

  test('old activity except floors is deleted in bounded steps, and each step moves the oldest position', async () => {
    await record('one', 'indexer', [list('a'), { ...list('b'), kind: 'floor' }, list('c')]);
    await merge('one', NOW);
    await record('one', 'indexer', [list('d')]);
    await merge('one', NOW + 1_000);
    const deleteStep = (limit: number) => main.transaction((tx) => deleteOldActivity(tx, NOW + 1_000, limit));
    assert.equal(await deleteStep(2), 2);
    assert.deepEqual(await readNames(), ['2 floor b', '3 list c', '4 list d']);
    assert.equal((await findActivityHead(main)).oldest, 3);
    assert.equal(await deleteStep(2), 1);
    assert.equal(await deleteStep(2), 0);
    assert.deepEqual(await readNames(), ['2 floor b', '4 list d']);
    assert.equal((await findActivityHead(main)).oldest, 4);
  });

  test('old activity is deleted even while the indexer database fails', async () => {
    await record('one', 'main', [list('a')]);
    await merge('one');
    const config = { activityRetentionDays: 1 };
    const context = { ...databasesOf('two'), config, clock: () => NOW + 2 * 24 * 60 * 60_000 };
    await indexer.query(`alter schema indexer rename to unreachable`);
    try {
      const run = createActivityTask(context).run(AbortSignal.timeout(30_000), () => undefined, { isFull: false });
      await assert.rejects(async () => run, /does not exist/);
    } finally {
      await indexer.query(`alter schema unreachable rename to indexer`);
    }
    assert.deepEqual(await readNames(), []);
  });
});
