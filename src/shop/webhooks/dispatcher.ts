// Creates deliveries for events. Leases, signs, sends and records due deliveries. Delivery is at least once: if a process dies, its lease
// ends and another process sends the delivery again. A slow receiver must not delay other receivers.

import type { Clock } from '../../platform/core/clock.ts';
import type { SecretKeys } from '../../platform/core/secret-keys.ts';
import { BatchedReads } from '../../platform/database/batched-reads.ts';
import type { Database } from '../../platform/database/port.ts';
import type { ClaimedDelivery, WebhookTarget } from '../queries/deliveries.ts';
import {
  claimDeliveries,
  deleteOldEvents,
  insertDeliveries,
  listWebhookTargets,
  updateReleased,
  updateScheduledAhead,
} from '../queries/deliveries.ts';
import { EVENTS_KEPT_MS, toWebhookBody } from '../events.ts';
import { toWebhookPlace } from '../stored-secrets.ts';
import { signWebhook } from './signature.ts';
import type { Log } from '../../platform/core/log.ts';
import { traced } from '../../platform/core/traced.ts';
import { noteStatus } from '../../platform/resilience/http-exchange.ts';
import type { AttemptResult } from './attempt.ts';
import { isSuccess } from './attempt.ts';
import { LeasedDeliveries } from './leased-deliveries.ts';
import type { Random } from '../../platform/core/random.ts';
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
  /** Called when another dispatch has work: more deliveries can be leased, or new events have no deliveries yet. */
  onFree?: () => void;
};

export type DispatchLimits = {
  sendsMax: number;
  /** The limit of concurrent sends to failing webhooks. The rest of `sendsMax` is reserved for working receivers. */
  failingSendsMax: number;
  perWebhookMax: number;
  /** The limit of deliveries that are leased for one webhook while its receiver is fast. They are sent `perWebhookMax` at a time. */
  fastLeasesMax: number;
  /** A receiver counts as fast while it responds within this time. */
  fastSendMs: number;
  /** `close` waits this long for sends, then aborts them. The service must give its workers more time to stop. */
  closeWaitMs: number;
};

export const DISPATCH_LIMITS: DispatchLimits = {
  sendsMax: 512,
  failingSendsMax: 128,
  perWebhookMax: 8,
  fastLeasesMax: 128,
  fastSendMs: 100,
  closeWaitMs: 2_500,
};

/**
 * If the clock is behind an earlier reading by at most this much, it does not count as set back. The clocks of two processes may differ by
 * this much.
 */
const CLOCK_TOLERANCE_MS = 1_000;
/** The length of a lease. It must exceed the deadline of a send plus the deadline of its recording. */
export const DELIVERY_LEASE_MS = 60_000;
/** The most webhooks whose targets one statement reads. */
const TARGETS_READ_MAX = 200;
/** The most events for which one statement creates deliveries. */
const FAN_OUT_SIZE = 200;
/**
 * The most batches of events that one dispatch processes before it sends deliveries. The next dispatch continues with the remaining events.
 */
const FAN_OUT_BATCHES_MAX = 2;
/** Once in this period, events older than `EVENTS_KEPT_MS` are deleted, in at most `DELETE_BATCHES_MAX` batches of `DELETE_SIZE`. */
const DELETE_PERIOD_MS = 3_600_000;
const DELETE_SIZE = 1_000;
const DELETE_BATCHES_MAX = 20;

export class DeliveryDispatcher {
  readonly #options: DispatcherOptions;
  readonly #limits: DispatchLimits;
  readonly #recorder: AttemptRecorder;
  readonly #leased: LeasedDeliveries;
  readonly #targets: BatchedReads<WebhookTarget>;
  /** The deliveries that this process has leased, and whose results are not recorded yet. */
  readonly #held = new Set<ClaimedDelivery>();
  /** The sends and recordings in progress, and the releases of leases. */
  readonly #work = new Set<Promise<void>>();
  readonly #stopping = new AbortController();
  /** The last dispatch in the queue. Dispatches run one after the other. */
  #dispatching: Promise<unknown> = Promise.resolve();
  /** The webhooks whose sends ended during the current claim. Null while no claim runs. */
  #freed: Set<string> | null = null;
  /** Whether the latest fan-out ended before all new events had their deliveries. */
  #hasMoreEvents = false;
  #isClosing = false;
  #deleteAt = 0;
  /**
   * The time of the latest dispatch. It is infinity at first, so that the first dispatch treats the clock as set back. The clock may have
   * been set back while no process ran.
   */
  #lastAt = Number.POSITIVE_INFINITY;

