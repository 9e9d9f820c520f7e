// Why a signed order is rejected: one code for each check, a closed list that clients rely on (docs/orders.md). The HTTP status
// of each code stands in intake/http/rejections.ts.

import type { ListingRejection } from './seaport/listing.ts';

/** In the order in which the checks run; those of ListingRejection run together. */
export type OrderRejectionCode =
  | 'malformed_order'
  | 'unknown_protocol'
  | ListingRejection
  | 'signature_invalid'
  | 'signature_unverifiable'
  | 'chain_unavailable'
  | 'duplicate'
  | 'collection_not_followed'
  | 'already_filled'
  | 'already_cancelled'
  | 'wrong_counter'
  | 'not_the_owner'
  | 'not_approved'
  | 'not_signed';

/** An order that is not accepted, or cannot be cancelled. `path` is the field that is wrong, where there is one. */
export class OrderRejected extends Error {
  override readonly name = 'OrderRejected';
  readonly code: OrderRejectionCode;
  readonly path: string | null;

  constructor(code: OrderRejectionCode, publicMessage: string, options: { path?: string; cause?: unknown } = {}) {
    super(publicMessage, { cause: options.cause });
    this.code = code;
    this.path = options.path ?? null;
  }
}
