// Takes imports back. After an import, its undo and the same import again, the database has the same rows as after one import.
// This holds for every kind of record, even if the import or the undo is interrupted between two transactions.

import assert from 'node:assert/strict';
import { before, beforeEach, test } from 'node:test';
import type { Database } from '../../src/platform/database/port.ts';
import { repeatAborted } from '../../src/platform/database/port.ts';
import type { ServiceContext } from '../../src/service/context.ts';
import { ImportFailure } from '../../src/intake/import.ts';
import type { ImportOptions } from '../../src/intake/import.ts';
import { createImportOperations } from '../../src/intake/operations.ts';
import { deleteOldChanges, UNDO_KEPT_MS } from '../../src/intake/undo/retention.ts';
import { readImports } from '../../src/intake/undo/list-imports.ts';
import type { UndoPart } from '../../src/intake/undo/undo-import.ts';
import { undoPart } from '../../src/intake/undo/undo-import.ts';
import { copyCatalog } from '../../src/market/index/catalog.ts';
import { readCollectionDetail } from '../../src/market/reads/collection.ts';
import { removeCollections } from '../../src/market/reads/remove-collections.ts';
import { recountFigures } from '../../src/market/index/recount.ts';
import { createShop } from '../../src/shop/shops.ts';
import { hashOrder } from '../../src/market/orders/seaport/order.ts';
import { Ingester } from '../../src/sources/upstreams/ingester.ts';
import { ask } from '../market/orders/test-orders.ts';
import { signOrder, toParameters } from '../support/chain/signed-orders.ts';
import { forOneEngine } from '../support/engines/each-engine.ts';
import { listEveryTable } from '../support/service/every-table.ts';
import {
  collection,
  EVM,
  listing,
  NOW,
  order,
  product,
  runImport,
  sale,
  toContext,
  token,
  toNdjson,
} from '../support/service/intake.ts';
import { dumpUndoable, OTHER_CONTRACT, rate, UNDOABLE_RECORDS } from '../support/service/undoable.ts';

const ID = `ethereum_${EVM}`;

/** The error of every transaction and statement after the simulated end of the process. */
class Killed extends Error {}

/**
 * Returns a database that simulates the end of the process after the first `limit` transactions. From then on, all transactions and statements
 * fail.
 */
function killedAfter(db: Database, limit: number): Database {
  let transactions = 0;
  const killed: Database = {
    ...db,
    query: (sql, params) => (transactions > limit ? Promise.reject(new Killed()) : db.query(sql, params)),
    transaction: (work) => {
      transactions += 1;
      return transactions > limit ? Promise.reject(new Killed()) : db.transaction(work);
    },
    within: () => killed,
  };
  return killed;
}

