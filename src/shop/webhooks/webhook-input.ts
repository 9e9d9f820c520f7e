// Subscriptions as shops ask for them: their fields with bounds and defaults, and what an update means.

import type { ErrorDetail } from '../../core/errors.ts';
import { JsonNumber } from '../../core/json-text.ts';
import type { Parsed } from '../products/product.ts';
import { countCharacters, isStorable } from '../../core/text.ts';
import { parseTime } from '../../core/time.ts';
import { EVENT_PATTERNS, isEventPattern } from '../events.ts';
import { parseTarget } from './target.ts';

/** Subscriptions a shop. */
export const WEBHOOKS_MAX = 20;
export const DESCRIPTION_LENGTH_MAX = 500;
/** Enough to mend a request by; more would only be an echo of it. */
const DETAILS_MAX = 50;

const DISABLED_BY_SHOP = 'Disabled by the shop.';

/** What a shop decides about a subscription. */
export type WebhookFields = { url: string; events: string[]; description: string | null; enabled: boolean };

/** What follows from it, and from what became of its deliveries. */
export type WebhookState = WebhookFields & {
  disabledReason: string | null;
  disabledAt: number | null;
  failingSince: number | null;
};

export type WebhookRules = { allowPrivate: boolean };

/** A field's value, or why it cannot be one. */
type Read = { value: unknown } | { why: string };
type Reader = (value: unknown, rules: WebhookRules) => Read;

const READERS: Record<keyof WebhookFields, Reader> = {
  url: readUrl,
  events: readEvents,
  description: (value) => {
    const isText = typeof value === 'string' && isStorable(value) && countCharacters(value) <= DESCRIPTION_LENGTH_MAX;
    if (value === null || isText) return { value };
    return { why: `must be well-formed text of at most ${DESCRIPTION_LENGTH_MAX} characters, or null` };
  },
  enabled: (value) => (typeof value === 'boolean' ? { value } : { why: 'must be true or false' }),
};

/** Reads a create: the URL is required; without `events` it is told of everything. */
export function parseNewWebhook(body: unknown, rules: WebhookRules): Parsed<Omit<WebhookFields, 'enabled'>> {
  const input = parseFields(body, ['url', 'events', 'description'], rules);
  if (!input.ok) return input;
  const { url, events = ['product.*', 'inventory.low'], description = null } = input.value;
  if (url === undefined) return { ok: false, details: [{ path: 'url', message: 'is required' }] };
  return { ok: true, value: { url, events, description } };
}

/** Reads an update. Unknown fields are wrong: a misspelt field must not be lost. */
export function parseWebhookInput(body: unknown, rules: WebhookRules): Parsed<Partial<WebhookFields>> {
  return parseFields(body, ['url', 'events', 'description', 'enabled'], rules);
}

/** What an update makes of a subscription; null when it changes nothing. Enabling it and another URL forget its failures. */
export function mergeWebhook(before: WebhookState, input: Partial<WebhookFields>, now: number): WebhookState | null {
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
  const names = Object.keys(READERS) as (keyof WebhookFields)[];
  return names.some((name) => JSON.stringify(after[name]) !== JSON.stringify(before[name])) ? after : null;
}

/** Reads the body of a recovery: the time since which everything is to be recovered. */
export function parseRecovery(body: unknown): Parsed<number> {
  if (!isObject(body)) return notAnObject();
  const details: ErrorDetail[] = Object.keys(body)
    .filter((name) => name !== 'since')
    .slice(0, DETAILS_MAX)
    .map((path) => ({ path, message: 'is not a field of a recovery' }));
  const { since } = body;
  const at = typeof since === 'string' ? parseTime(since) : null;
  if (at === null) details.push({ path: 'since', message: 'must be an ISO 8601 time with its zone' });
  return at === null || details.length > 0 ? { ok: false, details } : { ok: true, value: at };
}

function parseFields(
  body: unknown,
  names: (keyof WebhookFields)[],
  rules: WebhookRules,
): Parsed<Partial<WebhookFields>> {
  if (!isObject(body)) return notAnObject();
  const details: ErrorDetail[] = [];
  const value: Record<string, unknown> = {};
  for (const [path, given] of Object.entries(body)) {
    const name = names.find((known) => known === path);
    const read = name ? READERS[name](given, rules) : { why: 'is not a field of a webhook' };
    if ('why' in read) details.push({ path, message: read.why });
    else value[path] = read.value;
    if (details.length >= DETAILS_MAX) break;
  }
  return details.length > 0 ? { ok: false, details } : { ok: true, value };
}

function readUrl(value: unknown, { allowPrivate }: WebhookRules): Read {
  if (typeof value !== 'string') return { why: 'must be a URL' };
  const target = parseTarget(value, allowPrivate);
  return 'refusal' in target ? { why: target.refusal } : { value };
}

function readEvents(value: unknown): Read {
  const why = `must list at least one of ${EVENT_PATTERNS.join(', ')}`;
  if (!Array.isArray(value) || value.length === 0 || value.length > EVENT_PATTERNS.length) return { why };
  const names = value.filter((one) => typeof one === 'string' && isEventPattern(one)) as string[];
  return names.length === value.length ? { value: [...new Set(names)] } : { why };
}

function isObject(body: unknown): body is Record<string, unknown> {
  return typeof body === 'object' && body !== null && !Array.isArray(body) && !(body instanceof JsonNumber);
}

function notAnObject(): { ok: false; details: ErrorDetail[] } {
  return { ok: false, details: [{ path: '', message: 'must be a JSON object' }] };
}
