// The result of one check of `mercat doctor`.

/** `--json` prints objects with these fields. `mend` says how to correct the problem; it is null if the level is `ok`. */
export type DoctorFinding = { name: string; level: 'ok' | 'warn' | 'fail'; message: string; mend: string | null };

export function ok(name: string, message: string): DoctorFinding {
  return { name, level: 'ok', message, mend: null };
}

export function warn(name: string, message: string, correction: string): DoctorFinding {
  return { name, level: 'warn', message, mend: correction };
}

export function fail(name: string, message: string, correction: string): DoctorFinding {
  return { name, level: 'fail', message, mend: correction };
}

/**
 * The check of a clock fails if the clock is wrong by this time or more. With such a clock, listings expire too early or too late. Receivers of
 * webhooks may reject deliveries, because the signature of a delivery includes a time of the clock.
 */
export const CLOCK_FAIL_MS = 30_000;