forOneEngine('the undo of an import', (engine) => {
  let db: Database;
  let context: ServiceContext;
  before(async () => {
    db = await engine.open();
    // On a slow machine, the copy of the catalog after a commit would exceed its time limit. The tests therefore make this copy
    // themselves. For the same reason, statements have no deadlines.
    const patient: Database = { ...db, within: () => patient };
    context = toContext(patient, { copyCatalog: () => Promise.resolve() });
    await createShop(context, 's');
  });
  beforeEach(async () => {
    const names = (await listEveryTable(db)).filter((name) => !/migration|main\.shop|secret|activity_head/.test(name));
    // A read that is still in progress on the server may hold one of the tables.
    await repeatAborted(() => db.query(`truncate ${names.join(', ')}`));
  });

  const load = async (records: Iterable<object>, options: Partial<ImportOptions> = {}) => {
    const { summary, refused, conflicts } = await runImport(context, toNdjson(records), options);
    assert.deepEqual([...refused, ...conflicts], []);
    await recount();
    const [id = ''] = summary.imports;
    return id;
  };
  const recount = async () => {
    await copyCatalog(context, { timeoutMs: 60_000, batchesMax: 100 });
    const scope = { prefix: '', now: NOW, limit: 10 };
    assert.deepEqual(await recountFigures({ ...context, main: db, indexer: db }, scope), []);
  };
  /** Undoes the import in one part. */
  const undo = async (id: string): Promise<UndoPart> => {
    const part = await undoPart(context, id, { budgetMs: 60_000 });
    assert.equal(part.next, null);
    await recount();
    return part;
  };
  const list = () => readImports(context, 10);

  test('an undo deletes the collection records that the import created, and no others', async () => {
    await load([collection()]);
    const before = await dumpUndoable(db);
    const id = await load([sale(), sale({ contractAddress: OTHER_CONTRACT })], { createCollections: true });
    assert.equal((await db.query('select from main.collection')).length, 2);
    assert.equal((await undo(id)).state, 'undone');
    assert.deepEqual(await dumpUndoable(db), before);
  });

  test('after the undo of the only order of a collection, the number of its listings is as unknown as before the import', async () => {
    const listedCount = async () => (await readCollectionDetail(context.market, ID)).listedCount?.value ?? null;
    await load([collection()]);
    assert.equal(await listedCount(), null);
    for (const _ of ['first', 'again']) {
      const id = await load([order({ status: 'filled' })]);
      assert.equal(await listedCount(), 0);
      await undo(id);
      assert.equal(await listedCount(), null);
    }
  });

  test('after the removal of a collection, no undo brings back up to when an import before the removal covered it', async () => {
    const covered = () => db.query('select subject from indexer.coverage');
    const first = await load([collection(), sale(), listing()]);
    await removeCollections({ main: db, indexer: db, clock: () => NOW, onChanged: () => undefined }, [
      { collectionId: ID, chain: 'ethereum' },
    ]);
    const second = await load([sale(), listing()]);
    assert.equal((await covered()).length, 2);
    await undo(second);
    assert.deepEqual(await covered(), []);
    const { state, rows } = await undo(first);
    assert.deepEqual([state, rows.sale?.missing, rows.listing?.missing], ['undone', 1, 1]);
  });

  for (const replace of [false, true]) {
    test(`an undo removes the marketplace and the listing that an import ${replace ? 'with' : 'without'} \`replace\` added to a sale of the chain`, async () => {
      await load([sale({ tx: '0x9', logIndex: 1 })]);
      await db.query(`update indexer.sale set source = 'unknown', block_number = 5`);
      const before = await dumpUndoable(db);
      const { summary } = await runImport(context, toNdjson([sale({ tx: '0x9', listingId: 'L9' })]), { replace });
      assert.deepEqual([summary.inserted, summary.updated, summary.unchanged], [0, 1, 0]);
      assert.notDeepEqual(await dumpUndoable(db), before);
      const { rows } = await undo(String(summary.imports[0]));
      assert.deepEqual(rows, { sale: { removed: 0, restored: 1, missing: 0, kept: 0 } });
      assert.deepEqual(await dumpUndoable(db), before);
    });
  }

  for (const [kind, { first, second }] of Object.entries(UNDOABLE_RECORDS)) {
    test(`an undo deletes the inserted rows and restores the changed rows of the kind ${kind}`, async () => {
      const empty = await dumpUndoable(db);
      const firstId = await load(first);
      const one = await dumpUndoable(db);
      assert.notDeepEqual(one, empty);
      assert.equal((await undo(firstId)).state, 'undone');
      assert.deepEqual(await dumpUndoable(db), empty);
      const again = await load(first);
      assert.deepEqual(await dumpUndoable(db), one);

      const secondId = await load(second, { replace: true });
      const two = await dumpUndoable(db);
      assert.notDeepEqual(two, one);
      const { rows, kept } = await undo(secondId);
      assert.deepEqual(rows, { [kind]: { removed: 1, restored: 1, missing: 0, kept: 0 } });
      assert.deepEqual(kept, []);
      assert.deepEqual(await dumpUndoable(db), one);
      const repeated = await load(second, { replace: true });
      assert.deepEqual(await dumpUndoable(db), two);

      await undo(repeated);
      await undo(again);
      assert.deepEqual(await dumpUndoable(db), empty);
    });
  }

  test('a dry run of an undo counts what the undo would do', async () => {
    const filler = Array.from({ length: 600 }, (_, index) => token({ tokenId: String(index + 10) }));
    await load([token({ name: 'Earlier' })]);
    const id = await load([token({ name: 'A' }), ...filler, token({ name: 'B' })]);
    const stored = await dumpUndoable(db);
    const preview = await createImportOperations(context)['imports.undo']({ id, dryRun: true });
    assert.deepEqual(await dumpUndoable(db), stored);
    const { rows } = await undo(id);
    assert.deepEqual(rows, { token: { removed: 600, restored: 2, missing: 0, kept: 0 } });
    assert.deepEqual(preview.rows, rows);
  });

  /**
   * Records of all kinds, after the given number of tokens. 500 tokens fill the first batch, so that the other records are in a second
   * batch.
   */
  const everyKind = (side: 'first' | 'second', tokens = 0) => [
    ...Array.from({ length: tokens }, (_, index) => token({ tokenId: String(index + 10), name: `${side} ${index}` })),
    ...Object.values(UNDOABLE_RECORDS).flatMap((records) => records[side]),
  ];

  test('an import that is cut off after any of its transactions is undone completely', async () => {
    await load(everyKind('first', 500));
    const one = await dumpUndoable(db);
    const complete = await load(everyKind('second', 500), { replace: true });
    const two = await dumpUndoable(db);
    await undo(complete);
    for (let limit = 0; ; limit += 1) {
      const killed = killedAfter(db, limit);
      const failure = await runImport(
        toContext(killed, { copyCatalog: () => Promise.resolve() }),
        toNdjson(everyKind('second', 500)),
        { replace: true },
      ).catch((error: unknown) => error);
      if (!(failure instanceof ImportFailure)) break;
      assert.ok(failure.cause instanceof Killed);
      const [cut] = await list();
      assert.ok(cut && (limit === 0 || Object.keys(cut.undoable).length > 0));
      assert.equal(cut.endedAt, null);
      assert.equal((await undo(cut.id)).state, 'undone');
      assert.deepEqual(await dumpUndoable(db), one, `the rows differ after ${limit} transactions`);
    }
    await recount();
    assert.deepEqual(await dumpUndoable(db), two);
  });

  test('an undo that is cut off between two transactions continues where it stopped', async () => {
    await load(everyKind('first'));
    const one = await dumpUndoable(db);
    for (const limit of [0, 1, 5, 9]) {
      const id = await load(everyKind('second'), { replace: true });
      const killed = toContext(killedAfter(db, limit), { copyCatalog: () => Promise.resolve() });
      await assert.rejects(undoPart(killed, id, { budgetMs: 60_000 }), Killed);
      assert.equal((await list())[0]?.undo?.state, 'undoing');
      assert.equal((await undo(id)).state, 'undone');
      assert.deepEqual(await dumpUndoable(db), one, `the rows differ after ${limit} transactions`);
    }
  });

  test('an undo does not take back a row that has changed since the import, and names this row', async () => {
    const empty = await dumpUndoable(db);
    const id = await load([token({ name: 'One' }), token({ tokenId: '2', name: 'Two' })]);
    const later = await load([token({ name: 'Uno' })]);
    const part = await undo(id);
    assert.deepEqual(part.rows, { token: { removed: 1, restored: 0, missing: 0, kept: 1 } });
    assert.deepEqual(part.kept, [{ kind: 'token', row: `${ID} 1`, reason: 'has changed since the import' }]);
    assert.equal(part.state, 'partly undone');
    assert.deepEqual((await list()).find((one) => one.id === id)?.undoable, { token: 1 });
    await undo(later);
    assert.deepEqual((await undo(id)).rows, { token: { removed: 1, restored: 0, missing: 0, kept: 0 } });
    assert.deepEqual(await dumpUndoable(db), empty);
  });

  test('an undo does not delete a product whose stock has changed since the import', async () => {
    const id = await load([product({ inventory: 20 }), product({ name: 'Cup' }), sale({ tx: '0x1' })]);
    await db.query(`update main.product set inventory = 19 where name = 'Mug'`);
    await db.query(`delete from main.product where name = 'Cup'`);
    const { rows } = await undo(id);
    assert.deepEqual(rows, {
      sale: { removed: 1, restored: 0, missing: 0, kept: 0 },
      product: { removed: 0, restored: 0, missing: 1, kept: 1 },
    });
  });

  test('an undo does not give a product back a SKU that another product has meanwhile, and names this product', async () => {
    await load([product({ sku: 'A' })]);
    const id = await load([product({ sku: 'B' })]);
    await load([product({ name: 'Cup', slug: 'cup', sku: 'A' })]);
    const { rows, kept, state } = await undo(id);
    assert.deepEqual(rows, { product: { removed: 0, restored: 0, missing: 0, kept: 1 } });
    assert.match(String(kept[0]?.reason), /^sku is taken by another product of this shop: prod_/);
    assert.equal(state, 'partly undone');
  });

  test('an undo does not delete the record of a followed collection, and restores no slug that another collection has', async () => {
    await load([collection()]);
    const renamed = await load([
      collection({ slug: 'renamed' }),
      collection({ contractAddress: OTHER_CONTRACT, slug: 'bb' }),
    ]);
    await db.query(
      `insert into main.follow (collection_id, chain, contract_address, created_at) values ($1, 'ethereum', $2, now())`,
      [`ethereum_${OTHER_CONTRACT}`, OTHER_CONTRACT],
    );
    await load([collection({ contractAddress: `0x${'c'.repeat(40)}`, slug: 'aa' })]);
    const { kept, state } = await undo(renamed);
    assert.equal(state, 'partly undone');
    assert.deepEqual(
      kept.map(({ row, reason }) => [row, reason]),
      [
        [`ethereum_${OTHER_CONTRACT}`, 'the collection is followed'],
        [ID, 'the slug that it had before the import now belongs to another collection'],
      ],
    );
    const stored = await db.query(`select id, slug from main.collection order by slug`);
    assert.deepEqual(
      stored.map(({ slug }) => slug as string),
      ['aa', 'bb', 'renamed'],
    );
  });

  test('if an import ended the listings of one order at several marketplaces, the undo restores all of these listings', async () => {
    const order1 = { orderHash: '0xaa' };
    await load([listing(order1), listing({ ...order1, source: 'blur', id: 'B1' })]);
    const one = await dumpUndoable(db);
    const id = await load([listing({ ...order1, status: 'filled', tx: '0x1' })]);
    assert.deepEqual(await db.query(`select distinct status from indexer.listing`), [{ status: 'filled' }]);
    assert.deepEqual((await undo(id)).rows, { listing: { removed: 0, restored: 2, missing: 0, kept: 0 } });
    assert.deepEqual(await dumpUndoable(db), one);
  });

  test('an undo of the import of a signed order makes the mirrored listing of the order active again', async () => {
    const signed = ask();
    await load([listing({ seller: signed.offerer, orderHash: hashOrder(signed) })]);
    const one = await dumpUndoable(db);
    const seaport = { parameters: toParameters(signed), signature: await signOrder(1, signed) };
    const id = await load([order({ seller: signed.offerer, priceRaw: '1000', seaport })]);
    const [retired] = await db.query(`select status, retired_at is not null as retired from indexer.listing`);
    assert.deepEqual(retired, { status: 'cancelled', retired: true });
    const { rows, state } = await undo(id);
    assert.equal(state, 'undone');
    assert.deepEqual(rows, {
      listing: { removed: 0, restored: 1, missing: 0, kept: 0 },
      order: { removed: 1, restored: 0, missing: 0, kept: 0 },
    });
    assert.deepEqual(await dumpUndoable(db), one);
  });

  test('an undo deletes a listing that has expired since the import', async () => {
    const id = await load([listing({ expiresAt: '2026-06-02T00:00:00Z' })]);
    await db.query(`update indexer.listing set status = 'expired'`);
    assert.deepEqual((await undoPart(context, id, { budgetMs: 60_000 })).rows, {
      listing: { removed: 1, restored: 0, missing: 0, kept: 0 },
    });
  });

  test('an undo leaves a listing without an expiry that was reported as expired since the import', async () => {
    const id = await load([listing()]);
    const later = await load([listing({ status: 'expired' })]);
    const kept = { listing: { removed: 0, restored: 0, missing: 0, kept: 1 } };
    assert.deepEqual((await undoPart(context, id, { budgetMs: 60_000 })).rows, kept);
    assert.equal((await undo(later)).rows.listing?.restored, 1);
    assert.equal((await undo(id)).rows.listing?.removed, 1);
  });

  test('an undo takes back a listing that was judged since the import', async () => {
    await db.query(
      `insert into indexer.judged_collection (collection_id, chain, followed_at, state, joined_seq)
       values ($1, 'ethereum', now(), 'joined', 0)`,
      [ID],
    );
    const judge = (verdict: string | null) => db.query(`update indexer.listing set dormant = $1`, [verdict]);
    const verdicts = async () =>
      (await db.query<{ verdict: string }>(`select dormant as verdict from indexer.listing`)).map(
        ({ verdict }) => verdict,
      );
    await load([listing()]);
    await judge(null);
    const id = await load([listing({ priceRaw: '60', timestamp: '2026-05-02T00:00:00Z' }), listing({ id: 'L2' })]);
    await judge('no-balance');
    const { rows } = await undoPart(context, id, { budgetMs: 60_000 });
    assert.deepEqual(rows, { listing: { removed: 1, restored: 1, missing: 0, kept: 0 } });
    assert.deepEqual(await verdicts(), ['pending']);
  });

  test('an import that is being undone stores no more rows', async () => {
    let undone: Promise<UndoPart> | null = null;
    const tokens = Array.from({ length: 1_200 }, (_, index) => token({ tokenId: String(index) }));
    const empty = await dumpUndoable(db);
    const failure = await runImport(context, toNdjson(tokens), {
      onEvent: async () => {
        const [running] = await list();
        undone ??= undoPart(context, running?.id ?? '', { budgetMs: 60_000 });
        await undone;
      },
    }).catch((error: unknown) => error);
    assert.ok(failure instanceof ImportFailure);
    assert.match(failure.message, /is being undone/);
    const [id = ''] = failure.summary.imports;
    await undo(id);
    assert.deepEqual(await dumpUndoable(db), empty);
  });

  test('the list of imports contains no dry run and no import of a worker', async () => {
    await runImport(context, toNdjson([token()]), { dryRun: true });
    await new Ingester(context).ingest([token({ tokenId: '7' })]);
    assert.deepEqual(await list(), []);
    await load([token()], { file: 'a.ndjson', importer: { keyId: 'key_1', shopId: null } });
    await load([token()]);
    const [repeated, listed] = await list();
    assert.deepEqual(repeated?.undoable, {});
    assert.deepEqual(listed, {
      id: listed?.id,
      startedAt: new Date(NOW).toISOString(),
      endedAt: new Date(NOW).toISOString(),
      by: { key: 'key_1', name: null, shop: null },
      file: 'a.ndjson',
      format: 'ndjson',
      replace: false,
      counts: {
        read: 1,
        inserted: 1,
        updated: 0,
        unchanged: 0,
        conflict: 0,
        refused: 0,
        byKind: { token: { inserted: 1, updated: 0, unchanged: 0, conflict: 0, refused: 0 } },
      },
      error: null,
      undoable: { token: 1 },
      undo: null,
    });
  });

  test('the changes of an import are deleted after 30 days', async () => {
    const id = await load([token(), rate()]);
    assert.equal(await deleteOldChanges(context, NOW + UNDO_KEPT_MS - 1, 10), 0);
    assert.equal(await deleteOldChanges(context, NOW + UNDO_KEPT_MS + 1, 10), 1);
    assert.equal(await deleteOldChanges(context, NOW + UNDO_KEPT_MS + 1, 10), 0);
    await assert.rejects(undoPart(context, id, { budgetMs: 0 }), /no longer recorded/);
    for (const schema of ['main', 'indexer']) {
      assert.deepEqual(await db.query(`select 1 from ${schema}.import_change`), []);
    }
    await assert.rejects(undoPart(context, 'imp_0', { budgetMs: 0 }), /there is no import "imp_0"/);
  });
});
