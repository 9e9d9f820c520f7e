// What a Seaport order says as a listing: one token, one price, one currency, fillable by anyone. Anything else is refused with
// a code of its own. It looks at the order alone: who signed it and who holds the token is asked elsewhere.

import type { Address, AssetId } from '../../core/address.ts';
import { toTokenId } from '../../core/address.ts';
import { UINT256_MAX } from '../../core/amount.ts';
import { findOperator } from './deployments.ts';
import type { ConsiderationItem, OfferItem, Protocol, SeaportOrder } from './order.ts';
import type { TokenStandard } from '../../core/evm.ts';
import { ZERO_ADDRESS } from '../../core/evm.ts';
import { isTokenItem, ITEM_TYPE, ORDER_TYPE } from '../../core/seaport.ts';

/** Prices are for one unit. Times in milliseconds. */
export type ListingTerms = {
  contractAddress: Address;
  tokenId: AssetId;
  standard: TokenStandard;
  /** Units offered: 1 for ERC-721. */
  quantity: bigint;
  /** What the offerer receives. */
  askRaw: bigint;
  /** What the buyer pays in all, where the order itself carries fees; null: platform fee and royalty come on top. */
  buyerTotalRaw: bigint | null;
  startsAt: number;
  /** null: never. */
  expiresAt: number | null;
  counter: bigint;
  /** Who has to be approved to move the token. */
  operator: Address;
};

/** In the order in which they are looked for. */
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

export type Listed = { terms: ListingTerms } | { terms: null; code: ListingRejection; message: string };

/** How far ahead an order may begin. Longer, and it would promise a token that its owner can sell meanwhile. */
export const STARTS_AHEAD_MAX_MS = 24 * 60 * 60_000;
/**
 * The largest share of what the buyer pays that may go to others than the offerer. Without a limit an order of a tiny ask and
 * a huge fee to the offerer's second account would stand as the floor.
 */
export const FEES_MAX_BPS = 5_000n;
/** 1 January 10000: whatever ends later never ends. */
const NEVER_S = 253_402_300_800n;

/** The order types that anyone may fill, without a zone that has to agree. */
const OPEN_TYPES = new Set<number>([ORDER_TYPE.fullOpen, ORDER_TYPE.partialOpen]);

export type ListingOptions = { protocol: Pick<Protocol, 'address'>; wrappedNative: Address | null; now: number };

/** The listing that an order is, or why it is none that can be shown. */
export function toListingTerms(order: SeaportOrder, { protocol, wrappedNative, now }: ListingOptions): Listed {
  const [offered, ...others] = order.offer;
  if ([...order.offer, ...order.consideration].some(isCriterion)) {
    return refuse('criteria_not_supported', 'a criterion stands for many tokens: a listing names its token');
  }
  if (!offered || !isTokenItem(offered) || others.length > 0) {
    return refuse('not_a_listing', 'a listing offers exactly one ERC-721 or ERC-1155 token: no bids, no bundles');
  }
  if (order.consideration.some(isTokenItem)) {
    return refuse('not_a_listing', 'the order asks for a token: it is a trade, or meant for one buyer');
  }
  if (!OPEN_TYPES.has(order.orderType)) {
    return refuse('extra_data_not_supported', 'a restricted or contract order needs its zone or maker to be filled');
  }
  const operator = findOperator(protocol, order.conduitKey);
  if (operator === null) {
    return refuse('unknown_conduit', 'the conduit of this key cannot be known for this deployment');
  }
  const quantity = offered.startAmount;
  const unequal = [...order.offer, ...order.consideration].some((item) => item.startAmount !== item.endAmount);
  if (quantity < 1n || offered.endAmount < 1n || (offered.itemType === ITEM_TYPE.erc721 && quantity !== 1n)) {
    return refuse('quantity_not_valid', 'the offer must be 1 of an ERC-721 token, or 1 or more of an ERC-1155 token');
  }
  if (!isOneCurrency(order.consideration, wrappedNative)) {
    return refuse(
      'unsupported_currency',
      'all of the price must be in the native currency, or all of it in its wrapped form',
    );
  }
  if (unequal) return refuse('price_not_fixed', 'amounts that change with time are not supported');
  const price = readPrice(order);
  if ('terms' in price) return price;
  const startsAt = Number(order.startTime < NEVER_S ? order.startTime : NEVER_S) * 1_000;
  if (startsAt > now + STARTS_AHEAD_MAX_MS) {
    return refuse('starts_too_late', `the order begins more than ${STARTS_AHEAD_MAX_MS / 3_600_000} hours ahead`);
  }
  const expiresAt = order.endTime < NEVER_S ? Number(order.endTime) * 1_000 : null;
  if (expiresAt !== null && (expiresAt <= now || expiresAt <= startsAt)) {
    return refuse('expired', 'the order has ended, or ends before it begins');
  }
  const { askRaw, totalRaw } = price;
  const perUnit = (raw: bigint) => (raw + quantity - 1n) / quantity;
  return {
    terms: {
      contractAddress: offered.token,
      tokenId: toTokenId(offered.identifierOrCriteria),
      standard: offered.itemType === ITEM_TYPE.erc721 ? 'erc721' : 'erc1155',
      quantity,
      askRaw: perUnit(askRaw),
      buyerTotalRaw: totalRaw > askRaw ? perUnit(totalRaw) : null,
      startsAt,
      expiresAt,
      counter: order.counter,
      operator,
    },
  };
}

function refuse(code: ListingRejection, message: string): Listed & { terms: null } {
  return { terms: null, code, message };
}

function isCriterion({ itemType }: OfferItem): boolean {
  return itemType === ITEM_TYPE.erc721Criteria || itemType === ITEM_TYPE.erc1155Criteria;
}

/** All payments are native, or all are the wrapped native token. The protocol takes no identifier with either. */
function isOneCurrency(payments: readonly ConsiderationItem[], wrappedNative: Address | null): boolean {
  const isNative = ({ itemType, token }: OfferItem) => itemType === ITEM_TYPE.native && token === ZERO_ADDRESS;
  const isWrapped = ({ itemType, token }: OfferItem) => itemType === ITEM_TYPE.erc20 && token === wrappedNative;
  return (
    payments.every(({ identifierOrCriteria }) => identifierOrCriteria === 0n) &&
    (payments.every(isNative) || payments.every(isWrapped))
  );
}

/** What the offerer receives and what the buyer pays, for the whole order. */
function readPrice(order: SeaportOrder): { askRaw: bigint; totalRaw: bigint } | ReturnType<typeof refuse> {
  let askRaw = 0n;
  let totalRaw = 0n;
  for (const { recipient, startAmount } of order.consideration) {
    totalRaw += startAmount;
    if (recipient === order.offerer) askRaw += startAmount;
  }
  if (totalRaw === 0n) return refuse('price_not_positive', 'the order asks for nothing');
  if (totalRaw > UINT256_MAX) return refuse('fees_over_limit', 'the buyer would pay more than 2^256-1 base units');
  if ((totalRaw - askRaw) * 10_000n > totalRaw * FEES_MAX_BPS) {
    return refuse('fees_over_limit', `others than the offerer receive more than ${FEES_MAX_BPS / 100n} % of the price`);
  }
  return { askRaw, totalRaw };
}
