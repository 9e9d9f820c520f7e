// Reads the settings of webhooks from request bodies, and merges an update into a webhook.

import type { ErrorDetail } from '../../platform/core/errors.ts';
import { isJsonObject } from '../../platform/core/json-text.ts';
import { countCharacters, isStorable } from '../../platform/core/text.ts';
import { parseTime } from '../../platform/core/time.ts';
import type { FieldReaders, ParsedBody } from '../body-fields.ts';
import { DETAILS_MAX, InvalidValue, parseBodyFields, readBooleanField } from '../body-fields.ts';
import type { EventPattern } from '../events.ts';
import { EVENT_PATTERNS, EVENT_PATTERNS_DEFAULT, isEventPattern } from '../events.ts';
import type { WebhookState } from '../queries/webhooks.ts';
import { parseTarget } from '../../platform/resilience/public-target.ts';

export const WEBHOOK_DESCRIPTION_LENGTH_MAX = 500;

const DISABLED_BY_SHOP = 'Disabled by the shop.';

/** The settings that a shop chooses. */
export type WebhookSettings = Pick<WebhookState, 'url' | 'events' | 'description' | 'enabled'>;
export type NewWebhookSettings = Omit<WebhookSettings, 'enabled'>;

/** `allowPrivate`: webhook URLs may use http and addresses that are not public. */
export type TargetPolicy = { allowPrivate: boolean };

/** Reads the settings of a new webhook. `url` is required. */
export function parseNewWebhook(body: unknown, policy: TargetPolicy): ParsedBody<NewWebhookSettings> {
  const { enabled: _, ...readers } = settingReaders(policy);
  const input = parseBodyFields<NewWebhookSettings>(body, readers, 'a webhook');
  if (!input.ok) return input;
  const { url, events = [...EVENT_PATTERNS_DEFAULT], description = null } = input.value;
  if (url === undefined) return { ok: false, details: [{ path: 'url', message: 'is required' }] };
  return { ok: true, value: { url, events, description } };
}

/** Reads the settings that an update changes. */
export function parseWebhookInput(body: unknown, policy: TargetPolicy): ParsedBody<Partial<WebhookSettings>> {
  return parseBodyFields<WebhookSettings>(body, settingReaders(policy), 'a webhook');
}

/** The webhook after an update. Null if nothing changes. A new URL resets `failingSince`, and so does enabling the webhook. */
export function mergeWebhook(before: WebhookState, input: Partial<WebhookSettings>, now: number): WebhookState | null {
  const after: WebhookState = { ...before, ...input };
  if (after.url !== before.url) after.failingSince = null;
  if (after.enabled && !before.enabled) {
    after.disabledReason = null;
    after.disabledAt = null;
    after.failingSince = null;
  }
  if (!after.enabled && before.enabled) {
    after.disabledReason = DISABLED_BY_SHOP;
    after.disabledAt = now;
  }
  const names = ['url', 'events', 'description', 'enabled'] as const;
  return names.some((name) => JSON.stringify(after[name]) !== JSON.stringify(before[name])) ? after : null;
}

/** Reads the body of a recovery. Returns the time from which events are recovered, in milliseconds. */
export function parseRecovery(body: unknown): ParsedBody<number> {
  if (!isJsonObject(body)) return { ok: false, details: [{ path: '', message: 'must be a JSON object' }] };
  const details: ErrorDetail[] = Object.keys(body)
    .filter((name) => name !== 'since')
    .slice(0, DETAILS_MAX)
    .map((path) => ({ path, message: 'is not a field of a recovery' }));
  const { since } = body;
  const at = typeof since === 'string' ? parseTime(since) : null;
  if (at === null) details.push({ path: 'since', message: 'must be an ISO 8601 time with its zone' });
  return at === null || details.length > 0 ? { ok: false, details } : { ok: true, value: at };
}

function settingReaders(policy: TargetPolicy): FieldReaders<WebhookSettings> {
  return {
    url: (value) => readUrl(value, policy),
    events: readEvents,
    description: readDescription,
    enabled: readBooleanField,
  };
}

function readUrl(value: unknown, { allowPrivate }: TargetPolicy): string | InvalidValue {
  if (typeof value !== 'string') return new InvalidValue('must be a URL');
  const target = parseTarget(value, allowPrivate);
  return 'error' in target ? new InvalidValue(target.error) : value;
}

function readEvents(value: unknown): EventPattern[] | InvalidValue {
  const invalid = new InvalidValue(`must list at least one of ${EVENT_PATTERNS.join(', ')}`);
  if (!Array.isArray(value) || value.length === 0 || value.length > EVENT_PATTERNS.length) return invalid;
  const patterns = value.filter((one): one is EventPattern => typeof one === 'string' && isEventPattern(one));
  return patterns.length === value.length ? [...new Set(patterns)] : invalid;
}

function readDescription(value: unknown): string | null | InvalidValue {
  if (value === null) return null;
  const lengthMax = WEBHOOK_DESCRIPTION_LENGTH_MAX;
  if (typeof value === 'string' && isStorable(value) && countCharacters(value) <= lengthMax) return value;
  return new InvalidValue(`must be well-formed text of at most ${lengthMax} characters, or null`);
}
