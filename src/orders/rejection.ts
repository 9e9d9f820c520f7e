// Lists the error codes with which a signed order is rejected. Clients rely on these codes (docs/orders.md). The HTTP statuses are in
// intake/http/rejections.ts.

import type { ListingRejection } from './seaport/listing.ts';

/**
 * Two checks of a submitted order can reject it with `already_filled`, `already_cancelled` or `wrong_counter`. The first check calls the
 * chain, before the check for `duplicate`. The second check reads the chain log, after the check for `collection_not_followed`. `not_signed` rejects
 * only the cancel of an order.
 */
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

/** Thrown for an order that is not accepted, or cannot be cancelled. `path` is the field at fault, or null when no single field is. */
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
