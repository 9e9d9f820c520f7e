// Tests which changes in the indexer follow from a batch of chain log entries. An earlier fill has no effect
// if a later reorganisation in the batch has removed its block.

import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { LoggedEvent, EventPosition } from '../../../src/market/chain-log/chain-event.ts';
import { toEvidenceChanges } from '../../../src/market/chain-log/evidence-changes.ts';
import type { LogEntry } from '../../../src/market/chain-log/queries/chain-events.ts';
import { cutAtTransaction, toLogEffects } from '../../../src/sources/chains/log-effects.ts';
import type { Address } from '../../../src/platform/core/address.ts';
import { toTokenId } from '../../../src/platform/core/address.ts';
import { ZERO_ADDRESS } from '../../../src/platform/core/evm.ts';

const CONTRACT = `0x${'c0'.repeat(20)}` as Address;
const COLLECTION_IDS = new Map([[CONTRACT, 'ethereum_c0']]);

const position = (blockNumber: number, tx = `0x${blockNumber}`): EventPosition => ({
  blockNumber,
  blockTime: blockNumber * 1_000,
  tx: tx as EventPosition['tx'],
  logIndex: 0,
  part: 0,
});

const fill = (blockNumber: number, tx?: string): LoggedEvent => ({
  ...position(blockNumber, tx),
  kind: 'order-fulfilled',
  protocol: ZERO_ADDRESS,
  orderHash: '0x01',
  offerer: ZERO_ADDRESS,
  zone: ZERO_ADDRESS,
  recipient: ZERO_ADDRESS,
  offer: [],
  consideration: [],
});

const transfer = (blockNumber: number, tokenId: bigint, contract = CONTRACT): LoggedEvent => ({
  ...position(blockNumber),
  kind: 'transfer',
  contract,
  tokenId: toTokenId(tokenId),
  from: ZERO_ADDRESS,
  to: ZERO_ADDRESS,
  quantity: 1n,
});

/** Makes a batch. A number stands for a reorganisation whose common ancestor is the block of this number. */
const entriesOf = (...events: (LoggedEvent | number)[]): LogEntry[] =>
  events.map((event, seq) =>
    typeof event === 'number'
      ? {
          seq,
          ancestor: event,
          affected: toEvidenceChanges('ethereum', []),
          since: event * 1_000,
          collectionIds: [`of ${event}`],
          corrected: null,
        }
      : { seq, event },
  );

const effectsOf = (...events: (LoggedEvent | number)[]) => toLogEffects(entriesOf(...events), COLLECTION_IDS);
const blocksOf = (...events: (LoggedEvent | number)[]) => effectsOf(...events).fills.map((one) => one.blockNumber);

describe('a reorganisation within a batch', () => {
  test('a reorganisation keeps earlier entries up to the common ancestor and voids the fills of later blocks', () => {
    assert.deepEqual(blocksOf(fill(9), fill(10), fill(11), 10), [9, 10]);
  });

  test('a reorganisation does not void fills that come later in the log', () => {
    assert.deepEqual(blocksOf(fill(11), 10, fill(11), fill(12)), [11, 12]);
  });

  test('several reorganisations rewind to the lowest of their ancestors', () => {
    assert.equal(effectsOf(fill(9), 10, 7, 12).rewindTo, 7);
    assert.equal(effectsOf(fill(9)).rewindTo, null);
  });

  test('after several reorganisations, `orphaned` has the collections of all of them and their earliest time', () => {
    const orphaned = { since: 7_000, collectionIds: new Set(['of 10', 'of 7', 'of 12']) };
    assert.deepEqual(effectsOf(fill(9), 10, 7, 12).orphaned, orphaned);
    assert.equal(effectsOf(fill(9)).orphaned, null);
  });
});

test('a token that moved several times has the block of its last transfer', () => {
  const other = `0x${'dd'.repeat(20)}` as Address;
  const { moved } = effectsOf(transfer(5, 1n), transfer(6, 1n), transfer(6, 2n), transfer(7, 1n, other));
  assert.deepEqual(
    [...moved].map(([id, tokens]) => [id, [...tokens]]),
    [
      [
        'ethereum_c0',
        [
          ['1', 6],
          ['2', 6],
        ],
      ],
    ],
  );
});

test('a reorganisation moves the tokens of its orphaned events, because an earlier batch may have read their holders of then', () => {
  const collectionId = `ethereum_${CONTRACT}`;
  const orphaned = [transfer(11, 1n), transfer(12, 2n), transfer(11, 3n)];
  const reorganisation: LogEntry = {
    seq: 2,
    ancestor: 10,
    affected: toEvidenceChanges('ethereum', orphaned),
    since: 0,
    collectionIds: [collectionId],
    corrected: null,
  };
  const entries = [{ seq: 1, event: transfer(9, 2n) }, reorganisation, { seq: 3, event: transfer(11, 3n) }];
  const { moved } = toLogEffects(entries, new Map([[CONTRACT, collectionId]]));
  assert.deepEqual(
    moved.get(collectionId),
    new Map([
      ['1', 10],
      ['2', 9],
      ['3', 11],
    ]),
  );
});

test('each order of an `orders-matched` event is identified by the transaction and the order hash', () => {
  const matched: LoggedEvent = {
    ...position(5, '0xaa'),
    kind: 'orders-matched',
    protocol: ZERO_ADDRESS,
    orderHashes: ['0x01', '0x02'],
  };
  assert.deepEqual([...effectsOf(matched).matched], ['0xaa 0x01', '0xaa 0x02']);
});

describe('a full batch', () => {
  const cutSize = (batchSize: number, ...events: (LoggedEvent | number)[]) =>
    cutAtTransaction(entriesOf(...events), batchSize).length;

  test('the last transaction of a full batch, which may be incomplete, is left to the next batch', () => {
    assert.equal(cutSize(3, fill(1, '0xa'), fill(2, '0xb'), fill(2, '0xb')), 1);
  });

  test('a batch is not cut when it is not full, or when it ends with a reorganisation', () => {
    assert.equal(cutSize(4, fill(1, '0xa'), fill(2, '0xb'), fill(2, '0xb')), 3);
    assert.equal(cutSize(2, fill(2, '0xb'), 1), 2);
  });

  test('a full batch with only one transaction is not cut, so that every batch makes progress', () => {
    assert.equal(cutSize(2, fill(2, '0xb'), fill(2, '0xb')), 2);
  });
});
