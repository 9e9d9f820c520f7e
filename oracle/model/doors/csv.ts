// Records as a CSV file with a column map (records, "CSV"): a column for each field, and "a blank cell means that the field is absent". The prices of
// orders and listings are those of one unit, in the native currency.

import { decimalsOf } from '../rules/market.ts';
import type { MarketRecord } from '../rules/records.ts';
import { hasUnknownField } from '../rules/records.ts';

type ColumnMap = Record<string, { column: string; as?: string; times?: string }>;

/** Of how many units the price is. */
const UNITS = 'units';

/** Null if CSV cannot express a record: an empty list, an empty text, or a field that no column map can name. */
export function toCsv(records: readonly MarketRecord[]): { text: string; map: ColumnMap } | null {
  if (records.some(hasUnknownField)) return null;
  const rows = records.map(
    (record) => new Map(Object.entries(record).flatMap(([name, value]) => toCells(name, value))),
  );
  const isPriced = records.every((record) => !('priceRaw' in record) || /^(?:0|[1-9]\d*)$/.test(record.priceRaw));
  for (const [index, record] of records.entries()) {
    if (!isPriced || !('priceRaw' in record)) continue;
    const units = BigInt(record.priceRaw) % 2n === 0n ? 2n : 1n;
    const text = toDecimal(BigInt(record.priceRaw) / units, decimalsOf(record.chain));
    rows[index]?.set('priceRaw', { text, as: 'native-amount' }).set(UNITS, { text: units.toString(), as: undefined });
  }
  const columns = [...new Set(rows.flatMap((row) => [...row.keys()]))];
  const cells = rows.map((row) => columns.map((column) => row.get(column)));
  if (cells.flat().some((cell) => cell?.text === '')) return null;
  const asOf = (column: string) => cells.map((row) => row[columns.indexOf(column)]?.as).find((as) => as !== undefined);
  const map = Object.fromEntries(
    columns
      .filter((column) => column !== UNITS)
      .map((column) => {
        const as = asOf(column);
        const times = as === 'native-amount' && { times: UNITS };
        return [column, { column, ...(as !== undefined && { as }), ...times }];
      }),
  );
  const lines = [columns, ...cells.map((row) => row.map((cell) => cell?.text ?? ''))];
  return { text: lines.map((line) => `${line.map(quote).join(',')}\n`).join(''), map };
}

type Cell = { text: string; as: string | undefined };

function toCells(name: string, value: unknown): [string, Cell][] {
  if (Array.isArray(value)) {
    const texts = value.map((one) => (typeof one === 'string' ? one : toTrait(one as { name: string; value: string })));
    return [[name, { text: texts.join('; '), as: 'list' }]];
  }
  if (typeof value === 'object' && value !== null)
    return Object.entries(value).flatMap(([member, part]) => toCells(`${name}.${member}`, part));
  const as = typeof value === 'number' ? 'number' : typeof value === 'boolean' ? 'boolean' : undefined;
  return [[name, { text: String(value), as }]];
}

function toTrait(trait: { name: string; value: string }): string {
  return trait.name === '' ? '' : `${trait.name}: ${trait.value}`;
}

function toDecimal(raw: bigint, decimals: number): string {
  const digits = raw.toString().padStart(decimals + 1, '0');
  return `${digits.slice(0, -decimals)}.${digits.slice(-decimals)}`;
}

function quote(cell: string): string {
  return `"${cell.replaceAll('"', '""')}"`;
}
