// Lists the error codes with which a signed order is rejected. Clients rely on these codes (docs/orders.md). The HTTP statuses are in
// intake/http/rejections.ts.

import type { TermsRejection } from './seaport/terms.ts';

/**
 * The codes are in the order in which a submitted order is checked. `already_filled`, `already_cancelled` and `wrong_counter` are checked twice:
 * by calls to the chain before `duplicate`, and against the chain log at their place in this list. `not_signed` rejects only the cancel of an
 * order.
 */
export type OrderRejectionCode =
  | 'malformed_order'
  | 'unknown_protocol'
  | TermsRejection
  | 'signature_invalid'
  | 'signature_unverifiable'
  | 'criteria_not_valid'
  | 'chain_unavailable'
  | 'duplicate'
  | 'collection_not_followed'
  | 'already_filled'
  | 'already_cancelled'
  | 'wrong_counter'
  | 'not_the_owner'
  | 'not_approved'
  | 'no_funds'
  | 'token_burned'
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
