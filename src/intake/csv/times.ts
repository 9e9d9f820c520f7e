// Converts the times in CSV cells to ISO 8601. Text that is not a time is returned unchanged. The parser of the record then rejects the
// record and quotes the text.

const DATE_TIME =
  /^(\d{4}-\d{2}-\d{2})(?:[ T](\d{2}:\d{2}(?::\d{2}(?:\.\d{1,9})?)?)(?: ?(UTC|Z|[+-]\d{2}(?::?\d{2})?))?)?$/;
const EPOCH = /^\d{1,17}(\.\d{1,9})?$/;
/** A number below this limit is epoch seconds (up to the year 5138). */
const EPOCH_SECONDS_MAX = 100_000_000_000;
/** A number from EPOCH_SECONDS_MAX up to this limit is epoch milliseconds. A larger number is epoch microseconds (from 1973 on). */
const EPOCH_MS_MAX = 100_000_000_000_000;

/** Reads a date, a date with a time, or an epoch time. Seconds and offset are optional. Without an offset the time is in UTC. */
export function toUtcTime(text: string): string {
  const [, date, time = '00:00:00', offset = 'Z'] = DATE_TIME.exec(text) ?? [];
  if (date !== undefined) return `${date}T${time}${toOffset(offset)}`;
  if (!EPOCH.test(text)) return text;
  const epoch = Number(text);
  return new Date(Math.round(toEpochMs(epoch))).toISOString();
}

/**
 * A number of days, with or without a fraction, as spreadsheets count days: 1 is 31 December 1899. The parser of the record rejects times
 * before 1970.
 */
const SPREADSHEET_DAYS = /^\d{5,7}([.,]\d{1,12})?$/;
const SPREADSHEET_EPOCH_MS = Date.UTC(1899, 11, 30);
const DAY_MS = 86_400_000;

/**
 * Reads a number of days as a time in UTC, rounded to the second. Text that is not such a number, and a time after the year 9999, is
 * returned unchanged.
 */
export function toSpreadsheetTime(text: string): string {
  if (!SPREADSHEET_DAYS.test(text)) return text;
  const seconds = Math.round((Number(text.replace(',', '.')) * DAY_MS) / 1_000);
  const time = new Date(SPREADSHEET_EPOCH_MS + seconds * 1_000);
  return time.getUTCFullYear() < 10_000 ? time.toISOString() : text;
}

function toEpochMs(epoch: number): number {
  if (epoch < EPOCH_SECONDS_MAX) return epoch * 1_000;
  return epoch < EPOCH_MS_MAX ? epoch : epoch / 1_000;
}

function toOffset(text: string): string {
  const [, sign = '', hours = '', minutes = '00'] = /^([+-])(\d{2}):?(\d{2})?$/.exec(text) ?? [];
  return sign === '' || `${hours}${minutes}` === '0000' ? 'Z' : `${sign}${hours}:${minutes}`;
}

const MONTHS = ['jan', 'feb', 'mar', 'apr', 'may', 'jun', 'jul', 'aug', 'sep', 'oct', 'nov', 'dec'];

type DatePart = 'year' | 'month' | 'day' | 'hour' | 'minute' | 'second' | 'fraction' | 'half' | 'offset';

/**
 * The parts of a time pattern, with the regular expression for the text of each part. All other characters of a pattern match themselves.
 */
const PARTS: Readonly<Record<string, readonly [part: DatePart, form: string]>> = {
  YYYY: ['year', '\\d{4}'],
  YY: ['year', '\\d{2}'],
  MMM: ['month', '[A-Za-z]{3}'],
  MM: ['month', '\\d{2}'],
  M: ['month', '\\d{1,2}'],
  DD: ['day', '\\d{2}'],
  D: ['day', '\\d{1,2}'],
  HH: ['hour', '\\d{2}'],
  H: ['hour', '\\d{1,2}'],
  mm: ['minute', '\\d{2}'],
  ss: ['second', '\\d{2}'],
  SSS: ['fraction', '\\d{1,9}'],
  A: ['half', '[AaPp][Mm]'],
  Z: ['offset', 'UTC|Z|[+-]\\d{2}:?(?:\\d{2})?'],
};

const TOKEN = /YYYY|YY|MMM|MM|M|DD|D|HH|H|mm|ss|SSS|A|Z/g;
/** Two-digit years up to this number are 2000 to 2069. Larger numbers are 1970 to 1999. */
const SHORT_YEAR_MAX = 69;

/**
 * Returns a function that reads times in a pattern such as `MM/DD/YY` or `D.M.YYYY HH:mm`. Without an offset the time is in UTC. Returns
 * null if the pattern lacks the year, month or day, or has a part twice.
 */
export function createDateReader(pattern: string): ((text: string) => string) | null {
  const parts: DatePart[] = [];
  let form = '';
  let end = 0;
  for (const { 0: token, index } of pattern.matchAll(TOKEN)) {
    const [part, partForm] = PARTS[token] ?? [];
    if (part === undefined || parts.includes(part)) return null;
    parts.push(part);
    form += `${RegExp.escape(pattern.slice(end, index))}(${partForm})`;
    end = index + token.length;
  }
  if (!(['year', 'month', 'day'] as const).every((part) => parts.includes(part))) return null;
  const expression = new RegExp(`^${form}${RegExp.escape(pattern.slice(end))}$`);
  return (text) => {
    const found = expression.exec(text.trim());
    return found ? toIsoTime(new Map(parts.map((part, index) => [part, found[index + 1] ?? '']))) : text;
  };
}

function toIsoTime(parts: ReadonlyMap<DatePart, string>): string {
  const pad = (part: DatePart) => (parts.get(part) ?? '').padStart(2, '0');
  const time = `${toHour(parts).padStart(2, '0')}:${pad('minute')}:${pad('second')}`;
  const fraction = parts.get('fraction');
  const seconds = fraction === undefined ? time : `${time}.${fraction}`;
  return `${toYear(parts)}-${toMonth(parts)}-${pad('day')}T${seconds}${toOffset(parts.get('offset') ?? 'Z')}`;
}

function toYear(parts: ReadonlyMap<DatePart, string>): string {
  const year = parts.get('year') ?? '';
  if (year.length === 4) return year;
  return Number(year) <= SHORT_YEAR_MAX ? `20${year}` : `19${year}`;
}

function toMonth(parts: ReadonlyMap<DatePart, string>): string {
  const month = parts.get('month') ?? '';
  const named = MONTHS.indexOf(month.toLowerCase());
  return named < 0 ? month.padStart(2, '0') : String(named + 1).padStart(2, '0');
}

/** The hour from 0 to 23: 12 AM is 0, and 12 PM is 12. */
function toHour(parts: ReadonlyMap<DatePart, string>): string {
  const hour = parts.get('hour') ?? '0';
  const half = parts.get('half')?.toLowerCase();
  if (half === undefined) return hour;
  return String((Number(hour) % 12) + (half === 'pm' ? 12 : 0));
}
