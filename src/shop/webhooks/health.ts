// Decides when a webhook counts as failing, and when it is disabled because it fails.

import type { AttemptResult } from './attempt.ts';
import { isSuccess } from './attempt.ts';

/** A webhook is disabled after all its attempts have failed for this long. */
export const FAILING_MAX_MS = 5 * 24 * 60 * 60_000;

const GONE_STATUS = 410;
const GONE_REASON = 'The receiver responded with 410 Gone.';
const FAILING_REASON = 'No delivery has succeeded for five days.';

/** What an attempt shows about its receiver. `gone`: the receiver responded with 410, so it wants no further deliveries. */
export type HealthSign = 'works' | 'fails' | 'gone';

export function toHealthSign(result: AttemptResult): HealthSign {
  if (isSuccess(result)) return 'works';
  return result.status === GONE_STATUS ? 'gone' : 'fails';
}

/** Combines the signs of concurrent attempts. `gone` has precedence over `works`, and `works` over `fails`. */
export function combineSigns(one: HealthSign, other: HealthSign): HealthSign {
  if (one === 'gone' || other === 'gone') return 'gone';
  return one === 'works' || other === 'works' ? 'works' : 'fails';
}

export type WebhookHealth = {
  enabled: boolean;
  /** The time of the first failure since the last success. Null if the webhook is not failing. */
  failingSince: number | null;
};

/** A change of a webhook's health. If `disabledReason` is not null, the webhook is disabled. */
export type HealthChange = { failingSince: number | null; disabledReason: string | null };

/** The change of health that follows from a sign. Null if nothing changes. No sign enables a disabled webhook. */
export function judgeHealth(before: WebhookHealth, sign: HealthSign, now: number): HealthChange | null {
  const { enabled, failingSince } = before;
  if (sign === 'works') return failingSince === null ? null : { failingSince: null, disabledReason: null };
  if (!enabled) return null;
  if (sign === 'gone') return { failingSince: failingSince ?? now, disabledReason: GONE_REASON };
  if (failingSince === null) return { failingSince: now, disabledReason: null };
  return now - failingSince >= FAILING_MAX_MS ? { failingSince, disabledReason: FAILING_REASON } : null;
}
