// The table of transitions in docs/orders.md, row by row: each is played by evidence before and after, and no row is there
// that is not played, nor the other way round.

import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import type { OrderEvidence, OrderTerms } from '../../src/orders/status.ts';
import { deriveOrderStatus } from '../../src/orders/status.ts';

const END = 1_000;
const NOW = 500;
/** Five units of a token, of which parts may be filled. */
const TERMS: OrderTerms = { counter: 0n, quantity: 5n, partial: true, expiresAt: END };
const FRESH: OrderEvidence = {
  fills: [],
  cancel: null,
  counterRaise: null,
  offChainCancel: null,
  balance: 5n,
  approved: true,
};

type Change = Partial<OrderEvidence> & { now?: number; whole?: boolean };
type Row = { state: string; happens: string; becomes: string; byBlock: string };
/** What the evidence was, and each of the ways in which the row can come about. */
type Scene = { was: Change; ways: readonly Change[] };

const at = (time: number) => ({ at: time, tx: `0x${time}` });
const word = (time: number) => ({ at: time, tx: null });
const fill = (time: number, quantity: bigint) => ({ ...at(time), quantity });
const filled: Change = { fills: [fill(100, 2n), fill(200, 3n)], balance: 0n };
const gone = { balance: 0n };
const over = { now: END };

const SCENES: Record<string, Scene> = {
  'active: a part of its units is filled': { was: {}, ways: [{ fills: [fill(100, 2n)], balance: 3n }] },
  'active: the last of its units is filled': {
    was: { fills: [fill(100, 2n)], balance: 3n },
    ways: [filled, { fills: [fill(100, 2n), fill(200, 3n)], balance: 9n }],
  },
  'active: its offerer cancels it on the chain': { was: {}, ways: [{ cancel: at(300) }] },
  "active: its offerer raises the counter beyond the order's": { was: {}, ways: [{ counterRaise: at(300) }] },
  'active: its offerer or the operator cancels it by word': { was: {}, ways: [{ offChainCancel: word(300) }] },
  'active: its end comes': { was: { now: END - 1 }, ways: [over, { now: END + 1 }] },
  'active: the offerer holds none of the token, or less than one fill takes': {
    was: {},
    ways: [gone, { balance: 4n, whole: true }],
  },
  'active: the operator may move the token no more': { was: {}, ways: [{ approved: false }] },
  'dormant: the offerer holds enough again, and the operator may move it': {
    was: { balance: 0n, approved: false },
    ways: [{ balance: 1n, approved: true }, {}],
  },
  'dormant: one of two reasons is gone': {
    was: { balance: 0n, approved: false },
    ways: [{ approved: false }, { balance: 0n, approved: true }],
  },
  'dormant: the collection is followed no more': { was: gone, ways: [{ balance: null, approved: null }] },
  'dormant: the token comes back and is sold by this order in one block': { was: gone, ways: [filled] },
  'dormant: its offerer cancels it on the chain, or raises the counter': {
    was: gone,
    ways: [
      { ...gone, cancel: at(300) },
      { ...gone, counterRaise: at(300) },
    ],
  },
  'dormant: it is cancelled by word': { was: gone, ways: [{ ...gone, offChainCancel: word(300) }] },
  'dormant: its end comes': { was: gone, ways: [{ ...gone, ...over }] },
  'filled: the token comes back to its offerer': { was: filled, ways: [{ ...filled, balance: 5n }] },
  'filled: it is cancelled on the chain, or the counter is raised': {
    was: filled,
    ways: [
      { ...filled, cancel: at(150) },
      { ...filled, counterRaise: at(300) },
    ],
  },
  'filled: its end comes': { was: filled, ways: [{ ...filled, ...over }] },
  'cancelled: it is cancelled again, or the counter is raised too: the first of them stands': {
    was: { cancel: at(300) },
    ways: [{ cancel: at(300), counterRaise: at(400) }],
  },
  'cancelled: its end comes': { was: { cancel: at(300) }, ways: [{ cancel: at(300), ...over }] },
  'cancelled: after a word, a part of its units is filled on the chain': {
    was: { offChainCancel: word(300) },
    ways: [{ offChainCancel: word(300), fills: [fill(400, 2n)], balance: 3n }],
  },
  'cancelled: after a word, the last of its units is filled on the chain': {
    was: { offChainCancel: word(300) },
    ways: [{ offChainCancel: word(300), fills: [fill(400, 5n)], ...gone }],
  },
  'expired: it is cancelled on the chain, or the counter is raised': {
    was: over,
    ways: [
      { ...over, cancel: at(END) },
      { ...over, counterRaise: at(END) },
    ],
  },
  'expired: a block from before its end is read that filled it': {
    was: over,
    ways: [{ ...over, fills: [fill(END - 1, 5n)], ...gone }],
  },
  'expired: a block from before its end is read that cancelled it': {
    was: over,
    ways: [
      { ...over, cancel: at(END - 1) },
      { ...over, counterRaise: at(END - 1) },
    ],
  },
  'expired: the token leaves its offerer, or the approval is withdrawn': {
    was: over,
    ways: [
      { ...over, balance: 0n },
      { ...over, approved: false },
    ],
  },
};

