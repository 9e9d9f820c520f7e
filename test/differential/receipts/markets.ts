// Receipts of markets and auctions whose orders are made on the chain.

import type { Hex } from 'viem';
import { AT, logOf } from '../../support/chain/encoded-logs.ts';
import type { Scenario } from './scenario.ts';
import {
  AGGREGATOR,
  BUYER,
  CREATOR,
  DOLLARS,
  ether,
  moved,
  movedUnits,
  paid,
  scenariosOf,
  SELLER,
  STRANGER,
  tokensOf,
  unitsOf,
  WRAPPED,
  ZERO,
} from './scenario.ts';

// CryptoPunks

const PUNKS = AT.cryptoPunks;
const punks = scenariosOf('cryptopunks', 'larvalabs');
const punkBought = (punkIndex: bigint, value: bigint, toAddress: Hex) =>
  logOf('cryptoPunks', 'punkBought', { punkIndex, value, fromAddress: SELLER, toAddress });
const punkSent = (from: Hex, to: Hex) => logOf('cryptoPunks', 'transfer', { from, to, value: 1n });
const punkBid = (punkIndex: bigint, fromAddress: Hex, value: bigint) =>
  logOf('cryptoPunks', 'punkBidEntered', { punkIndex, value, fromAddress });

export const PUNK_SCENARIOS: readonly Scenario[] = [
  punks(
    'an offered punk',
    { value: ether(9_000), logs: [punkSent(SELLER, BUYER), punkBought(7n, ether(9_000), BUYER)] },
    { contract: PUNKS, price: ether(9_000) },
  ),
  punks(
    'an offered punk that an aggregator buys',
    {
      logs: [
        punkSent(SELLER, AGGREGATOR),
        punkBought(12n, ether(9_500), AGGREGATOR),
        punkSent(AGGREGATOR, BUYER),
        logOf('cryptoPunks', 'punkTransfer', { from: AGGREGATOR, to: BUYER, punkIndex: 12n }),
      ],
    },
    { contract: PUNKS, id: 12n, price: ether(9_500) },
  ),
  punks('bids for punks', {
    logs: [punkBid(8n, STRANGER, ether(9_999)), punkBid(8n, BUYER, ether(8_000)), punkBid(9n, BUYER, ether(8_100))],
  }),
  punks(
    'an accepted bid, whose event has neither price nor buyer',
    { from: SELLER, logs: [punkSent(SELLER, BUYER), punkBought(8n, 0n, ZERO)] },
    { contract: PUNKS, id: 8n, price: ether(8_000) },
  ),
  punks('a punk that is given away, and the first owner of a punk', {
    logs: [
      punkSent(SELLER, BUYER),
      punkBought(10n, 0n, BUYER),
      logOf('cryptoPunks', 'assign', { to: SELLER, punkIndex: 11n }),
      punkSent(SELLER, STRANGER),
      logOf('cryptoPunks', 'punkTransfer', { from: SELLER, to: STRANGER, punkIndex: 11n }),
    ],
  }),
];

// Foundation

const FOUNDATION = tokensOf('foundation');
const foundation = scenariosOf('foundation', 'foundation');
const shares = { totalFees: ether(5), creatorRev: ether(10), sellerRev: ether(85) };
const auction = (bidder = BUYER) =>
  logOf('foundation', 'reserveAuctionFinalized', { auctionId: 3n, seller: SELLER, bidder, ...shares });
const inFoundation = (tokenId: bigint) => ({ nftContract: FOUNDATION, tokenId, seller: SELLER, buyer: BUYER });

export const FOUNDATION_SCENARIOS: readonly Scenario[] = [
  foundation(
    'a listing',
    {
      logs: [
        moved(FOUNDATION, AT.foundation, BUYER, 7n),
        logOf('foundation', 'buyPriceAccepted', { ...inFoundation(7n), ...shares }),
      ],
    },
    { price: ether(100) },
  ),
  foundation(
    'an offer',
    {
      from: SELLER,
      logs: [
        moved(FOUNDATION, SELLER, BUYER, 8n),
        logOf('foundation', 'offerAccepted', { ...inFoundation(8n), ...shares }),
      ],
    },
    { id: 8n, price: ether(100) },
  ),
  foundation(
    'a private sale',
    {
      logs: [
        moved(FOUNDATION, SELLER, BUYER, 9n),
        logOf('foundation', 'privateSaleFinalized', {
          ...inFoundation(9n),
          protocolFee: ether(3),
          creatorFee: ether(7),
          sellerRev: ether(80),
          deadline: 1n,
        }),
      ],
    },
    { id: 9n, price: ether(90) },
  ),
  foundation(
    'an auction that a stranger ends',
    { from: STRANGER, logs: [moved(FOUNDATION, AT.foundation, BUYER, 10n), auction()] },
    { id: 10n, price: ether(100) },
  ),
  foundation('an auction of a token that the market did not send', {
    logs: [moved(FOUNDATION, SELLER, STRANGER, 11n), auction()],
  }),
];

