// The committed artifacts of the local chains' contracts match their sources.

import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { compileDevnetContracts } from '../support/generators/devnet-contracts.ts';

test('the committed artifacts equal the output of the pinned compiler for the sources', () => {
  for (const [file, artifact] of compileDevnetContracts()) {
    const committed = readFileSync(new URL(`../../${file}`, import.meta.url), 'utf8');
    assert.equal(committed, artifact, `${file}: run npm run generate and review the difference`);
  }
});
