// Why a signed order is not taken: one code a check, a closed and published list (docs/orders.md). http gives each its status.

import type { ListingRejection } from './seaport/listing.ts';

/** In the order in which they are looked for; the checks of the listing itself come in the place of `not_a_listing`. */
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

/** An order that is not taken, or not cancelled. `path` is the field that is wrong, where one is. */
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
