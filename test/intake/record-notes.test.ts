// What an import notes about its records. Its memory has a limit.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { RecordNotes } from '../../src/intake/import-warnings.ts';
import { parseRecord } from '../../src/intake/records/parse.ts';
import { product, recordContext } from '../support/service/intake.ts';

const SLUGS_MAX = 200_000;

function parse(fields: Record<string, unknown>) {
  const { record } = parseRecord(recordContext, fields);
  assert.ok(record);
  return record;
}

test('repeated slugs are noted among the first 200,000 products of an import, and later slugs take no memory', () => {
  const notes = new RecordNotes(recordContext.chains);
  const first = parse(product());
  assert.ok(first.kind === 'product');
  const add = (line: number, slug: string) =>
    notes.add({ line, record: { kind: 'product', row: { ...first.row, slug } } });
  for (let line = 1; line <= SLUGS_MAX + 1; line += 1) add(line, `mug-${line}`);
  assert.deepEqual(notes.warnings, {});
  add(SLUGS_MAX + 2, `mug-${SLUGS_MAX}`);
  add(SLUGS_MAX + 3, `mug-${SLUGS_MAX + 1}`);
  assert.deepEqual(notes.warnings, {
    repeatedSlug: { count: 1, line: SLUGS_MAX + 2, value: `mug-${SLUGS_MAX}` },
  });
});
