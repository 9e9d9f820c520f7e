// Maps each rejection code of an order to its HTTP status. docs/orders.md documents the codes.

import type { FastifyReply, FastifyRequest, RouteHandlerMethod } from 'fastify';
import type { OrderRejectionCode } from '../../market/orders/rejection.ts';
import { OrderRejected } from '../../market/orders/rejection.ts';

const STATUS_BY_CODE: Record<OrderRejectionCode, number> = {
  malformed_order: 400,
  unknown_protocol: 422,
  criteria_not_supported: 422,
  not_a_listing: 422,
  not_a_bid: 422,
  extra_data_not_supported: 422,
  unknown_conduit: 422,
  quantity_not_valid: 422,
  unsupported_currency: 422,
  price_not_fixed: 422,
  price_not_positive: 422,
  fees_over_limit: 422,
  starts_too_late: 422,
  expired: 422,
  signature_invalid: 422,
  signature_unverifiable: 422,
  criteria_not_valid: 422,
  chain_unavailable: 503,
  duplicate: 409,
  collection_not_followed: 422,
  already_filled: 422,
  already_cancelled: 422,
  wrong_counter: 422,
  not_the_owner: 422,
  not_approved: 422,
  no_funds: 422,
  token_burned: 422,
  not_signed: 409,
};

export const REJECTION_CODES = Object.keys(STATUS_BY_CODE) as OrderRejectionCode[];

/** The `Retry-After` of `chain_unavailable`, in seconds. */
const RETRY_AFTER_S = 2;

/** Wraps a handler. If the handler throws OrderRejected, sends an error response. `ended` is the status for `already_filled` and `expired`. */
export function withRejections(
  handle: (request: FastifyRequest, reply: FastifyReply) => Promise<unknown>,
  { ended = 422 }: { ended?: number } = {},
): RouteHandlerMethod {
  return async (request, reply) => {
    try {
      return await handle(request, reply);
    } catch (error) {
      if (!(error instanceof OrderRejected)) throw error;
      const { code, message, path } = error;
      const isEnd = code === 'already_filled' || code === 'expired';
      const details = path === null ? {} : { details: [{ path, message }] };
      if (code === 'chain_unavailable') reply.header('retry-after', String(RETRY_AFTER_S));
      return reply.code(isEnd ? ended : STATUS_BY_CODE[code]).send({ error: { code, message, ...details } });
    }
  };
}
