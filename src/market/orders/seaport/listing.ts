// Reads the terms of a listing from a Seaport order. A listing offers one token at a fixed price in one currency, and anyone can fill it.
// Any other order is rejected with a code. The signature, the offerer's balance and the order's status are checked elsewhere.

import type { Address, AssetId } from '../../../platform/core/address.ts';
import { toTokenId } from '../../../platform/core/address.ts';
import { UINT256_MAX } from '../../../platform/core/amount.ts';
import type { TokenStandard } from '../../../platform/core/evm.ts';
import { ZERO_ADDRESS } from '../../../platform/core/evm.ts';
import { isTokenItem, ITEM_TYPE, ORDER_TYPE } from '../../../platform/core/seaport.ts';
import { findOperator } from './deployments.ts';
import type { ConsiderationItem, OfferItem, Protocol, SeaportOrder } from './order.ts';

/** Prices are for one unit, rounded up. Times are in milliseconds. */
export type ListingTerms = {
  contractAddress: Address;
  tokenId: AssetId;
  standard: TokenStandard;
  /** Units offered: 1 for ERC-721. */
  quantity: bigint;
  /** What the offerer receives. */
  askRaw: bigint;
  /**
   * What a buyer pays, if the order includes fees. Null if the order includes no fees: the service then adds the platform fee and the
   * royalty to the ask.
   */
  buyerTotalRaw: bigint | null;
  startsAt: number;
  /** Null for an order that never expires. */
  expiresAt: number | null;
  counter: bigint;
  /** The account that must be approved to transfer the token. */
  operator: Address;
};

