// How the web console joins reads into requests. The test needs no browser.

import assert from 'node:assert/strict';
import { mock, test } from 'node:test';
import { Batches } from '../../console/src/data/batches.ts';

test('reads that follow one another are joined, also those of the rest after a request', async () => {
  mock.timers.enable({ apis: ['setTimeout'] });
  const requests: string[] = [];
  const batches = new Batches<string, string>(
    (names) => {
      requests.push(names.join());
      return Promise.resolve(names.map((name) => name.toUpperCase()));
    },
    { restMs: 2_000 },
  );
  const first = Promise.all(['a', 'b'].map((name) => batches.read(name)));
  mock.timers.tick(10);
  assert.deepEqual(requests, ['a,b']);
  assert.deepEqual(await first, ['A', 'B']);
  void batches.read('c');
  mock.timers.tick(1_000);
  void batches.read('d');
  mock.timers.tick(999);
  assert.deepEqual(requests, ['a,b']);
  mock.timers.tick(1);
  assert.deepEqual(requests, ['a,b', 'c,d']);
  mock.timers.tick(2_000);
  void batches.read('e');
  mock.timers.tick(10);
  assert.deepEqual(requests, ['a,b', 'c,d', 'e']);
  // A full batch does not wait.
  const names = Array.from({ length: 100 }, (_, index) => String(index));
  for (const name of names) void batches.read(name);
  assert.equal(requests.at(-1), names.join());
  mock.timers.reset();
});
