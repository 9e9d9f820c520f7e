// Reads requested changes of stock from JSON.

import type { ErrorDetail } from '../platform/core/errors.ts';
import { ServiceError } from '../platform/core/errors.ts';
import { JsonNumber, isJsonObject } from '../platform/core/json-text.ts';
import { countCharacters, isStorable } from '../platform/core/text.ts';
import { DETAILS_MAX } from './body-fields.ts';
import { readProductName } from './product-names.ts';
import type { ProductName } from './queries/stock.ts';
import { PRODUCT_NAMES } from './queries/stock.ts';
import type { StockChange } from './queries/stock.ts';
import { STOCK_MAX } from './products/product.ts';

/** A change of the stock of a product that the caller names. */
export type NamedStockChange = Omit<StockChange, 'productId'> & { product: ProductName; reason: string };

export const INVALID_STOCK = 'Invalid inventory payload';

const FIELDS: readonly string[] = [...PRODUCT_NAMES, 'adjustment', 'set', 'reason', 'expected', 'clamp'];
const REASON_LENGTH_MAX = 500;
const REASON_DEFAULT = 'API adjustment';

/** Reads the requested change: exactly one of `adjustment` and `set`. Throws `bad_request` for anything else. */
export function parseStockRequest(body: unknown): NamedStockChange {
  if (!isJsonObject(body)) throw invalid(INVALID_STOCK, [{ path: '', message: 'must be a JSON object' }]);
  const details: ErrorDetail[] = Object.keys(body)
    .filter((name) => !FIELDS.includes(name))
    .slice(0, DETAILS_MAX)
    .map((path) => ({ path, message: 'is not a field of a stock request' }));
  const wrongNames: ErrorDetail[] = [];
  const product = readProductName(body, wrongNames);
  if (!product) {
    const isMissing = PRODUCT_NAMES.every((name) => name === 'product_id' || body[name] === undefined);
    throw invalid(isMissing ? 'Missing product_id' : INVALID_STOCK, [...wrongNames, ...details]);
  }
  const { adjustment, set } = body;
  if (adjustment === undefined && set === undefined) {
    throw invalid('Send either adjustment or set', [
      { path: 'adjustment', message: 'is required unless set is given' },
      ...details,
    ]);
  }
  if (adjustment !== undefined && set !== undefined) {
    throw invalid('Send either adjustment or set, not both', [
      { path: 'set', message: 'must be absent when adjustment is given' },
      ...details,
    ]);
  }
  const mode = set === undefined ? 'adjustment' : 'set';
  const requested = readStockNumber(body, mode, details);
  const expected = body['expected'] === undefined ? null : readStockNumber(body, 'expected', details);
  const reason = readReason(body, details);
  const { clamp = true } = body;
  if (typeof clamp !== 'boolean') details.push({ path: 'clamp', message: 'must be true or false' });
  if (details.length > 0) throw invalid(INVALID_STOCK, details);
  return { product, mode, requested, expected, reason, clamp: clamp === true };
}

/** Returns the integer in the field. For an invalid value, adds an entry to `details` and returns 0. */
function readStockNumber(body: Record<string, unknown>, name: string, details: ErrorDetail[]): number {
  const value = body[name];
  const number = value instanceof JsonNumber && /^(0|-?[1-9]\d{0,15})$/.test(value.text) ? Number(value.text) : NaN;
  if (Math.abs(number) <= STOCK_MAX) return number;
  details.push({ path: name, message: `must be an integer from ${-STOCK_MAX} to ${STOCK_MAX}` });
  return 0;
}

/** Returns the reason, or the default. For an invalid value, adds an entry to `details`. */
function readReason({ reason = REASON_DEFAULT }: Record<string, unknown>, details: ErrorDetail[]): string {
  if (typeof reason === 'string' && isStorable(reason) && countCharacters(reason) <= REASON_LENGTH_MAX) return reason;
  details.push({ path: 'reason', message: `must be well-formed text of at most ${REASON_LENGTH_MAX} characters` });
  return REASON_DEFAULT;
}

function invalid(message: string, details: ErrorDetail[]): ServiceError {
  return new ServiceError('bad_request', message, { details });
}
