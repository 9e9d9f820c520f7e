// Receipts of exchanges whose orders are signed, besides Seaport and Blur.

import type { Hex } from 'viem';
import { encodeAbiParameters, keccak256, parseAbiParameters, stringToBytes } from 'viem';
import type { EncodedLog } from '../../support/chain/encoded-logs.ts';
import { AT, logOf } from '../../support/chain/encoded-logs.ts';
import { ATOMIC_MATCH, ELEMENT_CALLS, RARIBLE_EXCHANGE } from '../trades.ts';
import type { SaleFacts, Scenario } from './scenario.ts';
import {
  AGGREGATOR,
  BUYER,
  callOf,
  CREATOR,
  DOLLARS,
  ether,
  hashOf,
  moved,
  movedUnits,
  paid,
  scenariosOf,
  SELLER,
  STRANGER,
  tagOf,
  through,
  tokensOf,
  unitsOf,
  WRAPPED,
  ZERO,
} from './scenario.ts';

// LooksRare

const LOOKS_1 = tokensOf('looksrare-v1');
const looks1 = scenariosOf('looksrare-v1', 'looksrare');
const takenInV1 = (name: 'takerAsk' | 'takerBid', taker: Hex, tokenId: bigint, changes: Record<string, unknown> = {}) =>
  logOf('looksRareV1', name, {
    orderHash: hashOf(`looks ${tokenId}`),
    orderNonce: 3n,
    taker,
    maker: name === 'takerAsk' ? BUYER : SELLER,
    strategy: STRANGER,
    currency: WRAPPED,
    collection: LOOKS_1,
    tokenId,
    amount: 1n,
    price: ether(777),
    ...changes,
  });

export const LOOKSRARE_V1_SCENARIOS: readonly Scenario[] = [
  looks1(
    'a listing',
    { logs: [paid(BUYER, SELLER, ether(770)), moved(LOOKS_1, SELLER, BUYER, 7n), takenInV1('takerBid', BUYER, 7n)] },
    { price: ether(777) },
  ),
  looks1(
    'a bid',
    { from: SELLER, logs: [moved(LOOKS_1, SELLER, BUYER, 8n), takenInV1('takerAsk', SELLER, 8n)] },
    { id: 8n, price: ether(777) },
  ),
  looks1(
    'a listing of units through an aggregator',
    {
      logs: [
        movedUnits(unitsOf('looksrare-v1'), SELLER, AGGREGATOR, 1n, 2n),
        takenInV1('takerBid', AGGREGATOR, 1n, { collection: unitsOf('looksrare-v1'), amount: 2n }),
        movedUnits(unitsOf('looksrare-v1'), AGGREGATOR, BUYER, 1n, 2n),
      ],
    },
    { contract: unitsOf('looksrare-v1'), id: 1n, units: 2n, price: ether(777) },
  ),
  looks1(
    'a bid in dollars, and cancelled nonces',
    {
      from: SELLER,
      logs: [
        moved(LOOKS_1, SELLER, BUYER, 9n),
        takenInV1('takerAsk', SELLER, 9n, { currency: DOLLARS }),
        logOf('looksRareV1', 'cancelAllOrders', { user: SELLER, newMinNonce: 2n }),
        logOf('looksRareV1', 'cancelMultipleOrders', { user: SELLER, orderNonces: [5n] }),
      ],
    },
    { id: 9n, price: `${ether(777)} of ${DOLLARS}` },
  ),
];

const LOOKS_2 = tokensOf('looksrare-v2');
const looks2 = scenariosOf('looksrare-v2', 'looksrare');
const takenInV2 = (name: 'takerAsk' | 'takerBid', ids: bigint[], changes: Record<string, unknown> = {}) =>
  logOf('looksRareV2', name, {
    nonces: { orderHash: hashOf(`looks ${ids[0]}`), orderNonce: 3n, isNonceInvalidated: true },
    askUser: SELLER,
    bidUser: BUYER,
    bidRecipient: BUYER,
    strategyId: 0n,
    currency: name === 'takerAsk' ? WRAPPED : ZERO,
    collection: LOOKS_2,
    itemIds: ids,
    amounts: ids.map(() => 1n),
    feeRecipients: [SELLER, CREATOR],
    feeAmounts: [ether(900), ether(60), ether(5)],
    ...changes,
  });

