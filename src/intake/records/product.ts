// Parses product records. Fields other than the shop are checked by the rules of the store API.

import type { ErrorDetail } from '../../platform/core/errors.ts';
import { JsonNumber } from '../../platform/core/json-text.ts';
import type { ProductInput } from '../../shop/products/product.ts';
import { parseNewProduct, parseProductInput } from '../../shop/products/product-input.ts';
import { toSlug } from '../../shop/products/slug.ts';
import type { Fields } from './fields.ts';
import { readName, RecordRejected, rejectField, requireField, withValue } from './fields.ts';
import type { RecordContext } from './identifiers.ts';

/** A parsed product record. The slug identifies the product in its shop. */
export type ProductRecord = {
  /** The name or the id of the shop. */
  shop: string;
  slug: string;
  /** The fields to change if the shop has a product with this slug, and of the product to create otherwise. */
  input: ProductInput;
};

export function parseProductRecord(_context: RecordContext, fields: Fields): ProductRecord {
  const shop = requireField(readName, fields, 'shop');
  const { kind: _kind, shop: _shop, ...given } = fields.values;
  for (const price of ['price', 'compareAtPrice']) {
    if (typeof given[price] === 'number' && !Number.isSafeInteger(given[price])) {
      rejectField(fields, price, 'must be a string, because the number may have been rounded');
    }
  }
  const body = Object.fromEntries(Object.entries(given).map(([name, value]) => [name, toExactNumber(value)]));
  const create = parseNewProduct(body);
  if (!create.ok) throw new RecordRejected(describeDetails(create.details, body));
  const input = parseProductInput(body);
  if (!input.ok) throw new RecordRejected(describeDetails(input.details, body));
  return { shop, slug: create.value.slug ?? toSlug(create.value.name), input: input.value };
}

/** Joins error details to one line. Each detail quotes the value at its path. */
export function describeDetails(details: readonly ErrorDetail[], values: Readonly<Record<string, unknown>>): string {
  return details.map(({ path, message }) => `${path}: ${withValue(message, values[path])}`).join('; ');
}

/** The rules of the store API expect numbers as their literal text (JsonNumber), but column maps convert cells to plain numbers. */
function toExactNumber(value: unknown): unknown {
  return typeof value === 'number' ? new JsonNumber(String(value)) : value;
}
