// Disputes between the endpoints of a chain are kept in the order of their beginning, because the status shows the oldest dispute.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Disputes } from '../../../../src/sources/chains/rpc/disputes.ts';

test('`first` returns the dispute that began first, and a dispute about the same read at another block is the same dispute', () => {
  let now = 0;
  const disputes = new Disputes(() => now);
  assert.equal(disputes.add('a', { kind: 'call', block: 1 }), true);
  now = 1;
  assert.equal(disputes.add('b', { kind: 'call', block: 2 }), true);
  now = 2;
  assert.equal(disputes.add('a', { kind: 'call', block: 3 }), false, 'each block of a read was reported');
  assert.deepEqual(disputes.first(), { kind: 'call', block: 3, since: 0 }, 'the dispute began anew at another block');
  disputes.end('a');
  assert.deepEqual(disputes.first(), { kind: 'call', block: 2, since: 1 });
  now = 3;
  assert.equal(disputes.add('a', { kind: 'call', block: 3 }), true, 'a dispute after an agreement was not reported');
});
