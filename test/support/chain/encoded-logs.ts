// Makes logs of settlement protocols. viem encodes each log by the published interface of its protocol. The addresses of the logs are those
// of the contracts on Ethereum, except that the pools of Sudoswap have invented addresses.

import type { AbiEvent } from 'viem';
import { encodeAbiParameters, encodeEventTopics, parseAbi } from 'viem';
import type { Address } from '../../../src/core/address.ts';
import type { Hex } from '../../../src/core/evm.ts';
import type { TransactionOnChain } from './protocol-logs.ts';

const BLUR_ORDER =
  '(address trader, uint8 side, address matchingPolicy, address collection, uint256 tokenId, uint256 amount, address paymentToken, uint256 price, uint256 listingTime, uint256 expirationTime, (uint16 rate, address recipient)[] fees, uint256 salt, bytes extraParams)';
const FEE_RATE = '(address recipient, uint16 rate)';
const LOOKSRARE_V1_ORDER =
  'bytes32 orderHash, uint256 orderNonce, address indexed taker, address indexed maker, address indexed strategy, address currency, address collection, uint256 tokenId, uint256 amount, uint256 price';
const LOOKSRARE_V2_SALE =
  'uint256 strategyId, address currency, address collection, uint256[] itemIds, uint256[] amounts, address[2] feeRecipients, uint256[3] feeAmounts';
const NONCES = '(bytes32 orderHash, uint256 orderNonce, bool isNonceInvalidated) nonces';
const ZORA_ASK =
  '(address seller, address sellerFundsRecipient, address askCurrency, uint16 findersFeeBps, uint256 askPrice) ask';
const X2Y2_DETAIL =
  '(uint8 op, uint256 orderIdx, uint256 itemIdx, uint256 price, bytes32 itemHash, address executionDelegate, bytes dataReplacement, uint256 bidIncentivePct, uint256 aucMinIncrementPct, uint256 aucIncDurationSecs, (uint256 percentage, address to)[] fees) detail';
const SWEEP = 'address indexed marketplace, address indexed tokenAddress, address indexed paymentCoin, address buyer';
const TRADE = 'address indexed tokenAddress, address beneficiary, address paymentCoin, uint256 tokenId';

