// Records the results of attempts to send deliveries, and the health of the webhooks. Results that arrive during a write are written
// together in the next batch.

import type { Clock } from '../../platform/core/clock.ts';
import type { Database, Queryable } from '../../platform/database/port.ts';
import type { Attempt, ClaimedDelivery } from '../queries/deliveries.ts';
import { updateAttempts } from '../queries/deliveries.ts';
import { listWebhookHealthForUpdate, updateWebhookHealth } from '../queries/webhooks.ts';
import type { AttemptResult } from './attempt.ts';
import { judgeAttempt } from './attempt.ts';
import type { HealthSign } from './health.ts';
import { combineSigns, judgeHealth, toHealthSign } from './health.ts';
import type { Log } from '../../platform/core/log.ts';
import type { Random } from '../../platform/core/random.ts';

export type RecorderOptions = {
  main: Database;
  clock: Clock;
  log: Log;
  /** Returns numbers of at least 0 and less than 1. */
  random: Random;
};

type Entry = { attempt: Attempt; webhookId: string; wasFailing: boolean; sign: HealthSign };
type PendingEntry = { entry: Entry; resolve: () => void; reject: (error: unknown) => void };

const BATCH_SIZE_MAX = 200;
/** The deadline of each statement and transaction of webhook workers. It must be much shorter than a lease. */
export const WEBHOOK_STATEMENT_TIMEOUT_MS = 10_000;

export class AttemptRecorder {
  readonly #options: RecorderOptions;
  #pending: PendingEntry[] = [];
  #isWriting = false;

  constructor(options: RecorderOptions) {
    this.#options = options;
  }

  /** Records an attempt that has just ended. Resolves after the commit. Rejects if the record could not be written. */
  record(delivery: ClaimedDelivery, result: AttemptResult): Promise<void> {
    const now = this.#options.clock();
    const { id, claims, attempts, webhookId, isFailing } = delivery;
    const verdict = judgeAttempt(result, { attempts, now, random: this.#options.random });
    const attempt = { id, claims, at: now, status: result.status, durationMs: result.durationMs, ...verdict };
    const entry = { attempt, webhookId, wasFailing: isFailing, sign: toHealthSign(result) };
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    this.#pending.push({ entry, resolve, reject });
    if (!this.#isWriting) void this.#writePending();
    return promise;
  }

  async #writePending(): Promise<void> {
    this.#isWriting = true;
    while (this.#pending.length > 0) await this.#writeBatch(this.#pending.splice(0, BATCH_SIZE_MAX));
    this.#isWriting = false;
  }

  async #writeBatch(batch: readonly PendingEntry[]): Promise<void> {
    const { main, clock, log } = this.#options;
    const entries = batch.map(({ entry }) => entry);
    const attempts = entries.map(({ attempt }) => attempt);
    const signs = signsByWebhook(entries);
    try {
      const statements = main.within(WEBHOOK_STATEMENT_TIMEOUT_MS);
      if (signs.size === 0) await updateAttempts(statements, attempts);
      else {
        const disabled = await statements.transaction(async (tx) => {
          // Webhooks are locked before deliveries. The deletion of a webhook locks in the same order, so it cannot deadlock with this
          // transaction.
          const ids = await recordHealth(tx, signs, clock());
          await updateAttempts(tx, attempts);
          return ids;
        });
        for (const webhook of disabled) log.warn('a webhook was disabled', { webhook });
      }
      for (const { resolve } of batch) resolve();
    } catch (error) {
      for (const { reject } of batch) reject(error);
    }
  }
}

/** One combined health sign (health.ts) for each webhook whose health may change. A success changes only the health of a failing webhook. */
function signsByWebhook(entries: readonly Entry[]): Map<string, HealthSign> {
  const signs = new Map<string, HealthSign>();
  const failing = new Set(entries.filter(({ wasFailing }) => wasFailing).map(({ webhookId }) => webhookId));
  for (const { webhookId, sign } of entries) {
    const earlier = signs.get(webhookId);
    signs.set(webhookId, earlier ? combineSigns(earlier, sign) : sign);
  }
  return new Map([...signs].filter(([id, sign]) => sign !== 'works' || failing.has(id)));
}

/** Updates the health of the webhooks. Returns the ids of the webhooks that were disabled. */
async function recordHealth(tx: Queryable, signs: ReadonlyMap<string, HealthSign>, now: number): Promise<string[]> {
  const webhooks = await listWebhookHealthForUpdate(tx, [...signs.keys()]);
  const changes = webhooks.flatMap((webhook) => {
    const sign = signs.get(webhook.id);
    const change = sign ? judgeHealth(webhook, sign, now) : null;
    return change ? [{ id: webhook.id, ...change }] : [];
  });
  if (changes.length > 0) await updateWebhookHealth(tx, changes, now);
  return changes.filter(({ disabledReason }) => disabledReason !== null).map(({ id }) => id);
}
