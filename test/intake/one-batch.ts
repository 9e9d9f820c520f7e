// A program that stores the records of its standard input in one batch of an import. It prints a line each time it has stored a part of the
// batch. It uses the PostgreSQL database that DATABASE_URL names.

import assert from 'node:assert/strict';
import { text } from 'node:stream/consumers';
import pg from 'pg';
import { createDatabase } from '../../src/platform/database/port.ts';
import { ingestBatch } from '../../src/intake/ingest/batch.ts';
import { parseRecordLine } from '../../src/intake/records/parse.ts';
import { beginImport } from '../../src/intake/undo/recorded-import.ts';
import { NOW, recordContext, toContext } from '../support/service/intake.ts';

const pool = new pg.Pool({ connectionString: process.env['DATABASE_URL'], max: 10 });
const db = createDatabase(pool, { engine: 'postgresql', name: 'main' });
const context = toContext(db, { copyCatalog: () => Promise.resolve() });
const lines = (await text(process.stdin)).trim().split('\n');
const records = lines.map((line, index) => {
  const { record } = parseRecordLine(recordContext, line);
  assert.ok(record);
  return { line: index + 1, record };
});
const changes = await beginImport(context, { importer: 'operator', file: null, format: 'ndjson', replace: false });
await ingestBatch(context, records, {
  now: NOW,
  dryRun: false,
  isImport: true,
  changes,
  onIngested: () => process.stdout.write('a part is stored\n'),
});
await db.close();
