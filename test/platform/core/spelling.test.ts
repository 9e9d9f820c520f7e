// Tests which names differ from a known name by a single typing mistake.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { isOneTypoApart } from '../../../src/platform/core/spelling.ts';

test('one missing, added or replaced letter, or one swapped pair of letters, is one typing mistake', () => {
  for (const typo of ['DATABSE_URL', 'DATABASEE_URL', 'DATABASE_URI', 'DATABAES_URL', 'ATABASE_URL', 'DATABASE_URLS']) {
    assert.ok(isOneTypoApart(typo, 'DATABASE_URL'), typo);
    assert.ok(isOneTypoApart('DATABASE_URL', typo), typo);
  }
});

test('two names are not one typing mistake apart when they are equal or differ by two or more mistakes', () => {
  for (const other of ['DATABASE_URL', 'DATBSE_URL', 'PGDATABASE_URL', 'DATABASE', '', 'DATA_DIR']) {
    assert.ok(!isOneTypoApart(other, 'DATABASE_URL'), other);
  }
});
