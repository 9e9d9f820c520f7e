// The contracts of the local chains are what their sources say.

import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { compileDevnetContracts } from '../support/generators/devnet-contracts.ts';

test('the committed artifacts are what the pinned compiler makes of the sources', () => {
  for (const [file, artifact] of compileDevnetContracts()) {
    const committed = readFileSync(new URL(`../../${file}`, import.meta.url), 'utf8');
    assert.equal(committed, artifact, `${file}: run npm run generate and look at the difference`);
  }
});
