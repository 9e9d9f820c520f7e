// Tests the move of the index, which is the schema `indexer`, to another PostgreSQL database: `mercat backup` of a service that goes on, and
// `mercat restore --only index` into the new database.

import assert from 'node:assert/strict';
import path from 'node:path';
import { after, before, test } from 'node:test';
import { forEachEngine } from '../../../support/engines/each-engine.ts';
import type { PostgresServer } from '../../../support/engines/postgres-server.ts';
import { canRunPostgres, createTestDatabase, startPostgres } from '../../../support/engines/postgres-server.ts';
import type { TestCollection } from '../../../support/service/market.ts';
import { SOLANA_SELLER, START, mintOf, newCollection } from '../../../support/service/market.ts';
import type { TestService } from '../../../support/service/service.ts';
import { startTestService } from '../../../support/service/service.ts';
import { temporaryDirectory } from '../../../support/temporary-directory.ts';
import type { Settings } from './backups.ts';
import { assertSame, mercat, readEverything, withDatabases } from './backups.ts';

const clock = () => START;
const ROUNDS = 3;

forEachEngine('a restore of the index alone', (engine) => {
  const file = path.join(temporaryDirectory(), 'backup');
  const skip = !canRunPostgres() && 'PostgreSQL is not on this machine';
  let server: PostgresServer | null = null;
  let settings: Settings;
  before(async () => {
    settings = await engine.settings();
    if (!skip) server = await startPostgres();
  });
  after(async () => {
    await server?.discard();
  });

  const createTarget = async (): Promise<string> =>
    engine.hasCitus
      ? ((await engine.settings('empty'))['INDEXER_DATABASE_URL'] ?? '')
      : createTestDatabase(server?.url ?? '');
  const restoreIndex = (url: string, ...args: string[]) =>
    mercat(
      { DATA_DIR: settings['DATA_DIR'] ?? '', INDEXER_DATABASE_URL: url },
      'restore',
      file,
      '--only',
      'index',
      ...args,
    );

  test(
    'the service serves its index during the backup and the restore, and after a restart serves the same from the new database',
    { skip },
    async () => {
      const running = await startTestService({ settings, clock, workers: false });
      const subjects = ['ethereum', 'base', 'solana'].map((chain) => newCollection({ chain }));
      await running.load(subjects.flatMap((subject) => [subject.collection(), ...recordsOf(subject)]));
      const before = await readAll(running, subjects);
      const made = await mercat(settings, 'backup', file);
      assert.equal(made.code, 0, made.stderr);
      // The primary goes on: what is written to it after the backup stays.
      const shop = (await running.operate('shops.create', { name: 'Later' })).body.result;
      const to = await createTarget();
      const restored = await restoreIndex(to, '--json');
      assert.equal(restored.code, 0, restored.stderr);
      const { rows, tables } = JSON.parse(restored.stdout);
      assert.ok(tables['indexer.sale'] > 0 && rows > 0);
      assert.deepEqual(
        Object.keys(tables).filter((table) => !table.startsWith('indexer.')),
        [],
      );
      assert.deepEqual(await readAll(running, subjects), before, 'while the old index is served');
      await running.close();
      const everything = await withDatabases(settings, readEverything);

      const moved = { ...settings, INDEXER_DATABASE_URL: to };
      assertSame(await withDatabases(moved, readEverything), everything, 'after the restore');
      const restarted = await startTestService({ settings: moved, clock });
      try {
        assert.deepEqual(await readAll(restarted, subjects), before, 'from the new database');
        const shops = (await restarted.operate('shops.list', {})).body.result as { id: string }[];
        assert.ok(shops.some(({ id }) => id === shop.id));
        // Rows that are written now do not take the keys of restored rows.
        for (const subject of subjects) await restarted.load(recordsOf(subject, ROUNDS));
        for (const { path: collection } of subjects)
          assert.equal((await restarted.walk(`${collection}/sales?limit=100`)).length, ROUNDS + 1);
      } finally {
        await restarted.close();
      }
    },
  );

  test(
    'an index with rows is replaced only with --replace, and the other tables of the database stay as they are',
    { skip: skip || (engine.hasCitus && 'a cluster has no primary beside the index') },
    async () => {
      const target = { PRICE_SOURCES: 'none', DATA_DIR: temporaryDirectory(), DATABASE_URL: await createTarget() };
      const occupied = await startTestService({ settings: target, clock, workers: false });
      const subject = newCollection();
      await occupied.load([subject.collection(), ...recordsOf(subject)]);
      await occupied.operate('shops.create', { name: 'Stays' });
      await occupied.close();
      const before = await withDatabases(target, readEverything);
      const refused = await restoreIndex(target.DATABASE_URL);
      assert.equal(refused.code, 1);
      assert.match(
        refused.stderr,
        /^mercat: the database is not empty \(there are records in indexer\.\w+\): --replace/,
      );
      assertSame(await withDatabases(target, readEverything), before, 'a refused restore');
      const replaced = await restoreIndex(target.DATABASE_URL, '--replace');
      assert.equal(replaced.code, 0, replaced.stderr);
      const now = await withDatabases(target, readEverything);
      const partOf = (all: Record<string, unknown>, schema: string) =>
        Object.fromEntries(Object.entries(all).filter(([name]) => name.startsWith(schema)));
      assertSame(partOf(now, 'main'), partOf(before, 'main'), 'the primary');
      assert.notDeepEqual(now['indexer.sale'], before['indexer.sale']);
    },
  );

  test('the command says that it needs INDEXER_DATABASE_URL, and which parts there are', async () => {
    const target = { DATA_DIR: settings['DATA_DIR'] ?? '' };
    assert.deepEqual(await mercat(target, 'restore', file, '--only', 'index'), {
      code: 2,
      stdout: '',
      stderr: 'mercat: --only index needs INDEXER_DATABASE_URL: the database that will have the index\n',
    });
    const unknown = await mercat(target, 'restore', file, '--only', 'shops');
    assert.equal(unknown.code, 2);
    assert.match(unknown.stderr, /Allowed choices are index/);
  });
});

/** Records of all kinds, of `ROUNDS` assets or of the one of `round`. */
function recordsOf(subject: TestCollection, round: number | null = null): Record<string, unknown>[] {
  const isSolana = subject.chain === 'solana';
  const rounds = round === null ? Array.from({ length: ROUNDS }, (_, index) => index) : [round];
  return rounds.flatMap((one) => {
    const asset = isSolana ? mintOf(`${one}`) : `${one}`;
    return [
      subject.listing(asset, 1_000 + one),
      subject.sale(asset, 10n ** 15n * BigInt(one + 1), isSolana ? { buyer: SOLANA_SELLER } : {}),
      subject.token(asset, { name: `Token ${one}` }),
      ...(isSolana ? [] : [subject.order(asset, 2_000 + one)]),
    ];
  });
}

async function readAll(service: TestService, subjects: readonly TestCollection[]): Promise<unknown[]> {
  const bodies: unknown[] = [await service.walk('/v1/collections?limit=100')];
  for (const { path: collection, chain, address } of subjects) {
    bodies.push((await service.ok(collection)).data, (await service.ok(`${collection}/floor`)).data);
    bodies.push(
      await service.walk(`${collection}/listings?limit=100`),
      await service.walk(`${collection}/sales?limit=100`),
    );
    const asset = chain === 'solana' ? mintOf('1') : '1';
    bodies.push((await service.ok(`/v1/tokens/${chain}/${address}/${asset}`)).data);
  }
  return bodies;
}
