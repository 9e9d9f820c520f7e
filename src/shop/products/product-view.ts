// The public JSON of products, in responses and in events. Clients and webhook receivers depend on its form.

import type { Product, ProductSummary } from './product.ts';

/** A product in a list. */
export function toProductSummaryView(product: ProductSummary) {
  const { id, name, slug, price, type, inventory, trackInventory, requiresShipping, weightGrams } = product;
  const { collections, image, sku, barcode, externalId, status, compareAtPrice, groupId, options, metadata } = product;
  const stock = { inventory, trackInventory, requiresShipping, weightGrams };
  const more = { sku, barcode, externalId, status, compareAtPrice, groupId, options, metadata };
  const createdAt = new Date(product.createdAt).toISOString();
  const updatedAt = new Date(product.updatedAt).toISOString();
  return { id, name, slug, price, type, ...stock, collections, image, createdAt, updatedAt, ...more };
}

/** A complete product, for responses with one product and for events. */
export function toProductView(product: Product) {
  const { description, moreImages } = product;
  return { ...toProductSummaryView(product), description, moreImages };
}

export type ProductView = ReturnType<typeof toProductView>;
