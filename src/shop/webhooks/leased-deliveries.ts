// The deliveries that this process has leased and not sent yet, by webhook. A webhook gets a limited number of requests at a time. While its
// receiver responds quickly, more deliveries are leased than may be sent, so that the next request need not wait for the database.

import type { ClaimedDelivery } from '../queries/deliveries.ts';

/** `endedAt`: when the latest send ended, in milliseconds of `performance.now()`. */
type WebhookQueue = { waiting: ClaimedDelivery[]; sending: number; isFast: boolean; endedAt: number };

/** A fast receiver without deliveries still counts as fast for this long after its latest response. */
const FAST_KEPT_MS = 10_000;

export class LeasedDeliveries {
  readonly #sendingMax: number;
  readonly #fastMax: number;
  readonly #queues = new Map<string, WebhookQueue>();

  /** `sendingMax`: the most requests to one webhook at a time. `fastMax`: the most leases of a webhook whose receiver is fast. */
  constructor(sendingMax: number, fastMax: number) {
    this.#sendingMax = sendingMax;
    this.#fastMax = fastMax;
  }

  add(delivery: ClaimedDelivery): void {
    const queue = this.#queues.get(delivery.webhookId) ?? { waiting: [], sending: 0, isFast: false, endedAt: 0 };
    this.#queues.set(delivery.webhookId, queue);
    queue.waiting.push(delivery);
  }

  /** The next delivery to send to the webhook. It counts as being sent from now on. Undefined if none may be sent now. */
  start(webhookId: string): ClaimedDelivery | undefined {
    const queue = this.#queues.get(webhookId);
    if (!queue || queue.sending >= this.#sendingMax) return undefined;
    const next = queue.waiting.shift();
    if (next) queue.sending += 1;
    return next;
  }

  /**
   * Must be called when a request to the webhook has ended. If the receiver is not fast any more, removes and returns the waiting deliveries.
   * The caller must release their leases, because the webhook may change before they could be sent.
   */
  end(webhookId: string, isFast: boolean): ClaimedDelivery[] {
    const queue = this.#queues.get(webhookId);
    if (!queue) return [];
    queue.sending -= 1;
    queue.isFast = isFast;
    queue.endedAt = performance.now();
    const released = isFast ? [] : queue.waiting.splice(0);
    if (!isFast && queue.sending === 0) this.#queues.delete(webhookId);
    return released;
  }

  /** Records that the receiver is not fast any more. Removes and returns the waiting deliveries. The caller must release their leases. */
  slow(webhookId: string): ClaimedDelivery[] {
    const queue = this.#queues.get(webhookId);
    if (!queue) return [];
    queue.isFast = false;
    return queue.waiting.splice(0);
  }

  /** Whether the latest response of the receiver was fast, and no request to the receiver has become slow since. */
  isFast(webhookId: string): boolean {
    return this.#queues.get(webhookId)?.isFast ?? false;
  }

  /** Removes and returns the waiting deliveries of all webhooks. */
  takeWaiting(): ClaimedDelivery[] {
    return [...this.#queues.values()].flatMap(({ waiting }) => waiting.splice(0));
  }

  /** Whether more deliveries should be leased now. New leases should arrive while earlier deliveries still wait. */
  isLow(webhookId: string): boolean {
    const queue = this.#queues.get(webhookId);
    const waiting = queue?.waiting.length ?? 0;
    return waiting < (queue?.isFast ? Math.max(this.#sendingMax, this.#fastMax / 2) : this.#sendingMax);
  }

  /** The webhooks for which `isFast` returns true. Forgets the receivers whose latest response is too old. */
  fastWebhooks(): string[] {
    const keptAfter = performance.now() - FAST_KEPT_MS;
    for (const [id, { waiting, sending, endedAt }] of this.#queues) {
      if (waiting.length + sending === 0 && endedAt < keptAfter) this.#queues.delete(id);
    }
    return [...this.#queues].flatMap(([id, { isFast }]) => (isFast ? [id] : []));
  }

  /** The webhook of each delivery that waits or is being sent. */
  webhooks(): string[] {
    return [...this.#queues].flatMap(([id, { waiting, sending }]) => Array<string>(waiting.length + sending).fill(id));
  }
}