// Zora

const MEDIA: Hex = '0xabefbc9fd2f806065b4f3c237d4b59d9a97bcac7';
const AUCTIONS: Hex = '0xe468ce99444174bd3bbbed09209577d25d1ad673';
const zora1 = scenariosOf('zora-v1', 'zora');
const finalized = (tokenId: bigint, changes: Record<string, unknown> = {}) =>
  logOf('zoraV1', 'bidFinalized', {
    tokenId,
    bid: {
      amount: ether(100),
      currency: WRAPPED,
      bidder: BUYER,
      recipient: BUYER,
      sellOnShare: { value: 5n },
      ...changes,
    },
  });
const ended = (tokenContract: Hex, tokenId: bigint, changes: Record<string, unknown> = {}) =>
  logOf(
    'zoraV1',
    'auctionEnded',
    {
      auctionId: 3n,
      tokenId,
      tokenContract,
      tokenOwner: SELLER,
      curator: CREATOR,
      winner: BUYER,
      amount: ether(70),
      curatorFee: ether(10),
      auctionCurrency: WRAPPED,
      ...changes,
    },
    AUCTIONS,
  );

export const ZORA_V1_SCENARIOS: readonly Scenario[] = [
  zora1(
    'a bid of another account, which the owner accepts',
    { from: SELLER, logs: [moved(MEDIA, SELLER, BUYER, 7n), finalized(7n, { bidder: STRANGER })] },
    { contract: MEDIA, price: ether(100) },
  ),
  zora1(
    'a bid in dollars',
    { logs: [moved(MEDIA, SELLER, BUYER, 8n), finalized(8n, { currency: DOLLARS })] },
    { contract: MEDIA, id: 8n, price: `${ether(100)} of ${DOLLARS}` },
  ),
  zora1(
    'an auction with a curator',
    { from: STRANGER, logs: [moved(tokensOf('zora-v1'), AUCTIONS, BUYER, 9n), ended(tokensOf('zora-v1'), 9n)] },
    { id: 9n, price: ether(80) },
  ),
  zora1(
    'an auction that the market of version 1 settles',
    {
      from: STRANGER,
      logs: [finalized(10n, { bidder: AUCTIONS }), moved(MEDIA, AUCTIONS, BUYER, 10n), ended(MEDIA, 10n)],
    },
    { contract: MEDIA, id: 10n, price: ether(100) },
  ),
];

const ZORA_3 = tokensOf('zora-v3');
const zora3 = scenariosOf('zora-v3', 'zora');
const inZora = (tokenId: bigint) => ({ tokenContract: ZORA_3, tokenId });
const zoraAsk = {
  seller: SELLER,
  sellerFundsRecipient: CREATOR,
  askCurrency: ZERO,
  findersFeeBps: 5,
  askPrice: ether(40),
};
const zoraAuction = {
  seller: SELLER,
  reservePrice: ether(1),
  sellerFundsRecipient: CREATOR,
  highestBid: ether(41),
  highestBidder: BUYER,
  duration: 2n,
  startTime: 3n,
  firstBidTime: 4n,
  finder: CREATOR,
  findersFeeBps: 6,
  currency: DOLLARS,
};
const MODULES = {
  auctionEnded: '0x5f7072e1fa7c01dfac7cf54289621afaad2184d0',
  auctionWithFeeEnded: '0x9458e29713b98bf452ee9b2c099289f533a5f377',
  erc20AuctionEnded: '0x53172d999a299198a935f9e424f9f8544e3d4292',
  erc20AuctionWithFeeEnded: '0xd1adaf05575295710de1145c3c9427c364a70a7f',
} as const;

