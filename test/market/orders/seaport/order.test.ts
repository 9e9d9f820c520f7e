// Tests how a Seaport order is hashed, and how it is parsed from JSON.

import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import fc from 'fast-check';
import type { Address } from '../../../../src/platform/core/address.ts';
import { parseJsonText } from '../../../../src/platform/core/json-text.ts';
import type { SeaportOrder } from '../../../../src/market/orders/seaport/order.ts';
import { hashOrder, parseSeaportOrder } from '../../../../src/market/orders/seaport/order.ts';
import { hashAsk, toAsk, toParameters } from '../../../support/chain/signed-orders.ts';

const TOKEN = '0x00000000000000000000000000000000000c0de5';
const ASK = toAsk({
  offerer: `0x${'a1'.repeat(20)}` as Address,
  contract: TOKEN,
  tokenId: 7n,
  price: 5n,
  start: 10,
  end: 20,
});

const hexOf = (bytes: number) =>
  fc.uint8Array({ minLength: bytes, maxLength: bytes }).map((b) => `0x${Buffer.from(b).toString('hex')}`);
const address = hexOf(20) as fc.Arbitrary<Address>;
const uint = fc.bigInt({ min: 0n, max: 2n ** 256n - 1n });
const item = {
  itemType: fc.integer({ min: 0, max: 5 }),
  token: address,
  identifierOrCriteria: uint,
  startAmount: uint,
  endAmount: uint,
};
const orders = fc.record(
  {
    offerer: address,
    zone: address,
    offer: fc.array(fc.record(item, { noNullPrototype: true }), { maxLength: 4 }),
    consideration: fc.array(fc.record({ ...item, recipient: address }, { noNullPrototype: true }), { maxLength: 4 }),
    orderType: fc.integer({ min: 0, max: 4 }),
    startTime: uint,
    endTime: uint,
    zoneHash: hexOf(32),
    salt: uint,
    conduitKey: hexOf(32),
    counter: uint,
  },
  { noNullPrototype: true },
) as unknown as fc.Arbitrary<SeaportOrder>;

function reasonOf(value: unknown): string {
  const parsed = parseSeaportOrder(value);
  return parsed.order ? 'accepted' : `${parsed.path}: ${parsed.reason}`;
}

describe('orders', () => {
  test('the hash of any order equals the hash that another implementation of EIP-712 computes', () => {
    fc.assert(fc.property(orders, (order) => assert.equal(hashOrder(order), hashAsk(order))));
  });

  test('an order is parsed from its JSON, with numbers in each accepted form', () => {
    const hex = (text: unknown) =>
      typeof text === 'string' && /^\d+$/.test(text) ? `0x${BigInt(text).toString(16)}` : text;
    fc.assert(
      fc.property(orders, (order) => {
        const parameters = toParameters(order);
        const text = JSON.stringify(parameters);
        const hexes = JSON.parse(text, (_key, value: unknown) => hex(value));
        const upper = JSON.parse(text, (key, value: unknown) =>
          key === 'offerer' ? `0x${String(value).slice(2).toUpperCase()}` : value,
        );
        for (const written of [
          parameters,
          hexes,
          upper,
          parseJsonText(text),
          parseJsonText(text.replaceAll(/"(\d+)"/g, '$1')),
        ]) {
          assert.deepEqual(parseSeaportOrder(written), { order });
        }
      }),
    );
  });

  test('a field that is not a component of an order is rejected, unless it is a field that Reservoir adds', () => {
    const parameters = toParameters(ASK);
    assert.equal(reasonOf({ ...parameters, kind: 'single-token', signature: '0x', partial: true }), 'accepted');
    assert.equal(reasonOf({ ...parameters, nonce: 1 }), 'nonce: is not a field of an order');
    const [offer] = parameters['offer'] as object[];
    assert.equal(
      reasonOf({ ...parameters, offer: [{ ...offer, amount: 1 }] }),
      'offer.0.amount: is not a field of an order',
    );
  });

  test('the reason names the field that is missing, has a wrong type, is out of bounds, or is a JSON number too large to be exact', () => {
    const integer =
      'must be an integer from 0 to 2^256-1, as a number, decimal text without leading zeros or 0x-hex text';
    const small = integer.replace('2^256-1', '4');
    const parameters = toParameters(ASK);
    const wrong: [Record<string, unknown>, string][] = [
      [{ offerer: undefined }, 'offerer: must be an EVM address'],
      [{ offerer: '0x12' }, 'offerer: must be an EVM address'],
      [{ zoneHash: '0x' }, 'zoneHash: must be 0x and 32 bytes in hex'],
      [{ conduitKey: 0 }, 'conduitKey: must be 0x and 32 bytes in hex'],
      [{ salt: 2 ** 60 }, `salt: ${integer}`],
      [{ salt: '-1' }, `salt: ${integer}`],
      [{ salt: '1e3' }, `salt: ${integer}`],
      [{ salt: '007' }, `salt: ${integer}`],
      [{ salt: ' 7' }, `salt: ${integer}`],
      [{ salt: `${2n ** 256n}` }, `salt: ${integer}`],
      [{ salt: '1'.repeat(1_000_000) }, `salt: ${integer}`],
      [{ counter: undefined }, `counter: ${integer}`],
      [{ counter: null }, `counter: ${integer}`],
      [{ orderType: 5 }, `orderType: ${small}`],
      [{ startTime: 1.5 }, `startTime: ${integer}`],
      [{ offer: {} }, 'offer: must be an array'],
      [{ offer: [null] }, 'offer.0: must be an object'],
      [{ consideration: Array.from({ length: 33 }, () => ({})) }, 'consideration: must have at most 32 items'],
      [
        { totalOriginalConsiderationItems: 2 },
        'totalOriginalConsiderationItems: must be 1, the number of consideration items',
      ],
    ];
    for (const [fields, reason] of wrong) assert.equal(reasonOf({ ...parameters, ...fields }), reason);
    for (const value of [null, [], 'order', 7, undefined]) assert.equal(reasonOf(value), ': must be an object');
    assert.equal(reasonOf({ ...parameters, totalOriginalConsiderationItems: undefined }), 'accepted');
  });

  test('a JSON value that is not an order is rejected with a reason', () => {
    fc.assert(fc.property(fc.jsonValue(), (value) => assert.notEqual(reasonOf(value), 'accepted')));
    const names = Object.keys(toParameters(ASK));
    fc.assert(
      fc.property(fc.constantFrom(...names), fc.jsonValue(), (name, value) => {
        reasonOf({ ...toParameters(ASK), [name]: value });
      }),
    );
  });
});
