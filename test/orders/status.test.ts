// The status of a signed order, as a table: what was signed and what happened on the left, the state that follows on the right.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import type { OrderEvidence, OrderTerms } from '../../src/orders/status.ts';
import { deriveOrderStatus } from '../../src/orders/status.ts';

const NOW = 1_000_000;
const TERMS: OrderTerms = { counter: 0n, quantity: 1n, partial: false, expiresAt: null };
const NONE: OrderEvidence = {
  fills: [],
  cancel: null,
  counterRaise: null,
  offChainCancel: null,
  balance: 1n,
  approved: true,
};
const at = (time: number, tx: string | null = `0x${time}`) => ({ at: time, tx });
const fillOf = (time: number, quantity = 1n) => ({ ...at(time), quantity });

const derive = (evidence: Partial<OrderEvidence>, terms: Partial<OrderTerms> = {}) =>
  deriveOrderStatus({ ...TERMS, ...terms }, { ...NONE, ...evidence }, NOW);
const worded = (evidence: Partial<OrderEvidence>, terms: Partial<OrderTerms> = {}) => {
  const { status, dormant, tx } = derive(evidence, terms);
  return [status, dormant, tx].filter((part) => part !== null).join(' ');
};

test('an order whose offerer holds the token and has approved the operator is active', () => {
  assert.equal(worded({}), 'active');
  assert.deepEqual(derive({}), { status: 'active', dormant: null, filledQuantity: 0n, endedAt: null, tx: null });
});

test('an active order whose token or approval is gone is dormant, and where nothing is known of them it is not', () => {
  assert.equal(worded({ balance: 0n }), 'active no-balance');
  assert.equal(worded({ approved: false }), 'active not-approved');
  assert.equal(worded({ balance: 0n, approved: false }), 'active no-balance');
  assert.equal(worded({ balance: null, approved: null }), 'active');
});

test('several units are fillable while the offerer holds what one fill needs: all of them, or one where parts may be filled', () => {
  assert.equal(worded({ balance: 4n }, { quantity: 5n }), 'active no-balance');
  assert.equal(worded({ balance: 5n }, { quantity: 5n }), 'active');
  assert.equal(worded({ balance: 1n }, { quantity: 5n, partial: true }), 'active');
  assert.equal(worded({ balance: 0n }, { quantity: 5n, partial: true }), 'active no-balance');
});

test('a fill of all units ends it with the transaction of the last one, and a fill of a part does not', () => {
  assert.equal(worded({ fills: [fillOf(5)], balance: 0n }), 'filled 0x5');
  const parts = derive({ fills: [fillOf(5, 2n), fillOf(6, 1n)] }, { quantity: 5n, partial: true });
  assert.deepEqual([parts.status, parts.filledQuantity], ['active', 3n]);
  assert.equal(worded({ fills: [fillOf(5, 2n), fillOf(6, 3n)] }, { quantity: 5n, partial: true }), 'filled 0x6');
});

test('a cancel, a raised counter and a word cancel it, whichever came first', () => {
  assert.equal(worded({ cancel: at(7) }), 'cancelled 0x7');
  assert.equal(worded({ counterRaise: at(7) }), 'cancelled 0x7');
  assert.equal(worded({ offChainCancel: at(7, null) }), 'cancelled');
  assert.equal(worded({ cancel: at(9), counterRaise: at(8), offChainCancel: at(10, null) }), 'cancelled 0x8');
  assert.equal(derive({ cancel: at(9), counterRaise: at(8) }).endedAt, 8);
});

test('it expires at its end time exactly, and a cancel that comes then or later finds it expired', () => {
  assert.equal(worded({}, { expiresAt: NOW + 1 }), 'active');
  assert.equal(worded({}, { expiresAt: NOW }), 'expired');
  assert.equal(worded({ cancel: at(49) }, { expiresAt: 50 }), 'cancelled 0x49');
  assert.equal(worded({ cancel: at(50) }, { expiresAt: 50 }), 'expired');
  assert.equal(derive({ counterRaise: at(60) }, { expiresAt: 50 }).endedAt, 50);
});

test('a whole fill on the chain stands against a word that no chain knows', () => {
  assert.equal(worded({ offChainCancel: at(3, null), fills: [fillOf(5)] }), 'filled 0x5');
});

test('taking all evidence away gives the active order back: a status is never remembered', () => {
  const time = fc.integer({ min: 1, max: NOW });
  const ending = fc.option(time.map((value) => at(value)));
  fc.assert(
    fc.property(ending, ending, fc.array(time), (cancel, counterRaise, fills) => {
      const ended = derive({ cancel, counterRaise, fills: fills.map((value) => fillOf(value)) });
      assert.equal(ended.status === 'active', cancel === null && counterRaise === null && fills.length === 0);
      assert.equal(derive({}).status, 'active');
      assert.equal(ended.dormant, null);
    }),
  );
});
