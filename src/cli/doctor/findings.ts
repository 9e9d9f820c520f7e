// What `mercat doctor` finds: a word on one thing, how bad it is, and what to do about it.

export type DoctorFinding = { name: string; level: 'ok' | 'warn' | 'fail'; message: string; mend: string | null };

export function ok(name: string, message: string): DoctorFinding {
  return { name, level: 'ok', message, mend: null };
}

export function warn(name: string, message: string, mend: string): DoctorFinding {
  return { name, level: 'warn', message, mend };
}

export function fail(name: string, message: string, mend: string): DoctorFinding {
  return { name, level: 'fail', message, mend };
}

/** A clock that is further off than this breaks what depends on it. */
export const CLOCK_FAIL_MS = 30_000;