export const ZORA_V3_SCENARIOS: readonly Scenario[] = [
  zora3(
    'an ask',
    {
      logs: [
        moved(ZORA_3, SELLER, BUYER, 7n),
        logOf('zoraV3', 'askFilled', { ...inZora(7n), buyer: BUYER, finder: STRANGER, ask: zoraAsk }),
      ],
    },
    { price: ether(40) },
  ),
  zora3(
    'an ask through an aggregator, in dollars',
    {
      logs: [
        moved(ZORA_3, SELLER, AGGREGATOR, 8n),
        logOf('zoraV3', 'askFilled', {
          ...inZora(8n),
          buyer: AGGREGATOR,
          finder: ZERO,
          ask: { ...zoraAsk, askCurrency: DOLLARS },
        }),
        moved(ZORA_3, AGGREGATOR, BUYER, 8n),
      ],
    },
    { id: 8n, price: `${ether(40)} of ${DOLLARS}` },
  ),
  zora3(
    'an ask in native currency, and a private one',
    {
      logs: [
        moved(ZORA_3, SELLER, BUYER, 9n),
        logOf('zoraV3', 'nativeAskFilled', { ...inZora(9n), buyer: BUYER, seller: SELLER, price: ether(42) }),
        moved(ZORA_3, SELLER, BUYER, 10n),
        logOf('zoraV3', 'privateAskFilled', {
          ...inZora(10n),
          ask: { seller: SELLER, price: ether(43), buyer: BUYER },
        }),
      ],
    },
    { id: 9n, price: ether(42) },
    { id: 10n, price: ether(43) },
  ),
  zora3(
    'an offer',
    {
      from: SELLER,
      logs: [
        moved(ZORA_3, SELLER, BUYER, 11n),
        logOf('zoraV3', 'offerFilled', {
          ...inZora(11n),
          id: 1n,
          taker: SELLER,
          finder: STRANGER,
          offer: { maker: BUYER, currency: WRAPPED, findersFeeBps: 5, amount: ether(44) },
        }),
      ],
    },
    { id: 11n, price: ether(44) },
  ),
  ...Object.entries(MODULES).map(([name, module], index) => {
    const id = 20n + BigInt(index);
    return zora3(
      `an auction: ${name}`,
      {
        from: STRANGER,
        logs: [
          moved(ZORA_3, module, BUYER, id),
          logOf('zoraV3', name as keyof typeof MODULES, { ...inZora(id), auction: zoraAuction }, module),
        ],
      },
      { id, price: name.startsWith('erc20') ? `${ether(41)} of ${DOLLARS}` : ether(41) },
    );
  }),
];

// SuperRare

const RARE_TOKEN: Hex = '0x41a322b28d0ff354040e2cbc676f0320d8c8850d';
const RARE_MARKET = '0x65b49f7aee40347f5a90b714be4ef086f3fe5e2c';
const FIRST_MARKET = '0x2947f98c42597966a0ec25e92843c09ac17fbaa7';
const RARE_AUCTIONS = '0x8c9f364bf7a56ed058fc63ef81c6cf09c833e656';
const RARE = tokensOf('superrare');
const rare = scenariosOf('superrare', 'superrare');
const inRare = (tokenId: bigint, changes: Record<string, unknown> = {}) => ({
  _originContract: RARE,
  _contractAddress: RARE,
  _buyer: BUYER,
  _bidder: BUYER,
  _seller: SELLER,
  _currencyAddress: ZERO,
  _amount: ether(120),
  _tokenId: tokenId,
  _splitAddresses: [SELLER],
  _splitRatios: [100],
  ...changes,
});
const rareMoved = (id: bigint) =>
  logOf('superRare', 'tokenTransfer', { _from: SELLER, _to: BUYER, _tokenId: id }, RARE_TOKEN);

export const SUPERRARE_SCENARIOS: readonly Scenario[] = [
  rare(
    'a listing and a bid of the first token contract',
    {
      logs: [
        rareMoved(7n),
        logOf('superRare', 'tokenSold', inRare(7n), RARE_TOKEN),
        rareMoved(8n),
        logOf('superRare', 'tokenBidAccepted', inRare(8n), RARE_TOKEN),
      ],
    },
    { contract: RARE_TOKEN, price: ether(120) },
    { contract: RARE_TOKEN, id: 8n, price: ether(120) },
  ),
  rare(
    'a listing and a bid of the markets',
    {
      from: SELLER,
      logs: [
        moved(RARE, SELLER, BUYER, 9n),
        logOf('superRare', 'sold', inRare(9n), RARE_MARKET),
        moved(RARE, SELLER, BUYER, 10n),
        logOf('superRare', 'bidAccepted', inRare(10n), FIRST_MARKET),
      ],
    },
    { id: 9n, price: ether(120) },
    { id: 10n, price: ether(120) },
  ),
  rare(
    'an auction of the auction house',
    {
      from: STRANGER,
      logs: [moved(RARE, RARE_AUCTIONS, BUYER, 11n), logOf('superRare', 'auctionSettled', inRare(11n), RARE_AUCTIONS)],
    },
    { id: 11n, price: ether(120) },
  ),
  rare(
    'a listing, an offer and an auction of the bazaar',
    {
      logs: [
        moved(RARE, SELLER, BUYER, 12n),
        logOf('superRare', 'bazaarSold', inRare(12n)),
        moved(RARE, SELLER, BUYER, 13n),
        logOf('superRare', 'bazaarOfferAccepted', inRare(13n, { _currencyAddress: WRAPPED })),
        moved(RARE, AT.superRare, BUYER, 14n),
        logOf('superRare', 'bazaarAuctionSettled', inRare(14n, { _currencyAddress: DOLLARS })),
      ],
    },
    { id: 12n, price: ether(120) },
    { id: 13n, price: ether(120) },
    { id: 14n, price: `${ether(120)} of ${DOLLARS}` },
  ),
  rare('auctions without a bid', {
    logs: [
      moved(RARE, RARE_AUCTIONS, SELLER, 15n),
      logOf('superRare', 'auctionSettled', inRare(15n, { _bidder: ZERO, _amount: 0n }), RARE_AUCTIONS),
      logOf('superRare', 'bazaarAuctionSettled', inRare(16n, { _bidder: ZERO, _amount: 0n })),
    ],
  }),
];

