// Parses the times of requests and records: ISO 8601 with a time zone. `Date.parse` accepts many other forms, and reads some of them as local
// time.

const TIME = /^(\d{4})-(\d{2})-(\d{2})T(\d{2}):(\d{2})(?::(\d{2})(?:\.(\d{1,9}))?)?(Z|[+-]\d{2}:\d{2})$/;
const DAY_MS = 86_400_000;
const DAYS_OF_MONTHS = [31, 29, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31];
/** `Date.UTC` reads smaller years as years of the 20th century. */
const YEAR_MIN = 100;

/** In milliseconds since the epoch. Null when the text has another form, is not a real date, or is before 1970 or after 9999. */
export function parseTime(text: string): number | null {
  const parts = TIME.exec(text);
  if (parts === null) return null;
  const [year, month, day] = [Number(parts[1]), Number(parts[2]), Number(parts[3])];
  const [hour, minute, second] = [Number(parts[4]), Number(parts[5]), Number(parts[6] ?? 0)];
  const isTime = hour <= 23 && minute <= 59 && second <= 59;
  if (!isTime || year < YEAR_MIN || !isDate(year, month, day)) return null;
  const [fraction = '', offset = ''] = [parts[7], parts[8]];
  const fractionMs = fraction === '' ? 0 : Number(fraction.slice(0, 3).padEnd(3, '0'));
  const local = Date.UTC(year, month - 1, day, hour, minute, second, fractionMs);
  const ms = offset === 'Z' ? local : local - toOffsetMs(offset);
  return ms >= 0 && ms < Date.UTC(10_000, 0, 1) ? ms : null;
}

function isDate(year: number, month: number, day: number): boolean {
  if (day < 1 || day > (DAYS_OF_MONTHS[month - 1] ?? 0)) return false;
  return month !== 2 || day < 29 || (year % 4 === 0 && (year % 100 !== 0 || year % 400 === 0));
}

function toOffsetMs(offset: string): number {
  const ms = (Number(offset.slice(1, 3)) * 60 + Number(offset.slice(4, 6))) * 60_000;
  if (ms >= DAY_MS || Number(offset.slice(4, 6)) > 59) return Number.NaN;
  return offset.startsWith('-') ? -ms : ms;
}
