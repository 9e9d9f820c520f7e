// Manages all connections of a process to the stream: counts them against the limits, sends events to them, and ends them at a shutdown.

import type { ServerResponse } from 'node:http';
import { setImmediate as yieldToOthers } from 'node:timers/promises';
import type { Clock } from '../../../../platform/core/clock.ts';
import { ServiceError } from '../../../../platform/core/errors.ts';
import type { Random } from '../../../../platform/core/random.ts';
import type { RejectionCounts } from '../../../../platform/http/rejection-counts.ts';
import { FairQueue } from '../../../../platform/resilience/fair-queue.ts';
import type { ActivityFeed } from '../../stream/activity-feed.ts';
import type { StreamPosition } from '../../stream/offset.ts';
import { toOffset } from '../../stream/offset.ts';
import type { StreamFilter } from '../../stream/stream-entry.ts';
import type { StreamCounts } from '../../stream/status.ts';
import { Chunks } from './chunks.ts';
import { RETRY_MS, toPreamble } from './event-stream.ts';
import type { StreamEnd } from './subscription.ts';
import { Subscription } from './subscription.ts';

export type PlaceLimits = {
  /** The most connections in all. */
  connectionsMax: number;
  /** The most connections of one client address. */
  connectionsPerClient: number;
};

export type SubscriptionLimits = PlaceLimits & {
  /** A client that has not read its buffered bytes within this time is disconnected. */
  slowMs: number;
  commentPeriodMs: number;
};

/** A connection buffers one chunk at most (`CHUNK_BYTES_MAX`). A client that does not read it within this time is disconnected. */
const SLOW_MS = 10_000;
const COMMENT_PERIOD_MS = 15_000;
const SLOW_CHECK_MS = 1_000;
/** The number of connections that are served before other work of the process runs. */
const SLICE_SIZE = 200;
/** Clients connect again up to this much later than RETRY_MS, so that the clients of a process that has ended do not all return at once. */
const RETRY_SPREAD_MS = 2_000;
/** The `Retry-After` of a rejected connection, in seconds. */
export const RETRY_AFTER_S = 10;
/** Connections are ended after this share of the grace period of a shutdown. By then load balancers have noticed the shutdown. */
const DRAIN_FROM = 0.5;
const DRAIN_STEPS = 10;
/** Lags (see `StreamCounts`) are measured in periods of this length. `lagMs` is the largest lag of the present and the preceding period. */
const LAG_PERIOD_MS = 60_000;

/** One connection that the limits allow and count. The holder must call `leave` when the connection has ended. */
export type Place = { leave(): void };

export type SubscriptionsOptions = {
  feed: ActivityFeed;
  clock: Clock;
  random: Random;
  rejections: RejectionCounts;
  limits: PlaceLimits & Partial<SubscriptionLimits>;
};

export class Subscriptions {
  readonly feed: ActivityFeed;
  readonly #options: SubscriptionsOptions;
  readonly #limits: SubscriptionLimits;
  readonly #chunks = new Chunks();
  readonly #open = new Set<Subscription>();
  readonly #places: FairQueue;
  readonly #timers: NodeJS.Timeout[];
  #eventsSent = 0;
  #slowReaders = 0;
  #lag = { startedAt: performance.now(), currentMs: null as number | null, previousMs: null as number | null };
  #isSending = false;
  #isSendingDue = false;

