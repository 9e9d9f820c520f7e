// Keys of rows that have no id of their own. A key is a hash of the fields that identify the row, so a record that is ingested twice gives
// one row. The encoding must not change: stored rows keep their keys, so with another encoding each record would be inserted again.

import { hash } from 'node:crypto';
import type { NewSale } from './queries/sales.ts';
import { BUNDLE } from './queries/sales.ts';

/** The first 16 bytes of the SHA-256 in hexadecimal, for a uuid column. JSON encoding keeps adjacent fields distinct. */
export function toDigest(fields: readonly (string | number | null)[]): string {
  return hash('sha256', JSON.stringify(fields), 'hex').slice(0, 32);
}

/**
 * The id of the listing of a signed order at a marketplace: `source`, `_` and 32 hexadecimal digits. A sale that fills the listing has this
 * id in its field `listingId`. Listings of one order at several marketplaces have one order hash but different ids. `orderHash` must be in
 * lower case.
 */
export function toListingIdOfOrder(listing: { source: string; chain: string; orderHash: string }): string {
  return `${listing.source}_${toDigest(['order', listing.source, listing.chain, listing.orderHash])}`;
}

/**
 * A sale with a transaction is identified by its transaction, collection, asset and log index, whatever its `source`. Any other sale is
 * identified by its `source`, collection, asset, price, parties, time, listing and log index. One EVM log
 * can have several sales of the same asset. `repetition` is 0 for the first of them, and above 0 for the others.
 */
export function toSaleKey(sale: Omit<NewSale, 'key'>, repetition = 0): string {
  const { chain, collectionId, tx, logIndex } = sale;
  const asset = sale.asset ?? BUNDLE;
  if (tx !== null) {
    const fields = ['sale of tx', chain, tx, collectionId, asset, logIndex];
    return toDigest(repetition > 0 ? [...fields, repetition] : fields);
  }
  const { source, price, seller, buyer, soldAt, listingId } = sale;
  return toDigest(['sale', source, chain, collectionId, asset, price, seller, buyer, soldAt, listingId, logIndex]);
}
