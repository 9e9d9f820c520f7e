// Tests that each cause of a change of the market records the change: imports, orders, the sweep of expired listings, and undone imports.

import assert from 'node:assert/strict';
import { before, beforeEach, test } from 'node:test';
import { mergeChanges } from '../../../src/market/activity/merge.ts';
import { ACTIVITY_COLUMNS, decodeActivity } from '../../../src/market/activity/queries/activity-rows.ts';
import type { ServiceContext } from '../../../src/service/context.ts';
import type { Database } from '../../../src/platform/database/port.ts';
import { undoPart } from '../../../src/intake/undo/undo-import.ts';
import { copyCatalog } from '../../../src/market/index/catalog.ts';
import { sweepExpired } from '../../../src/service/workers/expiry.ts';
import { forOneEngine } from '../../support/engines/each-engine.ts';
import {
  collection,
  emptyTables,
  listing,
  NOW,
  order,
  runImport,
  sale,
  toContext,
  toNdjson,
} from '../../support/service/intake.ts';

const at = (ms: number) => new Date(NOW + ms).toISOString();
const MINUTE = 60_000;
const LIMITS = { timeoutMs: 30_000, batchesMax: 100 };

forOneEngine('changes of the market', (engine) => {
  let db: Database;
  let now = NOW;
  let read = 0;
  let context: ServiceContext;
  before(async () => {
    db = await engine.open();
  });
  beforeEach(async () => {
    now = NOW;
    await emptyTables(db);
    read = 0;
    await db.query(
      'truncate main.import, main.import_change, main.import_log, indexer.import_change, indexer.import_log',
    );
    context = toContext(db, { clock: () => now });
    await load(collection());
    await readNew();
  });

  const load = (...records: unknown[]) => runImport(context, toNdjson(records));
  /** The changes since the last call, each as text: kind, price, order, and reason. */
  const readNew = async () => {
    await copyCatalog(context, LIMITS);
    await mergeChanges({ main: db, indexer: db, clock: () => now }, LIMITS);
    const rows = await db.query(`select ${ACTIVITY_COLUMNS} from main.activity where position > $1 order by position`, [
      read,
    ]);
    const changes = rows.map(decodeActivity);
    read = changes.at(-1)?.position ?? read;
    return changes.map(({ kind, priceRaw, orderId, reason, voids }) =>
      [kind, priceRaw, orderId?.slice(0, 20), reason, voids && `voids ${voids.length}`]
        .filter((part) => part !== null && part !== undefined)
        .join(' '),
    );
  };

  test('each change of a reported listing is recorded once: listed, repriced, filled, cancelled', async () => {
    await load(listing({ id: 'A', tokenId: '1' }), listing({ id: 'B', tokenId: '2', priceRaw: '200' }));
    assert.deepEqual(await readNew(), ['list 100 A', 'list 200 B', 'floor 100']);
    await load(listing({ id: 'A', tokenId: '1' }));
    assert.deepEqual(await readNew(), []);
    await load(listing({ id: 'A', tokenId: '1', priceRaw: '90', timestamp: at(-MINUTE) }));
    assert.deepEqual(await readNew(), ['reprice 90 A', 'floor 90']);
    await load(
      listing({ id: 'A', tokenId: '1', priceRaw: '90', status: 'filled' }),
      listing({ id: 'B', tokenId: '2', priceRaw: '200', status: 'cancelled' }),
    );
    assert.deepEqual((await readNew()).toSorted(), ['cancel 200 B', 'fill 90 A', 'floor']);
  });

  test('a retired listing that its marketplace reports again is recorded as listed', async () => {
    await load(listing({ id: 'A' }));
    await db.query(`update indexer.listing set status = 'cancelled', retired_at = now()`);
    await readNew();
    await load(listing({ id: 'A' }));
    assert.deepEqual(
      (await readNew()).filter((change) => !change.startsWith('floor')),
      ['list 100 A'],
    );
  });

  test('a listing that has already ended when it is first reported is not recorded', async () => {
    await load(listing({ id: 'A', status: 'filled' }), listing({ id: 'B', tokenId: '2', expiresAt: at(-MINUTE) }));
    assert.deepEqual(await readNew(), []);
  });

  test('an expired listing and an expired order are recorded by the sweep, and change the floor', async () => {
    await load(
      listing({ id: 'A', expiresAt: at(MINUTE) }),
      order({ tokenId: '2', priceRaw: '300', expiresAt: at(MINUTE) }),
    );
    await readNew();
    now = NOW + 2 * MINUTE;
    await sweepExpired(context);
    const changes = await readNew();
    assert.equal(changes.filter((change) => change.startsWith('expire')).length, 2);
    assert.equal(changes.filter((change) => change.startsWith('floor')).at(-1), 'floor');
  });

  test('an imported order of the own book is recorded: listed, repriced, cancelled', async () => {
    await load(order());
    assert.match((await readNew()).join(), /^list 100 /);
    await load(order({ priceRaw: '120' }));
    assert.match((await readNew()).join(), /^reprice 120 /);
    await load(order({ priceRaw: '120', status: 'cancelled' }));
    assert.match((await readNew()).join(), /^cancel 120 /);
  });

  for (const [name, record] of Object.entries({ order, listing })) {
    test(`a record of the kind ${name} is recorded as listed while it has a price above zero`, async () => {
      const kinds = async () =>
        (await readNew()).map((change) => change.split(' ')[0]).filter((kind) => kind !== 'floor');
      await load(record({ priceRaw: '0' }));
      assert.deepEqual(await kinds(), []);
      await load(record({ priceRaw: '120' }));
      assert.deepEqual(await kinds(), ['list']);
      await load(record({ priceRaw: '0' }));
      assert.deepEqual(await kinds(), ['cancel']);
    });
  }

  test('the undo of an import ends its listings and orders in the log, also if they have expired since the last sweep', async () => {
    const { summary } = await load(
      listing({ id: 'A', expiresAt: at(MINUTE) }),
      order({ tokenId: '2', expiresAt: at(MINUTE) }),
    );
    await readNew();
    now = NOW + 2 * MINUTE;
    await undoPart(context, String(summary.imports[0]), { budgetMs: 60_000 });
    const changes = (await readNew()).filter((change) => !change.startsWith('floor'));
    assert.deepEqual(
      changes.map((change) => change.split(' ')[0]),
      ['expire', 'expire'],
    );
  });

  test('a recent sale is recorded as a change, and an old sale is not', async () => {
    await load(sale({ timestamp: at(-2 * 60 * MINUTE) }), sale({ tokenId: '2', price: '70', timestamp: at(-MINUTE) }));
    assert.deepEqual(await readNew(), ['sale 70']);
  });

  test('the undo of an import removes its listings and sales from the market and restores the earlier price', async () => {
    await load(listing({ id: 'A', priceRaw: '150' }));
    await readNew();
    const { summary } = await load(
      listing({ id: 'A', priceRaw: '80', timestamp: at(-MINUTE) }),
      listing({ id: 'B', tokenId: '2', priceRaw: '60' }),
      order({ tokenId: '3' }),
      sale({ tokenId: '4', price: '70', timestamp: at(-MINUTE) }),
    );
    assert.equal((await readNew()).filter((change) => !change.startsWith('floor')).length, 4);
    await undoPart(context, String(summary.imports[0]), { budgetMs: 60_000 });
    const undone = await readNew();
    assert.deepEqual(
      undone
        .filter((change) => !change.startsWith('floor'))
        .map((change) => change.split(' ').slice(0, 2).join(' '))
        .toSorted(),
      ['cancel 100', 'cancel 60', 'reorg correction', 'reprice 150'],
    );
    assert.equal(undone.filter((change) => change.startsWith('floor')).at(-1), 'floor 150');
  });
});
