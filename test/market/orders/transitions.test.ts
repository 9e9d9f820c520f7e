// Tests the table of transitions in docs/orders.md. The status is derived from the evidence before and after each change. Every row
// of the table has a case here, and every case has a row.

import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import type { OrderEvidence, OrderTerms } from '../../../src/market/orders/status.ts';
import { deriveOrderStatus } from '../../../src/market/orders/status.ts';

const END = 1_000;
const NOW = 500;
const TERMS: OrderTerms = { counter: 0n, quantity: 5n, partial: true, perUnit: 1n, expiresAt: END };
/** The evidence of an order that can be filled and has no fills. */
const FRESH: OrderEvidence = {
  fills: [],
  cancel: null,
  counterRaise: null,
  offChainCancel: null,
  balance: 5n,
  approved: true,
  burn: null,
};

type Change = Partial<OrderEvidence> & { now?: number; partial?: boolean };
type Row = { state: string; happens: string; becomes: string; byBlock: string };
/**
 * The evidence before the change, and variants of the evidence after the change. The row of the table must be true for each
 * variant.
 */
type Case = { before: Change; after: readonly Change[] };

const at = (time: number) => ({ at: time, tx: `0x${time}` });
const offChain = (time: number) => ({ at: time, tx: null });
const fill = (time: number, quantity: bigint) => ({ ...at(time), quantity });
const filled: Change = { fills: [fill(100, 2n), fill(200, 3n)], balance: 0n };
const noBalance = { balance: 0n };
const expired = { now: END };

const CASES: Record<string, Case> = {
  'active: a part of its units is filled': { before: {}, after: [{ fills: [fill(100, 2n)], balance: 3n }] },
  'active: the last of its units is filled': {
    before: { fills: [fill(100, 2n)], balance: 3n },
    after: [filled, { fills: [fill(100, 2n), fill(200, 3n)], balance: 9n }],
  },
  'active: its offerer cancels it on the chain': { before: {}, after: [{ cancel: at(300) }] },
  'active: its offerer raises the counter above the counter in the order': {
    before: {},
    after: [{ counterRaise: at(300) }],
  },
  'active: its offerer or the operator of the service cancels it off-chain': {
    before: {},
    after: [{ offChainCancel: offChain(300) }],
  },
  'active: it expires': { before: { now: END - 1 }, after: [expired, { now: END + 1 }] },
  'active: the offerer holds none of the token, or fewer units than one fill needs': {
    before: {},
    after: [noBalance, { balance: 4n, partial: false }],
  },
  'active: the approval to transfer the token is withdrawn': { before: {}, after: [{ approved: false }] },
  'active: of a bid: the balance of the bidder, or what the operator may spend of it, falls below what one fill needs':
    {
      before: {},
      after: [noBalance, { approved: false }],
    },
  'active: of a bid for one ERC-721 token: the token is burned': { before: {}, after: [{ burn: at(300) }] },
  'dormant: the offerer holds enough units again, and the approved operator may transfer them': {
    before: { balance: 0n, approved: false },
    after: [{ balance: 1n, approved: true }, {}],
  },
  'dormant: of a bid: balance and allowance cover one fill again': {
    before: noBalance,
    after: [{ balance: 1n, approved: true }],
  },
  'dormant: one of the two reasons for dormancy no longer applies, but the other still applies': {
    before: { balance: 0n, approved: false },
    after: [{ approved: false }, { balance: 0n, approved: true }],
  },
  'dormant: the collection is no longer followed': { before: noBalance, after: [{ balance: null, approved: null }] },
  'dormant: the token comes back and is sold by this order in one block': { before: noBalance, after: [filled] },
  'dormant: its offerer cancels it on the chain, or raises the counter': {
    before: noBalance,
    after: [
      { ...noBalance, cancel: at(300) },
      { ...noBalance, counterRaise: at(300) },
    ],
  },
  'dormant: it is cancelled off-chain': { before: noBalance, after: [{ ...noBalance, offChainCancel: offChain(300) }] },
  'dormant: it expires': { before: noBalance, after: [{ ...noBalance, ...expired }] },
  'filled: the token comes back to its offerer': { before: filled, after: [{ ...filled, balance: 5n }] },
  'filled: it is cancelled on the chain, or the counter is raised': {
    before: filled,
    after: [
      { ...filled, cancel: at(150) },
      { ...filled, counterRaise: at(300) },
    ],
  },
  'filled: its expiry time comes': { before: filled, after: [{ ...filled, ...expired }] },
  'cancelled: it is cancelled again, or the counter is raised too: the earliest event decides': {
    before: { cancel: at(300) },
    after: [{ cancel: at(300), counterRaise: at(400) }],
  },
  'cancelled: its expiry time comes': { before: { cancel: at(300) }, after: [{ cancel: at(300), ...expired }] },
  'cancelled: after an off-chain cancel, a part of its units is filled on the chain': {
    before: { offChainCancel: offChain(300) },
    after: [{ offChainCancel: offChain(300), fills: [fill(400, 2n)], balance: 3n }],
  },
  'cancelled: after an off-chain cancel, the last of its units is filled on the chain': {
    before: { offChainCancel: offChain(300) },
    after: [{ offChainCancel: offChain(300), fills: [fill(400, 5n)], ...noBalance }],
  },
  'expired: it is cancelled on the chain, or the counter is raised': {
    before: expired,
    after: [
      { ...expired, cancel: at(END) },
      { ...expired, counterRaise: at(END) },
    ],
  },
  'expired: the service reads a block from before the expiry, in which the order was filled': {
    before: expired,
    after: [{ ...expired, fills: [fill(END - 1, 5n)], ...noBalance }],
  },
  'expired: the service reads a block from before the expiry, in which the order was cancelled': {
    before: expired,
    after: [
      { ...expired, cancel: at(END - 1) },
      { ...expired, counterRaise: at(END - 1) },
    ],
  },
  'expired: the token leaves its offerer, or the approval is withdrawn': {
    before: expired,
    after: [
      { ...expired, balance: 0n },
      { ...expired, approved: false },
    ],
  },
};

