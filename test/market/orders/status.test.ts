// Tests how the status of a signed order follows from its signed terms, its evidence and the time.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import type { OrderEvidence, OrderTerms } from '../../../src/market/orders/status.ts';
import { deriveOrderStatus } from '../../../src/market/orders/status.ts';

const NOW = 1_000_000;
const TERMS: OrderTerms = { counter: 0n, quantity: 1n, partial: false, perUnit: 1n, expiresAt: null };
const NONE: OrderEvidence = {
  fills: [],
  cancel: null,
  counterRaise: null,
  offChainCancel: null,
  balance: 1n,
  approved: true,
  burn: null,
};
const at = (time: number, tx: string | null = `0x${time}`) => ({ at: time, tx });
const fillOf = (time: number, quantity = 1n) => ({ ...at(time), quantity });

const derive = (evidence: Partial<OrderEvidence>, terms: Partial<OrderTerms> = {}) =>
  deriveOrderStatus({ ...TERMS, ...terms }, { ...NONE, ...evidence }, NOW);
const summaryOf = (evidence: Partial<OrderEvidence>, terms: Partial<OrderTerms> = {}) => {
  const { status, dormant, tx } = derive(evidence, terms);
  return [status, dormant, tx].filter((part) => part !== null).join(' ');
};

test('an order whose offerer holds the token and has approved the operator is active', () => {
  assert.equal(summaryOf({}), 'active');
  assert.deepEqual(derive({}), { status: 'active', dormant: null, filledQuantity: 0n, endedAt: null, tx: null });
});

test('an active order without the token or the approval is dormant, if its collection is followed', () => {
  assert.equal(summaryOf({ balance: 0n }), 'active no-balance');
  assert.equal(summaryOf({ approved: false }), 'active not-approved');
  assert.equal(summaryOf({ balance: 0n, approved: false }), 'active no-balance');
  assert.equal(summaryOf({ balance: null, approved: null }), 'active');
});

test('an order of several units is dormant unless the offerer holds enough units for a fill', () => {
  assert.equal(summaryOf({ balance: 4n }, { quantity: 5n }), 'active no-balance');
  assert.equal(summaryOf({ balance: 5n }, { quantity: 5n }), 'active');
  assert.equal(summaryOf({ balance: 1n }, { quantity: 5n, partial: true }), 'active');
  assert.equal(summaryOf({ balance: 0n }, { quantity: 5n, partial: true }), 'active no-balance');
});

test('a fill of all units ends the order, and the order then names the transaction of the last fill', () => {
  assert.equal(summaryOf({ fills: [fillOf(5)], balance: 0n }), 'filled 0x5');
  const parts = derive({ fills: [fillOf(5, 2n), fillOf(6, 1n)] }, { quantity: 5n, partial: true });
  assert.deepEqual([parts.status, parts.filledQuantity], ['active', 3n]);
  assert.equal(summaryOf({ fills: [fillOf(5, 2n), fillOf(6, 3n)] }, { quantity: 5n, partial: true }), 'filled 0x6');
});

test('the earliest of a cancel, a raised counter and an off-chain cancel ends the order', () => {
  assert.equal(summaryOf({ cancel: at(7) }), 'cancelled 0x7');
  assert.equal(summaryOf({ counterRaise: at(7) }), 'cancelled 0x7');
  assert.equal(summaryOf({ offChainCancel: at(7, null) }), 'cancelled');
  assert.equal(summaryOf({ cancel: at(9), counterRaise: at(8), offChainCancel: at(10, null) }), 'cancelled 0x8');
  assert.equal(derive({ cancel: at(9), counterRaise: at(8) }).endedAt, 8);
});

test('an order expires exactly at its expiry time', () => {
  assert.equal(summaryOf({}, { expiresAt: NOW + 1 }), 'active');
  assert.equal(summaryOf({}, { expiresAt: NOW }), 'expired');
  assert.equal(summaryOf({ cancel: at(49) }, { expiresAt: 50 }), 'cancelled 0x49');
  assert.equal(summaryOf({ cancel: at(50) }, { expiresAt: 50 }), 'expired');
  assert.equal(derive({ counterRaise: at(60) }, { expiresAt: 50 }).endedAt, 50);
});

test('a complete fill on the chain prevails over an off-chain cancel', () => {
  assert.equal(summaryOf({ offChainCancel: at(3, null), fills: [fillOf(5)] }), 'filled 0x5');
});

test('an order is active again when the events that ended it are removed', () => {
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
