// The comparison of served listings with the orders that the chain can fill. It decides which differences the oracle reports, and
// which it accepts.

import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { ComparedCollection } from '../../oracle/compare.ts';
import { compareListings } from '../../oracle/compare.ts';
import type { ServedListing } from '../../oracle/served.ts';
import { WINDOW_SIZE } from '../../oracle/served.ts';
import type { SignedOrder } from '../../oracle/signed-order.ts';

const NOW = 1_800_000_000_000;
const SELLER = `0x${'a1'.repeat(20)}`;

type Part = Partial<Pick<SignedOrder, 'book' | 'price' | 'expiresAt'>> & { fillable?: boolean | null };

/** An order of token `tokenId`. Its key is `book tokenId price`. */
function orderOf(tokenId: number, part: Part = {}): [SignedOrder, boolean | null] {
  const { book = 'own', price = 100n, expiresAt = NOW + 60_000, fillable = true } = part;
  const order: SignedOrder = {
    key: `${book} ${tokenId} ${price}`,
    book,
    collectionId: 'c',
    contract: '0x01',
    tokenId: BigInt(tokenId),
    standard: 'erc721',
    seller: SELLER,
    price,
    expiresAt,
    protocol: '0x02',
    hash: '0x03',
    units: 1n,
    terms: null,
    counter: 0n,
    operator: '0x02',
  };
  return [order, fillable];
}

function rowOf(tokenId: number, { book = 'own', price = 100n }: Part = {}): ServedListing {
  const source = book === 'own' ? null : 'opensea';
  return {
    orderId: String(tokenId),
    source,
    tokenId: String(tokenId),
    seller: SELLER,
    price: price ?? 0n,
    expiresAt: null,
  };
}

function compare(orders: readonly [SignedOrder, boolean | null][], rows: readonly ServedListing[]) {
  const compared: ComparedCollection = {
    collectionId: 'c',
    rows,
    orders: orders.map(([order]) => order),
    verdicts: new Map(orders.map(([{ key }, fillable]) => [key, { fillable, reason: 'verdict of the chain' }])),
    keyOf: ({ source, tokenId, price }) => `${source === null ? 'own' : 'mirror'} ${tokenId} ${price}`,
    readFrom: NOW,
    readTo: NOW + 10,
  };
  return compareListings(compared);
}

const findingsOf = (...input: Parameters<typeof compare>) =>
  compare(...input).findings.map(({ kind, asset }) => `${kind} ${asset}`);

describe('findings of the oracle', () => {
  test('nothing is reported when exactly the assets with a fillable order are served, once each', () => {
    const orders = [orderOf(1), orderOf(2, { book: 'mirror', price: 200n }), orderOf(3, { fillable: false })];
    const compared = compare(orders, [rowOf(1), rowOf(2, { book: 'mirror', price: 200n })]);
    assert.deepEqual([compared.findings, compared.listings, compared.rightlyAbsent], [[], 2, 1]);
  });

  test('a served listing that cannot be filled is reported as phantom', () => {
    assert.deepEqual(findingsOf([orderOf(1, { fillable: false })], [rowOf(1)]), ['phantom 1']);
  });

  test('a served listing that has expired is reported as phantom', () => {
    assert.deepEqual(findingsOf([orderOf(1, { expiresAt: NOW - 5_000 })], [rowOf(1)]), ['phantom 1']);
  });

  test('an asset that has a fillable order but is not served is reported as hidden', () => {
    assert.deepEqual(findingsOf([orderOf(1), orderOf(2, { book: 'mirror' })], [rowOf(2, { book: 'mirror' })]), [
      'hidden 1',
    ]);
  });

  test('a served listing that is none of the known orders is reported as unknown', () => {
    assert.deepEqual(findingsOf([orderOf(1)], [rowOf(1), rowOf(2)]), ['unknown 2']);
  });

  test('a mirrored listing is reported as wrong when the asset has an own order, even a more expensive one', () => {
    const orders = [orderOf(1, { price: 200n }), orderOf(1, { book: 'mirror' })];
    assert.deepEqual(findingsOf(orders, [rowOf(1, { book: 'mirror' })]), ['wrong 1']);
  });

  test('a mirrored listing that is not the cheapest of its asset is reported as wrong', () => {
    const orders = [orderOf(1, { book: 'mirror', price: 200n }), orderOf(1, { book: 'mirror' })];
    assert.deepEqual(findingsOf(orders, [rowOf(1, { book: 'mirror', price: 200n })]), ['wrong 1']);
  });

  test('an asset that is served twice, or a listing that is out of order, is reported as wrong', () => {
    const orders = [orderOf(1, { price: 300n }), orderOf(2, { price: 200n })];
    assert.deepEqual(findingsOf(orders, [rowOf(1, { price: 300n }), rowOf(2, { price: 200n })]), ['wrong 2']);
    const row = rowOf(2, { price: 200n });
    assert.deepEqual(findingsOf([orderOf(2, { price: 200n })], [row, row]), ['wrong 2']);
  });
});

describe('differences that the oracle accepts', () => {
  test('an order that expires while the listings are read may be served or not', () => {
    const order = orderOf(1, { expiresAt: NOW + 5 });
    assert.deepEqual(findingsOf([order], [rowOf(1)]), []);
    assert.deepEqual(findingsOf([order], []), []);
    assert.equal(compare([order], []).undecided, 1);
  });

  test('an order for which the chain gives no verdict may be served or not', () => {
    const order = orderOf(1, { fillable: null });
    assert.deepEqual([findingsOf([order], [rowOf(1)]), findingsOf([order], [])], [[], []]);
  });

  test('an asset may be missing only if its price is higher than all prices of a full window', () => {
    const orders = Array.from({ length: WINDOW_SIZE }, (_, index) => orderOf(index));
    const rows = orders.map((_, index) => rowOf(index));
    assert.deepEqual(findingsOf([...orders, orderOf(WINDOW_SIZE, { price: 101n })], rows), []);
    assert.deepEqual(findingsOf([...orders, orderOf(WINDOW_SIZE, { price: 99n })], rows), [`hidden ${WINDOW_SIZE}`]);
  });
});
