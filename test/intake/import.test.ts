// Runs imports on both engines, and checks which records are stored, rejected and reported. Some of the imports end early.

import assert from 'node:assert/strict';
import { before, beforeEach, test } from 'node:test';
import type { Database } from '../../src/platform/database/port.ts';
import type { ImportContext, ImportEvent } from '../../src/intake/import.ts';
import { ImportFailure, importRecords } from '../../src/intake/import.ts';
import { RecordNotes } from '../../src/intake/import-warnings.ts';
import { parseRecord } from '../../src/intake/records/parse.ts';
import { createLog } from '../../src/platform/core/log.ts';
import { forEachEngine } from '../support/engines/each-engine.ts';
import {
  collection,
  dumpTables,
  emptyTables,
  EVM,
  listing,
  order,
  NOW,
  recordContext,
  runImport,
  sale,
  toChunks,
  toContext,
  token,
  toNdjson,
} from '../support/service/intake.ts';

const BATCH = 500;
const tokens = (count: number) => Array.from({ length: count }, (_, i) => token({ tokenId: String(i), name: `#${i}` }));

async function failureOf(work: Promise<unknown>): Promise<ImportFailure> {
  const error = await work.then(
    () => null,
    (reason: unknown) => reason,
  );
  assert.ok(error instanceof ImportFailure, `not an ImportFailure: ${String(error)}`);
  return error;
}

