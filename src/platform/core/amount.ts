// Amounts in base units: bigint in the program, decimal text in SQL and on the wire. A double is made only for output that may be rounded,
// such as `decimal` of a Price, and dollars.

export const UINT256_MAX = 2n ** 256n - 1n;

const DIGITS = /^(?:0|[1-9]\d{0,99})$/;
const DECIMAL = /^(\d{1,100})(?:\.(\d{1,100}))?(?:e([+-]?\d{1,3}))?$/i;

/**
 * Parses decimal digits as an integer from 0 to 2^256-1. Null for any other text, also with leading zeros: an amount has one text, so that two
 * texts of one amount are never two amounts.
 */
export function parseAmount(text: string): bigint | null {
  if (!DIGITS.test(text)) return null;
  const value = BigInt(text);
  return value <= UINT256_MAX ? value : null;
}

/** Returns null for a floor or buyer total of 0: zero is no price, so a source that states it knows no price. */
export function toKnownPrice(raw: bigint | null): bigint | null {
  return raw === 0n ? null : raw;
}

/**
 * Parses a decimal in native units (`1.25`, or `1e-05` as spreadsheets and data frames write it) and returns base units. Null when the text
 * is not a decimal, when it has a non-zero digit beyond `decimals` places, or when the result exceeds 2^256-1. The decimal point is moved
 * within the text, so the result is exact.
 */
export function parseNativeAmount(text: string, decimals: number): bigint | null {
  const [, integer, fraction = '', exponent = '0'] = DECIMAL.exec(text) ?? [];
  if (integer === undefined) return null;
  const digits = integer + fraction;
  // Positive: the number of zeros to append. Negative: the number of digits to cut off, which must all be zero.
  const shift = decimals - fraction.length + Number(exponent);
  if (shift >= 0) return bounded(BigInt(digits + '0'.repeat(shift)));
  const lost = digits.slice(shift);
  return /[1-9]/.test(lost) ? null : bounded(BigInt(digits.slice(0, shift) || '0'));
}

/**
 * The base units of a limit in native units: the least amount that is not below a minimum, or the greatest that is not above a maximum. `text` has
 * the form of `DECIMAL_PATTERN`, and may have more places than the currency.
 */
export function toRawLimit(text: string, decimals: number, side: 'min' | 'max'): bigint {
  const [integer = '0', fraction = ''] = text.split('.');
  const raw = BigInt(integer + fraction.slice(0, decimals).padEnd(decimals, '0'));
  return side === 'min' && /[1-9]/.test(fraction.slice(decimals)) ? raw + 1n : raw;
}

/** A decimal without sign, exponent and leading zeros. */
export const DECIMAL_PATTERN = '^(?:0|[1-9][0-9]{0,59})(?:[.][0-9]{1,60})?$';

function bounded(value: bigint): bigint | null {
  return value <= UINT256_MAX ? value : null;
}

/** The amount in native units as decimal text, without trailing zeros. */
export function toDecimalText(raw: bigint, decimals: number): string {
  const digits = raw.toString().padStart(decimals + 1, '0');
  const whole = digits.slice(0, digits.length - decimals);
  const fraction = digits.slice(digits.length - decimals).replace(/0+$/, '');
  return fraction ? `${whole}.${fraction}` : whole;
}

/** The double nearest to raw / 10^decimals. It is parsed from the exact decimal text, because a division would round twice. */
export function toNativeNumber(raw: bigint, decimals: number): number {
  return Number(toDecimalText(raw, decimals));
}

/** `basisPoints` / 10,000 of an amount, rounded up to the next base unit. */
export function shareOf(raw: bigint, basisPoints: number): bigint {
  return (raw * BigInt(basisPoints) + 9_999n) / 10_000n;
}
