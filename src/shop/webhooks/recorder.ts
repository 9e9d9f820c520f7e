// Records what came of tries, many in one transaction: while one is being committed the next outcomes gather. It also judges
// the receivers: who works, who fails, who is disabled.

import type { Clock } from '../../core/clock.ts';
import type { Database, Statements } from '../../database/port.ts';
import type { Attempt, ClaimedDelivery } from '../queries/deliveries.ts';
import { updateAttempts } from '../queries/deliveries.ts';
import { updateWebhookHealth } from '../queries/webhooks.ts';
import type { Outcome } from './delivery.ts';
import { judgeOutcome } from './delivery.ts';
import { FAILING_MAX_MS } from './retry-schedule.ts';
import type { Log } from '../../core/log.ts';

export type RecorderOptions = { main: Database; clock: Clock; log: Log; random?: () => number };

export type Recorder = {
  /** Resolves when it is committed. */
  record(delivery: ClaimedDelivery, outcome: Outcome): Promise<void>;
};

type Entry = { attempt: Attempt; webhookId: string; wasFailing: boolean; isGone: boolean };

const BATCH_SIZE_MAX = 200;
/** A statement or transaction of the worker that is not answered by then is given up: far shorter than a lease. */
export const STATEMENT_TIMEOUT_MS = 10_000;
const GONE_REASON = 'The receiver answered 410 Gone.';
const FAILING_REASON = 'No delivery has succeeded for five days.';

export function createRecorder({ main, clock, log, random = Math.random }: RecorderOptions): Recorder {
  let waiting: { entry: Entry; resolve: () => void; reject: (error: unknown) => void }[] = [];
  let writing = false;

  const write = async () => {
    writing = true;
    while (waiting.length > 0) {
      const batch = waiting.slice(0, BATCH_SIZE_MAX);
      waiting = waiting.slice(BATCH_SIZE_MAX);
      try {
        const entries = batch.map(({ entry }) => entry);
        const disabled = await writeEntries(main.within(STATEMENT_TIMEOUT_MS), entries, clock());
        for (const webhook of disabled) log.warn('a webhook was disabled', { webhook });
        for (const { resolve } of batch) resolve();
      } catch (error) {
        for (const { reject } of batch) reject(error);
      }
    }
    writing = false;
  };

  return {
    record: (delivery, outcome) => {
      const now = clock();
      const { id, claims, attempts, webhookId, isFailing } = delivery;
      const verdict = judgeOutcome(outcome, { attempts, now, random: random() });
      const { state, dueAt, error, isGone } = verdict;
      const attempt = {
        id,
        claims,
        state,
        dueAt,
        at: now,
        status: outcome.status,
        error,
        durationMs: outcome.durationMs,
      };
      const { promise, resolve, reject } = Promise.withResolvers<void>();
      waiting.push({ entry: { attempt, webhookId, wasFailing: isFailing, isGone }, resolve, reject });
      if (!writing) void write();
      return promise;
    },
  };
}

/** Returns the subscriptions that were disabled. */
async function writeEntries(main: Statements, entries: readonly Entry[], now: number): Promise<string[]> {
  const attempts = entries.map(({ attempt }) => attempt);
  const isDelivered = ({ attempt }: Entry) => attempt.state === 'delivered';
  const succeeded = new Set(entries.filter(isDelivered).map(({ webhookId }) => webhookId));
  const failed = new Set(entries.filter((entry) => !isDelivered(entry)).map(({ webhookId }) => webhookId));
  const gone = entries.filter(({ isGone }) => isGone).map(({ webhookId }) => webhookId);
  // One success among the tries of a moment shows that the receiver works.
  const failing = [...failed].filter((id) => !succeeded.has(id));
  const mended = new Set(entries.filter(({ wasFailing }) => wasFailing).map(({ webhookId }) => webhookId));
  const healed = [...succeeded].filter((id) => mended.has(id));
  if (failing.length === 0 && gone.length === 0 && healed.length === 0) {
    await updateAttempts(main, attempts);
    return [];
  }
  return main.transaction(async (tx) => {
    // The subscription before its deliveries, as who deletes it locks them: neither waits for the other.
    const disabled = await updateWebhookHealth(tx, {
      succeeded: healed,
      failed: failing,
      gone,
      goneReason: GONE_REASON,
      failingBefore: now - FAILING_MAX_MS,
      failingReason: FAILING_REASON,
      now,
    });
    await updateAttempts(tx, attempts);
    return disabled;
  });
}
