// `mercat collections remove --purge` deletes the rows of the collection from every table, and changes no other row.

import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { defineCollections } from '../../../src/cli/collections.ts';
import { createChains } from '../../../src/platform/core/chains.ts';
import type { Database } from '../../../src/platform/database/port.ts';
import { upsertFollow } from '../../../src/market/follows/queries/follows.ts';
import type { Address } from '../../../src/platform/core/address.ts';
import { recountFigures } from '../../../src/market/index/recount.ts';
import { runCommand } from '../../cli/run-command.ts';
import { forOneEngine } from '../../support/engines/each-engine.ts';
import { dumpEveryTable, IMPORT_TABLES, LOG_TABLES } from '../../support/service/every-table.ts';
import { completeCatalog } from '../../support/service/intake.ts';
import { newCollection, START } from '../../support/service/market.ts';
import type { TestService } from '../../support/service/service.ts';
import { startTestService } from '../../support/service/service.ts';
import { temporaryDirectory } from '../../support/temporary-directory.ts';

/** The tables that the test does not compare: those of background tasks, of the activity log, and of the imports that loaded the test's records. */
const OTHER_TABLES = ['main.sync_task', 'main.request_budget', 'main.recent_view', ...LOG_TABLES, ...IMPORT_TABLES];

forOneEngine('purging a collection', (engine) => {
  let db: Database;
  let service: TestService;
  let dir: string;
  before(async () => {
    db = await engine.open();
    dir = temporaryDirectory();
    service = await startTestService({
      settings: { DATA_DIR: dir },
      clock: () => START,
      open: () => Promise.resolve({ main: db, store: db, indexer: db, close: () => Promise.resolve() }),
    });
  });
  after(() => service.close());
  const context = () => ({ main: db, indexer: db, chains: createChains(), clock: () => START });
  const remove = (...args: string[]) =>
    runCommand(defineCollections, ['collections', 'remove', ...args], { env: { DATA_DIR: dir } });
  const dump = async () => {
    await completeCatalog(context());
    return dumpEveryTable(db, OTHER_TABLES);
  };
  const rowsOf = (one: ReturnType<typeof newCollection>) => [
    one.collection(),
    one.token('1'),
    one.order('1', 7),
    one.listing('2', 9),
    one.sale('3', 11),
  ];

  test('after a purge through a running server, every table is as it was before the collection was loaded and followed', async () => {
    const [kept, purged] = [newCollection(), newCollection()];
    await service.load(rowsOf(kept));
    const rows = await dump();
    await service.load(rowsOf(purged));
    await upsertFollow(db, {
      collectionId: purged.id,
      chain: 'ethereum',
      contractAddress: purged.address as Address,
      standard: null,
      fromBlock: null,
      names: new Map([['opensea', 'purged']]),
      createdAt: START,
    });

    const refused = await remove(purged.id, '--purge');
    assert.equal(refused.code, 2);
    assert.match(refused.stderr, /add --yes/);
    await service.ok(purged.path);

    assert.deepEqual(await remove(purged.id, '--purge', '--yes'), {
      code: 0,
      stdout: `${purged.id} is deleted: 1 collections, 1 orders, 1 listings, 1 sales, 1 tokens\n`,
      stderr: '',
    });
    const left = await dump();
    for (const [name, stored] of left) assert.deepEqual(stored, rows.get(name), name);
    assert.equal((await service.get(purged.path)).status, 404);
    await service.ok(kept.path);
    const scope = { prefix: '', now: START, limit: 10 };
    assert.deepEqual(await recountFigures(context(), scope), []);
  });

  test('a purge deletes the rows of a collection that is not followed and has no record', async () => {
    const one = newCollection();
    await service.load([one.sale('1', 5)]);
    const { stdout } = await remove(one.id, '--purge', '--yes', '--json');
    assert.deepEqual(JSON.parse(stdout), {
      collectionId: one.id,
      removed: true,
      rows: { collections: 0, orders: 0, listings: 0, sales: 1, tokens: 0 },
    });
    const again = await remove(one.id, '--purge', '--yes');
    assert.equal(again.code, 1);
    assert.match(again.stderr, /nothing is stored about a collection with the id or slug/);
  });

  test('a collection is unfollowed and purged by its slug, too, and a slug that is the id of no collection names no other', async () => {
    const named = newCollection({ slug: 'purged-by-slug' });
    await service.load(rowsOf(named));
    await upsertFollow(db, {
      collectionId: named.id,
      chain: 'ethereum',
      contractAddress: named.address as Address,
      standard: null,
      fromBlock: null,
      names: new Map(),
      createdAt: START,
    });
    assert.deepEqual(await remove('purged-by-slug'), {
      code: 0,
      stdout: `${named.id} is no longer followed\n`,
      stderr: '',
    });
    assert.equal((await remove('purged-by', '--purge', '--yes')).code, 1);
    await service.ok(named.path);
    const { stdout } = await remove('purged-by-slug', '--purge', '--yes', '--json');
    assert.equal(JSON.parse(stdout).collectionId, named.id);
    assert.equal((await service.get(named.path)).status, 404);
  });
});
