// The order of the disputes between the endpoints of a chain: the status shows the oldest one.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Disputes } from '../../../src/chains/rpc/disputes.ts';

test('the first dispute is the oldest one, also after another topic is disputed at a new block', () => {
  let now = 0;
  const disputes = new Disputes(() => now);
  assert.equal(disputes.add('a', { kind: 'call', block: 1 }), true);
  now = 1;
  assert.equal(disputes.add('b', { kind: 'call', block: 2 }), true);
  now = 2;
  assert.equal(disputes.add('a', { kind: 'call', block: 1 }), false);
  assert.deepEqual(disputes.first(), { kind: 'call', block: 1, since: 0 }, 'a repeated dispute became a new one');
  now = 3;
  assert.equal(disputes.add('a', { kind: 'call', block: 3 }), true);
  assert.deepEqual(disputes.first(), { kind: 'call', block: 2, since: 1 });
  disputes.end('b');
  assert.deepEqual(disputes.first(), { kind: 'call', block: 3, since: 3 });
});