export const LOOKSRARE_V2_SCENARIOS: readonly Scenario[] = [
  looks2(
    'a listing with royalties and a fee',
    { logs: [moved(LOOKS_2, SELLER, BUYER, 7n), takenInV2('takerBid', [7n])] },
    { price: ether(965) },
  ),
  looks2(
    'a bid',
    { from: SELLER, logs: [moved(LOOKS_2, SELLER, BUYER, 8n), takenInV2('takerAsk', [8n])] },
    { id: 8n, price: ether(965) },
  ),
  looks2(
    'a bid that an aggregator accepts for the seller',
    {
      from: SELLER,
      logs: [
        moved(LOOKS_2, SELLER, AGGREGATOR, 9n),
        moved(LOOKS_2, AGGREGATOR, BUYER, 9n),
        takenInV2('takerAsk', [9n], { askUser: AGGREGATOR, feeRecipients: [AGGREGATOR, CREATOR] }),
      ],
    },
    { id: 9n, price: ether(965) },
  ),
  looks2(
    'a listing through an aggregator',
    {
      logs: [
        moved(LOOKS_2, SELLER, AGGREGATOR, 10n),
        takenInV2('takerBid', [10n], { bidUser: AGGREGATOR, bidRecipient: AGGREGATOR }),
        moved(LOOKS_2, AGGREGATOR, BUYER, 10n),
      ],
    },
    { id: 10n, price: ether(965) },
  ),
  looks2(
    'a listing for another receiver, and a cancelled nonce',
    {
      from: STRANGER,
      logs: [
        moved(LOOKS_2, SELLER, BUYER, 13n),
        takenInV2('takerBid', [13n], { bidUser: STRANGER }),
        logOf('looksRareV2', 'orderNoncesCancelled', { user: SELLER, orderNonces: [8n] }),
      ],
    },
    { id: 13n, price: ether(965) },
  ),
  looks2(
    'a bundle',
    {
      logs: [moved(LOOKS_2, SELLER, BUYER, 11n), moved(LOOKS_2, SELLER, BUYER, 12n), takenInV2('takerBid', [11n, 12n])],
    },
    { id: null, units: 2n, price: ether(965) },
  ),
  looks2(
    'units',
    {
      logs: [
        movedUnits(unitsOf('looksrare-v2'), SELLER, BUYER, 1n, 6n),
        takenInV2('takerBid', [1n], { collection: unitsOf('looksrare-v2'), amounts: [6n] }),
      ],
    },
    { contract: unitsOf('looksrare-v2'), id: 1n, units: 6n, price: ether(965) },
  ),
];

// X2Y2

const X2Y2 = tokensOf('x2y2');
const x2y2 = scenariosOf('x2y2', 'x2y2');
const pair = (id: bigint) => encodeAbiParameters(parseAbiParameters('(address, uint256)[]'), [[[X2Y2, id]]]);
const triple = (id: bigint, units: bigint) =>
  encodeAbiParameters(parseAbiParameters('(address, uint256, uint256)[]'), [[[unitsOf('x2y2'), id, units]]]);
const inventory = (
  data: Hex,
  changes: Record<string, unknown> = {},
  detail: Record<string, unknown> = {},
): EncodedLog =>
  logOf('x2y2', 'inventory', {
    itemHash: hashOf('item'),
    maker: SELLER,
    taker: BUYER,
    orderSalt: 1n,
    settleSalt: 2n,
    intent: 1n,
    delegateType: 1n,
    deadline: 9n,
    currency: ZERO,
    dataMask: '0x',
    item: { price: ether(450), data },
    detail: {
      op: 1,
      orderIdx: 0n,
      itemIdx: 0n,
      price: ether(500),
      itemHash: hashOf('item'),
      executionDelegate: STRANGER,
      dataReplacement: '0x',
      bidIncentivePct: 0n,
      aucMinIncrementPct: 0n,
      aucIncDurationSecs: 0n,
      fees: [{ percentage: 5_000n, to: CREATOR }],
      ...detail,
    },
    ...changes,
  });
const bidInX2Y2 = { maker: BUYER, taker: SELLER, currency: WRAPPED };

