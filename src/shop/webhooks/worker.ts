// Dispatches webhook deliveries in rounds until it is stopped. A round starts every period, and soon after a nudge: a call that reports a
// new event in this process. A round also starts soon after a send has ended, because another delivery can then be sent.

import type { Clock } from '../../platform/core/clock.ts';
import type { Database } from '../../platform/database/port.ts';
import type { Log } from '../../platform/core/log.ts';
import type { Random } from '../../platform/core/random.ts';
import type { SecretKeys } from '../../platform/core/secret-keys.ts';
import { Pause } from '../../platform/tasks/pause.ts';
import { DeliveryDispatcher } from './dispatcher.ts';
import { WebhookSender } from './sender.ts';

export type WebhookWorkerOptions = {
  main: Database;
  clock: Clock;
  log: Log;
  /** Returns numbers of at least 0 and less than 1. */
  random: Random;
  /** The keys that decrypt the secrets of webhooks. */
  secretKeys: SecretKeys;
  /** Whether webhook URLs may use http and addresses that are not public. */
  allowPrivate: boolean;
  periodMs?: number;
};

/** After at most this delay the worker notices a due retry, or an event that another process recorded. */
const PERIOD_MS = 1_000;
/** A nudge starts a round at least this long after the previous start of a round. A busy shop then does not cause constant queries. */
const NUDGE_GAP_MS = 25;
/** The delay from the end of a send to the next round. Sends that end within this time share one round. */
const FREE_GAP_MS = 4;

export class WebhookWorker {
  readonly #dispatcher: DeliveryDispatcher;
  readonly #log: Log;
  readonly #periodMs: number;
  readonly #pause = new Pause();
  #isStopped = false;
  /** After a failure the next round starts a period later, even after a nudge, so that the worker does not retry without a pause. */
  #hasFailed = false;
  /** Whether an event may have been recorded since the latest fan-out. A fan-out creates the deliveries of new events. */
  #hasNewEvents = true;
  /** The starts of the latest round, the latest fan-out and the next round, in milliseconds of `performance.now()`. */
  #roundAt = 0;
  #fanOutAt = 0;
  #nextAt = 0;
  #ended: Promise<void> = Promise.resolve();

  constructor(options: WebhookWorkerOptions) {
    const sender = new WebhookSender({ allowPrivate: options.allowPrivate });
    const onFree = () => this.#runBy(performance.now() + FREE_GAP_MS);
    this.#dispatcher = new DeliveryDispatcher({ ...options, sender, onFree });
    this.#log = options.log;
    this.#periodMs = options.periodMs ?? PERIOD_MS;
  }

  start(): void {
    this.#ended = this.#loop();
  }

  /** Makes the worker check for new events and due deliveries soon. May be called at any time. */
  nudge(): void {
    this.#hasNewEvents = true;
    this.#runBy(this.#roundAt + NUDGE_GAP_MS);
  }

  /** Stops the loop. Waits a limited time for current sends, then aborts them. */
  async stop(): Promise<void> {
    this.#isStopped = true;
    this.#pause.end();
    await this.#ended;
    await this.#dispatcher.close();
  }

  #runBy(atMs: number): void {
    if (this.#hasFailed || atMs >= this.#nextAt) return;
    this.#nextAt = atMs;
    this.#pause.end();
  }

  async #loop(): Promise<void> {
    while (!this.#isStopped) {
      await this.#runRound();
      while (!this.#isStopped && performance.now() < this.#nextAt) {
        await this.#pause.wait(this.#nextAt - performance.now());
      }
    }
  }

  async #runRound(): Promise<void> {
    this.#roundAt = performance.now();
    const fanOut = this.#hasNewEvents || this.#roundAt - this.#fanOutAt >= this.#periodMs;
    if (fanOut) this.#fanOutAt = this.#roundAt;
    this.#hasNewEvents = false;
    this.#nextAt = this.#fanOutAt + this.#periodMs;
    try {
      await this.#dispatcher.dispatch({ fanOut });
      this.#hasFailed = false;
    } catch (error) {
      if (!this.#hasFailed) this.#log.warn('webhooks cannot be delivered now', { error });
      this.#hasFailed = true;
      this.#nextAt = this.#roundAt + this.#periodMs;
    }
  }
}
