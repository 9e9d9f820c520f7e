// Reads the terms of a Seaport order: of a bid if the order offers a payment, and of a listing otherwise.

import { isPayment } from '../../../platform/core/seaport.ts';
import type { BidTerms, BidTermsOptions } from './bid.ts';
import { readBid } from './bid.ts';
import type { ListingTerms } from './listing.ts';
import { readListing } from './listing.ts';
import type { SeaportOrder } from './order.ts';
import type { TermsOptions, TermsRejection } from './terms.ts';
import { UnacceptedTerms } from './terms.ts';

export type Terms = ListingTerms | BidTerms;

export type ParsedTerms<T extends Terms> = { terms: T } | { terms: null; code: TermsRejection; message: string };

/** The terms of the order, or the code and message of the first check that the order fails. */
export function parseTerms(order: SeaportOrder, options: BidTermsOptions): ParsedTerms<Terms> {
  const [offered] = order.offer;
  return parseWith<Terms, BidTermsOptions>(offered && isPayment(offered) ? readBid : readListing, order, options);
}

/** As `parseTerms`, for an order that must be a listing. */
export function parseListingTerms(order: SeaportOrder, options: TermsOptions): ParsedTerms<ListingTerms> {
  return parseWith(readListing, order, options);
}

function parseWith<T extends Terms, Options extends TermsOptions>(
  read: (order: SeaportOrder, options: Options) => T,
  order: SeaportOrder,
  options: Options,
): ParsedTerms<T> {
  try {
    return { terms: read(order, options) };
  } catch (error) {
    if (!(error instanceof UnacceptedTerms)) throw error;
    return { terms: null, code: error.code, message: error.message };
  }
}
