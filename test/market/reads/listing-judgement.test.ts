// Tests how a mirrored listing on a followed chain is judged by its terms and its evidence.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { JudgedListing, ListingState } from '../../../src/market/index/listing-judgement.ts';
import { deriveListingState } from '../../../src/market/index/listing-judgement.ts';
import type { OrderEvidence } from '../../../src/market/orders/status.ts';

const NOW = 1_000;
const KNOWN: OrderEvidence = {
  fills: [],
  cancel: null,
  counterRaise: null,
  offChainCancel: null,
  balance: 1n,
  approved: true,
  burn: null,
};
const LISTING: JudgedListing = {
  key: 'k',
  id: 'opensea_1',
  version: '1',
  collectionId: 'ethereum_c',
  chain: 'ethereum',
  asset: '1',
  seller: '0xa',
  orderHash: '0x1',
  protocolAddress: '0x5',
  counter: 0n,
  operator: '0x6',
  quantity: null,
  partial: null,
  expiresAt: null,
  status: 'active',
  dormant: 'pending',
  endedAt: null,
  tx: null,
  filled: null,
  isRetired: false,
};
const derive = (evidence: Partial<OrderEvidence>, listing: Partial<JudgedListing> = {}) => {
  const { status, dormant, endedAt, tx }: ListingState = deriveListingState(
    { ...LISTING, ...listing },
    { ...KNOWN, ...evidence },
    NOW,
  );
  return [status, dormant, endedAt, tx];
};
const fill = { at: 5, tx: '0xf', quantity: 1n };
const cancel = { at: 6, tx: '0xc' };
const ACTIVE = ['active', null, null, null];

test('an active listing stays listed unless its seller is known to lack the token or the approval', () => {
  assert.deepEqual(derive({}), ACTIVE);
  assert.deepEqual(derive({ approved: null }), ACTIVE);
  assert.deepEqual(derive({ balance: null, approved: null }), ACTIVE);
});

test('a listing is hidden while its seller does not hold the token, or has not approved the operator', () => {
  assert.deepEqual(derive({ balance: 0n, approved: false }), ['active', 'no-balance', null, null]);
  assert.deepEqual(derive({ approved: false }), ['active', 'not-approved', null, null]);
});

test('the seller of several units must hold all of them, unless the order can be filled in parts', () => {
  assert.deepEqual(derive({ balance: 4n }, { quantity: 5n }), ['active', 'no-balance', null, null]);
  assert.deepEqual(derive({ balance: 4n }, { quantity: 5n, partial: true }), ACTIVE);
  assert.deepEqual(derive({ fills: [fill] }, { quantity: 5n, partial: true }), ACTIVE);
  assert.deepEqual(derive({ fills: [{ ...fill, quantity: 5n }] }, { quantity: 5n }), ['filled', null, 5, '0xf']);
});

test('an event of the chain ends a listing whatever its marketplace reported', () => {
  for (const status of ['active', 'expired', 'cancelled', 'filled'] as const) {
    assert.deepEqual(derive({ cancel }, { status }), ['cancelled', null, 6, '0xc']);
    assert.deepEqual(derive({ cancel, fills: [fill] }, { status }), ['filled', null, 5, '0xf']);
    assert.deepEqual(derive({ counterRaise: cancel }, { status }), ['cancelled', null, 6, '0xc']);
  }
});

test('when the event that ended a listing is gone, the listing is judged again', () => {
  const ended = { status: 'filled', endedAt: 5, tx: '0xf', dormant: null } as const;
  assert.deepEqual(derive({}, ended), ACTIVE);
  assert.deepEqual(derive({ balance: 0n }, ended), ['active', 'no-balance', null, null]);
  assert.deepEqual(derive({ balance: 0n }, { ...ended, isRetired: true }), ['cancelled', null, null, null]);
});

test('a listing that its marketplace reported as ended stays ended and is not hidden, even if the chain has no event that ended it', () => {
  for (const status of ['filled', 'cancelled', 'expired'] as const) {
    const reported = { status, dormant: null, tx: '0x9' };
    assert.deepEqual(derive({ balance: 0n }, reported), [status, null, null, '0x9']);
  }
});

test('a cancel at the time of expiry or later does not end a listing', () => {
  assert.deepEqual(derive({ cancel }, { expiresAt: 6 }), ACTIVE);
  assert.deepEqual(derive({ cancel }, { expiresAt: 7 }), ['cancelled', null, 6, '0xc']);
});

test('the units that were bought of a listing of several units are known from the log', () => {
  const several = { ...LISTING, quantity: 3n, partial: true };
  const filledOf = (listing: JudgedListing, quantity: bigint) =>
    deriveListingState(listing, { ...KNOWN, fills: [{ ...fill, quantity }] }, NOW).filled;
  assert.equal(deriveListingState(several, KNOWN, NOW).filled, 0n);
  assert.equal(filledOf(several, 2n), 2n);
  assert.equal(filledOf(LISTING, 1n), null);
});
