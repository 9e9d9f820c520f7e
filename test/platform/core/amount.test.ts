// Tests that amounts are exact integers, and are parsed strictly. Only two functions round: `shareOf` and `toNativeNumber`.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import {
  UINT256_MAX,
  parseAmount,
  parseNativeAmount,
  shareOf,
  toDecimalText,
  toNativeNumber,
} from '../../../src/platform/core/amount.ts';

const uint256 = fc.bigInt({ min: 0n, max: UINT256_MAX });
const decimals = fc.integer({ min: 0, max: 36 });

test('an integer from 0 to 2^256-1 in decimal digits is read exactly', () => {
  assert.equal(UINT256_MAX, 2n ** 256n - 1n);
  fc.assert(fc.property(uint256, (value) => parseAmount(value.toString()) === value));
  for (const value of [0n, 1n, 9_007_199_254_740_993n, UINT256_MAX]) assert.equal(parseAmount(`${value}`), value);
});

test('text that is not an integer in decimal digits, or exceeds 2^256-1, is refused as an amount', () => {
  const refused = [
    '',
    ' ',
    '-1',
    '+1',
    '1.0',
    '1.',
    '.1',
    '1e3',
    '6.27e+16',
    '0x10',
    '1_000',
    '1,000',
    ' 1',
    '01',
    '00',
    '007',
    '1 ',
    '1\n',
  ];
  for (const text of [...refused, 'NaN', 'Infinity', '٣', '１', '1'.repeat(101), `${UINT256_MAX + 1n}`]) {
    assert.equal(parseAmount(text), null, JSON.stringify(text));
  }
});

test('any text is either refused or parsed to an amount from 0 to 2^256-1', () => {
  const text = fc.oneof(fc.string(), fc.string({ unit: fc.constantFrom('0', '1', '9', '.', '-', 'e', ' ') }));
  fc.assert(
    fc.property(text, (one) => {
      const value = parseAmount(one);
      return value === null || (value >= 0n && value <= UINT256_MAX && /^\d+$/.test(one));
    }),
  );
});

test('the decimal text of an amount in native units is parsed back to the same base units', () => {
  fc.assert(
    fc.property(uint256, decimals, (raw, places) => parseNativeAmount(toDecimalText(raw, places), places) === raw),
  );
  assert.equal(toDecimalText(1n, 18), '0.000000000000000001');
  assert.equal(toDecimalText(10n ** 18n, 18), '1');
  assert.equal(toDecimalText(1_500_000_000n, 9), '1.5');
  assert.equal(toDecimalText(120n, 0), '120');
});

test('a native amount is refused when it is malformed, has more decimals than its currency, or exceeds 2^256-1', () => {
  assert.equal(parseNativeAmount('1.5', 0), null);
  assert.equal(parseNativeAmount('0.0000000001', 9), null);
  assert.equal(parseNativeAmount('0.0000000010', 9), 1n);
  assert.equal(parseNativeAmount('1e-05', 18), 10_000_000_000_000n);
  assert.equal(parseNativeAmount('6.27E+1', 18), 62_700_000_000_000_000_000n);
  assert.equal(parseNativeAmount('10e-19', 18), 1n);
  assert.equal(parseNativeAmount('0e-99', 18), 0n);
  assert.equal(parseNativeAmount(`${UINT256_MAX}`, 1), null);
  for (const text of ['', '.', '1.', '.5', '-1', 'e3', '1e', '1e1.5', '1,5', ' 1', '1e-19', '1e60', '1e9999'])
    assert.equal(parseNativeAmount(text, 18), null, text);
});

test('an amount that is converted to a number of native units becomes the double nearest to its exact value', () => {
  assert.equal(toNativeNumber(1n, 18), 1e-18);
  assert.equal(toNativeNumber(UINT256_MAX, 18), 1.157920892373162e59);
  // A division of two doubles would give 0.30000000000000004.
  assert.equal(toNativeNumber(3n * 10n ** 17n, 18), 0.3);
  assert.equal(toNativeNumber(123_456_789_012_345_678n, 18), 0.12345678901234568);
  fc.assert(
    fc.property(uint256, decimals, (raw, places) => {
      const nearest = toNativeNumber(raw, places);
      // The nearest double has an error that is not larger than the errors of its two neighbours. The errors are compared as exact fractions.
      const errorOf = (value: number) => {
        const { numerator, denominator } = toFraction(value);
        const difference = numerator * 10n ** BigInt(places) - raw * denominator;
        return { difference: difference < 0n ? -difference : difference, denominator };
      };
      const error = errorOf(nearest);
      return neighboursOf(nearest).every((other) => {
        const otherError = errorOf(other);
        return error.difference * otherError.denominator <= otherError.difference * error.denominator;
      });
    }),
  );
});

test('a share in basis points is the exact share, rounded up to the next base unit', () => {
  assert.equal(shareOf(1n, 200), 1n);
  assert.equal(shareOf(50n, 200), 1n);
  assert.equal(shareOf(51n, 200), 2n);
  assert.equal(shareOf(0n, 10_000), 0n);
  assert.equal(shareOf(7n, 0), 0n);
  assert.equal(shareOf(UINT256_MAX, 10_000), UINT256_MAX);
  fc.assert(
    fc.property(uint256, fc.integer({ min: 0, max: 10_000 }), (raw, basisPoints) => {
      const roundedUpBy = shareOf(raw, basisPoints) * 10_000n - raw * BigInt(basisPoints);
      return roundedUpBy >= 0n && roundedUpBy < 10_000n;
    }),
  );
});

/** A non-negative double as an exact fraction. */
function toFraction(value: number): { numerator: bigint; denominator: bigint } {
  const view = new DataView(new ArrayBuffer(8));
  view.setFloat64(0, value);
  const bits = view.getBigUint64(0);
  const exponent = Number((bits >> 52n) & 0x7ffn);
  const mantissa = (bits & ((1n << 52n) - 1n)) | (exponent === 0 ? 0n : 1n << 52n);
  const power = (exponent === 0 ? 1 : exponent) - 1_075;
  return power >= 0
    ? { numerator: mantissa << BigInt(power), denominator: 1n }
    : { numerator: mantissa, denominator: 1n << BigInt(-power) };
}

function neighboursOf(value: number): number[] {
  const view = new DataView(new ArrayBuffer(8));
  return [-1n, 1n].flatMap((step) => {
    view.setFloat64(0, value);
    const bits = view.getBigUint64(0) + step;
    if (bits < 0n) return [];
    view.setBigUint64(0, bits);
    return [view.getFloat64(0)];
  });
}
