// Receipts of Blur, and of its loans.

import type { Hex } from 'viem';
import { AT, logOf } from '../../support/chain/encoded-logs.ts';
import { BLEND_CALLS } from '../trades.ts';
import type { Scenario } from './scenario.ts';
import {
  AGGREGATOR,
  BUYER,
  callOf,
  CREATOR,
  ether,
  hashOf,
  moved,
  movedUnits,
  paid,
  scenariosOf,
  SELLER,
  STRANGER,
  through,
  tokensOf,
  unitsOf,
  WRAPPED,
  ZERO,
} from './scenario.ts';

const BLUR_POOL: Hex = '0x0000000000a39bb272e79075ade125fd351887ac';
const LENDER = STRANGER;

const order = (trader: Hex, side: number, tokens: Hex, tokenId: bigint, paymentToken: Hex, amount: bigint) => ({
  trader,
  side,
  matchingPolicy: AGGREGATOR,
  collection: tokens,
  tokenId,
  amount,
  paymentToken,
  price: ether(1_234),
  listingTime: 1n,
  expirationTime: 2n,
  fees: [{ rate: 50, recipient: CREATOR }],
  salt: 9n,
  extraParams: '0x01',
});
const matched = (tokens: Hex, tokenId: bigint, maker: Hex, buyer: Hex = BUYER, currency: Hex = ZERO, amount = 1n) =>
  logOf('blurV1', 'ordersMatched', {
    maker,
    taker: maker === SELLER ? buyer : SELLER,
    sell: order(SELLER, 1, tokens, tokenId, currency, amount),
    sellHash: hashOf(`sell ${tokenId}`),
    buy: order(buyer, 0, tokens, tokenId, currency, amount),
    buyHash: hashOf(`buy ${tokenId}`),
  });

const V1 = tokensOf('blur-v1');
const v1 = scenariosOf('blur-v1', 'blur');
export const BLUR_V1_SCENARIOS: readonly Scenario[] = [
  v1(
    'a listing',
    { value: ether(1_234), logs: [moved(V1, SELLER, BUYER, 7n), matched(V1, 7n, SELLER)] },
    { price: ether(1_234) },
  ),
  v1(
    'a bid paid from the pool',
    {
      from: SELLER,
      logs: [
        paid(BUYER, SELLER, ether(1_228), BLUR_POOL),
        moved(V1, SELLER, BUYER, 8n),
        matched(V1, 8n, BUYER, BUYER, BLUR_POOL),
      ],
    },
    { id: 8n, price: ether(1_234) },
  ),
  v1(
    'a bid in wrapped currency for units',
    {
      from: SELLER,
      logs: [
        movedUnits(unitsOf('blur-v1'), SELLER, BUYER, 3n, 4n),
        matched(unitsOf('blur-v1'), 3n, BUYER, BUYER, WRAPPED, 4n),
      ],
    },
    { contract: unitsOf('blur-v1'), id: 3n, units: 4n, price: ether(1_234) },
  ),
  v1(
    'a listing through an aggregator',
    {
      logs: [
        matched(V1, 9n, SELLER, AGGREGATOR),
        moved(V1, SELLER, AGGREGATOR, 9n),
        moved(V1, AGGREGATOR, BUYER, 9n),
        logOf('blurV1', 'nonceIncremented', { trader: SELLER, newNonce: 2n }),
      ],
    },
    { id: 9n, price: ether(1_234) },
  ),
];

const V2 = tokensOf('blur-v2');
const packed = (...parts: [bits: bigint, value: bigint][]) =>
  parts.reduce((word, [bits, value]) => (word << bits) + value, 0n);
const firstWord = (tokenId: bigint, trader: Hex) => packed([88n, tokenId], [8n, 3n], [160n, BigInt(trader)]);
const secondWord = (isBid: boolean, price: bigint, tokens: Hex) =>
  packed([8n, isBid ? 1n : 0n], [88n, price], [160n, BigInt(tokens)]);
