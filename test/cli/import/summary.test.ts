// The text of the summary of an import, and the sum of the summaries of several files.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { describeDryRun, describeImports, describeNotes } from '../../../src/cli/import/summary.ts';
import { RecordNotes } from '../../../src/intake/import-warnings.ts';
import { parseRecord } from '../../../src/intake/records/parse.ts';
import type { ImportSummary } from '../../../src/intake/import-summary.ts';
import { addSummaries, ImportCounter } from '../../../src/intake/import-summary.ts';
import { listing, NOW, order, recordContext, sale } from '../../support/service/intake.ts';

const summary = (fields: Partial<ImportSummary> = {}): ImportSummary => ({
  ...new ImportCounter().summary(),
  ...fields,
});

test('a warning in several files has the line and value of the first of these files, and the sum of their counts', () => {
  const warning = (count: number, line: number, value: string) =>
    summary({ warnings: { zeroPrice: { count, line, value } } });
  const { warnings } = addSummaries([summary(), warning(2, 7, '0'), warning(3, 4, '00')]);
  assert.deepEqual(warnings, { zeroPrice: { count: 5, line: 7, value: '0' } });
});

test('sales, listings and orders at 0 are counted in one warning, which says what happens to each of them', () => {
  const notes = new RecordNotes(recordContext.chains, NOW);
  const records = [sale({ price: '0' }), listing({ priceRaw: '0' }), order({ priceRaw: '0' }), order()];
  for (const [index, fields] of records.entries()) {
    const { record } = parseRecord(recordContext, fields);
    assert.ok(record);
    notes.add({ line: index + 1, record });
  }
  assert.deepEqual(notes.warnings.zeroPrice, { count: 3, line: 1, value: '0' });
  const [text] = describeNotes(summary({ warnings: notes.warnings, unknownCollections: {} }));
  assert.match(
    text ?? '',
    /^warning: a price of 3 records is 0: a sale at 0 is not counted .*; a listing or order at 0 is not listed/,
  );
});

test('in a sum of summaries, a collection is unknown if no file has its record; the unknownCollections of the sum are null if those of any file are null', () => {
  const files = [
    summary({ unknownCollections: { a: 2, b: 1 }, createdCollections: ['d'] }),
    summary({ unknownCollections: { a: 1 }, collections: ['b'], createdCollections: ['c', 'd'] }),
  ];
  const sum = addSummaries(files);
  assert.deepEqual([sum.unknownCollections, sum.createdCollections], [{ a: 3 }, ['c', 'd']]);
  assert.equal(addSummaries([...files, summary()]).unknownCollections, null);
});

test('at most 20 collections are named, and the others are counted', () => {
  const ids = Array.from({ length: 21 }, (_, index) => `c${index}`);
  const unknownCollections = Object.fromEntries(ids.map((id) => [id, 1]));
  const notes = describeNotes(summary({ unknownCollections, createdCollections: ids.slice(0, 20) }));
  assert.equal(notes[0], `created 20 collection records with the address as the name: ${ids.slice(0, 20).join(', ')}`);
  assert.match(notes[1] ?? '', /^warning: 21 records have no collection record: c0, .*, c19 and 1 more; /);
  assert.match(describeNotes(summary({ unknownCollections: { a: 1 } }))[0] ?? '', /^warning: 1 record has no .*: a; /);
});

test('a summary names at most 5,000 created collections, and has the number of the others', () => {
  const counter = new ImportCounter();
  counter.addCreatedCollections(Array.from({ length: 5_003 }, (_, index) => `c${index}`));
  const one = { ...summary(), ...counter.summary() };
  assert.deepEqual([one.createdCollections.length, one.moreCreatedCollections], [5_000, 3]);
  const two = addSummaries([one, summary({ createdCollections: ['d'] })]);
  assert.deepEqual([two.createdCollections.length, two.moreCreatedCollections], [5_000, 4]);
  assert.match(describeNotes(one)[0] ?? '', /^created 5,003 collection records with .* and 4,983 more$/);
});

test('one skipped line gives a warning in the singular, and without skipped lines there is no warning', () => {
  assert.match(describeNotes(summary({ skippedLines: 1 }))[0] ?? '', /extend over 1 further line of the file/);
  assert.deepEqual(describeNotes(summary()), []);
});

test('the summary of a dry run of more than one batch says that each batch is compared separately', () => {
  assert.equal(describeDryRun(summary({ read: 500 })), '');
  assert.match(describeDryRun(summary({ read: 501 })), /^note: a dry run compares each batch of at most 10000 records/);
});

test('the commands that take imports back begin with the newest import, and are printed only if something was stored', () => {
  const undo = (id: string) => `to take this back: mercat imports undo ${id}`;
  const imports = ['imp_1', 'imp_2'];
  assert.deepEqual(describeImports(summary({ imports, updated: 1 })), [undo('imp_2'), undo('imp_1')]);
  assert.deepEqual(describeImports(summary({ imports, unchanged: 1 })), []);
});
