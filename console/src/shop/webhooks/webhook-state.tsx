// A badge that says whether a webhook is disabled, failing or enabled.

import type { Webhook } from '../../../../client/src/store.ts';
import { texts } from '../texts.ts';

export function WebhookState({ webhook: { enabled, failingSince } }: { webhook: Webhook }) {
  const { states } = texts.webhook;
  if (!enabled) return <span class="badge">{states.disabled}</span>;
  if (failingSince !== null) return <span class="badge badge-bad">{states.failing}</span>;
  return <span class="badge badge-good">{states.enabled}</span>;
}
