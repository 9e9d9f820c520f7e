// Delivers what happened: events become deliveries, due ones are leased, signed, sent and recorded. At least once: a process
// that dies anywhere in between leaves a lease that runs out. A receiver must never wait for another one.

import type { Clock } from '../../core/clock.ts';
import type { Database } from '../../database/port.ts';
import type { ClaimedDelivery } from '../queries/deliveries.ts';
import { claimDeliveries, deleteOldEvents, insertDeliveries, updateReleased } from '../queries/deliveries.ts';
import { toWebhookBody } from '../events.ts';
import { signWebhook } from './signature.ts';
import type { Log } from '../../core/log.ts';
import { createRecorder, STATEMENT_TIMEOUT_MS } from './recorder.ts';
import type { SendRequest, Sender } from './sender.ts';

export type WorkerOptions = {
  main: Database;
  clock: Clock;
  log: Log;
  sender: Sender;
  /** From 0 up to 1: spreads retries. */
  random?: () => number;
  limits?: WorkerLimits;
  /** Called when a try has been recorded: its place is free again. */
  onFree?: () => void;
};

export type WorkerLimits = {
  /** Sends under way in this process. */
  sendsMax: number;
  /** Of these, sends to receivers that fail: many dead ones leave the others room. */
  failingSendsMax: number;
  perWebhookMax: number;
  /** How long `close` waits for sends that are under way. Shorter than the service waits for its workers. */
  closeWaitMs: number;
};

export const WORKER_LIMITS: WorkerLimits = {
  sendsMax: 256,
  failingSendsMax: 128,
  perWebhookMax: 8,
  closeWaitMs: 3_000,
};

/** Longer than any send and its recording take. */
export const LEASE_MS = 60_000;
const FAN_OUT_SIZE = 200;
/** Bounds one turn; what is left is the next one's. */
const FAN_OUT_BATCHES_MAX = 50;
/** Bounds one run. */
const TURNS_MAX = 1_000;
/** How long events and their deliveries are kept, and how often the old ones are looked for. */
export const EVENTS_KEPT_MS = 30 * 24 * 3_600_000;
const FORGET_PERIOD_MS = 3_600_000;
const FORGET_SIZE = 1_000;
const FORGET_BATCHES_MAX = 20;

export type WebhookWorker = {
  /**
   * Starts every send that is due and has room, and returns how many, without waiting for them. Looks for new events first,
   * unless it is told that there is no news.
   */
  turn(looks?: boolean): Promise<number>;
  /** Turns until nothing is due any more, and waits for every send; returns how many there were. */
  run(): Promise<number>;
  /** Waits a moment for what is under way, then gives it back unsent. */
  close(): Promise<void>;
};

export function createWebhookWorker(options: WorkerOptions): WebhookWorker {
  const { main, clock, log, sender, limits = WORKER_LIMITS } = options;
  const recorder = createRecorder(options);
  const underWay = new Map<ClaimedDelivery, Promise<void>>();
  const stopping = new AbortController();
  let turning: Promise<unknown> = Promise.resolve();
  let forgetAt = 0;

  const turnOnce = async (looks: boolean): Promise<number> => {
    if (stopping.signal.aborted) return 0;
    if (looks) await fanOut(main, clock);
    if (clock() >= forgetAt) {
      forgetAt = clock() + FORGET_PERIOD_MS;
      await forgetOldEvents(main, clock());
    }
    const claimed = await claim(main, { now: clock(), underWay: [...underWay.keys()], limits });
    for (const delivery of claimed) underWay.set(delivery, handle(delivery));
    return claimed.length;
  };

  const turn = (looks = true): Promise<number> => {
    const next = turning.then(() => turnOnce(looks));
    turning = next.catch(() => undefined);
    return next;
  };

  /** Never rejects: what cannot be recorded is due again when its lease ends. */
  const handle = async (delivery: ClaimedDelivery): Promise<void> => {
    try {
      const outcome = await sender.send(toRequest(delivery, clock()), stopping.signal);
      if (stopping.signal.aborted && outcome.status === null)
        await updateReleased(main.within(STATEMENT_TIMEOUT_MS), delivery);
      else await recorder.record(delivery, outcome);
    } catch (error) {
      log.warn('a webhook delivery could not be recorded', { delivery: delivery.id, error });
    } finally {
      underWay.delete(delivery);
      options.onFree?.();
    }
  };

  return {
    turn,
    run: async () => {
      let total = 0;
      for (let turns = 0; turns < TURNS_MAX; turns += 1) {
        const started = await turn();
        await Promise.all(underWay.values());
        if (started === 0) break;
        total += started;
      }
      return total;
    },
    close: async () => {
      await turning;
      const timer = setTimeout(() => stopping.abort(), limits.closeWaitMs);
      await Promise.all(underWay.values());
      clearTimeout(timer);
      stopping.abort();
      sender.close();
    },
  };
}

async function fanOut(main: Database, clock: Clock): Promise<void> {
  for (let batches = 0; batches < FAN_OUT_BATCHES_MAX; batches += 1) {
    if ((await insertDeliveries(main.within(STATEMENT_TIMEOUT_MS), clock(), FAN_OUT_SIZE)) < FAN_OUT_SIZE) return;
  }
}

type Claim = { now: number; underWay: readonly ClaimedDelivery[]; limits: WorkerLimits };

async function claim(main: Database, { now, underWay, limits }: Claim): Promise<ClaimedDelivery[]> {
  const max = limits.sendsMax - underWay.length;
  if (max <= 0) return [];
  const counts = new Map<string, number>();
  for (const { webhookId } of underWay) counts.set(webhookId, (counts.get(webhookId) ?? 0) + 1);
  const failing = underWay.filter(({ isFailing }) => isFailing).length;
  return claimDeliveries(main.within(STATEMENT_TIMEOUT_MS), {
    now,
    leasedUntil: now + LEASE_MS,
    max,
    failingMax: Math.max(0, limits.failingSendsMax - failing),
    perWebhookMax: limits.perWebhookMax,
    underWay: counts,
  });
}

function toRequest({ url, secrets, event }: ClaimedDelivery, now: number): SendRequest {
  const body = toWebhookBody(event);
  return { url, body, headers: signWebhook({ id: event.id, body, secrets, now }) };
}

async function forgetOldEvents(main: Database, now: number): Promise<void> {
  for (let batches = 0; batches < FORGET_BATCHES_MAX; batches += 1) {
    if ((await deleteOldEvents(main.within(STATEMENT_TIMEOUT_MS), now - EVENTS_KEPT_MS, FORGET_SIZE)) < FORGET_SIZE)
      return;
  }
}
