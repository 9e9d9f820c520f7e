// Tests `loadOnce`, which loads a value when it is first needed.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { loadOnce } from '../../../src/platform/core/load-once.ts';

test('concurrent and later calls share one load, and after a failed load the next call loads again', async () => {
  let loads = 0;
  const load = loadOnce(async () => {
    loads += 1;
    if (loads === 1) throw new Error('too many open files');
    return loads;
  });
  const failed = await Promise.allSettled([load(), load()]);
  assert.deepEqual([failed.map(({ status }) => status), loads], [['rejected', 'rejected'], 1]);
  assert.deepEqual(await Promise.all([load(), load()]), [2, 2]);
  assert.equal(await load(), 2);
});
