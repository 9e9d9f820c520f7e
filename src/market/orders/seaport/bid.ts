// Reads the terms of a bid from a Seaport order. A bid offers a fixed amount of the wrapped native currency, or of a currency that the settings name, for
// one token, for any token of a collection, or for any token of a set (`criteria`). Any other order is rejected with a code.

import type { Address, AssetId } from '../../../platform/core/address.ts';
import { toTokenId } from '../../../platform/core/address.ts';
import type { Currency } from '../../../platform/core/chains.ts';
import type { Hex, TokenStandard } from '../../../platform/core/evm.ts';
import { isCriterion, isPartialOrder, isTokenItem, ITEM_TYPE } from '../../../platform/core/seaport.ts';
import type { ConsiderationItem, OfferItem, SeaportOrder } from './order.ts';
import type { TermsOptions } from './terms.ts';
import { readTimes, requireAcceptedPrice, requireFixedAmounts, requireOperator, UnacceptedTerms } from './terms.ts';

/** Prices are for one unit, exactly. Times are in milliseconds. */
export type BidTerms = {
  side: 'bid';
  contractAddress: Address;
  /** The token that is wanted; null if several tokens meet the bid. */
  tokenId: AssetId | null;
  /** The root of the Merkle tree of the tokens that meet the bid; null for a bid for one token, or for any token of the collection. */
  root: Hex | null;
  standard: TokenStandard;
  /** Units wanted. */
  quantity: bigint;
  /** What the bidder pays. */
  priceRaw: bigint;
  /** What the seller keeps of the price after the fees in the order. */
  proceedsRaw: bigint;
  /** The contract of the currency; null for the wrapped native currency. */
  currency: Address | null;
  startsAt: number;
  /** Null for an order that never expires. */
  expiresAt: number | null;
  counter: bigint;
  /** The account that the bidder must approve to spend the currency. */
  operator: Address;
};

/** `currencies`: those in which bids can be paid besides the wrapped native one. */
export type BidTermsOptions = TermsOptions & { currencies: readonly Currency[] };

/** Throws UnacceptedTerms with the code of the first check that the order fails. */
export function readBid(order: SeaportOrder, { protocol, wrappedNative, currencies, now }: BidTermsOptions): BidTerms {
  const { payment, wanted, fees } = divideItems(order);
  const operator = requireOperator(order, protocol);
  const quantity = readQuantity(order, wanted);
  const currency = requireCurrency([payment, ...fees], { wrappedNative, currencies });
  requireFixedAmounts(order);
  const totalRaw = payment.startAmount;
  const sellerRaw = fees.reduce((left, { startAmount }) => left - startAmount, totalRaw);
  requireAcceptedPrice({ totalRaw, sellerRaw });
  const isAnyOf = isCriterion(wanted);
  const { identifierOrCriteria } = wanted;
  return {
    side: 'bid',
    contractAddress: wanted.token,
    tokenId: isAnyOf ? null : toTokenId(identifierOrCriteria),
    root: isAnyOf && identifierOrCriteria > 0n ? toRoot(identifierOrCriteria) : null,
    standard: isErc721(wanted) ? 'erc721' : 'erc1155',
    quantity,
    priceRaw: totalRaw / quantity,
    proceedsRaw: sellerRaw / quantity,
    currency,
    ...readTimes(order, now),
    counter: order.counter,
    operator,
  };
}

type Items = { payment: OfferItem; wanted: ConsiderationItem; fees: readonly ConsiderationItem[] };

function divideItems({ offerer, offer, consideration }: SeaportOrder): Items {
  const [payment, ...others] = offer;
  const tokens = consideration.filter((item) => isTokenItem(item) || isCriterion(item));
  const [wanted] = tokens;
  if (!payment || others.length > 0 || !wanted || tokens.length > 1 || wanted.recipient !== offerer) {
    throw new UnacceptedTerms(
      'not_a_bid',
      'a bid must offer one payment, and exactly one item of its consideration must be a token, which the offerer receives',
    );
  }
  return { payment, wanted, fees: consideration.filter((item) => item !== wanted) };
}

/**
 * Amounts that are no multiple of the quantity have no exact price of one unit, and Seaport does not fill such an order in parts. Several tokens
 * of the standard ERC-721 are delivered one by one.
 */
function readQuantity(order: SeaportOrder, wanted: ConsiderationItem): bigint {
  const quantity = wanted.startAmount;
  const isOne = quantity === 1n || !isErc721(wanted) || (isCriterion(wanted) && isPartialOrder(order.orderType));
  if (quantity < 1n || !isOne) {
    throw new UnacceptedTerms(
      'quantity_not_valid',
      'a bid must be for 1 or more units, and for 1 token of the standard ERC-721 unless it can be filled in parts by several tokens',
    );
  }
  if ([...order.offer, ...order.consideration].some(({ startAmount }) => startAmount % quantity !== 0n)) {
    throw new UnacceptedTerms(
      'quantity_not_valid',
      `each amount must be a multiple of the quantity, which is ${quantity}`,
    );
  }
  return quantity;
}

/** The currency of all payments. Null for the wrapped native currency. */
function requireCurrency(
  payments: readonly OfferItem[],
  { wrappedNative, currencies }: Pick<BidTermsOptions, 'wrappedNative' | 'currencies'>,
): Address | null {
  const isIn = (currency: Address) =>
    payments.every(
      ({ itemType, token, identifierOrCriteria }) =>
        itemType === ITEM_TYPE.erc20 && token === currency && identifierOrCriteria === 0n,
    );
  if (wrappedNative !== null && isIn(wrappedNative)) return null;
  const other = currencies.find(({ address }) => isIn(address));
  if (other) return other.address;
  const accepted = [
    ...(wrappedNative === null ? [] : [`the wrapped native currency, ${wrappedNative}`]),
    ...currencies.map(({ symbol, address }) => `${symbol}, ${address}`),
  ];
  throw new UnacceptedTerms(
    'unsupported_currency',
    accepted.length === 0
      ? 'no currency of bids is known on this chain'
      : `a bid and its fees must be paid in one currency: ${accepted.join('; or ')}`,
  );
}

function isErc721({ itemType }: OfferItem): boolean {
  return itemType === ITEM_TYPE.erc721 || itemType === ITEM_TYPE.erc721Criteria;
}

function toRoot(criteria: bigint): Hex {
  return `0x${criteria.toString(16).padStart(64, '0')}`;
}