  constructor(options: DispatcherOptions) {
    this.#options = options;
    this.#limits = options.limits ?? DISPATCH_LIMITS;
    this.#leased = new LeasedDeliveries(this.#limits.perWebhookMax, this.#limits.fastLeasesMax);
    this.#recorder = new AttemptRecorder(options);
    const { main, clock } = options;
    this.#targets = new BatchedReads({
      readAll: (ids) => listWebhookTargets(main.within(WEBHOOK_STATEMENT_TIMEOUT_MS), ids, clock()),
      sizeMax: TARGETS_READ_MAX,
    });
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

  /** Resolves when every leased delivery was sent and recorded, or was released. */
  async settled(): Promise<void> {
    while (this.#work.size > 0) await Promise.all(this.#work);
  }

  /** Releases the deliveries that wait, and waits up to `closeWaitMs` for the sends. Then aborts the sends and releases their leases. */
  async close(): Promise<void> {
    this.#isClosing = true;
    await this.#dispatching;
    this.#release(this.#leased.takeWaiting());
    const timer = setTimeout(() => this.#stopping.abort(), this.#limits.closeWaitMs);
    await this.settled();
    clearTimeout(timer);
    this.#stopping.abort();
    this.#options.sender.close();
  }

  async #dispatchNow(fanOut: boolean): Promise<number> {
    if (this.#isClosing) return 0;
    const { main, clock } = this.#options;
    await this.#noteClock(clock());
    if (fanOut || this.#hasMoreEvents) this.#hasMoreEvents = await fanOutEvents(main, clock());
    if (clock() >= this.#deleteAt) {
      this.#deleteAt = clock() + DELETE_PERIOD_MS;
      await deleteEvents(main, clock());
    }
    const freed = new Set<string>();
    this.#freed = freed;
    const claimed = await this.#claim(clock()).finally(() => {
      this.#freed = null;
    });
    for (const delivery of claimed) {
      this.#held.add(delivery);
      this.#leased.add(delivery);
    }
    for (const webhookId of new Set(claimed.map((delivery) => delivery.webhookId))) {
      const started = this.#startSends(webhookId);
      // The waiting deliveries of a slow receiver are released when a send to it ends. This receiver became slow during the claim, and no send
      // to it was started, so its deliveries are released here.
      if (started === 0 && !this.#leased.isFast(webhookId)) this.#release(this.#leased.slow(webhookId));
    }
    for (const webhookId of freed) this.#noteFree(webhookId);
    if (this.#hasMoreEvents) this.#options.onFree?.();
    return claimed.length;
  }

  /** If the clock was set back, the deliveries that were scheduled while the clock was ahead become due now. */
  async #noteClock(now: number): Promise<void> {
    if (now < this.#lastAt - CLOCK_TOLERANCE_MS) {
      const statements = this.#options.main.within(WEBHOOK_STATEMENT_TIMEOUT_MS);
      await updateScheduledAhead(statements, { now, after: now + CLOCK_TOLERANCE_MS });
      this.#deleteAt = 0;
    }
    this.#lastAt = now;
  }

  async #claim(now: number): Promise<ClaimedDelivery[]> {
    const { sendsMax, failingSendsMax, perWebhookMax, fastLeasesMax } = this.#limits;
    const max = sendsMax - this.#held.size;
    if (max <= 0) return [];
    const held = [...this.#held];
    const failing = held.filter(({ isFailing }) => isFailing).length;
    return claimDeliveries(this.#options.main.within(WEBHOOK_STATEMENT_TIMEOUT_MS), {
      now,
      leasedUntil: now + DELIVERY_LEASE_MS,
      max,
      failingMax: Math.max(0, failingSendsMax - failing),
      perWebhookMax,
      fast: { webhooks: this.#leased.fastWebhooks(), max: fastLeasesMax },
      leased: this.#leased.webhooks(),
      held: held.map(({ id }) => id),
    });
  }

  /** Returns the number of sends that were started. */
  #startSends(webhookId: string): number {
    for (let started = 0; ; started += 1) {
      const delivery = this.#isClosing ? undefined : this.#leased.start(webhookId);
      if (!delivery) return started;
      this.#track(this.#sendAndRecord(delivery));
    }
  }

  /** Never rejects. If an attempt cannot be recorded, its delivery is due again when the lease ends. */
  async #sendAndRecord(delivery: ClaimedDelivery): Promise<void> {
    const { main, clock, log, sender, secretKeys } = this.#options;
    let isSending = true;
    const end = (isFast: boolean) => {
      if (isSending) this.#endSend(delivery, isFast);
      isSending = false;
    };
    let slow: NodeJS.Timeout | undefined;
    // If a receiver hangs, the deliveries that wait for it are released after this time. Otherwise they would take the places of other
    // webhooks until the requests to this receiver fail.
    const becomeSlow = () => this.#release(this.#leased.slow(delivery.webhookId));
    try {
      // The webhook may have been deleted, disabled or moved since the delivery was leased. Such a change is in force when it is acknowledged.
      const target = await this.#targets.read(delivery.webhookId);
      if (!target) {
        becomeSlow();
        return await updateReleased(main.within(WEBHOOK_STATEMENT_TIMEOUT_MS), [delivery]);
      }
      slow = setTimeout(becomeSlow, this.#limits.fastSendMs);
      const request = toRequest(delivery, target, { keys: secretKeys, now: clock() });
      const result = await tracedSend(() => sender.send(request, this.#stopping.signal));
      clearTimeout(slow);
      const wasAborted = this.#stopping.signal.aborted && result.status === null;
      if (wasAborted) await updateReleased(main.within(WEBHOOK_STATEMENT_TIMEOUT_MS), [delivery]);
      else {
        const recorded = this.#recorder.record(delivery, result);
        // The next delivery after a failure waits until the failure is recorded, because a failing webhook gets one request at a time.
        if (isSuccess(result) && !delivery.isFailing) end(result.durationMs <= this.#limits.fastSendMs);
        await recorded;
      }
    } catch (error) {
      log.warn('a webhook delivery could not be recorded', { delivery: delivery.id, error });
    } finally {
      clearTimeout(slow);
      this.#held.delete(delivery);
      end(false);
      this.#noteFree(delivery.webhookId);
    }
  }

  #endSend({ webhookId }: ClaimedDelivery, isFast: boolean): void {
    this.#release(this.#leased.end(webhookId, isFast));
    this.#startSends(webhookId);
    this.#noteFree(webhookId);
  }

  /** Reports that more deliveries can be leased. During a claim, the report is made after the claim. */
  #noteFree(webhookId: string): void {
    if (this.#freed) this.#freed.add(webhookId);
    else if (this.#leased.isLow(webhookId)) this.#options.onFree?.();
  }

  /** Ends the leases of deliveries that were not sent. If this fails, they are due again when their leases end. */
  #release(deliveries: readonly ClaimedDelivery[]): void {
    if (deliveries.length === 0) return;
    const { main, log, onFree } = this.#options;
    const released = updateReleased(main.within(WEBHOOK_STATEMENT_TIMEOUT_MS), deliveries)
      .catch((error: unknown) => log.warn('leases of webhook deliveries could not be released', { error }))
      .finally(() => {
        for (const delivery of deliveries) this.#held.delete(delivery);
        onFree?.();
      });
    this.#track(released);
  }

  #track(work: Promise<void>): void {
    this.#work.add(work);
    void work.finally(() => this.#work.delete(work));
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

/** Creates the deliveries of new events. Returns whether there may be more events. */
async function fanOutEvents(main: Database, now: number): Promise<boolean> {
  for (let batches = 0; batches < FAN_OUT_BATCHES_MAX; batches += 1) {
    const events = await insertDeliveries(main.within(WEBHOOK_STATEMENT_TIMEOUT_MS), now, FAN_OUT_SIZE);
    if (events < FAN_OUT_SIZE) return false;
  }
  return true;
}

async function deleteEvents(main: Database, now: number): Promise<void> {
  const before = now - EVENTS_KEPT_MS;
  for (let batches = 0; batches < DELETE_BATCHES_MAX; batches += 1) {
    const events = await deleteOldEvents(main.within(WEBHOOK_STATEMENT_TIMEOUT_MS), before, DELETE_SIZE);
    if (events < DELETE_SIZE) return;
  }
}

function toRequest(
  { webhookId, event }: ClaimedDelivery,
  { url, ...stored }: WebhookTarget,
  { keys, now }: { keys: SecretKeys; now: number },
): WebhookRequest {
  const body = toWebhookBody(event);
  const secrets = stored.secrets.map((secret) => keys.decrypt(secret, toWebhookPlace(webhookId)));
  return { url, body, headers: signWebhook({ id: event.id, body, secrets, now }) };
}