export const X2Y2_SCENARIOS: readonly Scenario[] = [
  x2y2('a listing', { logs: [moved(X2Y2, SELLER, BUYER, 7n), inventory(pair(7n))] }, { price: ether(500) }),
  x2y2(
    'a listing whose exchange pays a part back to the buyer',
    {
      logs: [
        moved(X2Y2, SELLER, BUYER, 8n),
        inventory(
          pair(8n),
          {},
          {
            fees: [
              { percentage: 5_000n, to: CREATOR },
              { percentage: 50_000n, to: BUYER },
            ],
          },
        ),
      ],
    },
    { id: 8n, price: ether(475) },
  ),
  x2y2(
    'a bid for any token of the collection',
    {
      from: SELLER,
      logs: [
        moved(X2Y2, SELLER, BUYER, 9n),
        inventory(
          pair(0n),
          { ...bidInX2Y2, dataMask: `0x${'00'.repeat(96)}${'ff'.repeat(32)}` },
          { op: 2, dataReplacement: pair(9n) },
        ),
      ],
    },
    { id: 9n, price: ether(500) },
  ),
  x2y2(
    'units through an aggregator',
    {
      logs: [
        movedUnits(unitsOf('x2y2'), SELLER, AGGREGATOR, 1n, 3n),
        inventory(triple(1n, 3n), { delegateType: 2n, taker: AGGREGATOR }),
        movedUnits(unitsOf('x2y2'), AGGREGATOR, BUYER, 1n, 3n),
      ],
    },
    { contract: unitsOf('x2y2'), id: 1n, units: 3n, price: ether(500) },
  ),
  x2y2(
    'a bundle',
    {
      logs: [
        moved(X2Y2, SELLER, BUYER, 11n),
        moved(X2Y2, SELLER, BUYER, 12n),
        inventory(
          encodeAbiParameters(parseAbiParameters('(address, uint256)[]'), [
            [
              [X2Y2, 11n],
              [X2Y2, 12n],
            ],
          ]),
        ),
      ],
    },
    { id: null, units: 2n, price: ether(500) },
  ),
  x2y2('a cancel, an auction, and a kind of token that nobody knows', {
    logs: [
      moved(X2Y2, SELLER, BUYER, 10n),
      inventory(pair(10n), {}, { op: 3 }),
      inventory(pair(10n), {}, { op: 5 }),
      inventory(pair(10n), { delegateType: 9n }),
    ],
  }),
];

// Wyvern

const WYVERN = tokensOf('wyvern');
const wyvern = scenariosOf('wyvern', 'opensea');
const NO_HASH = `0x${'0'.repeat(64)}`;
const VERSION_2_2 = '0x7be8076f4ea4a4ad08075c2508e481d6c946d12b';
const matchedByWyvern = (maker: Hex, taker: Hex, isBid = false, at: string = AT.wyvern) =>
  logOf(
    'wyvern',
    'ordersMatched',
    {
      buyHash: isBid ? hashOf('buy') : NO_HASH,
      sellHash: isBid ? NO_HASH : hashOf('sell'),
      maker,
      taker,
      price: ether(640),
      metadata: NO_HASH,
    },
    at,
  );
const atomicMatch = (buyer: Hex, seller: Hex, currency: Hex, exchange: string = AT.wyvern): Hex =>
  callOf(
    ATOMIC_MATCH,
    [exchange, buyer, seller, ZERO, WYVERN, ZERO, currency, exchange, seller, ZERO, CREATOR, WYVERN, ZERO, currency],
    Array.from({ length: 18 }, () => 1n),
    [1, 0, 0, 1, 1, 1, 0, 1],
    '0x23b872dd',
    '0x23b872dd',
    '0x00',
    '0x00',
    '0x',
    '0x',
    [27, 27],
    Array.from({ length: 5 }, () => hashOf('signature')),
  );