// Manifold and Nouns

const MANIFOLD = tokensOf('manifold');
const manifold = scenariosOf('manifold', 'manifold');
const purchased = (changes: Record<string, unknown> = {}) =>
  logOf('manifold', 'purchase', {
    listingId: 3,
    referrer: CREATOR,
    buyer: BUYER,
    count: 1,
    amount: ether(30),
    ...changes,
  });

export const MANIFOLD_SCENARIOS: readonly Scenario[] = [
  manifold(
    'a token that the marketplace held',
    { value: ether(30), logs: [moved(MANIFOLD, AT.manifold, BUYER, 7n), purchased()] },
    { price: ether(30), seller: null },
  ),
  manifold(
    'a token that is minted for its buyer, with a fee of the delivery',
    { value: ether(31), logs: [moved(MANIFOLD, ZERO, BUYER, 8n), purchased()] },
    { id: 8n, price: ether(30), seller: null },
  ),
  manifold(
    'units through an aggregator',
    {
      value: ether(30),
      logs: [
        movedUnits(unitsOf('manifold'), AT.manifold, AGGREGATOR, 1n, 2n),
        purchased({ buyer: AGGREGATOR, count: 2 }),
        movedUnits(unitsOf('manifold'), AGGREGATOR, BUYER, 1n, 2n),
      ],
    },
    { contract: unitsOf('manifold'), id: 1n, units: 2n, price: ether(30), seller: null },
  ),
  manifold(
    'a purchase in a currency that the logs do not show, and an accepted offer',
    {
      logs: [
        moved(MANIFOLD, AT.manifold, BUYER, 9n),
        purchased(),
        moved(MANIFOLD, AT.manifold, BUYER, 10n),
        logOf('manifold', 'offerAccepted', { listingId: 3, oferrer: BUYER, amount: ether(33) }),
      ],
    },
    { id: 9n, price: 'unknown', seller: null },
    { id: 10n, price: 'unknown', seller: null },
  ),
  manifold('an auction without its bid, and a purchase without a token', {
    logs: [
      moved(MANIFOLD, STRANGER, CREATOR, 11n),
      logOf('manifold', 'listingFinalized', { listingId: 3 }),
      purchased(),
    ],
  }),
];

const NOUNS = tokensOf('nouns');
const LIL_NOUNS_HOUSE = '0x55e0f7a3bb39a28bd7bcc458e04b3cf00ad3219e';
const nouns = scenariosOf('nouns', 'nouns');
const settled = (nounId: bigint, winner: Hex, at: string = AT.nouns) =>
  logOf('nouns', 'auctionSettled', { nounId, winner, amount: ether(88_000) }, at);

export const NOUNS_SCENARIOS: readonly Scenario[] = [
  nouns(
    'a settled auction, and the next token',
    {
      from: STRANGER,
      logs: [
        moved(NOUNS, AT.nouns, BUYER, 7n),
        paid(AT.nouns, CREATOR, ether(88_000)),
        settled(7n, BUYER),
        moved(NOUNS, ZERO, AT.nouns, 8n),
      ],
    },
    { price: ether(88_000), seller: AT.nouns },
  ),
  nouns(
    'a settled auction of Lil Nouns',
    {
      logs: [moved(unitsOf('nouns'), LIL_NOUNS_HOUSE, BUYER, 9n), settled(9n, BUYER, LIL_NOUNS_HOUSE)],
    },
    { contract: unitsOf('nouns'), id: 9n, price: ether(88_000), seller: LIL_NOUNS_HOUSE, marketplace: 'lil-nouns' },
  ),
  nouns('an auction without a bid, and one whose token was not sent', {
    logs: [
      moved(NOUNS, AT.nouns, ZERO, 10n),
      settled(10n, ZERO),
      moved(NOUNS, STRANGER, CREATOR, 11n),
      settled(11n, BUYER),
    ],
  }),
];