  constructor(options: SubscriptionsOptions) {
    this.feed = options.feed;
    this.#options = options;
    this.#limits = { slowMs: SLOW_MS, commentPeriodMs: COMMENT_PERIOD_MS, ...options.limits };
    const { connectionsMax, connectionsPerClient } = this.#limits;
    this.#places = new FairQueue({ places: (taken) => (taken < connectionsMax ? connectionsPerClient : 0) });
    this.feed.onChange(() => void this.#sendToAll());
    this.feed.onReset(() => {
      this.#chunks.forget();
      this.#endSome(1, 'reset');
    });
    this.#timers = [
      setInterval(() => void this.#forEach((one) => one.sendComment()), this.#limits.commentPeriodMs).unref(),
      setInterval(() => this.#endSlow(), Math.min(SLOW_CHECK_MS, this.#limits.slowMs)).unref(),
    ];
  }

  get counts(): StreamCounts {
    this.#turnLagPeriod();
    const { currentMs, previousMs } = this.#lag;
    const lagMs = currentMs === null ? previousMs : Math.max(currentMs, previousMs ?? 0);
    let bufferedBytes = 0;
    for (const subscription of this.#open) bufferedBytes += subscription.bufferedBytes;
    return {
      subscribers: this.#open.size,
      bufferedBytes,
      eventsSent: this.#eventsSent,
      slowReaders: this.#slowReaders,
      lagMs,
    };
  }

  /** Takes a place for a client. Throws `rate_limited` if the client has too many places, and `unavailable` if all places are taken. */
  enter(client: string): Place {
    const { rejections } = this.#options;
    const taken = this.#places.takenBy(client);
    if (taken >= this.#limits.connectionsPerClient) {
      rejections.add('stream-client');
      throw new ServiceError(
        'rate_limited',
        `This client has ${taken} connections to the stream, which is the limit for one client`,
      );
    }
    if (!this.#places.tryEnter(client)) {
      rejections.add('stream');
      throw new ServiceError('unavailable', 'The stream has reached its limit of connections, try again later');
    }
    let isLeft = false;
    const leave = () => {
      if (!isLeft) this.#places.leave(client);
      isLeft = true;
    };
    return { leave };
  }

  /** Begins to send events on a response whose head is written. Leaves the place when the connection has ended. */
  open(
    response: ServerResponse,
    place: Place,
    { start, filter }: { start: StreamPosition; filter: StreamFilter },
  ): void {
    const retryMs = Math.round(RETRY_MS + RETRY_SPREAD_MS * this.#options.random());
    response.write(toPreamble(toOffset(start.epoch, start.position), retryMs));
    const subscription = new Subscription({
      response,
      feed: this.feed,
      chunks: this.#chunks,
      filter,
      start,
      onSent: (events, newest) => {
        this.#eventsSent += events;
        if (newest > openedAt) this.#noteLag(this.#options.clock() - newest);
      },
      onEnd: (end: StreamEnd) => {
        if (end === 'slow') this.#slowReaders += 1;
        this.#open.delete(subscription);
        place.leave();
      },
    });
    const openedAt = this.#options.clock();
    this.#open.add(subscription);
    subscription.send();
  }

  /** Ends the connections during the last part of a grace period, some at a time. Clients then connect to other processes. */
  drain(graceMs: number): void {
    const from = graceMs * DRAIN_FROM;
    for (let step = 0; step < DRAIN_STEPS; step += 1) {
      const afterMs = from + ((graceMs - from) * step) / DRAIN_STEPS;
      this.#timers.push(setTimeout(() => this.#endSome(1 / (DRAIN_STEPS - step)), afterMs).unref());
    }
  }

  /** Ends all connections. */
  close(): void {
    for (const timer of this.#timers) clearTimeout(timer);
    this.#endSome(1);
  }

  #endSome(share: number, end: StreamEnd = 'draining'): void {
    const count = Math.ceil(this.#open.size * share);
    for (const subscription of [...this.#open].slice(0, count)) subscription.end(end);
  }

  #endSlow(): void {
    const now = performance.now();
    for (const subscription of this.#open) if (subscription.isSlow(now, this.#limits.slowMs)) subscription.end('slow');
  }

  /** Sends new events to all connections. Events that arrive meanwhile are sent in a further round. */
  async #sendToAll(): Promise<void> {
    this.#chunks.forget();
    this.#isSendingDue = true;
    if (this.#isSending) return;
    this.#isSending = true;
    while (this.#isSendingDue) {
      this.#isSendingDue = false;
      await this.#forEach((subscription) => subscription.send());
    }
    this.#isSending = false;
  }

  async #forEach(act: (subscription: Subscription) => void): Promise<void> {
    let done = 0;
    for (const subscription of this.#open) {
      act(subscription);
      done += 1;
      if (done % SLICE_SIZE === 0) await yieldToOthers();
    }
  }

  #noteLag(lagMs: number): void {
    this.#turnLagPeriod();
    this.#lag.currentMs = Math.max(this.#lag.currentMs ?? 0, lagMs, 0);
  }

  #turnLagPeriod(): void {
    const now = performance.now();
    const { startedAt, currentMs } = this.#lag;
    if (now - startedAt < LAG_PERIOD_MS) return;
    this.#lag = { startedAt: now, currentMs: null, previousMs: now - startedAt < 2 * LAG_PERIOD_MS ? currentMs : null };
  }
}
