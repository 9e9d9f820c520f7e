// Reads the terms of a listing from a Seaport order. A listing offers one token at a fixed price in one currency, and anyone can fill it.
// Any other order is rejected with a code. The signature, the offerer's balance and the order's status are checked elsewhere.

import type { Address, AssetId } from '../../../platform/core/address.ts';
import { toTokenId } from '../../../platform/core/address.ts';
import { UINT256_MAX } from '../../../platform/core/amount.ts';
import type { TokenStandard } from '../../../platform/core/evm.ts';
import { ZERO_ADDRESS } from '../../../platform/core/evm.ts';
import { isCriterion, isTokenItem, ITEM_TYPE } from '../../../platform/core/seaport.ts';
import type { ConsiderationItem, OfferItem, SeaportOrder } from './order.ts';
import type { TermsOptions } from './terms.ts';
import { readTimes, requireAcceptedPrice, requireFixedAmounts, requireOperator, UnacceptedTerms } from './terms.ts';

/** Prices are for one unit, rounded up. Times are in milliseconds. */
export type ListingTerms = {
  side: 'ask';
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

/** Throws UnacceptedTerms with the code of the first check that the order fails. */
export function readListing(order: SeaportOrder, { protocol, wrappedNative, now }: TermsOptions): ListingTerms {
  const offered = readOfferedToken(order);
  const operator = requireOperator(order, protocol);
  const quantity = readQuantity(offered);
  requireOneCurrency(order.consideration, wrappedNative);
  requireFixedAmounts(order);
  const { askRaw, totalRaw } = readPrice(order);
  const times = readTimes(order, now);
  const perUnit = (raw: bigint) => (raw + quantity - 1n) / quantity;
  return {
    side: 'ask',
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
    throw new UnacceptedTerms(
      'criteria_not_supported',
      'an item has a criterion, which many tokens can meet: a listing must name its token',
    );
  }
  if (!offered || !isTokenItem(offered) || others.length > 0) {
    throw new UnacceptedTerms(
      'not_a_listing',
      'a listing must offer exactly one ERC-721 or ERC-1155 token: bundles are not supported',
    );
  }
  if (consideration.some(isTokenItem)) {
    throw new UnacceptedTerms(
      'not_a_listing',
      'the consideration contains a token: a listing is paid in currency only',
    );
  }
  return offered;
}

function readQuantity({ itemType, startAmount, endAmount }: OfferItem): bigint {
  if (startAmount < 1n || endAmount < 1n || (itemType === ITEM_TYPE.erc721 && startAmount !== 1n)) {
    throw new UnacceptedTerms(
      'quantity_not_valid',
      'the offer must be 1 of an ERC-721 token, or 1 or more of an ERC-1155 token',
    );
  }
  return startAmount;
}

/**
 * Throws UnacceptedTerms unless all payments are in the native currency, or all are in its wrapped token. Seaport requires the identifier 0 for
 * a payment in either currency.
 */
function requireOneCurrency(payments: readonly ConsiderationItem[], wrappedNative: Address | null): void {
  const isNative = ({ itemType, token }: OfferItem) => itemType === ITEM_TYPE.native && token === ZERO_ADDRESS;
  const isWrapped = ({ itemType, token }: OfferItem) => itemType === ITEM_TYPE.erc20 && token === wrappedNative;
  const isOneCurrency =
    payments.every(({ identifierOrCriteria }) => identifierOrCriteria === 0n) &&
    (payments.every(isNative) || payments.every(isWrapped));
  if (!isOneCurrency) {
    throw new UnacceptedTerms(
      'unsupported_currency',
      'all payments must be in the native currency, or all must be in its wrapped token',
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
  requireAcceptedPrice({ totalRaw, sellerRaw: askRaw });
  if (totalRaw > UINT256_MAX) {
    throw new UnacceptedTerms('fees_over_limit', 'the buyer would pay more than 2^256-1 base units');
  }
  return { askRaw, totalRaw };
}
