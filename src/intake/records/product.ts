// Records of products: whose they are, and which of the shop's products each one is. What may be in their fields is the rule of
// the store, and read by it.

import { JsonNumber } from '../../core/json-text.ts';
import type { NewProduct, ProductInput } from '../../shop/products/product.ts';
import { parseNewProduct, parseProductInput } from '../../shop/products/product-input.ts';
import { toSlug } from '../../shop/products/slug.ts';
import type { ErrorDetail } from '../../core/errors.ts';
import type { Fields } from './fields.ts';
import { readName, Refusal, refuse, required } from './fields.ts';
import type { RecordContext } from './identifiers.ts';

/** A product as it was told. The slug is its identity in the shop. */
export type ProductRecord = {
  /** A name or an id. */
  shop: string;
  slug: string;
  /** What a new product is. */
  create: NewProduct;
  /** What is told, for a product that is there. */
  update: ProductInput;
};

export function toProduct(_context: RecordContext, fields: Fields): ProductRecord {
  const shop = required(readName, fields, 'shop');
  const { kind: _kind, shop: _shop, ...told } = fields.values;
  if (typeof told['price'] === 'number' && !Number.isSafeInteger(told['price'])) {
    refuse(fields, 'price', 'must be told as text, because the number may have been rounded');
  }
  // A column map makes numbers of cells.
  const exact = Object.entries(told).map(([name, value]) => [name, toExact(value)]);
  const body: unknown = Object.fromEntries(exact);
  const create = parseNewProduct(body);
  if (!create.ok) throw new Refusal(toReason(create.details));
  const update = parseProductInput(body);
  if (!update.ok) throw new Refusal(toReason(update.details));
  return { shop, slug: create.value.slug ?? toSlug(create.value.name), create: create.value, update: update.value };
}

/** The details of a refusal as one line. */
export function toReason(details: readonly ErrorDetail[]): string {
  return details.map(({ path, message }) => `${path}: ${message}`).join('; ');
}

function toExact(value: unknown): unknown {
  return typeof value === 'number' ? new JsonNumber(String(value)) : value;
}
