// Compares the bids that a service serves for a collection, and the top bids that it serves, with the verdicts of the chain. Each bid that can be accepted is served
// once, and the bid whose seller keeps most comes first.

import type { Compared, Finding } from './compare.ts';
import { isExpiredAt, isExpiring } from './compare.ts';
import type { ServedBid, ServedTopBid } from './served.ts';
import type { BidVerdict, SignedBid } from './signed-order.ts';

export type ComparedBids = {
  collectionId: string;
  rows: readonly ServedBid[];
  /** All bids for the collection that the service may serve. */
  bids: readonly SignedBid[];
  verdicts: ReadonlyMap<string, BidVerdict>;
  /** The bids that are served as the best, each with the token that it is for; null for a collection. */
  topBids: readonly { tokenId: bigint | null; top: ServedTopBid | null }[];
  /** Whether a bid can be met with a token. */
  isFor: (bid: SignedBid, tokenId: bigint) => boolean;
  /** When the reads began and ended, in milliseconds. A bid that expires meanwhile may be served or not. */
  readFrom: number;
  readTo: number;
};

export function compareBids(compared: ComparedBids): Compared {
  const { collectionId, rows, bids, verdicts } = compared;
  const result: Compared = { findings: [], listings: 0, bids: rows.length, rightlyAbsent: 0, undecided: 0 };
  const report = (kind: Finding['kind'], key: string, detail: string) =>
    result.findings.push({ kind, collectionId, asset: `bid ${key}`, detail });
  const byKey = new Map(bids.map((bid) => [bid.key, bid]));
  const served = new Set<string>();
  for (const [index, row] of rows.entries()) {
    const bid = byKey.get(row.key);
    if (served.has(row.key)) report('wrong', row.key, 'is served twice');
    served.add(row.key);
    const before = rows[index - 1];
    if (before && before.proceeds < row.proceeds) report('wrong', row.key, 'is served after lower proceeds');
    if (!bid) {
      report('unknown', row.key, `a bid of ${row.bidder} for ${row.price}`);
      continue;
    }
    const verdict = verdicts.get(row.key);
    if (stateOf(compared, bid) === 'unfillable') report('phantom', row.key, `${describe(bid)}: ${verdict?.reason}`);
    const difference = differenceOf(row, bid, verdict?.filled ?? null);
    if (difference !== null) report('wrong', row.key, difference);
  }
  for (const bid of bids) {
    const state = stateOf(compared, bid);
    if (state === 'undecided') result.undecided += 1;
    if (served.has(bid.key)) continue;
    if (state === 'unfillable') result.rightlyAbsent += 1;
    if (state === 'fillable') report('hidden', bid.key, `${describe(bid)}: ${verdicts.get(bid.key)?.reason}`);
  }
  for (const { tokenId, top } of compared.topBids) {
    const wrong = judgeTopBid(compared, tokenId, top);
    if (wrong !== null)
      result.findings.push({
        kind: 'wrong',
        collectionId,
        asset: `top bid of ${tokenId ?? 'any token'}`,
        detail: wrong,
      });
  }
  return result;
}

function differenceOf(row: ServedBid, bid: SignedBid, filled: bigint | null): string | null {
  if (row.price !== bid.price) return `costs ${bid.price}, served as ${row.price}`;
  if (row.proceeds !== bid.proceeds) return `leaves ${bid.proceeds} to the seller, served as ${row.proceeds}`;
  const remaining = filled === null ? row.remaining : bid.units - filled;
  return row.remaining === remaining ? null : `has ${remaining} units left, served as ${row.remaining}`;
}

/** What is wrong about a top bid; null if nothing is. Any bid that may be the best counts, and a bid that is about to expire may be left out. */
function judgeTopBid(compared: ComparedBids, tokenId: bigint | null, top: ServedTopBid | null): string | null {
  const { bids, isFor } = compared;
  const meant = bids.filter((bid) => (tokenId === null ? bid.isForAny : isFor(bid, tokenId)));
  const proceedsOf = (state: ReturnType<typeof stateOf>) =>
    meant.filter((bid) => stateOf(compared, bid) === state).map(({ proceeds }) => proceeds);
  const certain = proceedsOf('fillable').reduce((most, each) => (each > most ? each : most), 0n);
  const accepted = [certain, ...proceedsOf('undecided').filter((each) => each > certain)];
  if (accepted.includes(top?.proceeds ?? 0n)) return null;
  return `the best proceeds are ${certain}, served as ${top === null ? 'none' : `${top.proceeds} of the bid ${top.orderId}`}`;
}

function stateOf(
  { verdicts, readFrom, readTo }: ComparedBids,
  { key, expiresAt }: SignedBid,
): 'fillable' | 'unfillable' | 'undecided' {
  const fillable = verdicts.get(key)?.fillable ?? null;
  if (fillable === false || isExpiredAt(expiresAt, readFrom)) return 'unfillable';
  return fillable === null || isExpiring(expiresAt, readTo) ? 'undecided' : 'fillable';
}

function describe({ bidder, price, units }: SignedBid): string {
  return `bid of ${bidder} for ${units} at ${price}`;
}
