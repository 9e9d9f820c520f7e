// What a try means for its delivery and for its receiver.

import { parseRetryAfter, retryDelayMs } from './retry-schedule.ts';

export const DELIVERY_STATES = ['pending', 'delivered', 'dead'] as const;

export type DeliveryState = (typeof DELIVERY_STATES)[number];

/** What came of one try. `status` is null when there was no answer, and `error` then says why in words for the shop. */
export type Outcome = { status: number | null; retryAfter: string | null; error: string | null; durationMs: number };

const GONE = 410;

export type Verdict = {
  state: DeliveryState;
  /** When it is tried next; null: never. */
  dueAt: number | null;
  error: string | null;
  /** The receiver wants nothing any more. */
  isGone: boolean;
};

/** The verdict on a delivery that had `attempts` tries before this one. */
export function judgeOutcome(outcome: Outcome, options: { attempts: number; now: number; random: number }): Verdict {
  const { status } = outcome;
  if (outcome.error === null && status !== null && status >= 200 && status < 300) {
    return { state: 'delivered', dueAt: null, error: null, isGone: false };
  }
  const retryAfterMs = parseRetryAfter(outcome.retryAfter, options.now);
  const delayMs = retryDelayMs(options.attempts + 1, options.random, retryAfterMs);
  return {
    state: delayMs === null ? 'dead' : 'pending',
    dueAt: delayMs === null ? null : options.now + delayMs,
    error: outcome.error ?? describeStatus(status),
    isGone: status === GONE,
  };
}

function describeStatus(status: number | null): string {
  const isRedirect = status !== null && status >= 300 && status < 400;
  return `the receiver answered ${status}${isRedirect ? '; redirects are not followed' : ''}`;
}

const ID_PREFIX = 'dlv_';

/** How a delivery is named to people; the database numbers them. */
export function toDeliveryId(number: string): string {
  return ID_PREFIX + number;
}

/** The number of a delivery; null when the text names none. */
export function parseDeliveryId(text: string): string | null {
  return /^dlv_[1-9]\d{0,17}$/.test(text) ? text.slice(ID_PREFIX.length) : null;
}
