// Formats amounts and counts. Amounts are rounded to at most four significant digits. Only `exactAmount` returns an amount without rounding.

/** A price as the client returns it: `raw` is the exact amount in base units. */
export type Amount = { raw: bigint; decimal: number; currency: string; usd: number | null };

const LOCALE = 'en';
const MINUS = '\u2212';
const SIGNIFICANT_DIGITS = 4;
/** Numbers that are at least this large are written like 12.3K or 4.5M. */
const COMPACT_MIN = 10_000;
/** Smaller amounts are written as "<0.00001", because their zeros would not fit into a column. */
const AMOUNT_MIN = 0.000_01;
/** Larger numbers are written as ">999T", because there is no shorter form of them that a reader knows. Anybody can list a token for any price. */
const NUMBER_MAX = 1e15;
const ABOVE_MAX = '999T';

const plain = new Intl.NumberFormat(LOCALE, { maximumSignificantDigits: SIGNIFICANT_DIGITS });
const compact = new Intl.NumberFormat(LOCALE, { notation: 'compact', maximumSignificantDigits: SIGNIFICANT_DIGITS });
const integer = new Intl.NumberFormat(LOCALE, { maximumFractionDigits: 0 });
const change = new Intl.NumberFormat(LOCALE, {
  style: 'percent',
  notation: 'compact',
  maximumFractionDigits: 1,
  signDisplay: 'exceptZero',
});
const percent = new Intl.NumberFormat(LOCALE, { style: 'percent', maximumFractionDigits: 1 });

/** An amount in native units, such as `0.42`, `1,234` and `56.78K`. */
export function formatAmount(value: number): string {
  if (value > 0 && value < AMOUNT_MIN) return `<${AMOUNT_MIN.toFixed(5)}`;
  if (value >= NUMBER_MAX) return `>${ABOVE_MAX}`;
  return (Math.abs(value) >= COMPACT_MIN ? compact : plain).format(value);
}

/** An amount in dollars, such as `$0.50`, `$12.30` and `$1,234`. */
export function formatUsd(value: number): string {
  if (value > 0 && value < 0.01) return '<$0.01';
  if (value < 1_000) return `$${value.toFixed(2)}`;
  if (value >= NUMBER_MAX) return `>$${ABOVE_MAX}`;
  return `$${(value >= 1_000_000 ? compact : integer).format(value)}`;
}

export function formatCount(value: number | bigint): string {
  return value >= NUMBER_MAX ? `>${ABOVE_MAX}` : integer.format(value);
}

/** Formats a share from 0 to 1 as a percentage. */
export function formatShare(share: number): string {
  return percent.format(share);
}

/** Formats a change, given as a ratio, as a percentage such as `+5.1%`. A change that is rounded to 0% has no sign. */
export function formatChange(ratio: number): string {
  return ratio >= NUMBER_MAX / 100 ? `>${ABOVE_MAX}%` : change.format(ratio).replace('-', MINUS);
}

/** A number of basis points as a percentage. */
export function formatBps(bps: number): string {
  return `${plain.format(bps / 100)}%`;
}

/** The amount without rounding, such as `0.420000000000000001 ETH`. */
export function exactAmount({ raw, decimal, currency }: Amount): string {
  const decimals = decimalsOf(raw, decimal);
  const digits = String(raw).padStart(decimals + 1, '0');
  const units = digits.slice(0, digits.length - decimals).replaceAll(/\B(?=(\d{3})+$)/g, ',');
  const fraction = digits.slice(digits.length - decimals).replace(/0+$/, '');
  return `${units}${fraction && `.${fraction}`} ${currency}`;
}

/**
 * Returns the number of decimals of the currency: one native unit is 10 to the power of this number in base units. The number follows from
 * the price, which states the amount in both units.
 */
function decimalsOf(raw: bigint, decimal: number): number {
  return decimal > 0 ? Math.max(0, Math.round(Math.log10(Number(raw) / decimal))) : 0;
}
