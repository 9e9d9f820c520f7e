// Dispatches webhook deliveries in rounds until it is stopped. A round starts every period, soon after a nudge (a call that reports a
// new event in this process), and soon after a send has ended and another delivery can be sent.

import type { Clock } from '../../core/clock.ts';
import type { Database } from '../../database/port.ts';
import type { Log } from '../../core/log.ts';
import type { Random } from '../../core/random.ts';
import type { SecretKeys } from '../../core/secret-keys.ts';
import { Pause } from '../../tasks/pause.ts';
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

/** The longest delay before this worker notices a retry that is due, or an event that another process recorded. */
const PERIOD_MS = 1_000;
/** The shortest time from the start of a round to a round that a nudge starts, so that a busy shop does not cause constant queries. */
const NUDGE_GAP_MS = 25;
/** The delay between the end of a send and the round that starts other sends in its place. Sends that end in this time share one round. */
const FREE_GAP_MS = 4;

export class WebhookWorker {
  readonly #dispatcher: DeliveryDispatcher;
  readonly #log: Log;
  readonly #periodMs: number;
  readonly #pause = new Pause();
  #isStopped = false;
  /** After a failure the next round starts a period later, whatever the nudges, so that the worker does not retry without a pause. */
  #hasFailed = false;
  /** Whether an event may have been recorded since the last fan-out, which creates the deliveries of new events. */
  #hasNewEvents = true;
  /** When the last round and the last fan-out started, and when the next round starts. In milliseconds of `performance.now()`. */
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

  /** Makes the worker check soon for new events and due deliveries. Cheap; may be called at any time. */
  nudge(): void {
    this.#hasNewEvents = true;
    this.#runBy(this.#roundAt + NUDGE_GAP_MS);
  }

  /** Stops the loop. Waits a limited time for the current sends, then aborts the sends that have not ended. */
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
