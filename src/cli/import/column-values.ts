// Recognises from sample values whether a column contains addresses, token ids, times or prices. Returns the pattern and the conversions
// with which the column is read.

import { parseTime } from '../../platform/core/time.ts';
import type { ColumnSource } from '../../intake/csv/column-map.ts';
import type { Conversion } from '../../intake/csv/conversions.ts';
import { createConversion } from '../../intake/csv/conversions.ts';

/** Returns how the values are read, or null if they are not recognised. `samples`: the values of the first rows, without blank values. */
export type AcceptValues = (samples: readonly string[]) => Partial<ColumnSource> | null;

function all(samples: readonly string[], form: RegExp): boolean {
  return samples.length > 0 && samples.every((sample) => form.test(sample.trim()));
}

export function asIs(form: RegExp): AcceptValues {
  return (samples) => (all(samples, form) ? {} : null);
}

export const acceptAnyText = asIs(/./su);
export const acceptInteger = asIs(/^\d{1,15}$/);
export const acceptDecimal = asIs(/^\d+(\.\d+)?(e[+-]?\d+)?$/i);
export const acceptUrl = asIs(/^(https?:|ipfs:|ar:|data:)/i);

/** Accepts lists of traits in which each trait is written as `Name: Value`. */
export function acceptTraits(samples: readonly string[]): Partial<ColumnSource> | null {
  return all(samples, /^[^:,;|]+:[^,;|]+([,;|][^:,;|]+:[^,;|]+)*$/) ? { as: ['list'] } : null;
}

const EVM_ADDRESS = /^0x[0-9a-f]{1,40}$/i;
const BASE58 = /^[1-9A-HJ-NP-Za-km-z]{32,44}$/;

export const acceptMint = asIs(BASE58);

export function acceptAddress(samples: readonly string[]): Partial<ColumnSource> | null {
  if (all(samples, EVM_ADDRESS) || all(samples, BASE58)) return {};
  if (all(samples, /^\\x[0-9a-f]{40}$/i)) return { as: ['bytea'] };
  return all(samples, /(0x[0-9a-f]{40})$/i) ? { pattern: '(0x[0-9a-fA-F]{40})$' } : null;
}

