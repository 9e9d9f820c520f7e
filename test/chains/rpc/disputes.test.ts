// Disputes between the endpoints of a chain are kept in the order of their beginning, because the status shows the oldest dispute.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Disputes } from '../../../src/chains/rpc/disputes.ts';

test('`first` returns the dispute that began first, and a dispute about the same read at another block counts as a new dispute', () => {
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
