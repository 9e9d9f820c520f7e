// Keys of rows that have no id of their own: a digest of the fields that identify the row, so that a record that comes in twice
// is one row. Stored rows keep their keys: a change of the encoding would insert every record a second time.

import { hash } from 'node:crypto';
import type { NewSale } from './queries/sales.ts';
import { BUNDLE } from './queries/sales.ts';

/** The first 16 bytes of the SHA-256, in hexadecimal, as a uuid column reads them. JSON keeps the bounds of fields apart. */
export function toDigest(fields: readonly (string | number | null)[]): string {
  return hash('sha256', JSON.stringify(fields), 'hex').slice(0, 32);
}

/** A sale with a transaction is identified by it, whatever its source; any other by all of its fields. */
export function toSaleKey(sale: Omit<NewSale, 'key'>): string {
  const { chain, collectionId, tx, logIndex } = sale;
  const asset = sale.asset ?? BUNDLE;
  if (tx !== null) return toDigest(['sale of tx', chain, tx, collectionId, asset, logIndex]);
  const { source, price, seller, buyer, soldAt, listingId } = sale;
  return toDigest(['sale', source, chain, collectionId, asset, price, seller, buyer, soldAt, listingId, logIndex]);
}
