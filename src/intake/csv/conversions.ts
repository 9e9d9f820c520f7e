// Converts the cells of a row, which are text, to the values of a record's fields. A conversion that would have to guess rejects the row. If the
// conversion of an amount, a time, a number, a boolean or a `bytea` does not recognise the text of a cell, it returns the text unchanged. The
// parser of the record then accepts or rejects the text.

import { parseAmount, parseNativeAmount } from '../../platform/core/amount.ts';
import type { Chain } from '../../platform/core/chains.ts';
import { hasMoreValues } from '../../platform/core/json-text.ts';
import { toSlug } from '../../shop/products/slug.ts';
import { NAME_MAX, quoteValue, RecordRejected, TEXTS_MAX, URL_MAX } from '../records/fields.ts';
import type { FieldType } from '../records/kinds.ts';
import { createDateReader, toSpreadsheetTime, toUtcTime } from './times.ts';

export const CONVERSIONS = [
  'native-amount',
  'base-amount',
  'decimal-comma',
  'thousands-comma',
  'bytea',
  'utc-time',
  'spreadsheet-time',
  'lower',
  'slug',
  'number',
  'boolean',
  'list',
] as const;
export type Conversion = (typeof CONVERSIONS)[number] | DateConversion;

/** `date:` and the pattern of a time, such as `date:MM/DD/YY`. */
type DateConversion = `date:${string}`;

/** The names of all conversions, for messages. */
export const CONVERSION_NAMES = [...CONVERSIONS, 'date:PATTERN'].join(', ');

/** The conversions whose result is an amount in base units. */
export const AMOUNT_CONVERSIONS: ReadonlySet<Conversion> = new Set(['native-amount', 'base-amount']);

/** The value of a field. Null when the field is absent. */
export type FieldValue = string | number | boolean | string[] | null;

/**
 * The values of a row on which the conversion of an amount depends. `times` is the number of units by which the amount is multiplied.
 * `currency` and `times` are null unless the column map names a column for them.
 */
export type AmountTerms = { chain: Chain | undefined; currency: string | null; times: string | null };

/**
 * Returns the conversion with this name. If the name begins with `date:` and its pattern is wrong, `mistake` says what is wrong. For any
 * other unknown name, `mistake` is null.
 */
export function parseConversion(name: unknown): { conversion: Conversion } | { mistake: string | null } {
  const known = CONVERSIONS.find((conversion) => conversion === name);
  if (known) return { conversion: known };
  if (!isDateConversion(name)) return { mistake: null };
  if (createDateReader(toDatePattern(name)) !== null) return { conversion: name };
  return {
    mistake: `the pattern of a time needs a year (YYYY or YY), a month (MM, M or MMM) and a day (DD or D), and each part once, as in "date:MM/DD/YY"; it is ${quoteValue(name)}`,
  };
}

function isDateConversion(name: unknown): name is DateConversion {
  return typeof name === 'string' && name.startsWith('date:');
}

function toDatePattern(name: DateConversion): string {
  return name.slice('date:'.length);
}

/** Says what is wrong with a regular expression. Returns null if the expression is valid and has a group. */
export function checkPattern(pattern: string): string | null {
  try {
    const groups = (new RegExp(`${pattern}|`, 'u').exec('')?.length ?? 1) - 1;
    return groups > 0 ? null : 'needs a group: the part in parentheses is the value, as in "#(\\\\d+)"';
  } catch {
    return `is not a regular expression: ${quoteValue(pattern)}`;
  }
}

/** Returns a function that extracts the text of the first group. The function rejects the row if a text does not match the pattern. */
export function createExtractor(pattern: string): (text: string) => string {
  const expression = new RegExp(pattern, 'u');
  return (text) => {
    const found = expression.exec(text);
    if (!found) throw new RecordRejected(`${quoteValue(text)} does not match the pattern ${pattern}`);
    return found[1] ?? '';
  };
}

