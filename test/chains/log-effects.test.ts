// What a batch of log entries amounts to: which fills are left after reorganisations, and how far the indexer goes back.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { ChainEvent } from '../../src/chain-log/chain-event.ts';
import type { LogEntry } from '../../src/chain-log/queries/chain-events.ts';
import { cutAtTransaction, toLogEffects } from '../../src/chains/log-effects.ts';
import type { Address } from '../../src/core/address.ts';
import type { Hex } from '../../src/core/evm.ts';
import { ZERO_ADDRESS } from '../../src/core/evm.ts';

const ANCESTOR = 10;
const PROTOCOL = `0x${'1'.repeat(40)}` as Address;

let seq = 0;
const toEntry = (event: ChainEvent): LogEntry => ({ seq: (seq += 1), event });
const reorganisation = (ancestor: number): LogEntry => ({ seq: (seq += 1), ancestor });

function fill(blockNumber: number, tx: Hex = `0x${blockNumber.toString(16)}`): LogEntry {
  return toEntry({
    kind: 'order-fulfilled',
    blockNumber,
    blockTime: blockNumber * 1_000,
    tx,
    logIndex: 0,
    part: 0,
    protocol: PROTOCOL,
    orderHash: `0x${'2'.repeat(64)}`,
    offerer: ZERO_ADDRESS,
    zone: ZERO_ADDRESS,
    recipient: ZERO_ADDRESS,
    offer: [],
    consideration: [],
  });
}

function effectsOf(entries: readonly LogEntry[]) {
  const { rewindTo, fills } = toLogEffects(entries, new Map());
  return { rewindTo, blocks: fills.map(({ blockNumber }) => blockNumber) };
}

test('a reorganisation keeps the fills up to and in the block of its common ancestor, and drops those of later blocks', () => {
  const entries = [fill(ANCESTOR - 1), fill(ANCESTOR), fill(ANCESTOR + 1), reorganisation(ANCESTOR)];
  assert.deepEqual(effectsOf(entries), { rewindTo: ANCESTOR, blocks: [ANCESTOR - 1, ANCESTOR] });
});

test('fills that arrive after a reorganisation are kept, in whichever block', () => {
  const entries = [fill(ANCESTOR + 1), reorganisation(ANCESTOR), fill(ANCESTOR + 1), fill(ANCESTOR + 2)];
  assert.deepEqual(effectsOf(entries), { rewindTo: ANCESTOR, blocks: [ANCESTOR + 1, ANCESTOR + 2] });
});

test('of several reorganisations the indexer goes back to the lowest common ancestor', () => {
  const entries = [fill(3), reorganisation(5), fill(6), reorganisation(2), fill(4), reorganisation(4)];
  assert.deepEqual(effectsOf(entries), { rewindTo: 2, blocks: [4] });
});

test('a batch without a reorganisation goes back nowhere', () => {
  assert.deepEqual(effectsOf([fill(1), fill(2)]), { rewindTo: null, blocks: [1, 2] });
});

test('a full batch ends with its last complete transaction, unless it is one transaction alone', () => {
  const [one, two, three] = [fill(1, '0xaa'), fill(2, '0xbb'), fill(2, '0xbb')];
  assert.deepEqual(cutAtTransaction([one, two, three], 3), [one]);
  assert.deepEqual(cutAtTransaction([one, two, three], 4), [one, two, three]);
  assert.deepEqual(cutAtTransaction([two, three], 2), [two, three]);
});
