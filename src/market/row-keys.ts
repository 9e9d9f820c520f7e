// The identity of what has no id of its own: a digest of the fields that make it what it is, so that the same record told
// twice is one row. Changing an encoding here would make every stored row a stranger to its next telling.

import { hash } from 'node:crypto';
import type { NewSale } from './queries/sales.ts';
import { BUNDLE } from './queries/sales.ts';

/** The first 16 bytes of SHA-256, in hex: what a uuid column reads. JSON tells `["a","b"]` from `["ab"]` and null from text. */
export function toDigest(fields: readonly (string | number | null)[]): string {
  return hash('sha256', JSON.stringify(fields), 'hex').slice(0, 32);
}

/** By its transaction where there is one, whoever tells it; else by all that was told. */
export function toSaleKey(sale: Omit<NewSale, 'key'>): string {
  const { chain, collectionId, tx, logIndex } = sale;
  const asset = sale.asset ?? BUNDLE;
  if (tx !== null) return toDigest(['sale of tx', chain, tx, collectionId, asset, logIndex]);
  const { source, price, seller, buyer, soldAt, listingId } = sale;
  return toDigest(['sale', source, chain, collectionId, asset, price, seller, buyer, soldAt, listingId, logIndex]);
}