/** The events of each protocol, as signatures that viem parses. */
export const EVENTS = {
  blurV1: {
    ordersMatched: `event OrdersMatched(address indexed maker, address indexed taker, ${BLUR_ORDER} sell, bytes32 sellHash, ${BLUR_ORDER} buy, bytes32 buyHash)`,
    nonceIncremented: 'event NonceIncremented(address indexed trader, uint256 newNonce)',
  },
  blurV2: {
    execution: `event Execution((address trader, uint256 id, uint256 amount, address collection, uint8 assetType) transfer, bytes32 orderHash, uint256 listingIndex, uint256 price, ${FEE_RATE} makerFee, (${FEE_RATE} protocolFee, ${FEE_RATE} takerFee) fees, uint8 orderType)`,
    execution721Packed:
      'event Execution721Packed(bytes32 orderHash, uint256 tokenIdListingIndexTrader, uint256 collectionPriceSide)',
    execution721TakerFeePacked:
      'event Execution721TakerFeePacked(bytes32 orderHash, uint256 tokenIdListingIndexTrader, uint256 collectionPriceSide, uint256 takerFeeRecipientRate)',
    execution721MakerFeePacked:
      'event Execution721MakerFeePacked(bytes32 orderHash, uint256 tokenIdListingIndexTrader, uint256 collectionPriceSide, uint256 makerFeeRecipientRate)',
    nonceIncremented: 'event NonceIncremented(address indexed user, uint256 newNonce)',
  },
  looksRareV1: {
    takerAsk: `event TakerAsk(${LOOKSRARE_V1_ORDER})`,
    takerBid: `event TakerBid(${LOOKSRARE_V1_ORDER})`,
    cancelAllOrders: 'event CancelAllOrders(address indexed user, uint256 newMinNonce)',
    cancelMultipleOrders: 'event CancelMultipleOrders(address indexed user, uint256[] orderNonces)',
  },
  looksRareV2: {
    takerAsk: `event TakerAsk(${NONCES}, address askUser, address bidUser, ${LOOKSRARE_V2_SALE})`,
    takerBid: `event TakerBid(${NONCES}, address bidUser, address bidRecipient, ${LOOKSRARE_V2_SALE})`,
    orderNoncesCancelled: 'event OrderNoncesCancelled(address user, uint256[] orderNonces)',
  },
  x2y2: {
    inventory: `event EvInventory(bytes32 indexed itemHash, address maker, address taker, uint256 orderSalt, uint256 settleSalt, uint256 intent, uint256 delegateType, uint256 deadline, address currency, bytes dataMask, (uint256 price, bytes data) item, ${X2Y2_DETAIL})`,
  },
  cryptoPunks: {
    assign: 'event Assign(address indexed to, uint256 punkIndex)',
    transfer: 'event Transfer(address indexed from, address indexed to, uint256 value)',
    punkTransfer: 'event PunkTransfer(address indexed from, address indexed to, uint256 punkIndex)',
    punkBidEntered: 'event PunkBidEntered(uint256 indexed punkIndex, uint256 value, address indexed fromAddress)',
    punkBought:
      'event PunkBought(uint256 indexed punkIndex, uint256 value, address indexed fromAddress, address indexed toAddress)',
  },
  wyvern: {
    ordersMatched:
      'event OrdersMatched(bytes32 buyHash, bytes32 sellHash, address indexed maker, address indexed taker, uint256 price, bytes32 indexed metadata)',
    nonceIncremented: 'event NonceIncremented(address indexed maker, uint256 newNonce)',
  },
  foundation: {
    buyPriceAccepted:
      'event BuyPriceAccepted(address indexed nftContract, uint256 indexed tokenId, address indexed seller, address buyer, uint256 totalFees, uint256 creatorRev, uint256 sellerRev)',
    privateSaleFinalized:
      'event PrivateSaleFinalized(address indexed nftContract, uint256 indexed tokenId, address indexed seller, address buyer, uint256 protocolFee, uint256 creatorFee, uint256 sellerRev, uint256 deadline)',
    offerAccepted:
      'event OfferAccepted(address indexed nftContract, uint256 indexed tokenId, address indexed buyer, address seller, uint256 totalFees, uint256 creatorRev, uint256 sellerRev)',
    reserveAuctionFinalized:
      'event ReserveAuctionFinalized(uint256 indexed auctionId, address indexed seller, address indexed bidder, uint256 totalFees, uint256 creatorRev, uint256 sellerRev)',
  },
  zoraV3: {
    askFilled: `event AskFilled(address indexed tokenContract, uint256 indexed tokenId, address indexed buyer, address finder, ${ZORA_ASK})`,
  },
  raribleV2: {
    match:
      'event Match(bytes32 leftHash, bytes32 rightHash, address leftMaker, address rightMaker, uint256 newLeftFill, uint256 newRightFill, (bytes4 assetClass, bytes data) leftAsset, (bytes4 assetClass, bytes data) rightAsset)',
  },
  zeroExV4: {
    erc721OrderFilled:
      'event ERC721OrderFilled(uint8 direction, address maker, address taker, uint256 nonce, address erc20Token, uint256 erc20TokenAmount, address erc721Token, uint256 erc721TokenId, address matcher)',
    erc1155OrderFilled:
      'event ERC1155OrderFilled(uint8 direction, address maker, address taker, uint256 nonce, address erc20Token, uint256 erc20FillAmount, address erc1155Token, uint256 erc1155TokenId, uint128 erc1155FillAmount, address matcher)',
    erc721OrderCancelled: 'event ERC721OrderCancelled(address maker, uint256 nonce)',
    erc1155OrderCancelled: 'event ERC1155OrderCancelled(address maker, uint256 nonce)',
  },
  paymentProcessorV1: {
    buySingleListing: `event BuySingleListing(${SWEEP}, address seller, uint256 tokenId, uint256 amount, uint256 salePrice)`,
    sweepCollectionERC721: `event SweepCollectionERC721(${SWEEP}, bool[] unsuccessfulFills, address[] sellers, uint256[] tokenIds, uint256[] salePrices)`,
    sweepCollectionERC1155: `event SweepCollectionERC1155(${SWEEP}, bool[] unsuccessfulFills, address[] sellers, uint256[] tokenIds, uint256[] amounts, uint256[] salePrices)`,
  },
  paymentProcessorV2: {
    buyListingERC721: `event BuyListingERC721(address indexed buyer, address indexed seller, ${TRADE}, uint256 salePrice)`,
    buyListingERC1155: `event BuyListingERC1155(address indexed buyer, address indexed seller, ${TRADE}, uint256 amount, uint256 salePrice)`,
    acceptOfferERC721: `event AcceptOfferERC721(address indexed seller, address indexed buyer, ${TRADE}, uint256 salePrice)`,
    acceptOfferERC1155: `event AcceptOfferERC1155(address indexed seller, address indexed buyer, ${TRADE}, uint256 amount, uint256 salePrice)`,
    nonceInvalidated: 'event NonceInvalidated(uint256 indexed nonce, address indexed account, bool wasCancellation)',
    orderDigestInvalidated:
      'event OrderDigestInvalidated(bytes32 indexed orderDigest, address indexed account, bool wasCancellation)',
  },
  sudoswapV1: {
    swapIn: 'event SwapNFTInPair()',
    swapOut: 'event SwapNFTOutPair()',
  },
  sudoswapV2: {
    swapERC721In: 'event SwapNFTInPair(uint256 amountOut, uint256[] ids)',
    swapERC1155In: 'event SwapNFTInPair(uint256 amountOut, uint256 numNFTs)',
    swapERC721Out: 'event SwapNFTOutPair(uint256 amountIn, uint256[] ids)',
    swapERC1155Out: 'event SwapNFTOutPair(uint256 amountIn, uint256 numNFTs)',
  },
} satisfies Record<string, Record<string, string>>;

