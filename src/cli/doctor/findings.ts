// The result of one check of `mercat doctor`.

/** Names are part of --json. `mend` is how to correct it; null where nothing has to be corrected. */
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

/** A clock that differs by more breaks signatures, tokens and expiry times. */
export const CLOCK_FAIL_MS = 30_000;
