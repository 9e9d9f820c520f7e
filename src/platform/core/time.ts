// Times in ISO 8601. The times of requests and records are parsed strictly: `Date.parse` accepts many other forms, and reads some of them as
// local time.

const TIME = /^(\d{4})-(\d{2})-(\d{2})T(\d{2}):(\d{2})(?::(\d{2})(?:\.(\d{1,9}))?)?(Z|[+-]\d{2}:\d{2})$/;
const DAY_MS = 86_400_000;
const DAYS_OF_MONTHS = [31, 29, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31];
/** `Date.UTC` reads smaller years as years of the 20th century. */
const YEAR_MIN = 100;

/** In milliseconds since the epoch. Null when the text does not match TIME, is not a real date, or is before 1970 or after 9999. */
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

const DAYS_MAX = 4_096;
const TWO_DIGITS = Array.from({ length: 60 }, (_, number) => String(number).padStart(2, '0'));
const THREE_DIGITS = Array.from({ length: 1_000 }, (_, number) => String(number).padStart(3, '0'));
/** The beginning of an ISO text, up to and including the `T`, for each day. The key is the number of the day since the epoch. */
const dayTexts = new Map<number, string>();

/**
 * The time in ISO 8601, as `toISOString` writes it. This function is faster, because it caches the texts of days: the rows of a page have few
 * different days. `ms` is a whole number and a time that `Date` can represent.
 */
export function toIsoText(ms: number): string {
  const day = Math.floor(ms / DAY_MS);
  const second = Math.floor((ms - day * DAY_MS) / 1_000);
  const minute = Math.floor(second / 60);
  const hour = Math.floor(minute / 60);
  const clock = `${TWO_DIGITS[hour]}:${TWO_DIGITS[minute - hour * 60]}:${TWO_DIGITS[second - minute * 60]}`;
  return `${toDayText(day)}${clock}.${THREE_DIGITS[ms - day * DAY_MS - second * 1_000]}Z`;
}

function toDayText(day: number): string {
  const known = dayTexts.get(day);
  if (known !== undefined) return known;
  const text = new Date(day * DAY_MS).toISOString();
  const made = text.slice(0, text.indexOf('T') + 1);
  if (dayTexts.size >= DAYS_MAX) dayTexts.clear();
  dayTexts.set(day, made);
  return made;
}
