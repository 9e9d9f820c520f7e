// Creates deliveries for events. Leases, signs, sends and records due deliveries. Delivery is at least once: if a process dies, its lease
// ends and another process sends the delivery again. A slow receiver must not delay other receivers.

import type { Clock } from '../../core/clock.ts';
import type { SecretKeys } from '../../core/secret-keys.ts';
import type { Database } from '../../database/port.ts';
import type { ClaimedDelivery } from '../queries/deliveries.ts';
import {
  claimDeliveries,
  deleteOldEvents,
  insertDeliveries,
  updateReleased,
  updateScheduledAhead,
} from '../queries/deliveries.ts';
import { toWebhookBody } from '../events.ts';
import { toWebhookPlace } from '../stored-secrets.ts';
import { signWebhook } from './signature.ts';
import type { Log } from '../../core/log.ts';
import { traced } from '../../core/traced.ts';
import { noteStatus } from '../../resilience/http-exchange.ts';
import type { AttemptResult } from './attempt.ts';
import type { Random } from '../../core/random.ts';
import { AttemptRecorder, WEBHOOK_STATEMENT_TIMEOUT_MS } from './attempt-recorder.ts';
import type { WebhookRequest, WebhookSender } from './sender.ts';

export type DispatcherOptions = {
  main: Database;
  clock: Clock;
  log: Log;
  sender: WebhookSender;
  /** The keys that decrypt the secrets of webhooks. */
  secretKeys: SecretKeys;
  /** Returns numbers of at least 0 and less than 1, which spread the retries. */
  random: Random;
  limits?: DispatchLimits;
  /** Called after each send, because another delivery can then be sent. */
  onFree?: () => void;
};

export type DispatchLimits = {
  sendsMax: number;
  /** The limit of concurrent sends to failing webhooks. The rest of `sendsMax` is reserved for working receivers. */
  failingSendsMax: number;
  perWebhookMax: number;
  /** `close` waits this long for sends, then aborts them. The service must give its workers more time to stop. */
  closeWaitMs: number;
};

export const DISPATCH_LIMITS: DispatchLimits = {
  sendsMax: 256,
  failingSendsMax: 128,
  perWebhookMax: 8,
  closeWaitMs: 2_500,
};

/** The clocks of two processes may differ by this much. So may two readings of one clock that was not set. */
const CLOCK_TOLERANCE_MS = 1_000;
/** The length of a lease. It must exceed the deadline of a send plus the deadline of its recording. */
export const DELIVERY_LEASE_MS = 60_000;
/** The limit of events in one batch for which deliveries are created. */
const FAN_OUT_SIZE = 200;
/** The limit of batches of events in one dispatch. The next dispatch with `fanOut` continues. */
const FAN_OUT_BATCHES_MAX = 50;
export const EVENTS_KEPT_MS = 30 * 24 * 3_600_000;
/** Once in this period, events older than `EVENTS_KEPT_MS` are deleted, in at most `DELETE_BATCHES_MAX` batches of `DELETE_SIZE`. */
const DELETE_PERIOD_MS = 3_600_000;
const DELETE_SIZE = 1_000;
const DELETE_BATCHES_MAX = 20;

export class DeliveryDispatcher {
  readonly #options: DispatcherOptions;
  readonly #limits: DispatchLimits;
  readonly #recorder: AttemptRecorder;
  readonly #sends = new Map<ClaimedDelivery, Promise<void>>();
  readonly #stopping = new AbortController();
  /** The last dispatch in the queue. Dispatches run one after the other. */
  #dispatching: Promise<unknown> = Promise.resolve();
  #deleteAt = 0;
  /** The time of the latest dispatch. Infinity at first, as if the clock had been set back: this may have happened while no process ran. */
  #lastAt = Number.POSITIVE_INFINITY;

  constructor(options: DispatcherOptions) {
    this.#options = options;
    this.#limits = options.limits ?? DISPATCH_LIMITS;
    this.#recorder = new AttemptRecorder(options);
  }

  /**
   * Starts to send due deliveries within the limits, and returns their number without waiting for the sends. With `fanOut`, first creates
   * the deliveries of new events.
   */
  dispatch({ fanOut }: { fanOut: boolean } = { fanOut: true }): Promise<number> {
    const dispatched = this.#dispatching.then(() => this.#dispatchNow(fanOut));
    this.#dispatching = dispatched.catch(() => undefined);
    return dispatched;
  }