export const WYVERN_SCENARIOS: readonly Scenario[] = [
  wyvern(
    'a listing of 2.2',
    {
      input: atomicMatch(BUYER, SELLER, ZERO, VERSION_2_2),
      logs: [moved(WYVERN, SELLER, BUYER, 6n), matchedByWyvern(SELLER, BUYER, false, VERSION_2_2)],
    },
    { id: 6n, price: ether(640) },
  ),
  wyvern(
    'a listing of 2.3',
    {
      input: `${atomicMatch(BUYER, SELLER, ZERO)}00000000`,
      logs: [moved(WYVERN, SELLER, BUYER, 7n), matchedByWyvern(SELLER, BUYER)],
    },
    { price: ether(640) },
  ),
  wyvern(
    'a bid in wrapped currency',
    {
      from: SELLER,
      input: atomicMatch(BUYER, SELLER, WRAPPED),
      logs: [paid(BUYER, SELLER, ether(640)), moved(WYVERN, SELLER, BUYER, 8n), matchedByWyvern(BUYER, SELLER, true)],
    },
    { id: 8n, price: ether(640) },
  ),
  wyvern(
    'an aggregator that names itself and lets the token go to its user',
    {
      input: through(atomicMatch(AGGREGATOR, SELLER, ZERO), atomicMatch(AGGREGATOR, STRANGER, ZERO)),
      logs: [
        moved(WYVERN, SELLER, BUYER, 9n),
        matchedByWyvern(SELLER, AGGREGATOR),
        moved(WYVERN, STRANGER, BUYER, 10n),
        matchedByWyvern(STRANGER, AGGREGATOR),
      ],
    },
    { id: 9n, price: ether(640) },
    { id: 10n, price: ether(640), seller: STRANGER },
  ),
  wyvern(
    'an aggregator that receives the token',
    {
      input: through(atomicMatch(AGGREGATOR, SELLER, ZERO)),
      logs: [
        moved(WYVERN, SELLER, AGGREGATOR, 11n),
        matchedByWyvern(SELLER, AGGREGATOR),
        moved(WYVERN, AGGREGATOR, BUYER, 11n),
      ],
    },
    { id: 11n, price: ether(640) },
  ),
  wyvern(
    'a listing in dollars, and a raised nonce',
    {
      input: atomicMatch(BUYER, SELLER, DOLLARS),
      logs: [
        moved(WYVERN, SELLER, BUYER, 12n),
        matchedByWyvern(SELLER, BUYER),
        logOf('wyvern', 'nonceIncremented', { maker: SELLER, newNonce: 1n }),
      ],
    },
    { id: 12n, price: `${ether(640)} of ${DOLLARS}` },
  ),
  wyvern(
    'a call that a contract computes',
    { input: '0x1234567890', logs: [moved(WYVERN, SELLER, BUYER, 13n), matchedByWyvern(SELLER, BUYER)] },
    { id: 13n, price: 'unknown' },
  ),
  wyvern('a token that the match mints, and a match without a token', {
    input: atomicMatch(BUYER, SELLER, ZERO),
    logs: [
      moved(WYVERN, ZERO, BUYER, 14n),
      matchedByWyvern(SELLER, BUYER),
      moved(WYVERN, STRANGER, CREATOR, 15n),
      matchedByWyvern(SELLER, BUYER),
    ],
  }),
];

// Rarible

const RARIBLE_1 = unitsOf('rarible-v1');
const rarible1 = scenariosOf('rarible-v1', 'rarible');
const bought = (tokenId: bigint, changes: Record<string, unknown> = {}) =>
  logOf('raribleV1', 'buy', {
    sellToken: RARIBLE_1,
    sellTokenId: tokenId,
    sellValue: 10n,
    owner: SELLER,
    buyToken: ZERO,
    buyTokenId: 0n,
    buyValue: ether(1_000),
    buyer: BUYER,
    amount: 2n,
    salt: 5n,
    ...changes,
  });
const bidInRarible1 = (tokenId: bigint) =>
  bought(tokenId, {
    sellToken: WRAPPED,
    sellTokenId: 0n,
    sellValue: ether(1_000),
    buyToken: RARIBLE_1,
    buyTokenId: tokenId,
    buyValue: 10n,
    owner: BUYER,
    buyer: SELLER,
    amount: ether(200),
  });
const exchange = (owner: Hex, tokenId: bigint, isBid: boolean, amount: bigint): Hex => {
  const nft = { token: RARIBLE_1, tokenId, assetType: 2 };
  const money = { token: isBid ? WRAPPED : ZERO, tokenId: 0n, assetType: isBid ? 1 : 0 };
  const key = { owner, salt: 5n, sellAsset: isBid ? money : nft, buyAsset: isBid ? nft : money };
  const [selling, buying] = isBid ? [ether(1_000), 10n] : [10n, ether(1_000)];
  const signature = { v: 27, r: hashOf('r'), s: hashOf('s') };
  return callOf(
    RARIBLE_EXCHANGE,
    { key, selling, buying, sellerFee: 1_000n },
    signature,
    250n,
    signature,
    amount,
    ZERO,
  );
};
const ofRarible1 = (id: bigint, price: bigint | string): SaleFacts => ({ contract: RARIBLE_1, id, units: 2n, price });

export const RARIBLE_V1_SCENARIOS: readonly Scenario[] = [
  rarible1(
    'a part of a listing, with the fee of the buyer',
    { input: exchange(SELLER, 7n, false, 2n), logs: [movedUnits(RARIBLE_1, SELLER, BUYER, 7n, 2n), bought(7n)] },
    ofRarible1(7n, ether(205)),
  ),
  rarible1(
    'a bid that an aggregator accepts, with the fee of the bidder',
    {
      from: SELLER,
      input: through(exchange(BUYER, 8n, true, ether(200))),
      logs: [movedUnits(RARIBLE_1, SELLER, BUYER, 8n, 2n), bidInRarible1(8n)],
    },
    ofRarible1(8n, ether(220)),
  ),
  rarible1(
    'a listing in dollars whose call is computed',
    { logs: [movedUnits(RARIBLE_1, SELLER, BUYER, 9n, 2n), bought(9n, { buyToken: DOLLARS })] },
    ofRarible1(9n, `${ether(200)} of ${DOLLARS}`),
  ),
  rarible1('an exchange of two tokens, and one of which no token moved', {
    logs: [
      movedUnits(RARIBLE_1, SELLER, BUYER, 10n, 2n),
      moved(STRANGER, BUYER, SELLER, 3n),
      bought(10n, { buyToken: RARIBLE_1, buyTokenId: 11n }),
      movedUnits(RARIBLE_1, BUYER, SELLER, 11n, 1n),
      bought(12n, { buyToken: DOLLARS }),
    ],
  }),
];

