// What is told of a product, to callers and in events. Names and shapes are public: whoever listens depends on them.

import type { Product, ProductSummary } from './product.ts';

/** A product as lists show it. */
export function toProductSummaryView(product: ProductSummary) {
  const { id, name, slug, price, type, inventory, trackInventory, requiresShipping, weightGrams } = product;
  const numbers = { inventory, trackInventory, requiresShipping, weightGrams };
  const { collections, image } = product;
  const createdAt = new Date(product.createdAt).toISOString();
  return { id, name, slug, price, type, ...numbers, collections, image, createdAt };
}

/** A product in full, as it is read alone and told in events. */
export function toProductView(product: Product) {
  const { description, moreImages } = product;
  const updatedAt = new Date(product.updatedAt).toISOString();
  return { ...toProductSummaryView(product), description, moreImages, updatedAt };
}
