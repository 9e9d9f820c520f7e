// Runs the webhook worker until it is told to stop: on a period, soon when something happened, and at once when a send has made
// room. A failed turn is logged once, and tried again at the next.

import type { Clock } from '../../core/clock.ts';
import type { Database } from '../../database/port.ts';
import type { Log } from '../../core/log.ts';
import { createSender } from './sender.ts';
import { createWebhookWorker } from './dispatcher.ts';

export type WebhooksOptions = { main: Database; clock: Clock; log: Log; allowPrivate: boolean; periodMs?: number };

export type Webhooks = {
  /** Something happened: look soon. Cheap, and safe at any time. */
  nudge(): void;
  /** Waits a moment for sends that are under way. */
  stop(): Promise<void>;
};

/** Bounds how late a retry is, and an event that another process recorded. */
const PERIOD_MS = 1_000;
/** The least time between turns that nudges ask for: a busy shop must not make the worker ask without a pause. */
const NUDGE_GAP_MS = 25;
/** How long sends may make room before more are claimed: a turn for several costs as much as a turn for one. */
const FREE_GAP_MS = 4;

export function startWebhooks(options: WebhooksOptions): Webhooks {
  const { log, periodMs = PERIOD_MS } = options;
  const sender = createSender({ allowPrivate: options.allowPrivate });
  const worker = createWebhookWorker({ ...options, sender, onFree: () => want(performance.now() + FREE_GAP_MS) });
  const stop = new AbortController();
  let hasFailed = false;
  let turnedAt = 0;
  let lookedAt = 0;
  let hasNews = true;
  let nextAt = 0;
  let wake = () => undefined as void;
  const ended = loop();

  return {
    nudge: () => {
      hasNews = true;
      want(turnedAt + NUDGE_GAP_MS);
    },
    stop: async () => {
      stop.abort();
      wake();
      await ended;
      await worker.close();
    },
  };

  /** After a failure only the period counts: whoever asks must not make the worker spin. */
  function want(atMs: number): void {
    if (hasFailed || atMs >= nextAt) return;
    nextAt = atMs;
    wake();
  }

  async function loop(): Promise<void> {
    while (!stop.signal.aborted) {
      turnedAt = performance.now();
      const looks = hasNews || turnedAt - lookedAt >= periodMs;
      if (looks) lookedAt = turnedAt;
      hasNews = false;
      nextAt = lookedAt + periodMs;
      try {
        await worker.turn(looks);
        hasFailed = false;
      } catch (error) {
        if (!hasFailed) log.warn('webhooks cannot be delivered now', { error });
        hasFailed = true;
        nextAt = turnedAt + periodMs;
      }
      while (!stop.signal.aborted && performance.now() < nextAt) await rest(nextAt - performance.now());
    }
  }

  async function rest(ms: number): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<void>();
    // Time has gone on since the caller looked.
    const timer = setTimeout(resolve, Math.max(0, ms));
    timer.unref();
    wake = resolve;
    await promise;
    clearTimeout(timer);
  }
}
