// The health of receivers: since when a webhook fails, and when it is disabled for failing.

import type { AttemptResult } from './attempt.ts';
import { isSuccess } from './attempt.ts';

/** A webhook whose attempts have all failed for this long is disabled. */
export const FAILING_MAX_MS = 5 * 24 * 60 * 60_000;

const GONE_STATUS = 410;
const GONE_REASON = 'The receiver responded with 410 Gone.';
const FAILING_REASON = 'No delivery has succeeded for five days.';

/** What an attempt shows about its receiver. `gone`: the receiver asks for no further deliveries. */
export type HealthSign = 'works' | 'fails' | 'gone';

export function toHealthSign(result: AttemptResult): HealthSign {
  if (isSuccess(result)) return 'works';
  return result.status === GONE_STATUS ? 'gone' : 'fails';
}

/** The sign of several attempts of one moment: `gone` is final, and one success shows that the receiver works. */
export function combineSigns(one: HealthSign, other: HealthSign): HealthSign {
  if (one === 'gone' || other === 'gone') return 'gone';
  return one === 'works' || other === 'works' ? 'works' : 'fails';
}

export type WebhookHealth = {
  enabled: boolean;
  /** Since when no attempt has succeeded; null while the receiver works. */
  failingSince: number | null;
};

/** A change of a webhook's health. With a reason the webhook is disabled. */
export type HealthChange = { failingSince: number | null; disabledReason: string | null };

/** The change that attempts cause; null when they change nothing. A disabled webhook is never enabled here. */
export function judgeHealth(before: WebhookHealth, sign: HealthSign, now: number): HealthChange | null {
  const { enabled, failingSince } = before;
  if (sign === 'works') return failingSince === null ? null : { failingSince: null, disabledReason: null };
  if (!enabled) return null;
  if (sign === 'gone') return { failingSince: failingSince ?? now, disabledReason: GONE_REASON };
  if (failingSince === null) return { failingSince: now, disabledReason: null };
  return now - failingSince >= FAILING_MAX_MS ? { failingSince, disabledReason: FAILING_REASON } : null;
}
