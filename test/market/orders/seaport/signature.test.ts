// Signatures of Seaport orders in all four forms: full, compact, bulk and compact bulk.

import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import fc from 'fast-check';
import type { SeaportOrder } from '../../../../src/market/orders/seaport/order.ts';
import { hashOrder } from '../../../../src/market/orders/seaport/order.ts';
import {
  checkSignature,
  isSignatureText,
  normalizeSignature,
  SIGNATURE_BYTES_MAX,
} from '../../../../src/market/orders/seaport/signature.ts';
import { accountOf, SEAPORT_1_6, signBulk, signOrder, toAsk, toCompact } from '../../../support/chain/signed-orders.ts';
import type { Hex } from '../../../../src/platform/core/evm.ts';

const OFFERER = accountOf(1).lower;
const CONTRACT = '0x00000000000000000000000000000000000c0de5';
const makeAsk = (tokenId = 7n) =>
  toAsk({ offerer: OFFERER, contract: CONTRACT, tokenId, price: 5n, start: 10, end: 20 });

const check = (order: SeaportOrder, signature: Hex, protocol = SEAPORT_1_6) =>
  checkSignature({ protocol, orderHash: hashOrder(order), signature }, OFFERER);

/** Signatures of one order in all four forms, each signature with the name of its form. */
async function signInAllForms(order: SeaportOrder): Promise<[string, Hex][]> {
  const full = await signOrder(1, order);
  const others = [order, makeAsk(8n), makeAsk(9n)];
  const [bulk = '0x'] = await signBulk(1, others, { height: 2 });
  const [compactBulk = '0x'] = await signBulk(1, others, { height: 3, compact: true });
  return [
    ['65 bytes', full],
    ['64 bytes', toCompact(full)],
    ['bulk', bulk],
    ['compact bulk', compactBulk],
  ];
}

const flip = (hex: string, bit: number): Hex => {
  const bytes = Buffer.from(hex.slice(2), 'hex');
  bytes[bit >> 3] = (bytes[bit >> 3] ?? 0) ^ (1 << (bit & 7));
  return `0x${bytes.toString('hex')}`;
};