  /** Resolves when every started send has ended and its recording has succeeded or failed. */
  async settled(): Promise<void> {
    await Promise.all(this.#sends.values());
  }

  /** Waits up to `closeWaitMs` for the sends. Then aborts the remaining sends and releases their leases. */
  async close(): Promise<void> {
    await this.#dispatching;
    const timer = setTimeout(() => this.#stopping.abort(), this.#limits.closeWaitMs);
    await this.settled();
    clearTimeout(timer);
    this.#stopping.abort();
    this.#options.sender.close();
  }

  async #dispatchNow(fanOut: boolean): Promise<number> {
    if (this.#stopping.signal.aborted) return 0;
    const { main, clock } = this.#options;
    await this.#noteClock(clock());
    if (fanOut) await fanOutEvents(main, clock());
    if (clock() >= this.#deleteAt) {
      this.#deleteAt = clock() + DELETE_PERIOD_MS;
      await deleteEvents(main, clock());
    }
    const claimed = await this.#claim(clock());
    for (const delivery of claimed) this.#sends.set(delivery, this.#sendAndRecord(delivery));
    return claimed.length;
  }

  /** If the clock was set back, makes the deliveries due that the earlier clock has scheduled. */
  async #noteClock(now: number): Promise<void> {
    if (now < this.#lastAt - CLOCK_TOLERANCE_MS) {
      const statements = this.#options.main.within(WEBHOOK_STATEMENT_TIMEOUT_MS);
      await updateScheduledAhead(statements, { now, after: now + CLOCK_TOLERANCE_MS });
      this.#deleteAt = 0;
    }
    this.#lastAt = now;
  }

  async #claim(now: number): Promise<ClaimedDelivery[]> {
    const { sendsMax, failingSendsMax, perWebhookMax } = this.#limits;
    const max = sendsMax - this.#sends.size;
    if (max <= 0) return [];
    const sending = [...this.#sends.keys()];
    const failing = sending.filter(({ isFailing }) => isFailing).length;
    return claimDeliveries(this.#options.main.within(WEBHOOK_STATEMENT_TIMEOUT_MS), {
      now,
      leasedUntil: now + DELIVERY_LEASE_MS,
      max,
      failingMax: Math.max(0, failingSendsMax - failing),
      perWebhookMax,
      sending,
    });
  }

  /** Never rejects. If an attempt cannot be recorded, its delivery is due again when the lease ends. */
  async #sendAndRecord(delivery: ClaimedDelivery): Promise<void> {
    const { main, clock, log, sender, secretKeys, onFree } = this.#options;
    try {
      const request = toRequest(delivery, secretKeys, clock());
      const result = await tracedSend(() => sender.send(request, this.#stopping.signal));
      const wasAborted = this.#stopping.signal.aborted && result.status === null;
      if (wasAborted) await updateReleased(main.within(WEBHOOK_STATEMENT_TIMEOUT_MS), delivery);
      else await this.#recorder.record(delivery, result);
    } catch (error) {
      log.warn('a webhook delivery could not be recorded', { delivery: delivery.id, error });
    } finally {
      this.#sends.delete(delivery);
      onFree?.();
    }
  }
}

/** Traces do not show the URL, which may hold a key of the receiver. */
function tracedSend(send: () => Promise<AttemptResult>): Promise<AttemptResult> {
  const describe = () => ({
    kind: 'client' as const,
    name: 'POST webhook',
    needsParent: false,
    attributes: { 'http.request.method': 'POST', 'server.service.name': 'webhook' },
  });
  return traced(describe, async (operation) => {
    const result = await send();
    if (operation && result.status !== null) noteStatus(operation, result.status);
    else if (operation) operation.failure = 'no-response';
    return result;
  });
}

async function fanOutEvents(main: Database, now: number): Promise<void> {
  for (let batches = 0; batches < FAN_OUT_BATCHES_MAX; batches += 1) {
    const events = await insertDeliveries(main.within(WEBHOOK_STATEMENT_TIMEOUT_MS), now, FAN_OUT_SIZE);
    if (events < FAN_OUT_SIZE) return;
  }
}

async function deleteEvents(main: Database, now: number): Promise<void> {
  const before = now - EVENTS_KEPT_MS;
  for (let batches = 0; batches < DELETE_BATCHES_MAX; batches += 1) {
    const events = await deleteOldEvents(main.within(WEBHOOK_STATEMENT_TIMEOUT_MS), before, DELETE_SIZE);
    if (events < DELETE_SIZE) return;
  }
}

function toRequest(
  { webhookId, url, event, ...stored }: ClaimedDelivery,
  keys: SecretKeys,
  now: number,
): WebhookRequest {
  const body = toWebhookBody(event);
  const secrets = stored.secrets.map((secret) => keys.decrypt(secret, toWebhookPlace(webhookId)));
  return { url, body, headers: signWebhook({ id: event.id, body, secrets, now }) };
}
