// What is committed as derived is what the program derives now.

import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { dumpSchema } from '../src/database/schema-dump.ts';
import { SCHEMAS } from '../src/database/migrate.ts';
import { renderOpenApi, renderSchema, renderSettings } from './support/generators/derived.ts';
import { forEachEngine } from './support/engines/each-engine.ts';

const committed = (file: string) => readFileSync(new URL(`../${file}`, import.meta.url), 'utf8');
const hint = 'run npm run generate and look at the difference';

test('docs/settings.md is what the table of settings says', () => {
  assert.equal(committed('docs/settings.md'), renderSettings(), hint);
});

test('schema.sql is what the migrations add up to', async () => {
  assert.equal(committed('src/database/schema.sql'), await renderSchema(), hint);
});

test('the OpenAPI documents are those that are served', async () => {
  for (const [file, document] of await renderOpenApi()) assert.equal(committed(file), document, `${file}: ${hint}`);
});

forEachEngine('the schema', (engine) => {
  test('is the same on every engine', async () => {
    const database = await engine.open();
    for (const schema of SCHEMAS)
      assert.ok(committed('src/database/schema.sql').includes(await dumpSchema(database, schema)));
  });
});
