// The public JSON of products, in responses and in events. Changing a name or a shape breaks receivers.

import type { Product, ProductSummary } from './product.ts';

/** A product as lists have it. */
export function toProductSummaryView(product: ProductSummary) {
  const { id, name, slug, price, type, inventory, trackInventory, requiresShipping, weightGrams } = product;
  const { collections, image } = product;
  const stock = { inventory, trackInventory, requiresShipping, weightGrams };
  const createdAt = new Date(product.createdAt).toISOString();
  return { id, name, slug, price, type, ...stock, collections, image, createdAt };
}

/** A complete product, as in single responses and in events. */
export function toProductView(product: Product) {
  const { description, moreImages } = product;
  const updatedAt = new Date(product.updatedAt).toISOString();
  return { ...toProductSummaryView(product), description, moreImages, updatedAt };
}

export type ProductView = ReturnType<typeof toProductView>;
