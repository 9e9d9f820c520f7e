// Compares the listings that a service serves of a collection with the verdicts of the chain. The rules are those of the specification
// of `/v1`: one row for each asset, an own order before mirrored ones, the cheapest first, at most 250 assets.

import type { ServedListing } from './served.ts';
import { WINDOW_SIZE } from './served.ts';
import type { SignedOrder, Verdict } from './signed-order.ts';

export const FINDING_KINDS = ['phantom', 'hidden', 'wrong', 'unknown', 'owner'] as const;

/**
 * `phantom`: a served listing that cannot be filled. `hidden`: an asset with a fillable order that is not served. `wrong`: another
 * order, price or place than it should be. `unknown`: a served listing that is none of the known orders. `owner`: another owner.
 */
export type Finding = { kind: (typeof FINDING_KINDS)[number]; collectionId: string; asset: string; detail: string };

export type Compared = {
  findings: Finding[];
  /** The served rows that were compared with the chain. */
  listings: number;
  /** The orders that the chain cannot fill and that are not served. */
  rightlyAbsent: number;
  /** Orders about which nothing was known. */
  undecided: number;
};

export type ComparedCollection = {
  collectionId: string;
  rows: readonly ServedListing[];
  /** All orders of the collection that the service may serve. */
  orders: readonly SignedOrder[];
  verdicts: ReadonlyMap<string, Verdict>;
  keyOf: (row: ServedListing) => string;
  /** When the rows were read, in milliseconds. An order that expires in between may be served or not. */
  readFrom: number;
  readTo: number;
};

/** A response may be kept for this long after an order in it expired. */
const EXPIRY_MARGIN_MS = 1_000;

export function compareListings(compared: ComparedCollection): Compared {
  const { collectionId, rows, orders, keyOf } = compared;
  const byKey = new Map(orders.map((order) => [order.key, order]));
  const result: Compared = { findings: [], listings: rows.length, rightlyAbsent: 0, undecided: 0 };
  const find = (kind: Finding['kind'], asset: string, detail: string) =>
    result.findings.push({ kind, collectionId, asset, detail });
  const servedOf = new Map<string, SignedOrder | null>();
  for (const [index, row] of rows.entries()) {
    const order = byKey.get(keyOf(row)) ?? null;
    if (servedOf.has(row.tokenId)) find('wrong', row.tokenId, 'is served twice');
    servedOf.set(row.tokenId, order);
    const before = rows[index - 1];
    if (before && before.price > row.price) find('wrong', row.tokenId, 'is served after a higher price');
    if (!order) find('unknown', row.tokenId, describeRow(row));
    else if (order.price !== null && order.price !== row.price)
      find('wrong', row.tokenId, `costs ${order.price}, served as ${row.price}`);
    else if (stateOf(compared, order) === 'unfillable')
      find('phantom', row.tokenId, `${describeRow(row)}: ${reasonOf(compared, order)}`);
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
      if (!isBeyond) find('hidden', asset, `${describeOrder(expected)}: ${reasonOf(compared, expected)}`);
    } else if (served && stateOf(compared, served) === 'fillable' && !isEqual(served, expected))
      find('wrong', asset, `${describeOrder(expected)} should be served, not ${describeOrder(served)}`);
  }
  return result;
}

function stateOf(
  { verdicts, readFrom, readTo }: ComparedCollection,
  { key, expiresAt }: SignedOrder,
): 'fillable' | 'unfillable' | 'undecided' {
  const fillable = verdicts.get(key)?.fillable ?? null;
  if (fillable === false) return 'unfillable';
  if (expiresAt !== null && expiresAt <= readFrom - EXPIRY_MARGIN_MS) return 'unfillable';
  if (expiresAt !== null && expiresAt <= readTo + EXPIRY_MARGIN_MS) return 'undecided';
  return fillable === null ? 'undecided' : 'fillable';
}

/** The order that should be served for an asset: the cheapest own one, or else the cheapest mirrored one. */
function cheapest(orders: readonly SignedOrder[]): SignedOrder | null {
  const own = orders.filter(({ book }) => book === 'own');
  let found: SignedOrder | null = null;
  for (const order of own.length > 0 ? own : orders)
    if (!found || (order.price ?? 0n) < (found.price ?? 0n)) found = order;
  return found;
}

/** Orders of one book and one price may be served in either order. */
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