const RARIBLE_2 = tokensOf('rarible-v2');
const rarible2 = scenariosOf('rarible-v2', 'rarible');
const classOf = (name: string) => keccak256(stringToBytes(name)).slice(0, 10) as Hex;
const token = (tokens: Hex, id: bigint, name = 'ERC721') => ({
  assetClass: classOf(name),
  data: encodeAbiParameters(parseAbiParameters('address, uint256'), [tokens, id]),
});
const money = (currency: Hex | null) =>
  currency === null
    ? { assetClass: classOf('ETH'), data: '0x' }
    : { assetClass: classOf('ERC20'), data: encodeAbiParameters(parseAbiParameters('address'), [currency]) };
const match = (isBid: boolean, sold: unknown, payment: unknown, units = 1n) =>
  logOf('raribleV2', 'match', {
    leftHash: hashOf('left'),
    rightHash: hashOf('right'),
    leftMaker: isBid ? BUYER : SELLER,
    rightMaker: isBid ? SELLER : BUYER,
    newLeftFill: isBid ? units : ether(333),
    newRightFill: isBid ? ether(333) : units,
    leftAsset: isBid ? payment : sold,
    rightAsset: isBid ? sold : payment,
  });

export const RARIBLE_V2_SCENARIOS: readonly Scenario[] = [
  rarible2(
    'a listing',
    { logs: [moved(RARIBLE_2, SELLER, BUYER, 7n), match(false, token(RARIBLE_2, 7n), money(null))] },
    { price: ether(333) },
  ),
  rarible2(
    'a bid',
    { from: SELLER, logs: [moved(RARIBLE_2, SELLER, BUYER, 8n), match(true, token(RARIBLE_2, 8n), money(WRAPPED))] },
    { id: 8n, price: ether(333) },
  ),
  rarible2(
    'units for dollars',
    {
      logs: [
        movedUnits(unitsOf('rarible-v2'), SELLER, BUYER, 1n, 4n),
        match(false, token(unitsOf('rarible-v2'), 1n, 'ERC1155'), money(DOLLARS), 4n),
      ],
    },
    { contract: unitsOf('rarible-v2'), id: 1n, units: 4n, price: `${ether(333)} of ${DOLLARS}` },
  ),
  rarible2('exchanges of tokens and of currencies, a token that is minted later, and the first form', {
    logs: [
      moved(RARIBLE_2, SELLER, BUYER, 9n),
      match(false, token(RARIBLE_2, 9n), token(RARIBLE_2, 10n)),
      match(false, money(null), money(DOLLARS)),
      match(false, token(RARIBLE_2, 9n, 'ERC721_LAZY'), money(null)),
      logOf('raribleV2', 'matchWithoutAssets', {
        leftHash: hashOf('left'),
        rightHash: hashOf('right'),
        leftMaker: SELLER,
        rightMaker: BUYER,
        newLeftFill: 1n,
        newRightFill: 1n,
      }),
    ],
  }),
];

// 0x and Element

const NATIVE_OF_ZEROEX: Hex = '0xeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeee';
const ZEROEX = tokensOf('zeroex-v4');
const zeroEx = scenariosOf('zeroex-v4', 'unknown');
const filledInZeroEx = (isBid: boolean, erc721TokenId: bigint, changes: Record<string, unknown> = {}) =>
  logOf('zeroExV4', 'erc721OrderFilled', {
    direction: isBid ? 1 : 0,
    maker: isBid ? BUYER : SELLER,
    taker: isBid ? SELLER : BUYER,
    nonce: 1n,
    erc20Token: isBid ? WRAPPED : NATIVE_OF_ZEROEX,
    erc20TokenAmount: ether(150),
    erc721Token: ZEROEX,
    erc721TokenId,
    matcher: ZERO,
    ...changes,
  });

