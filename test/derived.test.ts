// The committed files that `npm run generate` writes are up to date.

import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { NEW_CLUSTER, pgliteVersionOf } from '../src/platform/database/embedded/cluster-archive.ts';
import { renderCacheParameters } from './support/generators/cache-parameters.ts';
import { CLIENT_DOCUMENTS, renderClientTypes } from './support/generators/client-types.ts';
import { renderOpenApi, renderSettings } from './support/generators/derived.ts';
import { installedPgliteVersion } from './support/generators/new-cluster.ts';

const committed = (file: string) => readFileSync(new URL(`../${file}`, import.meta.url), 'utf8');
const hint = 'run npm run generate and read the difference';

test('docs/settings.md matches the table of settings', () => {
  assert.equal(committed('docs/settings.md'), renderSettings(), hint);
});

test('the packed cluster of the embedded database was made by the installed version of PGlite', () => {
  assert.equal(pgliteVersionOf(readFileSync(NEW_CLUSTER)), installedPgliteVersion(), hint);
});

test('the committed OpenAPI documents equal the documents that the service serves', async () => {
  for (const [file, document] of await renderOpenApi()) assert.equal(committed(file), document, `${file}: ${hint}`);
});

test('the types and operations of the client match the OpenAPI documents', () => {
  const documents = CLIENT_DOCUMENTS.map((file): [string, string] => [file, committed(file)]);
  for (const [file, text] of renderClientTypes(new Map(documents)))
    assert.equal(committed(file), text, `${file}: ${hint}`);
});

test('the cache configurations in deploy/ name exactly the query parameters of the OpenAPI document', () => {
  for (const [file, text] of renderCacheParameters(committed('openapi/marketplace.json')))
    assert.equal(committed(file), text, `${file}: ${hint}`);
});