/** The longest cell of the conversions that can have long results, in characters. */
const LENGTHS_MAX: Partial<Record<Conversion, number>> = { lower: URL_MAX, list: URL_MAX };
/** The longest cell of all other conversions, in characters. The time of some conversions grows faster than the length. */
const LENGTH_MAX = NAME_MAX;

/** Returns a function that converts the text of a cell, or rejects the row. A cell that is too long is rejected before it is converted. */
export function createConversion(conversion: Conversion): (text: string, terms: AmountTerms) => FieldValue {
  const lengthMax = LENGTHS_MAX[conversion] ?? LENGTH_MAX;
  const convert = findConversion(conversion);
  return (text, terms) => {
    if (text.length > lengthMax) throw new RecordRejected(`has ${text.length} characters, more than ${lengthMax}`);
    return convert(text, terms);
  };
}

function findConversion(conversion: Conversion): (text: string, terms: AmountTerms) => FieldValue {
  if (!isDateConversion(conversion)) return CONVERT[conversion];
  const read = createDateReader(toDatePattern(conversion));
  if (!read) throw new RangeError(`${conversion} was not checked`);
  return read;
}

const CONVERT: Record<(typeof CONVERSIONS)[number], (text: string, terms: AmountTerms) => FieldValue> = {
  'native-amount': (text, terms) => toBaseUnits(text, terms, terms.chain?.decimals ?? null),
  'base-amount': (text, terms) => toBaseUnits(text, terms, 0),
  'decimal-comma': (text) => toDecimalPoint(text, DECIMAL_COMMA, 'a decimal comma'),
  'thousands-comma': (text) => toDecimalPoint(text, THOUSANDS_COMMA, 'commas between thousands'),
  bytea: (text) => (/^\\x[0-9a-f]*$/i.test(text) ? `0x${text.slice(2)}` : text),
  'utc-time': toUtcTime,
  'spreadsheet-time': toSpreadsheetTime,
  lower: (text) => text.toLowerCase(),
  slug: toSlug,
  number: (text) => toFieldType('number', text),
  boolean: (text) => toFieldType('boolean', text),
  list: toList,
};

const NUMBER = /^-?(0|[1-9]\d*)(\.\d+)?([eE][+-]?\d+)?$/;
const BOOLEANS: ReadonlyMap<string, boolean> = new Map([
  ['true', true],
  ['1', true],
  ['false', false],
  ['0', false],
]);

/** Converts text to the type of its field. If the text is not of this type, it is returned unchanged. */
export function toFieldType(type: FieldType, text: string): string | number | boolean {
  if (type === 'number') return NUMBER.test(text) ? Number(text) : text;
  if (type === 'boolean') return BOOLEANS.get(text.toLowerCase()) ?? text;
  return text;
}

/**
 * A number, and the text before and after the number, such as a currency. Both texts may be empty. The number begins with a character that the text
 * before it cannot have, so that the time of a match is linear.
 */
