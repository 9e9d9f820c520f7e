// The comparison of served bids and top bids with the bids that the chain lets a seller accept.

import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { ComparedBids } from '../../oracle/compare-bids.ts';
import { compareBids } from '../../oracle/compare-bids.ts';
import type { ServedBid } from '../../oracle/served.ts';
import type { SignedBid } from '../../oracle/signed-order.ts';

const NOW = 1_800_000_000_000;
const BIDDER = `0x${'b1'.repeat(20)}`;

type Part = Partial<SignedBid> & { fillable?: boolean | null; filled?: bigint };

/** A bid for any token whose seller keeps `proceeds`. Its key is the proceeds. */
function bidOf(proceeds: bigint, { fillable = true, filled = 0n, ...part }: Part = {}) {
  const bid: SignedBid = {
    key: String(proceeds),
    collectionId: 'c',
    contract: '0x01',
    standard: 'erc721',
    tokenId: null,
    isForAny: part.tokenId === undefined,
    sold: { tokenId: 1n, proof: [] },
    bidder: BIDDER,
    price: proceeds + 10n,
    proceeds,
    expiresAt: NOW + 60_000,
    protocol: '0x02',
    units: 5n,
    terms: { parameters: {}, signature: '0x' },
    ...part,
  };
  return { bid, verdict: { fillable, reason: 'verdict of the chain', filled } };
}

const rowOf = (proceeds: bigint, part: Partial<ServedBid> = {}): ServedBid => ({
  key: String(proceeds),
  bidder: BIDDER,
  price: proceeds + 10n,
  proceeds,
  remaining: 5n,
  ...part,
});

function compare(
  known: readonly ReturnType<typeof bidOf>[],
  rows: readonly ServedBid[],
  topBids: ComparedBids['topBids'] = [],
) {
  return compareBids({
    collectionId: 'c',
    rows,
    bids: known.map(({ bid }) => bid),
    verdicts: new Map(known.map(({ bid, verdict }) => [bid.key, verdict])),
    topBids,
    isFor: ({ tokenId }, wanted) => tokenId === null || tokenId === wanted,
    readFrom: NOW,
    readTo: NOW + 10,
  });
}

const findingsOf = (...input: Parameters<typeof compare>) =>
  compare(...input).findings.map(({ kind, asset }) => `${kind} ${asset}`);

describe('findings about bids', () => {
  test('nothing is reported when exactly the bids that can be accepted are served, the best first', () => {
    const compared = compare([bidOf(30n), bidOf(20n, { fillable: false }), bidOf(10n)], [rowOf(30n), rowOf(10n)]);
    assert.deepEqual([compared.findings, compared.bids, compared.rightlyAbsent], [[], 2, 1]);
  });

  test('a served bid that cannot be accepted or has expired, and a hidden one that can be accepted, are reported', () => {
    assert.deepEqual(findingsOf([bidOf(30n, { fillable: false })], [rowOf(30n)]), ['phantom bid 30']);
    assert.deepEqual(findingsOf([bidOf(30n, { expiresAt: NOW - 5_000 })], [rowOf(30n)]), ['phantom bid 30']);
    assert.deepEqual(findingsOf([bidOf(30n)], []), ['hidden bid 30']);
    assert.deepEqual(findingsOf([], [rowOf(30n)]), ['unknown bid 30']);
  });

  test('a wrong price, proceeds, number of units or position, and a bid that is served twice, are reported', () => {
    const wrong = ['wrong bid 30'];
    assert.deepEqual(findingsOf([bidOf(30n)], [rowOf(30n, { price: 41n })]), wrong);
    assert.deepEqual(findingsOf([bidOf(30n)], [rowOf(30n, { proceeds: 31n })]), wrong);
    assert.deepEqual(findingsOf([bidOf(30n, { filled: 2n })], [rowOf(30n)]), wrong);
    assert.deepEqual(findingsOf([bidOf(30n)], [rowOf(30n), rowOf(30n)]), wrong);
    assert.deepEqual(findingsOf([bidOf(20n), bidOf(30n)], [rowOf(20n), rowOf(30n)]), wrong);
  });

  test('a top bid is the best one that can be accepted for its token, or for any token of the collection', () => {
    const known = [bidOf(30n, { tokenId: 7n }), bidOf(20n), bidOf(40n, { fillable: false })];
    const rows = [rowOf(30n), rowOf(20n)];
    const top = (proceeds: bigint) => ({ orderId: 'x', proceeds });
    const right = [
      { tokenId: null, top: top(20n) },
      { tokenId: 7n, top: top(30n) },
      { tokenId: 8n, top: top(20n) },
    ];
    assert.deepEqual(findingsOf(known, rows, right), []);
    const wrong = [
      { tokenId: null, top: top(30n) },
      { tokenId: 7n, top: top(20n) },
      { tokenId: 8n, top: null },
    ];
    assert.deepEqual(findingsOf(known, rows, wrong), [
      'wrong top bid of any token',
      'wrong top bid of 7',
      'wrong top bid of 8',
    ]);
  });
});

test('a bid that expires while the bids are read may be served or not, also as the top bid', () => {
  const known = [bidOf(30n, { expiresAt: NOW + 5 }), bidOf(20n)];
  for (const [rows, proceeds] of [
    [[rowOf(30n), rowOf(20n)], 30n],
    [[rowOf(20n)], 20n],
  ] as const)
    assert.deepEqual(findingsOf(known, rows, [{ tokenId: null, top: { orderId: 'x', proceeds } }]), []);
  assert.equal(compare(known, [rowOf(20n)]).undecided, 1);
});
