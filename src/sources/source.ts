// One thing that is read and may fail on its own: a deadline around every read, and a circuit breaker over all of them.
// Failure is a value here, never an exception, so that a read that combines sources can answer with what it knows.

import type { Log } from '../log.ts';

export type Reading<T> = { ok: true; value: T } | { ok: false; reason: 'timeout' | 'error' | 'open' };

export type SourceState = 'closed' | 'open';

export type Source = {
  readonly name: string;
  /** Runs `work` unless the breaker is open. Resolves within the deadline, whatever `work` does, and never rejects. */
  read<T>(work: (timeoutMs: number) => Promise<T>): Promise<Reading<T>>;
  state(): SourceState;
  /** Stops the retry timer. */
  close(): void;
};

export type SourceOptions = {
  name: string;
  timeoutMs: number;
  log: Log;
  /** How long the breaker stays open before the failed read is tried again. */
  retryMs?: number;
};

/** Consecutive failures that open the breaker. */
export const FAILURES_MAX = 3;
const RETRY_MS = 1_000;
/** Retries are spread by this share of the period, so that many nodes do not ask at once. */
const RETRY_JITTER = 0.2;

/**
 * While the breaker is open no caller pays for the outage: reads fail at once, and the last failed read is repeated in the
 * background, once a period, until it succeeds. So a source that comes back is used again without a restart and without
 * a caller that waits for the trial.
 */
export function createSource(options: SourceOptions): Source {
  const { name, timeoutMs, log, retryMs = RETRY_MS } = options;
  let failures = 0;
  let timer: NodeJS.Timeout | null = null;
  let trial: (timeoutMs: number) => Promise<unknown> = () => Promise.resolve();
  let closed = false;

  const settle = (reading: Reading<unknown>) => {
    if (reading.ok) {
      if (timer) log.info('a source is back', { source: name });
      failures = 0;
      if (timer) clearTimeout(timer);
      timer = null;
      return;
    }
    failures += 1;
    if (failures >= FAILURES_MAX && !timer && !closed) {
      log.warn('a source is given a rest after repeated failures', { source: name, failures });
      schedule();
    }
  };

  const schedule = () => {
    const jitterMs = retryMs * RETRY_JITTER * (2 * Math.random() - 1);
    timer = setTimeout(() => {
      void attempt(trial).then((reading) => {
        if (closed || reading.ok) settle(reading);
        else schedule();
      });
    }, retryMs + jitterMs);
    timer.unref();
  };

  const attempt = async <T>(work: (timeoutMs: number) => Promise<T>): Promise<Reading<T>> => {
    const reading = await withDeadline(work, timeoutMs);
    if (reading.ok) return reading;
    // While the breaker is open only its opening and its closing are news.
    const level = timer ? 'debug' : 'warn';
    log[level]('a source failed', { source: name, reason: reading.reason, error: reading.error });
    return { ok: false, reason: reading.reason };
  };

  return {
    name,
    state: () => (timer ? 'open' : 'closed'),
    read: async (work) => {
      if (timer) return { ok: false, reason: 'open' };
      const reading = await attempt(work);
      if (!reading.ok) trial = work;
      settle(reading);
      return reading;
    },
    close: () => {
      closed = true;
      if (timer) clearTimeout(timer);
      timer = null;
    },
  };
}

type Attempt<T> = { ok: true; value: T } | { ok: false; reason: 'timeout' | 'error'; error?: unknown };

async function withDeadline<T>(work: (timeoutMs: number) => Promise<T>, timeoutMs: number): Promise<Attempt<T>> {
  let timer: NodeJS.Timeout | undefined;
  const deadline = new Promise<Attempt<T>>((resolve) => {
    timer = setTimeout(() => resolve({ ok: false, reason: 'timeout' }), timeoutMs);
  });
  const result = work(timeoutMs).then(
    (value): Attempt<T> => ({ ok: true, value }),
    (error: unknown): Attempt<T> => ({ ok: false, reason: 'error', error }),
  );
  try {
    return await Promise.race([result, deadline]);
  } finally {
    clearTimeout(timer);
  }
}
