// Formats times and durations. Pages display local times and ages. Only `formatUtc` returns a time in UTC.

const SECOND_MS = 1_000;
const DAY_MS = 86_400 * SECOND_MS;
const UNITS = [
  { name: 'y', ms: 365 * 86_400 * SECOND_MS },
  { name: 'mo', ms: 30 * 86_400 * SECOND_MS },
  { name: 'd', ms: 86_400 * SECOND_MS },
  { name: 'h', ms: 3_600 * SECOND_MS },
  { name: 'min', ms: 60 * SECOND_MS },
] as const;

const clockTime = new Intl.DateTimeFormat('en', {
  hour: '2-digit',
  minute: '2-digit',
  second: '2-digit',
  hour12: false,
});
const localTime = new Intl.DateTimeFormat('en', { dateStyle: 'medium', timeStyle: 'short', hour12: false });

const monthTick = new Intl.DateTimeFormat('en', { month: 'short', year: 'numeric' });
const dayTick = new Intl.DateTimeFormat('en', { month: 'short', day: 'numeric' });
const clockTick = new Intl.DateTimeFormat('en', { hour: '2-digit', minute: '2-digit', hourCycle: 'h23' });

/**
 * Formats a tick of an axis whose ticks are `stepMs` apart: as a month, as a day, or as a time of day. Among times of day, a tick at midnight is
 * formatted as a day, unless the ticks are less than a minute apart.
 */
export function formatTick(ms: number, stepMs: number): string {
  if (stepMs >= 28 * DAY_MS) return monthTick.format(ms);
  const date = new Date(ms);
  if (stepMs < 60 * SECOND_MS) return clockTime.format(date);
  const isMidnight = date.getHours() === 0 && date.getMinutes() === 0;
  return (stepMs >= DAY_MS || isMidnight ? dayTick : clockTick).format(date);
}

/** The age of a time, such as `now`, `5 min` and `3 d`. */
export function formatAge(at: string, now: number): string {
  const age = now - Date.parse(at);
  const unit = UNITS.find(({ ms }) => age >= ms);
  return unit ? `${Math.floor(age / unit.ms)} ${unit.name}` : 'now';
}

/** The time until `at`, such as `3 d`. */
export function formatRemaining(at: string, now: number): string {
  const remaining = Date.parse(at) - now;
  const unit = UNITS.find(({ ms }) => remaining >= ms);
  return unit ? `${Math.floor(remaining / unit.ms)} ${unit.name}` : '<1 min';
}

/** Formats a period exactly, such as `2 min` and `75 s`: in hours or minutes if the period is a whole number of them, otherwise in seconds. */
export function formatPeriod(seconds: number): string {
  if (seconds % 3_600 === 0) return `${seconds / 3_600} h`;
  return seconds % 60 === 0 ? `${seconds / 60} min` : `${seconds} s`;
}

/** How long something has lasted, in the largest unit, such as `1 h` and `45 s`. */
export function formatElapsed(seconds: number): string {
  const unit = UNITS.find(({ ms }) => seconds * SECOND_MS >= ms);
  return unit ? `${Math.floor((seconds * SECOND_MS) / unit.ms)} ${unit.name}` : `${seconds} s`;
}

export function formatClock(ms: number): string {
  return clockTime.format(ms);
}

export function formatLocal(at: string): string {
  return localTime.format(new Date(at));
}

/** Formats a time in UTC, such as `2026-11-22 18:39:39 UTC`. */
export function formatUtc(at: string): string {
  return `${new Date(at).toISOString().slice(0, 19).replace('T', ' ')} UTC`;
}