export function acceptTokenId(samples: readonly string[]): Partial<ColumnSource> | null {
  if (all(samples, /^\d{1,78}$/)) return {};
  if (all(samples, /^\d{1,78}\.0$/)) return { pattern: '^(\\d+)\\.0$' };
  return all(samples, /#\d+$/) ? { pattern: '#(\\d+)$' } : null;
}

const ROW_NUMBERS_MIN = 6;

/** Whether the values are only row numbers: each value is greater by one than the value before. */
function areRowNumbers(samples: readonly string[]): boolean {
  const first = Number(samples[0]);
  return samples.length >= ROW_NUMBERS_MIN && samples.every((sample, index) => Number(sample) === first + index);
}

export function acceptSoldTokenId(samples: readonly string[]): Partial<ColumnSource> | null {
  return areRowNumbers(samples) ? null : acceptTokenId(samples);
}

const DATE_PATTERNS = [
  'MM/DD/YYYY',
  'DD/MM/YYYY',
  'M/D/YYYY',
  'D/M/YYYY',
  'MM/DD/YY',
  'DD/MM/YY',
  'M/D/YY',
  'D/M/YY',
  'DD.MM.YYYY',
  'D.M.YYYY',
  'D.M.YY',
  'D MMM YYYY',
  'D-MMM-YYYY',
  'D-MMM-YY',
  'MMM D, YYYY',
  'YYYY/MM/DD',
];
const TIME_PATTERNS = ['HH:mm:ss', 'HH:mm', 'H:mm:ss', 'H:mm', 'H:mm:ss A', 'H:mm A'];
const TIMES: readonly Conversion[] = [
  'utc-time',
  'spreadsheet-time',
  ...DATE_PATTERNS.flatMap((date) => [
    `date:${date}` as const,
    ...TIME_PATTERNS.flatMap((time) => [`date:${date} ${time}` as const, `date:${date}, ${time}` as const]),
  ]),
];

/** No time of a market is before 2009, when the first block of Bitcoin was mined. */
const TIME_MIN = Date.UTC(2009, 0, 3);

/** The conversions that read every sample as a time. There are several if day and month cannot be distinguished. */
export function findTimes(samples: readonly string[]): Conversion[] {
  const terms = { chain: undefined, currency: null, times: null };
  const found = new Map<string, Conversion>();
  for (const conversion of samples.length === 0 ? [] : TIMES) {
    const convert = createConversion(conversion);
    const times = samples.map((sample) => parseTime(String(convert(sample.trim(), terms))) ?? 0);
    if (times.some((time) => time < TIME_MIN)) continue;
    // Of several patterns that read the same times from all samples, such as MM and M, only the first is returned.
    const reading = times.join();
    if (!found.has(reading)) found.set(reading, conversion);
  }
  return [...found.values()];
}

export function acceptTime(samples: readonly string[]): Partial<ColumnSource> | null {
  const [conversion] = findTimes(samples);
  return conversion === undefined ? null : { as: [conversion] };
}

/** If a number is at least this large, the column contains base units, because no sale costs a trillion native units. */
const BASE_UNITS_MIN = 1e12;
/** An amount with its currency, followed by another amount in parentheses, as in `0.5 ETH ($1,234.56)`. */
const WITH_SECOND_AMOUNT = /^[^()]*\d[^()]*\([^()]*\)$/;

export function acceptPrice(samples: readonly string[]): Partial<ColumnSource> | null {
  if (!all(samples, WITH_SECOND_AMOUNT)) return acceptAmount(samples);
  const amounts = acceptAmount(samples.map((sample) => sample.slice(0, sample.indexOf('('))));
  return amounts && { pattern: '^\\s*([^(]*[^(\\s])', ...amounts };
}

/**
 * Like `acceptPrice`, for a column that may contain quantities of tokens instead of prices. Values that are all 1 are quantities, so they
 * are not accepted.
 */
export function acceptPriceNotQuantity(samples: readonly string[]): Partial<ColumnSource> | null {
  return all(samples, /^1(\.0)?$/) ? null : acceptPrice(samples);
}

function acceptAmount(samples: readonly string[]): Partial<ColumnSource> | null {
  const numbers = samples.map((sample) => sample.trim());
  if (all(numbers, /^\d+(\.\d+)?(e[+-]?\d+)?$/i)) {
    const isBase = numbers.some((text) => Number(text) >= BASE_UNITS_MIN);
    if (!isBase) return { as: ['native-amount'] };
    return all(numbers, /^\d+$/) ? {} : { as: ['base-amount'] };
  }
  const bare = numbers.map((text) => text.replaceAll(/[^\d.,\s']/g, '').trim());
  if (!all(bare, /^\d[\d.,\s']*$/)) return null;
  const comma = bare.some((text) => /^\d{1,3}(\.\d{3})*,\d+$/.test(text) && !/^[1-9]\d{0,2}(,\d{3})+$/.test(text));
  if (comma) return { as: ['decimal-comma', 'native-amount'] };
  return bare.some((text) => text.includes(','))
    ? { as: ['thousands-comma', 'native-amount'] }
    : { as: ['native-amount'] };
}

/** Recognises prices in a national currency. Only the number is read, not the currency. */
export function acceptNationalPrice(samples: readonly string[]): Partial<ColumnSource> | null {
  const amounts = acceptAmount(samples.map((sample) => sample.replaceAll(/[^\d.,]/g, '')));
  if (!amounts) return null;
  const marks = (amounts.as ?? []).filter((conversion) => conversion.endsWith('-comma'));
  return { pattern: '(\\d[\\d.,]*)', as: [...marks, 'base-amount'] };
}