forEachEngine('import', (engine) => {
  let db: Database;
  before(async () => {
    db = await engine.open();
  });
  beforeEach(() => emptyTables(db));

  const countOf = async (table: string) =>
    (await db.query<{ count: number }>(`select count(*)::int as count from ${table}`))[0]?.count;

  const MIXED = toNdjson([
    collection(),
    '',
    order(),
    'not json',
    listing(),
    sale(),
    { kind: 'product', shop: 's', name: 'Mug', price: '1' },
    token(),
    listing({ source: 'mercat' }),
    { kind: 'stats', chain: 'ethereum', contractAddress: EVM, owners: 1 },
    { kind: 'analytics', chain: 'ethereum', contractAddress: EVM, floorRaw: '1' },
    { kind: 'rate', symbol: 'ETH', usd: 3000, at: '2026-05-01T00:00:00Z' },
    collection({ contractAddress: '0x00000000000000000000000000000000000000bb' }),
  ]);

  test('the valid records are stored, the others are rejected with their line', async () => {
    const { summary, refused } = await runImport(toContext(db), MIXED);
    assert.deepEqual(
      refused.map(({ line }) => line),
      [4, 7, 9, 13],
    );
    const { seconds, byKind, warnings: _warnings, unknownCollections, collections, imports, ...others } = summary;
    const { createdCollections, ...counts } = others;
    assert.deepEqual(counts, {
      read: 12,
      inserted: 8,
      updated: 0,
      unchanged: 0,
      conflict: 0,
      refused: 4,
      skippedLines: 0,
    });
    assert.deepEqual([unknownCollections, collections, createdCollections], [{}, [`ethereum_${EVM}`], []]);
    assert.match(imports.join(), /^imp_[0-9a-f]{32}$/);
    assert.ok(seconds >= 0);
    const one = { inserted: 1, updated: 0, unchanged: 0, conflict: 0, refused: 0 };
    assert.deepEqual(byKind, {
      collection: { ...one, refused: 1 },
      order: one,
      listing: { ...one, refused: 1 },
      sale: one,
      token: one,
      stats: one,
      analytics: one,
      rate: one,
      product: { ...one, inserted: 0, refused: 1 },
    });
  });

  test('a second import of the same records changes no row', async () => {
    await runImport(toContext(db), MIXED);
    const stored = await dumpTables(db);
    const { summary } = await runImport(toContext(db), MIXED);
    assert.deepEqual([summary.inserted, summary.updated, summary.unchanged, summary.refused], [0, 0, 8, 4]);
    assert.deepEqual(await dumpTables(db), stored);
  });

  test('a dry run reports the same results as a real import and stores nothing', async () => {
    const empty = await dumpTables(db);
    const context = toContext(db, { onChanged: () => assert.fail('the dry run reported a change') });
    const dry = await runImport(context, MIXED, { dryRun: true });
    assert.deepEqual(await dumpTables(db), empty);
    const real = await runImport(toContext(db), MIXED);
    assert.deepEqual(dry.refused, real.refused);
    assert.deepEqual({ ...dry.summary, seconds: 0 }, { ...real.summary, imports: [], seconds: 0 });
  });

  test('the changes of a batch are reported after its commit', async () => {
    const reported: { collectionIds: string[]; kinds: string[] }[] = [];
    const context = toContext(db, {
      onChanged: ({ collectionIds, kinds }) => reported.push({ collectionIds: [...collectionIds], kinds: [...kinds] }),
    });
    const more = [...tokens(BATCH), collection(), sale({ chain: 'base' }), token({ name: '#1' })];
    await runImport(context, toNdjson(more));
    const ethereum = [`ethereum_${EVM}`];
    assert.deepEqual(reported, [
      { collectionIds: ethereum, kinds: ['token'] },
      { collectionIds: ethereum, kinds: ['collection'] },
      { collectionIds: [`base_${EVM}`], kinds: ['sale'] },
    ]);
    await runImport(context, toNdjson(more));
    assert.equal(reported.length, 3);
  });

  test('progress is reported after every batch', async () => {
    const reads: number[] = [];
    await runImport(toContext(db), toNdjson(tokens(1_200)), {
      onEvent: (event) => void (event.event === 'progress' && reads.push(event.read)),
    });
    // The sizes of the later batches depend on the time that the earlier ones took.
    assert.ok(reads.length > 1, String(reads));
    assert.deepEqual([reads[0], reads.at(-1)], [BATCH, 1_200]);
    assert.ok(
      reads.every((read, index) => read > (reads[index - 1] ?? 0)),
      String(reads),
    );
  });

  test('a database error ends the import with a failure that counts the stored rows', async () => {
    const breakIt = async (event: ImportEvent) => {
      if (event.event === 'progress' && event.read === 2 * BATCH)
        await db.query('alter table indexer.token rename to gone');
    };
    const work = runImport(toContext(db), toNdjson(tokens(5 * BATCH)), { onEvent: breakIt });
    const failure = await failureOf(work);
    assert.match(failure.message, /^stopped after 1000 rows were stored: .*indexer\.token/);
    assert.equal(failure.summary.inserted, 1_000);
    await db.query('alter table indexer.gone rename to token');
    assert.equal(await countOf('indexer.token'), 1_000);
    assert.equal((await runImport(toContext(db), toNdjson(tokens(5 * BATCH)))).summary.inserted, 3 * BATCH);
  });

  test('when the last part of a batch fails, the rows of the batch that were already stored or refused are counted and reported', async () => {
    await db.query('alter table indexer.token rename to gone');
    const refused: number[] = [];
    const onEvent = (event: ImportEvent) => void (event.event === 'refused' && refused.push(event.line));
    const source = toChunks(toNdjson([collection(), 'not json', token()]));
    const { summary } = await failureOf(importRecords(toContext(db), source, { format: 'ndjson', onEvent }));
    await db.query('alter table indexer.gone rename to token');
    assert.deepEqual([summary.read, summary.inserted, summary.refused, refused], [2, 1, 1, [2]]);
  });

  test('all lines of a rejected row except its first line count as skipped, and no line of a stored row counts as skipped', async () => {
    const columns = ['tokenId', 'name'].map((column) => [column, { column }] as const);
    const given = Object.entries({ kind: 'token', chain: 'ethereum', contractAddress: EVM });
    const map = Object.fromEntries([...columns, ...given.map(([field, value]) => [field, { value }] as const)]);
    const csv = 'tokenId,name\n1,"two\nlines"\nx,"three\nmore\nlines"\n2,one\n';
    const { summary } = await runImport(toContext(db), csv, { format: 'csv', map });
    assert.deepEqual([summary.inserted, summary.refused, summary.skippedLines], [2, 1, 2]);
  });

  test('if collection records cannot be read after the last batch, the import succeeds without the count of unknown collections', async () => {
    const rename = (from: string, to: string) => db.query(`alter table main.${from} rename to ${to}`);
    const onEvent = async () => void (await rename('collection', 'gone'));
    const { summary } = await runImport(toContext(db), toNdjson(tokens(2)), { onEvent });
    await rename('gone', 'collection');
    assert.deepEqual([summary.inserted, summary.unknownCollections], [2, null]);
  });

  test('created collection records are reported as changed, and copied to the indexer', async () => {
    const changes: unknown[] = [];
    let copies = 0;
    const context = toContext(db, {
      onChanged: ({ collectionIds, kinds }) => void changes.push([[...collectionIds], [...kinds].sort()]),
      copyCatalog: () => {
        copies += 1;
        return Promise.resolve();
      },
    });
    await runImport(context, toNdjson([token()]), { createCollections: true });
    assert.deepEqual(changes[0], [[`ethereum_${EVM}`], ['collection']]);
    assert.equal(copies, 1);
  });

  test('an import whose end cannot be recorded succeeds, and the log has one line with the id of the import', async () => {
    const lines: string[] = [];
    const context = toContext(db, { log: createLog('warn', (line) => void lines.push(line)) });
    const rename = (from: string, to: string) => db.query(`alter table main.import rename column ${from} to ${to}`);
    const { summary } = await runImport(context, toNdjson(tokens(BATCH)), {
      onEvent: async () => void (await rename('ended_at', 'gone')),
    });
    await rename('gone', 'ended_at');
    assert.equal(summary.inserted, BATCH);
    const [id = ''] = summary.imports ?? [];
    assert.equal(lines.length, 1);
    const { message, import: logged, error } = JSON.parse(lines[0] ?? '');
    assert.deepEqual([message, logged], ['the end of an import could not be recorded', id]);
    assert.match(error, /ended_at/);
  });

  test('records are counted by collection for the first 10,000 collections of an import only', async () => {
    const notes = new RecordNotes(recordContext.chains, NOW);
    const idOf = (index: number) => `0x${index.toString(16).padStart(40, '0')}`;
    const add = (index: number) => {
      const { record } = parseRecord(recordContext, token({ contractAddress: idOf(index) }));
      assert.ok(record);
      notes.add({ line: index, record });
    };
    for (let index = 1; index <= 10_001; index += 1) add(index);
    for (const index of [1, 10_001]) add(index);
    const unknown = await notes.findUnknownCollections(db);
    assert.equal(Object.keys(unknown).length, 10_000);
    assert.equal(unknown[`ethereum_${idOf(1)}`], 2);
  });

  test('when reading the records fails, the import stores the records before the error, and then fails', async () => {
    async function* broken() {
      yield Buffer.from(toNdjson(tokens(BATCH + 1)));
      throw new Error('the disk is gone');
    }
    const failure = await failureOf(importRecords(toContext(db), broken(), { format: 'ndjson' }));
    assert.equal(failure.message, 'stopped after 501 rows were stored: the disk is gone');
    assert.deepEqual([failure.summary.read, await countOf('indexer.token')], [BATCH + 1, BATCH + 1]);
    const early = importRecords(toContext(db), toChunks('a\n'), { format: 'csv', map: { kind: { column: 'k' } } });
    assert.match((await failureOf(early)).message, /^stopped before any row was stored: .* the column "k"/);
  });

  test('an abort stops the import after the current batch, even when no more data comes', async () => {
    const stop = new AbortController();
    async function* silent() {
      yield Buffer.from(toNdjson(tokens(BATCH)));
      await new Promise(() => undefined);
    }
    const onEvent = (event: ImportEvent) => {
      if (event.event === 'progress') stop.abort(new Error('enough'));
    };
    const options = { format: 'ndjson', signal: stop.signal, onEvent } as const;
    const silence = await failureOf(importRecords(toContext(db), silent(), options));
    assert.equal(silence.message, 'stopped after 500 rows were stored: enough');
    assert.equal(await countOf('indexer.token'), 500);
    const before = await failureOf(importRecords(toContext(db), toChunks('x'), options));
    assert.equal(before.message, 'stopped before any row was stored: enough');
  });

  for (const [name, row] of [
    ['valid rows', (i: number) => token({ tokenId: String(i) })],
    ['rejected rows', () => ({ kind: 'nonsense' })],
  ] as const) {
    test(`while a slow listener handles a batch of ${name}, at most the next batch is read`, async () => {
      let pulled = 0;
      const stop = new AbortController();
      const held = Promise.withResolvers<void>();
      const slow = Promise.withResolvers<void>();
      async function* endless() {
        for (;;) {
          pulled += 1;
          yield Buffer.from(toNdjson([row(pulled)]));
        }
      }
      const onEvent = () => {
        slow.resolve();
        return held.promise;
      };
      const work = importRecords(toContext(db), endless(), { format: 'ndjson', signal: stop.signal, onEvent });
      await slow.promise;
      for (let tick = 0; tick < 20_000; tick += 1) await Promise.resolve();
      assert.ok(pulled <= 2 * BATCH + 1, `${pulled} rows were read ahead`);
      stop.abort(new Error('enough'));
      held.resolve();
      await failureOf(work);
    });
  }

  test('concurrent imports of the same sales count each sale once', async () => {
    const sales = Array.from({ length: 1_500 }, (_, i) =>
      sale({ tokenId: String(i), contractAddress: `0x${String(i % 7).padStart(40, '0')}`, price: '1' }),
    );
    const others = Array.from({ length: 1_500 }, (_, i) => listing({ id: String(i) }));
    const contents = [
      sales,
      sales.toReversed(),
      [...others, ...sales],
      [...others.toReversed(), ...sales.toReversed()],
    ];
    const done = await Promise.all(contents.map((content) => runImport(toContext(db), toNdjson(content))));
    const inserted = done.reduce((sum, { summary }) => sum + summary.inserted, 0);
    assert.equal(inserted, 3_000);
    const [sums] = await db.query(
      `select sum(sales)::int as sales, sum(volume_raw)::int as volume from indexer.sale_total`,
    );
    assert.deepEqual(sums, { sales: 1_500, volume: 1_500 });
    const [hours] = await db.query(`select sum(sales)::int as sales from indexer.sale_hour`);
    assert.deepEqual(hours, { sales: 1_500 });
  });

  test('when concurrent imports use the same slugs, each slug is stored once', async () => {
    const collectionsOf = (importer: number) =>
      Array.from({ length: 200 }, (_, i) =>
        collection({ contractAddress: `0x${String(importer * 1_000 + i).padStart(40, '0')}`, slug: `s${i}` }),
      );
    const done = await Promise.all(
      [1, 2, 3].map((importer) => runImport(toContext(db), toNdjson(collectionsOf(importer)))),
    );
    assert.equal(
      done.reduce((sum, { summary }) => sum + summary.inserted, 0),
      200,
    );
    assert.equal(
      done.reduce((sum, { refused }) => sum + refused.length, 0),
      400,
    );
    for (const { reason } of done.flatMap(({ refused }) => refused))
      assert.match(reason, /belongs to the collection ethereum_0x/);
  });

  test('with two databases, each record is written only to the database of its kind', async () => {
    const indexer = await engine.open();
    const context: ImportContext = toContext(db, { indexer });
    await runImport(context, MIXED);
    const filled = async (database: Database) =>
      Object.entries(await dumpTables(database)).flatMap(([table, rows]) =>
        rows.length > 0 ? [table.split('.')[0]] : [],
      );
    assert.deepEqual(new Set(await filled(db)), new Set(['main']));
    assert.deepEqual(new Set(await filled(indexer)), new Set(['indexer']));
  });
});