export const ZEROEX_SCENARIOS: readonly Scenario[] = [
  zeroEx('a listing', { logs: [moved(ZEROEX, SELLER, BUYER, 7n), filledInZeroEx(false, 7n)] }, { price: ether(150) }),
  zeroEx(
    'a bid, marked in the call data',
    {
      from: SELLER,
      input: `0x12345678${tagOf('rarible.com')}`,
      logs: [moved(ZEROEX, SELLER, BUYER, 8n), filledInZeroEx(true, 8n)],
    },
    { id: 8n, price: ether(150), marketplace: 'rarible' },
  ),
  zeroEx(
    'two orders that a third account matches',
    {
      from: STRANGER,
      logs: [
        moved(ZEROEX, SELLER, STRANGER, 9n),
        filledInZeroEx(false, 9n, {
          matcher: STRANGER,
          erc20Token: WRAPPED,
          taker: STRANGER,
          erc20TokenAmount: ether(140),
        }),
        moved(ZEROEX, STRANGER, BUYER, 9n),
        filledInZeroEx(true, 9n, { matcher: STRANGER, taker: STRANGER }),
      ],
    },
    { id: 9n, price: ether(150) },
  ),
  zeroEx(
    'units through an aggregator, and cancelled orders',
    {
      logs: [
        movedUnits(unitsOf('zeroex-v4'), SELLER, AGGREGATOR, 1n, 9n),
        logOf('zeroExV4', 'erc1155OrderFilled', {
          direction: 0,
          maker: SELLER,
          taker: AGGREGATOR,
          nonce: 1n,
          erc20Token: NATIVE_OF_ZEROEX,
          erc20FillAmount: ether(90),
          erc1155Token: unitsOf('zeroex-v4'),
          erc1155TokenId: 1n,
          erc1155FillAmount: 9n,
          matcher: ZERO,
        }),
        movedUnits(unitsOf('zeroex-v4'), AGGREGATOR, BUYER, 1n, 9n),
        logOf('zeroExV4', 'erc721OrderCancelled', { maker: SELLER, nonce: 4n }),
        logOf('zeroExV4', 'erc1155OrderCancelled', { maker: SELLER, nonce: 5n }),
      ],
    },
    { contract: unitsOf('zeroex-v4'), id: 1n, units: 9n, price: ether(90) },
  ),
];

const ELEMENT = tokensOf('element');
const element = scenariosOf('element', 'element');
const elementOrder = (isBid: boolean, id: bigint, changes: Record<string, unknown> = {}) => ({
  orderHash: hashOf(`element ${id}`),
  maker: isBid ? BUYER : SELLER,
  taker: isBid ? SELLER : BUYER,
  nonce: 4n,
  erc20Token: isBid ? WRAPPED : NATIVE_OF_ZEROEX,
  erc20TokenAmount: ether(210),
  erc20FillAmount: ether(210),
  fees: [{ recipient: CREATOR, amount: ether(10) }],
  erc721Token: ELEMENT,
  erc721TokenId: id,
  erc1155Token: unitsOf('element'),
  erc1155TokenId: id,
  erc1155FillAmount: 5n,
  ...changes,
});
const signedForElement = (isBid: boolean, id: bigint) => ({
  maker: isBid ? BUYER : SELLER,
  taker: ZERO,
  expiry: 9n,
  nonce: 4n,
  erc20Token: isBid ? WRAPPED : NATIVE_OF_ZEROEX,
  erc20TokenAmount: ether(210),
  fees: [ether(6), ether(4)].map((amount) => ({ recipient: CREATOR, amount, feeData: '0x' })),
  nft: ELEMENT,
  nftId: isBid ? 0n : id,
  nftProperties: [],
});
const elementSignature = { signatureType: 0, v: 27, r: hashOf('r'), s: hashOf('s') };
const buyERC721 = (id: bigint) => callOf(ELEMENT_CALLS.buyERC721, signedForElement(false, id), elementSignature);
const sellERC721 = (id: bigint) =>
  callOf(ELEMENT_CALLS.sellERC721, signedForElement(true, id), elementSignature, id, false, '0x');

