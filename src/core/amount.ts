// Amounts in base units: bigint in the program, decimal text in SQL and on the wire. An amount is never a float.

export const UINT256_MAX = 2n ** 256n - 1n;

const DIGITS = /^\d{1,100}$/;
const DECIMAL = /^(\d{1,100})(?:\.(\d{1,100}))?(?:e([+-]?\d{1,3}))?$/i;

/** The integer from 0 to 2^256-1 of a decimal string, or null: what the specification calls an interpretable price. */
export function parseAmount(text: string): bigint | null {
  if (!DIGITS.test(text)) return null;
  const value = BigInt(text);
  return value <= UINT256_MAX ? value : null;
}

/**
 * Base units of a decimal in native units (`1.25`, or `1e-05` as spreadsheets and data frames write it), with `decimals` places;
 * null when it is not one, or would need rounding. Exact: the point is moved in the text.
 */
export function parseNativeAmount(text: string, decimals: number): bigint | null {
  const [, whole, fraction = '', exponent = '0'] = DECIMAL.exec(text) ?? [];
  if (whole === undefined) return null;
  const digits = whole + fraction;
  // How many zeros follow the digits, or how many digits would be lost.
  const shift = decimals - fraction.length + Number(exponent);
  if (shift >= 0) return bounded(BigInt(digits + '0'.repeat(shift)));
  const lost = digits.slice(shift);
  return /[1-9]/.test(lost) ? null : bounded(BigInt(digits.slice(0, shift) || '0'));
}

function bounded(value: bigint): bigint | null {
  return value <= UINT256_MAX ? value : null;
}

/** The exact decimal text of base units in native units, without trailing zeros. */
export function toDecimalText(raw: bigint, decimals: number): string {
  const digits = raw.toString().padStart(decimals + 1, '0');
  const whole = digits.slice(0, digits.length - decimals);
  const fraction = digits.slice(digits.length - decimals).replace(/0+$/, '');
  return fraction ? `${whole}.${fraction}` : whole;
}

/** The nearest double of raw / 10^decimals: parsed from exact decimal text, because a division would round twice. */
export function toNativeNumber(raw: bigint, decimals: number): number {
  return Number(toDecimalText(raw, decimals));
}

/** A share of an amount in basis points, rounded up to the base unit. */
export function shareOf(raw: bigint, basisPoints: number): bigint {
  return (raw * BigInt(basisPoints) + 9_999n) / 10_000n;
}
