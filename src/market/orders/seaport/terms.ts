// The checks that all Seaport orders of this service must pass, whichever side they are of: anyone can fill the order, its amounts do not change, and
// most of the price goes to the seller. The first check that an order fails gives the code of its rejection.

import type { Address } from '../../../platform/core/address.ts';
import { ORDER_TYPE } from '../../../platform/core/seaport.ts';
import { findOperator } from './deployments.ts';
import type { Protocol, SeaportOrder } from './order.ts';

/** The codes are in the order of the checks. */
export const TERMS_REJECTIONS = [
  'criteria_not_supported',
  'not_a_listing',
  'not_a_bid',
  'extra_data_not_supported',
  'unknown_conduit',
  'quantity_not_valid',
  'unsupported_currency',
  'price_not_fixed',
  'price_not_positive',
  'fees_over_limit',
  'starts_too_late',
  'expired',
] as const;
export type TermsRejection = (typeof TERMS_REJECTIONS)[number];

/** Thrown for an order whose terms this service does not accept. */
export class UnacceptedTerms extends Error {
  override readonly name = 'UnacceptedTerms';
  readonly code: TermsRejection;

  constructor(code: TermsRejection, message: string) {
    super(message);
    this.code = code;
  }
}

export type TermsOptions = { protocol: Pick<Protocol, 'address'>; wrappedNative: Address | null; now: number };

/** How far in the future an order may start. The limit is low because the offerer can still spend what the order offers before the start. */
export const STARTS_AHEAD_MAX_MS = 24 * 60 * 60_000;
/**
 * The largest share of the buyer's price that accounts other than the seller may receive. Without a limit, an order with a tiny ask and a
 * large fee to another account of the offerer would set the floor.
 */
const FEES_MAX_BPS = 5_000n;
/** 1 January 10000, in seconds. An order that ends then or later is stored without an expiry time. */
const NEVER_S = 253_402_300_800n;

/** The order types that anyone can fill, without the consent of a zone. */
const OPEN_TYPES = new Set<number>([ORDER_TYPE.fullOpen, ORDER_TYPE.partialOpen]);

/** The account that transfers what the order offers. Throws UnacceptedTerms if not everyone can fill the order, or if the account is not known. */
export function requireOperator(order: SeaportOrder, protocol: TermsOptions['protocol']): Address {
  if (!OPEN_TYPES.has(order.orderType)) {
    throw new UnacceptedTerms(
      'extra_data_not_supported',
      'restricted and contract orders are not supported: the order type must be 0 (full open) or 1 (partial open)',
    );
  }
  const operator = findOperator(protocol, order.conduitKey);
  if (operator !== null) return operator;
  throw new UnacceptedTerms('unknown_conduit', 'the conduit of this key is not known for this deployment of Seaport');
}

export function requireFixedAmounts({ offer, consideration }: SeaportOrder): void {
  if ([...offer, ...consideration].some((item) => item.startAmount !== item.endAmount)) {
    throw new UnacceptedTerms(
      'price_not_fixed',
      'amounts that change over time are not supported: startAmount and endAmount must be equal',
    );
  }
}

/** `totalRaw`: what the buyer pays. `sellerRaw`: the part of it that the seller receives. */
export function requireAcceptedPrice({ totalRaw, sellerRaw }: { totalRaw: bigint; sellerRaw: bigint }): void {
  if (totalRaw === 0n) throw new UnacceptedTerms('price_not_positive', 'the price must be more than 0');
  if ((totalRaw - sellerRaw) * 10_000n > totalRaw * FEES_MAX_BPS) {
    throw new UnacceptedTerms(
      'fees_over_limit',
      `accounts other than the seller receive more than ${FEES_MAX_BPS / 100n} % of the price`,
    );
  }
}

/** In milliseconds. `expiresAt` is null for an order that never expires. */
export function readTimes(order: SeaportOrder, now: number): { startsAt: number; expiresAt: number | null } {
  const startsAt = Number(order.startTime < NEVER_S ? order.startTime : NEVER_S) * 1_000;
  if (startsAt > now + STARTS_AHEAD_MAX_MS) {
    throw new UnacceptedTerms(
      'starts_too_late',
      `the order must start within ${STARTS_AHEAD_MAX_MS / 3_600_000} hours from now`,
    );
  }
  const expiresAt = order.endTime < NEVER_S ? Number(order.endTime) * 1_000 : null;
  if (expiresAt !== null && (expiresAt <= now || expiresAt <= startsAt)) {
    throw new UnacceptedTerms('expired', 'the order has expired, or expires before it starts');
  }
  return { startsAt, expiresAt };
}