const words = (isBid: boolean, trader: Hex, tokenId: bigint, price: bigint, tokens: Hex) => ({
  orderHash: hashOf(`order ${tokenId}`),
  tokenIdListingIndexTrader: firstWord(tokenId, trader),
  collectionPriceSide: secondWord(isBid, price, tokens),
});
const feeWord = (rate: bigint) => packed([96n, rate], [160n, BigInt(CREATOR)]);
const execution = (isBid: boolean, trader: Hex, tokens: Hex, id: bigint, amount: bigint) =>
  logOf('blurV2', 'execution', {
    transfer: { trader, id, amount, collection: tokens, assetType: amount === 1n ? 0 : 1 },
    orderHash: hashOf(`order ${id}`),
    listingIndex: 1n,
    price: ether(2_000),
    makerFee: { recipient: CREATOR, rate: 50 },
    fees: { protocolFee: { recipient: CREATOR, rate: 0 }, takerFee: { recipient: CREATOR, rate: 100 } },
    orderType: isBid ? 1 : 0,
  });

const v2 = scenariosOf('blur-v2', 'blur');
export const BLUR_V2_SCENARIOS: readonly Scenario[] = [
  v2(
    'a packed listing',
    {
      logs: [
        moved(V2, SELLER, BUYER, 7n),
        logOf('blurV2', 'execution721Packed', words(false, SELLER, 7n, ether(300), V2)),
      ],
    },
    { price: ether(300) },
  ),
  v2(
    'a packed bid',
    {
      from: SELLER,
      logs: [
        moved(V2, SELLER, BUYER, 8n),
        logOf('blurV2', 'execution721Packed', words(true, BUYER, 8n, ether(310), V2)),
      ],
    },
    { id: 8n, price: ether(310) },
  ),
  v2(
    'a packed listing whose buyer pays a fee on top, through an aggregator',
    {
      logs: [
        moved(V2, SELLER, AGGREGATOR, 9n),
        logOf('blurV2', 'execution721TakerFeePacked', {
          ...words(false, SELLER, 9n, ether(1_000), V2),
          takerFeeRecipientRate: feeWord(250n),
        }),
        moved(V2, AGGREGATOR, BUYER, 9n),
      ],
    },
    { id: 9n, price: ether(1_025) },
  ),
  v2(
    'a packed listing whose seller pays a fee',
    {
      logs: [
        moved(V2, SELLER, BUYER, 10n),
        logOf('blurV2', 'execution721MakerFeePacked', {
          ...words(false, SELLER, 10n, ether(1_000), V2),
          makerFeeRecipientRate: feeWord(250n),
        }),
      ],
    },
    { id: 10n, price: ether(1_000) },
  ),
  v2(
    'a packed bid whose seller pays a fee, through an aggregator',
    {
      from: SELLER,
      logs: [
        moved(V2, SELLER, AGGREGATOR, 11n),
        moved(V2, AGGREGATOR, BUYER, 11n),
        logOf('blurV2', 'execution721TakerFeePacked', {
          ...words(true, BUYER, 11n, ether(1_000), V2),
          takerFeeRecipientRate: feeWord(250n),
        }),
      ],
    },
    { id: 11n, price: ether(1_000) },
  ),
  v2(
    'a listing that is not packed',
    { logs: [moved(V2, SELLER, BUYER, 12n), execution(false, SELLER, V2, 12n, 1n)] },
    { id: 12n, price: ether(2_020) },
  ),
  v2(
    'a bid for units that is not packed',
    {
      from: SELLER,
      logs: [movedUnits(unitsOf('blur-v2'), SELLER, BUYER, 2n, 5n), execution(true, BUYER, unitsOf('blur-v2'), 2n, 5n)],
    },
    { contract: unitsOf('blur-v2'), id: 2n, units: 5n, price: ether(2_010) },
  ),
  v2('a raised nonce', { logs: [logOf('blurV2', 'nonceIncremented', { user: SELLER, newNonce: 4n })] }),
];