const WITH_CURRENCY = /^([^\d.,]*)([\d.,](?:[\d.,\s'’]*\d)?)([^\d.,]*)$/u;
const DECIMAL_COMMA = { form: /^(?:\d{1,3}(?:([.\s'’])\d{3})(?:\1\d{3})*|\d+)(?:,\d+)?$/u, thousands: /[.\s'’]/gu };
const THOUSANDS_COMMA = { form: /^(?:\d{1,3}(?:,\d{3})+|\d+)(?:\.\d+)?$/u, thousands: /,/gu };

/** Rejects the row if the number does not match `form`. For example, in a file with decimal commas `1.5` could mean 1.5 or 15. */
function toDecimalPoint(text: string, { form, thousands }: { form: RegExp; thousands: RegExp }, what: string): string {
  const [, before = '', number = '', after = ''] = WITH_CURRENCY.exec(text.trim()) ?? [];
  if (!form.test(number)) throw new RecordRejected(`${quoteValue(text)} is not a number with ${what}`);
  return `${before}${number.replaceAll(thousands, '').replace(',', '.')}${after}`;
}

/**
 * A number such as `1.5` or `15e-1`, and the text before and after it. The number begins and ends with a character that these texts cannot have, so
 * that the time of a match is linear.
 */
const WITH_UNIT = /^([^\d.]*)([\d.](?:\S*[\d.])?)([^\d.]*)$/u;

/** Names and signs that a native currency has besides its symbol. The key is the symbol. */
const SIGNS: Readonly<Record<string, readonly string[]>> = { ETH: ['Ξ', 'ETHER'], SOL: ['◎'] };

/**
 * Converts an amount in the native currency to base units. One unit of the written amount has 10 to the power of `decimals` base units. An
 * amount in a currency that is not native is returned with the name of this currency. Text that is not an exact amount is returned
 * unchanged. In both cases a sale is stored without a native price, and `/v1` does not serve the sale. An integer whose base units exceed the
 * largest amount is never returned unchanged, because the parser of the record would read it as base units. Its row is rejected.
 */
function toBaseUnits(text: string, { chain, currency, times }: AmountTerms, decimals: number | null): string {
  if (!chain || decimals === null) return text;
  const written = text.trim();
  const [, before = '', number = written, after = ''] = WITH_UNIT.exec(written) ?? [];
  const isNative = (name: string) => isNativeCurrency(chain, name);
  if (currency === '') return `${written} (unknown currency)`;
  if (currency !== null && !isNative(currency)) return `${written} ${currency}`;
  if ([before, after].some((name) => name.trim() !== '' && !isNative(name))) return text;
  const raw = parseNativeAmount(number, decimals);
  if (raw !== null) return multiply(raw, times).toString();
  if (parseAmount(number) === null) return text;
  throw new RecordRejected(`${quoteValue(text)} ${chain.symbol} is more than the largest amount`);
}

/** Whether a name or address means the native currency of the chain, or its wrapped form. */
function isNativeCurrency(chain: Chain, name: string): boolean {
  const written = name.trim().toUpperCase();
  const symbols = [chain.symbol, ...chain.formerSymbols];
  const names = symbols.flatMap((symbol) => [symbol, `W${symbol}`, ...(SIGNS[symbol] ?? [])]);
  return names.includes(written) || isNativeAddress(chain, name.trim());
}

const ZERO_ADDRESS = /^0x0{40}$/;

function isNativeAddress({ family, wrappedNative }: Chain, text: string): boolean {
  if (family === 'solana') return text === wrappedNative;
  return ZERO_ADDRESS.test(text) || text.toLowerCase() === wrappedNative;
}

function multiply(raw: bigint, times: string | null): bigint {
  if (times === null || times.trim() === '') return raw;
  const units = parseNativeAmount(times.trim(), 0);
  if (units === null || units === 0n) {
    throw new RecordRejected(`the number of units must be an integer from 1, not ${quoteValue(times)}`);
  }
  const total = parseAmount((raw * units).toString());
  return total ?? rejectTotal(raw, units);
}

function rejectTotal(raw: bigint, units: bigint): never {
  throw new RecordRejected(`${raw} times ${units} is more than the largest amount`);
}

/** Reads a JSON array of texts or integers. Other text is split at commas, semicolons, vertical bars and line breaks. */
function toList(text: string): string[] {
  if (!text.trim().startsWith('[')) {
    return text
      .split(/[,;|\n]/u)
      .map((value) => value.trim())
      .filter((value) => value !== '');
  }
  if (hasMoreValues(text, TEXTS_MAX)) throw new RecordRejected(`has more than ${TEXTS_MAX} elements`);
  // Numbers keep their literal text, because a double would round a long token id.
  const keepLiteral = (_key: string, value: unknown, context?: { source?: string }) =>
    typeof value === 'number' ? context?.source : value;
  try {
    const values: unknown = JSON.parse(text, keepLiteral);
    if (Array.isArray(values) && values.every((value) => typeof value === 'string')) return values;
  } catch {
    // The text is not JSON: rejected below.
  }
  throw new RecordRejected(`${quoteValue(text)} is not a list of texts`);
}