describe('signatures', () => {
  test('a signature of any form is valid only for its order, its chain and its version of Seaport', async () => {
    const order = makeAsk();
    for (const [form, signature] of await signInAllForms(order)) {
      assert.equal(check(order, signature), 'ok', form);
      assert.equal(check(order, `0x${signature.slice(2).toUpperCase()}`), 'ok', form);
      assert.equal(check(makeAsk(), signature), 'mismatch', `${form}: accepted for another order`);
      assert.equal(
        check(order, signature, { ...SEAPORT_1_6, chainId: 137 }),
        'mismatch',
        `${form}: accepted on another chain`,
      );
      assert.equal(
        check(order, signature, { ...SEAPORT_1_6, version: '1.5' }),
        'mismatch',
        `${form}: accepted for another version`,
      );
    }
  });

  test('a signature with a v of 0 or 1 is normalized to the v of 27 or 28 that Seaport accepts', async () => {
    for (let tokenId = 0n, seen = new Set<string>(); seen.size < 2; tokenId += 1n) {
      const order = makeAsk(tokenId);
      const signature = await signOrder(1, order);
      const v = signature.slice(-2);
      const other = `${signature.slice(0, -2)}${v === '1b' ? '00' : '01'}` as Hex;
      assert.equal(check(order, other), 'ok');
      assert.equal(normalizeSignature(other, '1.6'), signature);
      assert.equal(normalizeSignature(signature, '1.6'), signature);
      seen.add(v);
    }
    const [bulk = '0x'] = await signBulk(1, [makeAsk()], { height: 1 });
    const v = bulk.slice(130, 132);
    const written = `${bulk.slice(0, 130)}${v === '1b' ? '00' : '01'}${bulk.slice(132)}` as Hex;
    assert.equal(normalizeSignature(written, '1.6'), bulk);
    assert.equal(normalizeSignature('0xABCD', '1.6'), '0xabcd');
  });

  test('bulk signatures of trees with 1, 5 or 9 levels are accepted', async () => {
    const order = makeAsk();
    for (const height of [1, 5, 9]) {
      for (const compact of [false, true]) {
        const signatures = await signBulk(1, [order, makeAsk(8n)], { height, compact });
        assert.equal(check(order, signatures[0] ?? '0x'), 'ok', `height ${height}`);
      }
    }
    const sized = (bytes: number) => check(order, `0x${'11'.repeat(bytes)}`);
    for (const start of [67, 68]) {
      assert.equal(sized(start), 'malformed', 'a proof without levels was not reported as malformed');
      assert.equal(sized(start + 25 * 32), 'malformed', 'a proof of 25 levels was not reported as malformed');
    }
  });

  test('a bulk signature is malformed for Seaport 1.1', async () => {
    const order = makeAsk();
    const protocol = { ...SEAPORT_1_6, version: '1.1' };
    const [bulk = '0x'] = await signBulk(1, [order], { height: 1, protocol });
    assert.equal(check(order, bulk, protocol), 'malformed');
  });

  test('a signature with any bit flipped is rejected', async () => {
    const order = makeAsk();
    for (const [form, signature] of await signInAllForms(order)) {
      const bits = (signature.length - 2) * 4;
      const pick = fc.integer({ min: 0, max: bits - 1 });
      fc.assert(
        fc.property(pick, (bit) =>
          assert.notEqual(check(order, flip(signature, bit)), 'ok', `${form}: accepted with bit ${bit} flipped`),
        ),
        { numRuns: 60 },
      );
    }
    // The index of the order in a bulk signature has more bits than the tree has levels. Seaport ignores the additional bits, but the
    // service also rejects a signature in which one of them is flipped.
    const [bulk = '0x'] = await signBulk(1, [order, makeAsk(8n)], { height: 2 });
    for (let bit = 65 * 8; bit < 68 * 8; bit += 1) assert.notEqual(check(order, flip(bulk, bit)), 'ok');
  });

  test('an order with any bit flipped is rejected', async () => {
    const order = makeAsk();
    const signature = await signOrder(1, order);
    const mutations: ((changed: any, bit: number) => void)[] = [];
    for (const name of ['startTime', 'endTime', 'salt', 'counter'] as const)
      mutations.push((changed, bit) => void (changed[name] ^= 1n << BigInt(bit)));
    for (const name of ['zoneHash', 'conduitKey'] as const)
      mutations.push((changed, bit) => void (changed[name] = flip(changed[name], bit)));
    for (const name of ['zone', 'offerer'] as const)
      mutations.push((changed, bit) => void (changed[name] = flip(changed[name], bit % 160)));
    for (const side of ['offer', 'consideration'] as const) {
      mutations.push((changed, bit) => void (changed[side][0].token = flip(changed[side][0].token, bit % 160)));
      mutations.push((changed, bit) => void (changed[side][0].itemType ^= 1 << (bit % 3)));
      for (const name of ['identifierOrCriteria', 'startAmount', 'endAmount'] as const)
        mutations.push((changed, bit) => void (changed[side][0][name] ^= 1n << BigInt(bit)));
    }
    mutations.push(
      (changed, bit) => void (changed.consideration[0].recipient = flip(changed.consideration[0].recipient, bit % 160)),
    );
    mutations.push((changed, bit) => void (changed.orderType ^= 1 << (bit % 3)));
    fc.assert(
      fc.property(fc.constantFrom(...mutations), fc.integer({ min: 0, max: 255 }), (mutate, bit) => {
        const changed = structuredClone(order);
        mutate(changed, bit);
        assert.equal(
          checkSignature({ protocol: SEAPORT_1_6, orderHash: hashOrder(changed), signature }, changed.offerer),
          'mismatch',
        );
      }),
      { numRuns: 200 },
    );
  });

  test('bytes that are not a signature are malformed', async () => {
    const order = makeAsk();
    for (const text of [
      '0x',
      `0x${'00'.repeat(65)}`,
      `0x${'ff'.repeat(65)}`,
      `0x${'ff'.repeat(64)}`,
      `0x${'12'.repeat(66)}`,
    ])
      assert.equal(check(order, text as Hex), 'malformed', text);
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 140 }), (bytes) =>
        assert.notEqual(check(order, `0x${Buffer.from(bytes).toString('hex')}`), 'ok'),
      ),
    );
    assert.ok(isSignatureText(`0x${'ab'.repeat(SIGNATURE_BYTES_MAX)}`));
    for (const text of ['', '0x', '0xabc', 'abcd', '0xzz', `0x${'ab'.repeat(SIGNATURE_BYTES_MAX + 1)}`])
      assert.ok(!isSignatureText(text));
  });
});