function derive({ now = NOW, partial = true, ...evidence }: Change) {
  return deriveOrderStatus({ ...TERMS, partial }, { ...FRESH, ...evidence }, now);
}

/** The state in the words of the table. */
function stateOf(change: Change): string {
  const { status, dormant } = derive(change);
  return dormant === null ? status : 'dormant';
}

/** Returns the evidence that comes from the chain, as text to compare. Off-chain cancels and the clock are left out. */
function chainPartOf(change: Change): string {
  const { offChainCancel: _offChainCancel, ...fromChain } = { ...FRESH, ...change, now: undefined, partial: undefined };
  return JSON.stringify(fromChain, (_key, part: unknown) => (typeof part === 'bigint' ? String(part) : part));
}

function readTable(): Row[] {
  const text = readFileSync(new URL('../../../docs/orders.md', import.meta.url), 'utf8');
  const [, rest = ''] = text.split('| state | what happens | becomes | by a block |\n|---|---|---|---|\n');
  const [table = ''] = rest.split('\n\n', 1);
  return [...table.matchAll(/^\| (.+?) \| (.+?) \| (.+?) \| (.+?) \|$/gm)].map(
    ([, state = '', happens = '', becomes = '', byBlock = '']) => ({ state, happens, becomes, byBlock }),
  );
}

test('every row of the table in docs/orders.md is true, and every case has its row', () => {
  const [first, ...rows] = readTable();
  assert.deepEqual([first?.state, first?.becomes, stateOf({})], ['(none)', 'active', 'active']);
  assert.deepEqual(
    rows.map(({ state, happens }) => `${state}: ${happens}`),
    Object.keys(CASES),
  );
  for (const { state, happens, becomes, byBlock } of rows) {
    const name = `${state}: ${happens}`;
    const { before, after } = CASES[name] ?? assert.fail(name);
    assert.equal(stateOf(before), state, `${name}: before`);
    for (const change of after) {
      assert.equal(stateOf(change), becomes, `${name}: after`);
      // A balance of null means that the collection is no longer followed, which is not a change by a block.
      const isOfChain = change.balance !== null && chainPartOf(before) !== chainPartOf(change);
      assert.equal(byBlock, isOfChain ? 'yes' : 'no', `${name}: the column "by a block" is wrong`);
      // If the block is reverted, the evidence is the same as before the block. Only the clock has advanced.
      if (isOfChain)
        assert.equal(
          stateOf({ ...before, ...(change.now && { now: change.now }) }),
          state,
          `${name}: wrong state after the block is reverted`,
        );
    }
  }
});

test('when an order ends for several reasons, its state has the time and transaction of the reason that decides', () => {
  const endingOf = (change: Change) => {
    const { tx, endedAt, filledQuantity } = derive(change);
    return [tx, endedAt, filledQuantity];
  };
  assert.deepEqual(endingOf(filled), ['0x200', 200, 5n], 'the ending is not that of the last fill');
  assert.deepEqual(
    endingOf({ cancel: at(400), counterRaise: at(300) }),
    ['0x300', 300, 0n],
    'the ending is not that of the counter raise, which came before the cancel',
  );
  assert.deepEqual(
    endingOf({ offChainCancel: offChain(300), fills: [fill(400, 2n)] }),
    [null, 300, 2n],
    'the filled units of a cancelled order were not counted',
  );
  assert.deepEqual(endingOf({ ...expired, cancel: at(END) }), [null, END, 0n], 'the ending is not the expiry time');
});
