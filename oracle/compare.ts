// Compares the listings that a service serves for a collection with the verdicts of the chain. The rules follow the specification of `/v1`.
// Each asset has one row, and at most 250 assets are listed. Own orders replace mirrored listings. The cheapest row comes first.

import type { ServedListing } from './served.ts';
import { WINDOW_SIZE } from './served.ts';
import type { SignedOrder, Verdict } from './signed-order.ts';

export const FINDING_KINDS = ['phantom', 'hidden', 'wrong', 'unknown', 'owner'] as const;

/**
 * - `phantom`: a served listing or bid that cannot be filled.
 * - `hidden`: an asset that is not served, although it has a fillable order, or a bid that is not served, although it can be accepted.
 * - `wrong`: a served listing with the wrong order, price or position, a served bid with a wrong term, or a wrong top bid.
 * - `unknown`: a served listing or bid that matches no known order.
 * - `owner`: a token that is served with the wrong owner.
 */
export type Finding = { kind: (typeof FINDING_KINDS)[number]; collectionId: string; asset: string; detail: string };

export type Compared = {
  findings: Finding[];
  /** The number of served rows that were compared with the chain: listings, and bids. */
  listings: number;
  bids: number;
  /** The number of orders that the chain cannot fill and that are not served. */
  rightlyAbsent: number;
  /** The number of orders about which too little is known, or that expire at about the time of the read. */
  undecided: number;
};

export type ComparedCollection = {
  collectionId: string;
  rows: readonly ServedListing[];
  /** All orders of the collection that the service may serve. */
  orders: readonly SignedOrder[];
  verdicts: ReadonlyMap<string, Verdict>;
  keyOf: (row: ServedListing) => string;
  /** When the read of the rows began, in milliseconds. An order that expires between `readFrom` and `readTo` may be served or not. */
  readFrom: number;
  /** When the read of the rows ended, in milliseconds. */
  readTo: number;
};

/** Whether the service may serve an order is undecided if the order expires within this time before or after the read, because clocks differ. */
const EXPIRY_MARGIN_MS = 1_000;

export function compareListings(compared: ComparedCollection): Compared {
  const { collectionId, rows, orders, keyOf } = compared;
  const byKey = new Map(orders.map((order) => [order.key, order]));
  const result: Compared = { findings: [], listings: rows.length, bids: 0, rightlyAbsent: 0, undecided: 0 };
  const report = (kind: Finding['kind'], asset: string, detail: string) =>
    result.findings.push({ kind, collectionId, asset, detail });
  const servedOf = new Map<string, SignedOrder | null>();
  for (const [index, row] of rows.entries()) {
    const order = byKey.get(keyOf(row)) ?? null;
    if (servedOf.has(row.tokenId)) report('wrong', row.tokenId, 'is served twice');
    servedOf.set(row.tokenId, order);
    const before = rows[index - 1];
    if (before && before.price > row.price) report('wrong', row.tokenId, 'is served after a higher price');
    if (!order) report('unknown', row.tokenId, describeRow(row));
    else if (order.price !== null && order.price !== row.price)
      report('wrong', row.tokenId, `costs ${order.price}, served as ${row.price}`);
    else if (stateOf(compared, order) === 'unfillable')
      report('phantom', row.tokenId, `${describeRow(row)}: ${reasonOf(compared, order)}`);
  }
  const lastPrice = rows.length >= WINDOW_SIZE ? (rows.at(-1)?.price ?? null) : null;
  for (const [asset, ofAsset] of Map.groupBy(orders, ({ tokenId }) => tokenId.toString())) {
    const states = Map.groupBy(ofAsset, (order) => stateOf(compared, order));
    const served = servedOf.get(asset);
    result.rightlyAbsent += (states.get('unfillable') ?? []).filter((order) => order !== served).length;
    result.undecided += (states.get('undecided') ?? []).length;
    if (states.has('undecided')) continue;
    const expected = cheapest(states.get('fillable') ?? []);
    if (!expected) continue;
    if (served === undefined) {
      const isBeyond = lastPrice !== null && (expected.price ?? 0n) >= lastPrice;
      if (!isBeyond) report('hidden', asset, `${describeOrder(expected)}: ${reasonOf(compared, expected)}`);
    } else if (served && stateOf(compared, served) === 'fillable' && !isEqual(served, expected))
      report('wrong', asset, `${describeOrder(expected)} should be served, not ${describeOrder(served)}`);
  }
  return result;
}

/** The result of both comparisons. */
export function addUp(a: Compared, b: Compared): Compared {
  return {
    findings: [...a.findings, ...b.findings],
    listings: a.listings + b.listings,
    bids: a.bids + b.bids,
    rightlyAbsent: a.rightlyAbsent + b.rightlyAbsent,
    undecided: a.undecided + b.undecided,
  };
}

function stateOf(
  { verdicts, readFrom, readTo }: ComparedCollection,
  { key, expiresAt }: SignedOrder,
): 'fillable' | 'unfillable' | 'undecided' {
  const fillable = verdicts.get(key)?.fillable ?? null;
  if (fillable === false || isExpiredAt(expiresAt, readFrom)) return 'unfillable';
  return fillable === null || isExpiring(expiresAt, readTo) ? 'undecided' : 'fillable';
}

/** Whether an order had certainly expired when a read began. */
export function isExpiredAt(expiresAt: number | null, readFrom: number): boolean {
  return expiresAt !== null && expiresAt <= readFrom - EXPIRY_MARGIN_MS;
}

/** Whether an order may have expired when a read ended. */
export function isExpiring(expiresAt: number | null, readTo: number): boolean {
  return expiresAt !== null && expiresAt <= readTo + EXPIRY_MARGIN_MS;
}

/** The order that should be served for an asset: the cheapest own order, or the cheapest mirrored order if there is no own order. */
function cheapest(orders: readonly SignedOrder[]): SignedOrder | null {
  const own = orders.filter(({ book }) => book === 'own');
  let found: SignedOrder | null = null;
  for (const order of own.length > 0 ? own : orders)
    if (!found || (order.price ?? 0n) < (found.price ?? 0n)) found = order;
  return found;
}

/**
 * Whether the service may serve either of the two orders of an asset: both are the same order, or both have the same price and are in the
 * same book (own orders or mirrored orders).
 */
function isEqual(a: SignedOrder, b: SignedOrder): boolean {
  return a.key === b.key || (a.book === b.book && a.price === b.price);
}

function reasonOf({ verdicts, readFrom }: ComparedCollection, { key, expiresAt }: SignedOrder): string {
  if (expiresAt !== null && expiresAt <= readFrom) return 'it has expired';
  return verdicts.get(key)?.reason ?? 'no verdict';
}

function describeRow({ source, orderId, seller, price }: ServedListing): string {
  return `${source ?? 'own'} listing ${orderId} of ${seller} for ${price}`;
}

function describeOrder({ book, hash, seller, price }: SignedOrder): string {
  return `${book} order ${hash} of ${seller} for ${price}`;
}