export const ELEMENT_SCENARIOS: readonly Scenario[] = [
  element(
    'a listing',
    { logs: [moved(ELEMENT, SELLER, BUYER, 7n), logOf('element', 'erc721SellOrderFilled', elementOrder(false, 7n))] },
    { price: ether(210) },
  ),
  element(
    'a bid',
    {
      from: SELLER,
      logs: [moved(ELEMENT, SELLER, BUYER, 8n), logOf('element', 'erc721BuyOrderFilled', elementOrder(true, 8n))],
    },
    { id: 8n, price: ether(210) },
  ),
  element(
    'two orders that a third account matches',
    {
      from: STRANGER,
      logs: [
        moved(ELEMENT, SELLER, BUYER, 11n),
        logOf(
          'element',
          'erc721SellOrderFilled',
          elementOrder(false, 11n, { erc20Token: WRAPPED, erc20TokenAmount: ether(200) }),
        ),
        logOf('element', 'erc721BuyOrderFilled', elementOrder(true, 11n)),
      ],
    },
    { id: 11n, price: ether(210) },
  ),
  element(
    'units through an aggregator',
    {
      logs: [
        movedUnits(unitsOf('element'), SELLER, AGGREGATOR, 1n, 5n),
        logOf('element', 'erc1155SellOrderFilled', elementOrder(false, 1n, { taker: AGGREGATOR })),
        movedUnits(unitsOf('element'), AGGREGATOR, BUYER, 1n, 5n),
      ],
    },
    { contract: unitsOf('element'), id: 1n, units: 5n, price: ether(210) },
  ),
  element(
    'a bid for units',
    {
      from: SELLER,
      logs: [
        movedUnits(unitsOf('element'), SELLER, BUYER, 2n, 5n),
        logOf('element', 'erc1155BuyOrderFilled', elementOrder(true, 2n)),
      ],
    },
    { contract: unitsOf('element'), id: 2n, units: 5n, price: ether(210) },
  ),
  element(
    'a listing in the first form, whose fees are in the call data of an aggregator',
    {
      input: through(buyERC721(9n)),
      logs: [
        moved(ELEMENT, SELLER, BUYER, 9n),
        logOf('element', 'erc721SellOrderFilledFirst', elementOrder(false, 9n)),
      ],
    },
    { id: 9n, price: ether(220) },
  ),
  element(
    'a bid for any token in the first form, and cancelled orders',
    {
      from: SELLER,
      input: sellERC721(10n),
      logs: [
        moved(ELEMENT, SELLER, BUYER, 10n),
        logOf('element', 'erc721BuyOrderFilledFirst', elementOrder(true, 10n)),
        logOf('element', 'erc721OrderCancelled', { maker: SELLER, nonce: 3n }),
        logOf('element', 'erc1155OrderCancelled', { maker: SELLER, nonce: 3n }),
      ],
    },
    { id: 10n, price: ether(220) },
  ),
  element(
    'units in the first form',
    {
      logs: [
        movedUnits(unitsOf('element'), SELLER, BUYER, 3n, 5n),
        logOf('element', 'erc1155SellOrderFilledFirst', elementOrder(false, 3n)),
      ],
    },
    { contract: unitsOf('element'), id: 3n, units: 5n, price: ether(210) },
  ),
  element(
    'a bid for units in the first form',
    {
      from: SELLER,
      logs: [
        movedUnits(unitsOf('element'), SELLER, BUYER, 4n, 5n),
        logOf('element', 'erc1155BuyOrderFilledFirst', elementOrder(true, 4n)),
      ],
    },
    { contract: unitsOf('element'), id: 4n, units: 5n, price: ether(210) },
  ),
];

// Payment Processor

const PROCESSED_1 = tokensOf('payment-processor');
const processed1 = scenariosOf('payment-processor', 'unknown');
const sweep = {
  marketplace: CREATOR,
  tokenAddress: PROCESSED_1,
  paymentCoin: ZERO,
  buyer: BUYER,
  seller: SELLER,
  unsuccessfulFills: [false, true, false],
  sellers: [SELLER, STRANGER, STRANGER],
  amounts: [2n, 3n, 4n],
  salePrices: [ether(10), ether(20), ether(30)],
};
const UNITS_1 = unitsOf('payment-processor');
const V3 = '0x9a1d00000000fc540e2000560054812452eb5366';
const trade = (id: bigint, changes: Record<string, unknown> = {}) => ({
  buyer: BUYER,
  seller: SELLER,
  beneficiary: BUYER,
  tokenAddress: PROCESSED_1,
  paymentCoin: ZERO,
  tokenId: id,
  salePrice: ether(60),
  ...changes,
});

