// Reads the bodies of requests for reservations.

import type { ErrorDetail } from '../../platform/core/errors.ts';
import { JsonNumber, isJsonObject } from '../../platform/core/json-text.ts';
import type { FieldReaders, ParsedBody } from '../body-fields.ts';
import { DETAILS_MAX, InvalidValue, parseBodyFields, readTextField } from '../body-fields.ts';
import { STOCK_MAX } from '../products/product.ts';
import { readProductName } from '../product-names.ts';
import type { ProductName } from '../queries/stock.ts';
import { PRODUCT_NAMES } from '../queries/stock.ts';
import type { Consumption } from './reservation.ts';

export const RESERVED_ITEMS_MAX = 100;
export const REFERENCE_LENGTH_MAX = 255;
export const EXPIRES_IN_S = { min: 30, max: 7 * 24 * 60 * 60, default: 900 };

/** What becomes of the rest after a part was consumed: it is returned to the stock, or stays held. */
export const REMAINDERS = ['release', 'hold'] as const;

/** A product that the caller names, and how much of it. */
export type NamedItem = { product: ProductName; quantity: number };

export type NewReservation = { items: NamedItem[]; expiresInMs: number; reference: string | null };

const NOUN = 'a reservation';

/** Reads a new reservation. `items` is required. */
export function parseNewReservation(body: unknown): ParsedBody<NewReservation> {
  const parsed = parseWithItems<{ expiresInSeconds: number; reference: string | null }>(body, NOUN, {
    expiresInSeconds: readSeconds,
    reference: (value) => (value === null ? null : readTextField(value, 1, REFERENCE_LENGTH_MAX)),
  });
  if (!parsed.ok) return parsed;
  const { items, expiresInSeconds = EXPIRES_IN_S.default, reference = null } = parsed.value;
  if (items === null) return { ok: false, details: [{ path: 'items', message: 'is required' }] };
  return { ok: true, value: { items, expiresInMs: expiresInSeconds * 1_000, reference } };
}

export type NamedConsumption = Omit<Consumption, 'items'> & { items: NamedItem[] | null };

/** Reads a consumption. Without a body, everything is consumed. */
export function parseConsumption(body: unknown): ParsedBody<NamedConsumption> {
  const parsed = parseWithItems<{ remaining: (typeof REMAINDERS)[number] }>(body ?? {}, 'a consumption', {
    remaining: (value) =>
      REMAINDERS.find((one) => one === value) ?? new InvalidValue(`must be one of ${REMAINDERS.join(', ')}`),
  });
  if (!parsed.ok) return parsed;
  const { items, remaining = 'release' } = parsed.value;
  return { ok: true, value: { items, keepsRest: remaining === 'hold' } };
}

/** Reads a release, which has no fields. A release with `items` is rejected, because all that is held would be returned. */
export function parseRelease(body: unknown): ParsedBody<object> {
  return parseBodyFields<object>(body ?? {}, {}, 'a release');
}

/** Reads an extension. Returns the time from now in milliseconds. */
export function parseExtension(body: unknown): ParsedBody<number> {
  const readers = { expiresInSeconds: readSeconds };
  const parsed = parseBodyFields<{ expiresInSeconds: number }>(body, readers, 'an extension');
  if (!parsed.ok) return parsed;
  const { expiresInSeconds } = parsed.value;
  if (expiresInSeconds === undefined) {
    return { ok: false, details: [{ path: 'expiresInSeconds', message: 'is required' }] };
  }
  return { ok: true, value: expiresInSeconds * 1_000 };
}

/** Reads a body with `items`, whose mistakes are reported by item. `items` is null if the body does not have it. */
function parseWithItems<T extends object>(
  body: unknown,
  noun: string,
  readers: FieldReaders<T>,
): ParsedBody<Partial<T> & { items: NamedItem[] | null }> {
  if (!isJsonObject(body)) return { ok: false, details: [{ path: '', message: 'must be a JSON object' }] };
  const { items: given, ...rest } = body;
  const details: ErrorDetail[] = [];
  const items = given === undefined ? null : readItems(given, details);
  const fields = parseBodyFields<T>(rest, readers, noun);
  if (!fields.ok) details.push(...fields.details);
  if (!fields.ok || details.length > 0) return { ok: false, details: details.slice(0, DETAILS_MAX) };
  return { ok: true, value: { ...fields.value, items } };
}

function readItems(value: unknown, details: ErrorDetail[]): NamedItem[] {
  if (!Array.isArray(value) || value.length === 0 || value.length > RESERVED_ITEMS_MAX) {
    details.push({ path: 'items', message: `must be an array of 1 to ${RESERVED_ITEMS_MAX} items` });
    return [];
  }
  return value.flatMap((item: unknown, index) => {
    const path = `items.${index}`;
    if (!isJsonObject(item)) {
      details.push({ path, message: 'must be a JSON object' });
      return [];
    }
    for (const name of Object.keys(item).filter((name) => !ITEM_FIELDS.includes(name))) {
      details.push({ path: `${path}.${name}`, message: 'is not a field of an item' });
    }
    const product = readProductName(item, details, `${path}.`);
    const quantity = readQuantity(item['quantity'], `${path}.quantity`, details);
    return product ? [{ product, quantity }] : [];
  });
}

const ITEM_FIELDS: readonly string[] = [...PRODUCT_NAMES, 'quantity'];

function readQuantity(value: unknown, path: string, details: ErrorDetail[]): number {
  const number = toInteger(value);
  if (number >= 1 && number <= STOCK_MAX) return number;
  details.push({ path, message: `must be an integer from 1 to ${STOCK_MAX}` });
  return 0;
}

function readSeconds(value: unknown): number | InvalidValue {
  const { min, max } = EXPIRES_IN_S;
  const seconds = toInteger(value);
  return seconds >= min && seconds <= max ? seconds : new InvalidValue(`must be an integer from ${min} to ${max}`);
}

function toInteger(value: unknown): number {
  return value instanceof JsonNumber && /^[1-9]\d{0,15}$/.test(value.text) ? Number(value.text) : NaN;
}
