// Parses records of products: the shop, and the product's slug in that shop. The other fields are checked by the rules of the
// store interface.

import type { ErrorDetail } from '../../core/errors.ts';
import { JsonNumber } from '../../core/json-text.ts';
import type { NewProduct, ProductInput } from '../../shop/products/product.ts';
import { parseNewProduct, parseProductInput } from '../../shop/products/product-input.ts';
import { toSlug } from '../../shop/products/slug.ts';
import type { Fields } from './fields.ts';
import { readName, RecordRejected, rejectField, requireField } from './fields.ts';
import type { RecordContext } from './identifiers.ts';

/** A product as a record describes it. The slug identifies it in its shop. */
export type ProductRecord = {
  /** A name or an id. */
  shop: string;
  slug: string;
  /** The product to create, if the shop has none of this slug. */
  create: NewProduct;
  /** The fields to change, if it has one. */
  update: ProductInput;
};

export function parseProductRecord(_context: RecordContext, fields: Fields): ProductRecord {
  const shop = requireField(readName, fields, 'shop');
  const { kind: _kind, shop: _shop, ...given } = fields.values;
  if (typeof given['price'] === 'number' && !Number.isSafeInteger(given['price'])) {
    rejectField(fields, 'price', 'must be a string, because the number may have been rounded');
  }
  const body = Object.fromEntries(Object.entries(given).map(([name, value]) => [name, toExactNumber(value)]));
  const create = parseNewProduct(body);
  if (!create.ok) throw new RecordRejected(describeDetails(create.details));
  const update = parseProductInput(body);
  if (!update.ok) throw new RecordRejected(describeDetails(update.details));
  return { shop, slug: create.value.slug ?? toSlug(create.value.name), create: create.value, update: update.value };
}

/** Error details as one line. */
export function describeDetails(details: readonly ErrorDetail[]): string {
  return details.map(({ path, message }) => `${path}: ${message}`).join('; ');
}

/** Column maps make plain numbers of cells; the rules of the store interface expect numbers by their literals. */
function toExactNumber(value: unknown): unknown {
  return typeof value === 'number' ? new JsonNumber(String(value)) : value;
}