export const AT = {
  blurV1: '0x000000000000ad05ccc4f10045630fb830b95127',
  blurV2: '0xb2ecfe4e4d61f8790bbb9de2d1259b9e2410cea5',
  looksRareV1: '0x59728544b08ab483533076417fbbb2fd0b17ce3a',
  looksRareV2: '0x0000000000e655fae4d56241588680f86e3b2377',
  x2y2: '0x74312363e45dcaba76c59ec49a7aa8a65a67eed3',
  cryptoPunks: '0xb47e3cd837ddf8e4c57f05d70ab865de6e193bbb',
  wyvern: '0x7f268357a8c2552623316e2562d90e642bb538e5',
  foundation: '0xcda72070e455bb31c7690a170224ce43623d0b6f',
  zoraV3: '0x6170b3c3a54c3d8c854934cbc314ed479b2b29a3',
  raribleV2: '0x9757f2d2b135150bbeb65308d4a91804107cd8d6',
  zeroExV4: '0xdef1c0ded9bec7f1a1670819833240f027b25eff',
  paymentProcessorV1: '0x009a1dc9f1a6e2134ad4236fcd75b1ae62858507',
  paymentProcessorV2: '0x9a1d00bed7cd04bcda516d721a596eb22aac6834',
  sudoswapV1: '0x5000000000000000000000000000000000000001',
  sudoswapV2: '0x5000000000000000000000000000000000000002',
} as const satisfies Record<keyof typeof EVENTS, Address | string>;

export type EncodedLog = TransactionOnChain['logs'][number];

export function encode(address: string, signature: string, args: Record<string, unknown>): EncodedLog {
  const abi = parseAbi([signature] as readonly string[] as readonly ['event E()']);
  const event = (abi as readonly unknown[])[0] as AbiEvent;
  const inData = event.inputs.filter((input) => !('indexed' in input && input.indexed));
  const topics = encodeEventTopics({ abi: [event], args } as never) as Hex[];
  const data = encodeAbiParameters(
    inData,
    inData.map(({ name }) => args[name ?? '']),
  );
  return { address, topics, data };
}

export function logOf<P extends keyof typeof EVENTS>(
  protocol: P,
  name: keyof (typeof EVENTS)[P] & string,
  args: Record<string, unknown>,
): EncodedLog {
  return encode(AT[protocol], (EVENTS[protocol] as Record<string, string>)[name] ?? '', args);
}

export const transferOf = (contract: string, from: string, to: string, tokenId: bigint) =>
  encode(contract, 'event Transfer(address indexed from, address indexed to, uint256 indexed tokenId)', {
    from,
    to,
    tokenId,
  });