const LOANS = tokensOf('blend');
const lien = (tokenId: bigint) => ({
  lender: LENDER,
  borrower: SELLER,
  collection: LOANS,
  tokenId,
  amount: ether(400),
  startTime: 1n,
  rate: 100n,
  auctionStartBlock: 0n,
  auctionDuration: 9n,
});
const offer = {
  borrower: SELLER,
  lienId: 3n,
  price: ether(900),
  expirationTime: 9n,
  salt: 1n,
  oracle: AGGREGATOR,
  fees: [{ rate: 50, recipient: CREATOR }],
};
const loanOffer = {
  lender: LENDER,
  collection: LOANS,
  totalAmount: ether(9_000),
  minAmount: 1n,
  maxAmount: ether(500),
  auctionDuration: 9n,
  salt: 1n,
  expirationTime: 9n,
  rate: 100n,
  oracle: AGGREGATOR,
};
const locked = (tokenId: bigint, buyer = BUYER) =>
  logOf('blend', 'buyLocked', { lienId: 3n, collection: LOANS, buyer, seller: SELLER, tokenId });
const loanTaken = (tokenId: bigint, borrower = BUYER) =>
  logOf('blend', 'loanOfferTaken', {
    offerHash: hashOf('loan'),
    lienId: 3n,
    collection: LOANS,
    lender: LENDER,
    borrower,
    loanAmount: ether(400),
    rate: 100n,
    tokenId,
    auctionDuration: 9n,
  });
const buyLocked = (tokenId: bigint) => callOf(BLEND_CALLS.buyLocked, lien(tokenId), offer, '0x1234');
const signed = (trader: Hex, side: number, tokenId: bigint) => ({
  order: { ...order(trader, side, LOANS, tokenId, BLUR_POOL, 1n), price: ether(800) },
  v: 27,
  r: hashOf('r'),
  s: hashOf('s'),
  extraSignature: '0x',
  signatureVersion: 0,
  blockNumber: 1n,
});
const takeBid = (tokenId: bigint): Hex => {
  const sides = { sell: signed(SELLER, 1, tokenId), buy: signed(BUYER, 0, tokenId) };
  return `0x619a309f${callOf(BLEND_CALLS.takeBid, lien(tokenId), 3n, sides).slice(10)}`;
};

const loan = scenariosOf('blend', 'blur');
export const BLEND_SCENARIOS: readonly Scenario[] = [
  loan(
    'a locked token that is bought',
    { input: buyLocked(7n), logs: [locked(7n), moved(LOANS, AT.blend, BUYER, 7n)] },
    { price: ether(900) },
  ),
  loan(
    'a locked token that an aggregator buys',
    {
      input: through('0x1234', buyLocked(8n)),
      logs: [locked(8n, AGGREGATOR), moved(LOANS, AT.blend, AGGREGATOR, 8n), moved(LOANS, AGGREGATOR, BUYER, 8n)],
    },
    { id: 8n, price: ether(900) },
  ),
  loan(
    'a locked token that is bought for a new loan',
    {
      input: callOf(
        BLEND_CALLS.buyToBorrowLocked,
        lien(9n),
        { offer, signature: '0x12' },
        { offer: loanOffer, signature: '0x34' },
        ether(400),
      ),
      logs: [loanTaken(9n), locked(9n)],
    },
    { id: 9n, price: ether(900) },
  ),
  loan(
    'a locked token that is bought by a call that a contract computes',
    { input: '0x8765432100', logs: [locked(10n), moved(LOANS, AT.blend, BUYER, 10n)] },
    { id: 10n, price: 'unknown' },
  ),
  loan(
    'a bid that a borrower accepts',
    {
      from: SELLER,
      input: takeBid(11n),
      logs: [
        moved(LOANS, AT.blend, BUYER, 11n),
        logOf('blurV2', 'execution721Packed', words(true, BUYER, 11n, ether(800), LOANS)),
      ],
    },
    { id: 11n, price: ether(800) },
  ),
  loan(
    'a listing that a loan buys',
    {
      logs: [
        moved(LOANS, SELLER, AT.blend, 12n),
        logOf('blurV2', 'execution721Packed', words(false, SELLER, 12n, ether(700), LOANS)),
        loanTaken(12n),
      ],
    },
    { id: 12n, price: ether(700) },
  ),
  loan(
    'a listing of the first exchange that a loan buys',
    { logs: [moved(LOANS, SELLER, AT.blend, 13n), matched(LOANS, 13n, SELLER, AT.blend), loanTaken(13n)] },
    { id: 13n, price: ether(1_234) },
  ),
  loan('a loan', { logs: [loanTaken(14n, SELLER), moved(LOANS, SELLER, AT.blend, 14n)] }),
];
