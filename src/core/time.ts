// Parses the times of requests and records: ISO 8601 with a time zone. `Date.parse` alone accepts many other forms, and reads some of them
// as local time.

const TIME = /^(\d{4}-\d{2}-\d{2})T(\d{2}:\d{2})(?::(\d{2})(?:\.(\d{1,9}))?)?(Z|[+-]\d{2}:\d{2})$/;
const DAY_MS = 86_400_000;

/** In milliseconds since the epoch. Null when the text has another form, is not a real date, or is before 1970 or after 9999. */
export function parseTime(text: string): number | null {
  const [, date, minutes, seconds = '00', fraction = '', offset] = TIME.exec(text) ?? [];
  if (date === undefined) return null;
  const local = Date.parse(`${date}T${minutes}:${seconds}.${fraction.slice(0, 3).padEnd(3, '0')}Z`);
  // Date.parse turns 30 February into 2 March, so the date that comes back is compared.
  if (Number.isNaN(local) || new Date(local).toISOString().slice(0, 10) !== date) return null;
  const ms = offset === 'Z' ? local : local - toOffsetMs(offset ?? '');
  return ms >= 0 && ms < Date.UTC(10_000, 0, 1) ? ms : null;
}

function toOffsetMs(offset: string): number {
  const ms = (Number(offset.slice(1, 3)) * 60 + Number(offset.slice(4, 6))) * 60_000;
  if (ms >= DAY_MS || Number(offset.slice(4, 6)) > 59) return Number.NaN;
  return offset.startsWith('-') ? -ms : ms;
}