function derive({ now = NOW, whole = false, ...evidence }: Change) {
  return deriveOrderStatus({ ...TERMS, partial: !whole }, { ...FRESH, ...evidence }, now);
}

/** The state as the table words it. */
function stateOf(change: Change): string {
  const { status, dormant } = derive(change);
  return dormant === null ? status : 'dormant';
}

/** What a chain tells, to be compared: all evidence but words and the clock. */
function chainPartOf(change: Change): string {
  const { offChainCancel: _offChainCancel, ...told } = { ...FRESH, ...change, now: undefined, whole: undefined };
  return JSON.stringify(told, (_key, part: unknown) => (typeof part === 'bigint' ? String(part) : part));
}

function readTable(): Row[] {
  const text = readFileSync(new URL('../../docs/orders.md', import.meta.url), 'utf8');
  const [, rest = ''] = text.split('| state | what happens | becomes | by a block |\n|---|---|---|---|\n');
  const [table = ''] = rest.split('\n\n', 1);
  return [...table.matchAll(/^\| (.+?) \| (.+?) \| (.+?) \| (.+?) \|$/gm)].map(
    ([, state = '', happens = '', becomes = '', byBlock = '']) => ({ state, happens, becomes, byBlock }),
  );
}

test('every row of the table in docs/orders.md is so, and every transition that is played has its row', () => {
  const [first, ...rows] = readTable();
  assert.deepEqual([first?.state, first?.becomes, stateOf({})], ['(none)', 'active', 'active']);
  assert.deepEqual(
    rows.map(({ state, happens }) => `${state}: ${happens}`),
    Object.keys(SCENES),
  );
  for (const { state, happens, becomes, byBlock } of rows) {
    const name = `${state}: ${happens}`;
    const { was, ways } = SCENES[name] ?? assert.fail(name);
    assert.equal(stateOf(was), state, `${name}: before`);
    for (const change of ways) {
      assert.equal(stateOf(change), becomes, `${name}: after`);
      // That a collection is followed no more is told by no block.
      const isOfChain = change.balance !== null && chainPartOf(was) !== chainPartOf(change);
      assert.equal(byBlock, isOfChain ? 'yes' : 'no', `${name}: by a block`);
      // Without its block the evidence is what it was, but for the clock, which goes on.
      if (isOfChain) assert.equal(stateOf({ ...was, ...(change.now && { now: change.now }) }), state, `${name}: back`);
    }
  }
});

test('which of several reasons stands, with its transaction and its time', () => {
  const endingOf = (change: Change) => {
    const { tx, endedAt, filledQuantity } = derive(change);
    return [tx, endedAt, filledQuantity];
  };
  assert.deepEqual(endingOf(filled), ['0x200', 200, 5n], 'the last fill');
  assert.deepEqual(endingOf({ cancel: at(400), counterRaise: at(300) }), ['0x300', 300, 0n], 'the first cancel');
  assert.deepEqual(
    endingOf({ offChainCancel: word(300), fills: [fill(400, 2n)] }),
    [null, 300, 2n],
    'units are counted all the same',
  );
  assert.deepEqual(endingOf({ ...over, cancel: at(END) }), [null, END, 0n], 'the end itself');
});