/** The codes are in the order of the checks. */
export const LISTING_REJECTIONS = [
  'criteria_not_supported',
  'not_a_listing',
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
export type ListingRejection = (typeof LISTING_REJECTIONS)[number];

export type ParsedListing = { terms: ListingTerms } | { terms: null; code: ListingRejection; message: string };

/** How far in the future an order may start. The limit is low because the owner can still sell the token before the start. */
export const STARTS_AHEAD_MAX_MS = 24 * 60 * 60_000;
/**
 * The largest share of the buyer's price that accounts other than the offerer may receive. Without a limit, an order with a tiny ask and a
 * large fee to another account of the offerer would set the floor.
 */
const FEES_MAX_BPS = 5_000n;
/** 1 January 10000, in seconds. An order that ends then or later is stored without an expiry time. */
const NEVER_S = 253_402_300_800n;

/** The order types that anyone can fill, without the consent of a zone. */
const OPEN_TYPES = new Set<number>([ORDER_TYPE.fullOpen, ORDER_TYPE.partialOpen]);

export type ListingOptions = { protocol: Pick<Protocol, 'address'>; wrappedNative: Address | null; now: number };

/** The terms of the listing, or the code and message of the first check that the order fails. */
export function parseListingTerms(order: SeaportOrder, options: ListingOptions): ParsedListing {
  try {
    return { terms: readTerms(order, options) };
  } catch (error) {
    if (!(error instanceof NotAListing)) throw error;
    return { terms: null, code: error.code, message: error.message };
  }
}

class NotAListing extends Error {
  override readonly name = 'NotAListing';
  readonly code: ListingRejection;

  constructor(code: ListingRejection, message: string) {
    super(message);
    this.code = code;
  }
}

function readTerms(order: SeaportOrder, { protocol, wrappedNative, now }: ListingOptions): ListingTerms {
  const offered = readOfferedToken(order);
  if (!OPEN_TYPES.has(order.orderType)) {
    throw new NotAListing(
      'extra_data_not_supported',
      'restricted and contract orders are not supported: the order type must be 0 (full open) or 1 (partial open)',
    );
  }
  const operator = findOperator(protocol, order.conduitKey);
  if (operator === null) {
    throw new NotAListing('unknown_conduit', 'the conduit of this key is not known for this deployment of Seaport');
  }
  const quantity = readQuantity(offered);
  requireOneCurrency(order.consideration, wrappedNative);
  requireFixedAmounts(order);
  const { askRaw, totalRaw } = readPrice(order);
  const times = readTimes(order, now);
  const perUnit = (raw: bigint) => (raw + quantity - 1n) / quantity;
  return {
    contractAddress: offered.token,
    tokenId: toTokenId(offered.identifierOrCriteria),
    standard: offered.itemType === ITEM_TYPE.erc721 ? 'erc721' : 'erc1155',
    quantity,
    askRaw: perUnit(askRaw),
    buyerTotalRaw: totalRaw > askRaw ? perUnit(totalRaw) : null,
    ...times,
    counter: order.counter,
    operator,
  };
}

function readOfferedToken({ offer, consideration }: SeaportOrder): OfferItem {
  const [offered, ...others] = offer;
  if ([...offer, ...consideration].some(isCriterion)) {
    throw new NotAListing(
      'criteria_not_supported',
      'an item has a criterion, which many tokens can meet: a listing must name its token',
    );
  }
  if (!offered || !isTokenItem(offered) || others.length > 0) {
    throw new NotAListing(
      'not_a_listing',
      'a listing must offer exactly one ERC-721 or ERC-1155 token: bids and bundles are not supported',
    );
  }
  if (consideration.some(isTokenItem)) {
    throw new NotAListing('not_a_listing', 'the consideration contains a token: a listing is paid in currency only');
  }
  return offered;
}

function isCriterion({ itemType }: OfferItem): boolean {
  return itemType === ITEM_TYPE.erc721Criteria || itemType === ITEM_TYPE.erc1155Criteria;
}

function readQuantity({ itemType, startAmount, endAmount }: OfferItem): bigint {
  if (startAmount < 1n || endAmount < 1n || (itemType === ITEM_TYPE.erc721 && startAmount !== 1n)) {
    throw new NotAListing(
      'quantity_not_valid',
      'the offer must be 1 of an ERC-721 token, or 1 or more of an ERC-1155 token',
    );
  }
  return startAmount;
}

/**
 * Throws NotAListing unless all payments are in the native currency, or all are in its wrapped token. Seaport requires the identifier 0 for
 * a payment in either currency.
 */
function requireOneCurrency(payments: readonly ConsiderationItem[], wrappedNative: Address | null): void {
  const isNative = ({ itemType, token }: OfferItem) => itemType === ITEM_TYPE.native && token === ZERO_ADDRESS;
  const isWrapped = ({ itemType, token }: OfferItem) => itemType === ITEM_TYPE.erc20 && token === wrappedNative;
  const isOneCurrency =
    payments.every(({ identifierOrCriteria }) => identifierOrCriteria === 0n) &&
    (payments.every(isNative) || payments.every(isWrapped));
  if (!isOneCurrency) {
    throw new NotAListing(
      'unsupported_currency',
      'all payments must be in the native currency, or all must be in its wrapped token',
    );
  }
}

function requireFixedAmounts({ offer, consideration }: SeaportOrder): void {
  if ([...offer, ...consideration].some((item) => item.startAmount !== item.endAmount)) {
    throw new NotAListing(
      'price_not_fixed',
      'amounts that change over time are not supported: startAmount and endAmount must be equal',
    );
  }
}

/** Returns what the offerer receives and what the buyer pays, for all units together. */
function readPrice(order: SeaportOrder): { askRaw: bigint; totalRaw: bigint } {
  let askRaw = 0n;
  let totalRaw = 0n;
  for (const { recipient, startAmount } of order.consideration) {
    totalRaw += startAmount;
    if (recipient === order.offerer) askRaw += startAmount;
  }
  if (totalRaw === 0n) throw new NotAListing('price_not_positive', 'the price must be more than 0');
  if (totalRaw > UINT256_MAX) {
    throw new NotAListing('fees_over_limit', 'the buyer would pay more than 2^256-1 base units');
  }
  if ((totalRaw - askRaw) * 10_000n > totalRaw * FEES_MAX_BPS) {
    throw new NotAListing(
      'fees_over_limit',
      `accounts other than the offerer receive more than ${FEES_MAX_BPS / 100n} % of the price`,
    );
  }
  return { askRaw, totalRaw };
}

function readTimes(order: SeaportOrder, now: number): Pick<ListingTerms, 'startsAt' | 'expiresAt'> {
  const startsAt = Number(order.startTime < NEVER_S ? order.startTime : NEVER_S) * 1_000;
  if (startsAt > now + STARTS_AHEAD_MAX_MS) {
    throw new NotAListing(
      'starts_too_late',
      `the order must start within ${STARTS_AHEAD_MAX_MS / 3_600_000} hours from now`,
    );
  }
  const expiresAt = order.endTime < NEVER_S ? Number(order.endTime) * 1_000 : null;
  if (expiresAt !== null && (expiresAt <= now || expiresAt <= startsAt)) {
    throw new NotAListing('expired', 'the order has expired, or expires before it starts');
  }
  return { startsAt, expiresAt };
}
