// Amounts as integers of base units. Nothing here uses floating-point numbers.

/** One native unit of a chain is 10^decimals base units. */
export const CHAIN_DECIMALS: Readonly<Record<string, number>> = {
  solana: 9,
  ethereum: 18,
  polygon: 18,
  base: 18,
  ink: 18,
  apechain: 18,
  abstract: 18,
};

const DECIMAL = /^(\d+)(?:\.(\d+))?$/;

/** The exact decimal text of an amount, which may be given as text: `formatAmount(1500000000000000000n, 18)` is `'1.5'`. */
export function formatAmount(amount: bigint | string, decimals: number): string {
  const raw = BigInt(amount);
  const digits = (raw < 0n ? -raw : raw).toString().padStart(decimals + 1, '0');
  const units = digits.slice(0, digits.length - decimals);
  const fraction = digits.slice(digits.length - decimals).replace(/0+$/, '');
  return `${raw < 0n ? '-' : ''}${units}${fraction && `.${fraction}`}`;
}

/**
 * The amount in base units that the decimal text states: `parseAmount('1.5', 18)` is `1500000000000000000n`. Throws a RangeError if the text is
 * negative, is not decimal, or has more than `decimals` digits after the point.
 */
export function parseAmount(text: string, decimals: number): bigint {
  const [, units, fraction = ''] = DECIMAL.exec(text) ?? [];
  if (units === undefined) throw new RangeError(`Not a decimal amount: ${text}`);
  if (fraction.length > decimals) throw new RangeError(`More than ${decimals} digits after the point: ${text}`);
  return BigInt(units + fraction.padEnd(decimals, '0'));
}
