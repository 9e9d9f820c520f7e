// The public JSON of products, in responses and in events. Clients and webhook receivers depend on its form.

import type { Product, ProductSummary } from './product.ts';

/** A product in a list. */
export function toProductSummaryView(product: ProductSummary) {
  const { id, name, slug, price, type, inventory, trackInventory, requiresShipping, weightGrams } = product;
  const { collections, image } = product;
  const stock = { inventory, trackInventory, requiresShipping, weightGrams };
  const createdAt = new Date(product.createdAt).toISOString();
  return { id, name, slug, price, type, ...stock, collections, image, createdAt };
}

/** A complete product, for responses with one product and for events. */
export function toProductView(product: Product) {
  const { description, moreImages } = product;
  const updatedAt = new Date(product.updatedAt).toISOString();
  return { ...toProductSummaryView(product), description, moreImages, updatedAt };
}

export type ProductView = ReturnType<typeof toProductView>;