export const PAYMENT_PROCESSOR_SCENARIOS: readonly Scenario[] = [
  processed1(
    'a listing of version 1',
    {
      logs: [
        moved(PROCESSED_1, SELLER, BUYER, 7n),
        logOf('paymentProcessorV1', 'buySingleListing', { ...sweep, tokenId: 7n, amount: 1n, salePrice: ether(50) }),
      ],
    },
    { price: ether(50) },
  ),
  processed1(
    'a sweep of version 1, of which one listing fails',
    {
      input: `0x11223344${tagOf('magiceden.io')}`,
      logs: [
        moved(PROCESSED_1, SELLER, BUYER, 8n),
        moved(PROCESSED_1, STRANGER, BUYER, 10n),
        logOf('paymentProcessorV1', 'sweepCollectionERC721', { ...sweep, tokenIds: [8n, 9n, 10n] }),
      ],
    },
    { id: 8n, price: ether(10), marketplace: 'magic-eden' },
    { id: 10n, price: ether(30), seller: STRANGER, marketplace: 'magic-eden' },
  ),
  processed1(
    'a bundle of version 1, of which each token has its price',
    {
      logs: [
        moved(PROCESSED_1, SELLER, BUYER, 11n),
        moved(PROCESSED_1, SELLER, BUYER, 13n),
        logOf('paymentProcessorV1', 'buyBundledListingERC721', { ...sweep, tokenIds: [11n, 12n, 13n] }),
      ],
    },
    { id: 11n, price: ether(10) },
    { id: 13n, price: ether(30) },
  ),
  processed1(
    'a sweep and a bundle of units of version 1',
    {
      logs: [
        movedUnits(UNITS_1, SELLER, BUYER, 1n, 2n),
        movedUnits(UNITS_1, STRANGER, BUYER, 3n, 4n),
        logOf('paymentProcessorV1', 'sweepCollectionERC1155', {
          ...sweep,
          tokenAddress: UNITS_1,
          tokenIds: [1n, 2n, 3n],
        }),
        movedUnits(UNITS_1, SELLER, BUYER, 4n, 2n),
        movedUnits(UNITS_1, SELLER, BUYER, 6n, 4n),
        logOf('paymentProcessorV1', 'buyBundledListingERC1155', {
          ...sweep,
          tokenAddress: UNITS_1,
          tokenIds: [4n, 5n, 6n],
        }),
      ],
    },
    { contract: UNITS_1, id: 1n, units: 2n, price: ether(10) },
    { contract: UNITS_1, id: 3n, units: 4n, price: ether(30), seller: STRANGER },
    { contract: UNITS_1, id: 4n, units: 2n, price: ether(10) },
    { contract: UNITS_1, id: 6n, units: 4n, price: ether(30) },
  ),
  processed1(
    'a listing of version 2, with the nonce that it uses',
    {
      input: `0x11223344${tagOf('magiceden.io')}`,
      logs: [
        logOf('paymentProcessorV2', 'nonceInvalidated', { nonce: 10n, account: SELLER, wasCancellation: false }),
        moved(PROCESSED_1, SELLER, BUYER, 14n),
        logOf('paymentProcessorV2', 'buyListingERC721', trade(14n)),
      ],
    },
    { id: 14n, price: ether(60), marketplace: 'magic-eden' },
  ),
  processed1(
    'an offer of version 2, through an aggregator',
    {
      from: SELLER,
      logs: [
        moved(PROCESSED_1, SELLER, AGGREGATOR, 15n),
        moved(PROCESSED_1, AGGREGATOR, BUYER, 15n),
        logOf('paymentProcessorV2', 'acceptOfferERC721', trade(15n, { seller: AGGREGATOR, paymentCoin: WRAPPED })),
        logOf('paymentProcessorV2', 'orderDigestInvalidated', {
          orderDigest: hashOf('digest'),
          account: BUYER,
          wasCancellation: false,
        }),
      ],
    },
    { id: 15n, price: ether(60) },
  ),
  processed1(
    'units of version 3, bought for another account, and an offer for units',
    {
      from: STRANGER,
      logs: [
        movedUnits(UNITS_1, SELLER, BUYER, 7n, 3n),
        logOf(
          'paymentProcessorV2',
          'buyListingERC1155',
          trade(7n, { buyer: STRANGER, tokenAddress: UNITS_1, amount: 3n }),
          V3,
        ),
        movedUnits(UNITS_1, SELLER, BUYER, 8n, 3n),
        logOf('paymentProcessorV2', 'acceptOfferERC1155', trade(8n, { tokenAddress: UNITS_1, amount: 3n }), V3),
      ],
    },
    { contract: UNITS_1, id: 7n, units: 3n, price: ether(60) },
    { contract: UNITS_1, id: 8n, units: 3n, price: ether(60) },
  ),
  processed1('cancels of version 2', {
    logs: [
      logOf('paymentProcessorV2', 'nonceInvalidated', { nonce: 11n, account: SELLER, wasCancellation: true }),
      logOf('paymentProcessorV2', 'orderDigestInvalidated', {
        orderDigest: hashOf('cancelled'),
        account: SELLER,
        wasCancellation: true,
      }),
    ],
  }),
];
