// One thing that is read and may fail on its own: a deadline around every read, and a circuit breaker over all of them.
// Failure is a value here, never an exception, so that a read that combines sources can answer with what it knows.

import type { Log } from '../core/log.ts';

export type Result<T> = { ok: true; value: T } | { ok: false; reason: 'timeout' | 'error' | 'open' };

export type SourceState = 'closed' | 'open';

export type Source = {
  readonly name: string;
  readonly timeoutMs: number;
  /**
   * Runs `work` unless the breaker is open, for `leftMs` at most where that is less than the source's deadline. Resolves
   * within it, whatever `work` does, and never rejects.
   */
  read<T>(work: Work<T>, leftMs?: number): Promise<Result<T>>;
  state(): SourceState;
  /** Stops the retry timer. */
  close(): void;
};

type Work<T> = (timeoutMs: number) => Promise<T>;

export type SourceOptions = {
  name: string;
  timeoutMs: number;
  log: Log;
  /** How long the breaker stays open before a read is tried again. */
  retryMs?: number;
};

/** Consecutive failures that open the breaker. */
export const FAILURES_MAX = 3;
const RETRY_MS = 1_000;
/** Retries are spread by this share of the period, so that many nodes do not ask at once. */
const RETRY_JITTER = 0.2;

/**
 * While the breaker is open no caller pays for the outage: reads fail at once, and the one that was wanted last is tried in
 * the background, once a period, until one succeeds. So a source that comes back is used again without a restart and without
 * a caller that waits for the trial; and one read that always fails does not keep the others from it.
 */
export function createSource(options: SourceOptions): Source {
  const { name, timeoutMs, log, retryMs = RETRY_MS } = options;
  let failures = 0;
  /** Set while the breaker is open, a trial under way included. */
  let retry: NodeJS.Timeout | null = null;
  let wanted: Work<unknown> = () => Promise.resolve();
  let closed = false;

  const settle = (ok: boolean) => {
    if (ok) {
      if (retry) log.info('a source is back', { source: name });
      failures = 0;
      stopRetrying();
      return;
    }
    failures += 1;
    if (failures < FAILURES_MAX || retry || closed) return;
    log.warn('a source is given a rest after repeated failures', { source: name, failures });
    scheduleTrial();
  };

  const scheduleTrial = () => {
    const jitterMs = retryMs * RETRY_JITTER * (2 * Math.random() - 1);
    const timer = setTimeout(() => void tryAgain(timer), retryMs + jitterMs);
    retry = timer.unref();
  };

  const tryAgain = async (timer: NodeJS.Timeout) => {
    const reading = await attempt(wanted, timeoutMs);
    // A read that was under way when the breaker opened may have closed it in the meantime.
    if (retry !== timer) return;
    if (reading.ok) settle(true);
    else scheduleTrial();
  };

  const stopRetrying = () => {
    if (retry) clearTimeout(retry);
    retry = null;
  };

  const attempt = async <T>(work: Work<T>, leftMs: number): Promise<Result<T>> => {
    const reading = await withDeadline(work, leftMs);
    if (reading.ok) return reading;
    // While the breaker is open only its opening and its closing are news.
    const level = retry ? 'debug' : 'warn';
    log[level]('a source failed', { source: name, reason: reading.reason, error: reading.error });
    return { ok: false, reason: reading.reason };
  };

  return {
    name,
    timeoutMs,
    state: () => (retry ? 'open' : 'closed'),
    read: async (work, leftMs = timeoutMs) => {
      if (!closed) wanted = work;
      if (retry) return { ok: false, reason: 'open' };
      const reading = await attempt(work, Math.min(leftMs, timeoutMs));
      settle(reading.ok);
      return reading;
    },
    close: () => {
      closed = true;
      stopRetrying();
    },
  };
}

type Attempt<T> = { ok: true; value: T } | { ok: false; reason: 'timeout' | 'error'; error?: unknown };

async function withDeadline<T>(work: Work<T>, timeoutMs: number): Promise<Attempt<T>> {
  const { promise: deadline, resolve } = Promise.withResolvers<Attempt<T>>();
  const timer = setTimeout(() => resolve({ ok: false, reason: 'timeout' }), timeoutMs);
  const result = Promise.try(work, timeoutMs).then(
    (value): Attempt<T> => ({ ok: true, value }),
    (error: unknown): Attempt<T> => ({ ok: false, reason: 'error', error }),
  );
  try {
    return await Promise.race([result, deadline]);
  } finally {
    clearTimeout(timer);
  }
}
