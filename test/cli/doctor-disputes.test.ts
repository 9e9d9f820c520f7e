// The check of `mercat doctor` for endpoints of a chain that disagree.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { ChainComparison } from '../../src/cli/doctor/disputes.ts';
import { judgeDisputes } from '../../src/cli/doctor/disputes.ts';

const since = '2026-01-01T00:00:00.000Z';
type Disputed = NonNullable<NonNullable<ChainComparison['comparison']>['disputed']>;

function judge(disputed: Disputed | null) {
  const comparison = { compared: 'all', uncompared: 0, uncomparedCalls: 0, disputed } as const;
  return judgeDisputes([{ chain: 'base', comparison }]);
}

test('endpoints that agree, and a chain that is not read, have no finding', () => {
  assert.deepEqual(judge(null), []);
  assert.deepEqual(judgeDisputes([{ chain: 'base', comparison: null }]), []);
});

test('a disagreement about a new block, which stops the chain, is a failure', () => {
  const remedy = 'remove the wrong endpoint from RPC_URL_BASE, or add a third endpoint, so that a majority decides';
  const message = `the endpoints have disagreed about block 7 since ${since}. No further block is read`;
  assert.deepEqual(judge({ kind: 'new', block: 7, since }), [
    { name: 'base endpoints', level: 'fail', message, mend: remedy },
  ]);
});

test('a disagreement about a part of the data is a warning that names the part and the effect', () => {
  const expected = {
    past: /about past blocks up to 7 since .*\. These blocks are not read$/,
    again: /about stored blocks up to 7, which are read again since .*\. These blocks stay as they were stored$/,
    call: /about the state of a contract at block 7 since .*\. The order that depends on it is not accepted$/,
  };
  for (const kind of ['past', 'again', 'call'] as const) {
    const [finding, ...others] = judge({ kind, block: 7, since });
    assert.deepEqual([finding?.level, others], ['warn', []], kind);
    assert.match(finding?.message ?? '', expected[kind]);
  }
});
