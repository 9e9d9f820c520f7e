// Makes logs of settlement protocols. viem encodes each log by the published interface of its protocol. The addresses of the logs are those
// of the contracts on Ethereum, except that the pools of Sudoswap have invented addresses.

// This file imports nothing of src, so that the differential test can use it (test/differential).

import type { AbiEvent, Hex } from 'viem';
import { encodeAbiParameters, encodeEventTopics, parseAbi } from 'viem';

const SPENT_ITEMS = '(uint8 itemType, address token, uint256 identifier, uint256 amount)[]';
const RECEIVED_ITEMS = '(uint8 itemType, address token, uint256 identifier, uint256 amount, address recipient)[]';
const OFFERED = '(uint8 a, address b, uint256 c, uint256 d, uint256 e)[]';
const CONSIDERED = '(uint8 a, address b, uint256 c, uint256 d, uint256 e, address f)[]';
const SEAPORT_PARAMETERS = `(address a, address b, ${OFFERED} c, ${CONSIDERED} d, uint8 e, uint256 f, uint256 g, bytes32 h, uint256 i, bytes32 j, uint256 k)`;

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

const ELEMENT_ORDER = 'bytes32 orderHash, address maker, address taker, uint256 nonce, address erc20Token';
const ELEMENT_FEES = '(address recipient, uint256 amount)[] fees';
const ELEMENT_FIRST = 'address maker, address taker, address erc20Token';
const SUPERRARE_SALE = 'address indexed _seller, uint256 _amount, uint256 _tokenId';
const SUPERRARE_BAZAAR_SALE = 'address indexed _seller, address _currencyAddress, uint256 _amount, uint256 _tokenId';
const ZORA_TOKEN = 'address indexed tokenContract, uint256 indexed tokenId';
const ZORA_BID =
  '(uint256 amount, address currency, address bidder, address recipient, (uint256 value) sellOnShare) bid';
const ZORA_NATIVE_AUCTION =
  'address seller, uint96 reservePrice, address sellerFundsRecipient, uint96 highestBid, address highestBidder';
const ZORA_ERC20_AUCTION =
  'address seller, address sellerFundsRecipient, uint256 reservePrice, uint256 highestBid, address highestBidder';

/** The events of each protocol, as signatures that viem parses. */
export const EVENTS = {
  /** https://github.com/ProjectOpenSea/seaport-types, ConsiderationEventsAndErrors.sol. Seaport 1.1 emits `orderValidatedFirst`. */
  seaport: {
    orderFulfilled: `event OrderFulfilled(bytes32 orderHash, address indexed offerer, address indexed zone, address recipient, ${SPENT_ITEMS} offer, ${RECEIVED_ITEMS} consideration)`,
    orderCancelled: 'event OrderCancelled(bytes32 orderHash, address indexed offerer, address indexed zone)',
    orderValidatedFirst: 'event OrderValidated(bytes32 orderHash, address indexed offerer, address indexed zone)',
    orderValidated: `event OrderValidated(bytes32 orderHash, ${SEAPORT_PARAMETERS} orderParameters)`,
    ordersMatched: 'event OrdersMatched(bytes32[] orderHashes)',
    counterIncremented: 'event CounterIncremented(uint256 newCounter, address indexed offerer)',
  },
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
  blend: {
    buyLocked: 'event BuyLocked(uint256 lienId, address collection, address buyer, address seller, uint256 tokenId)',
    loanOfferTaken:
      'event LoanOfferTaken(bytes32 offerHash, uint256 lienId, address collection, address lender, address borrower, uint256 loanAmount, uint256 rate, uint256 tokenId, uint256 auctionDuration)',
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
  zoraV1: {
    bidFinalized: `event BidFinalized(uint256 indexed tokenId, ${ZORA_BID})`,
    auctionEnded:
      'event AuctionEnded(uint256 indexed auctionId, uint256 indexed tokenId, address indexed tokenContract, address tokenOwner, address curator, address winner, uint256 amount, uint256 curatorFee, address auctionCurrency)',
  },
  zoraV3: {
    nativeAskFilled: `event AskFilled(${ZORA_TOKEN}, address buyer, address seller, uint256 price)`,
    privateAskFilled: `event AskFilled(${ZORA_TOKEN}, (address seller, uint96 price, address buyer) ask)`,
    offerFilled: `event OfferFilled(${ZORA_TOKEN}, uint256 indexed id, address taker, address finder, (address maker, address currency, uint16 findersFeeBps, uint256 amount) offer)`,
    auctionEnded: `event AuctionEnded(${ZORA_TOKEN}, (${ZORA_NATIVE_AUCTION}, uint32 duration, uint32 startTime, uint32 firstBidTime) auction)`,
    auctionWithFeeEnded: `event AuctionEnded(${ZORA_TOKEN}, (${ZORA_NATIVE_AUCTION}, uint48 duration, uint48 startTime, address finder, uint80 firstBidTime, uint16 findersFeeBps) auction)`,
    erc20AuctionEnded: `event AuctionEnded(${ZORA_TOKEN}, (${ZORA_ERC20_AUCTION}, uint48 duration, uint48 startTime, address currency, uint96 firstBidTime) auction)`,
    erc20AuctionWithFeeEnded: `event AuctionEnded(${ZORA_TOKEN}, (${ZORA_ERC20_AUCTION}, uint96 startTime, address currency, uint96 firstBidTime, address finder, uint80 duration, uint16 findersFeeBps) auction)`,
    askFilled: `event AskFilled(address indexed tokenContract, uint256 indexed tokenId, address indexed buyer, address finder, ${ZORA_ASK})`,
  },
  raribleV1: {
    buy: 'event Buy(address indexed sellToken, uint256 indexed sellTokenId, uint256 sellValue, address owner, address buyToken, uint256 buyTokenId, uint256 buyValue, address buyer, uint256 amount, uint256 salt)',
  },
  raribleV2: {
    match:
      'event Match(bytes32 leftHash, bytes32 rightHash, address leftMaker, address rightMaker, uint256 newLeftFill, uint256 newRightFill, (bytes4 assetClass, bytes data) leftAsset, (bytes4 assetClass, bytes data) rightAsset)',
    matchWithoutAssets:
      'event Match(bytes32 leftHash, bytes32 rightHash, address leftMaker, address rightMaker, uint256 newLeftFill, uint256 newRightFill)',
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
    buyBundledListingERC721: `event BuyBundledListingERC721(${SWEEP}, address seller, bool[] unsuccessfulFills, uint256[] tokenIds, uint256[] salePrices)`,
    buyBundledListingERC1155: `event BuyBundledListingERC1155(${SWEEP}, address seller, bool[] unsuccessfulFills, uint256[] tokenIds, uint256[] amounts, uint256[] salePrices)`,
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
  element: {
    erc721SellOrderFilled: `event ERC721SellOrderFilled(${ELEMENT_ORDER}, uint256 erc20TokenAmount, ${ELEMENT_FEES}, address erc721Token, uint256 erc721TokenId)`,
    erc721BuyOrderFilled: `event ERC721BuyOrderFilled(${ELEMENT_ORDER}, uint256 erc20TokenAmount, ${ELEMENT_FEES}, address erc721Token, uint256 erc721TokenId)`,
    erc1155SellOrderFilled: `event ERC1155SellOrderFilled(${ELEMENT_ORDER}, uint256 erc20FillAmount, ${ELEMENT_FEES}, address erc1155Token, uint256 erc1155TokenId, uint128 erc1155FillAmount)`,
    erc1155BuyOrderFilled: `event ERC1155BuyOrderFilled(${ELEMENT_ORDER}, uint256 erc20FillAmount, ${ELEMENT_FEES}, address erc1155Token, uint256 erc1155TokenId, uint128 erc1155FillAmount)`,
    erc721SellOrderFilledFirst: `event ERC721SellOrderFilled(${ELEMENT_FIRST}, uint256 erc20TokenAmount, address erc721Token, uint256 erc721TokenId, bytes32 orderHash)`,
    erc721BuyOrderFilledFirst: `event ERC721BuyOrderFilled(${ELEMENT_FIRST}, uint256 erc20TokenAmount, address erc721Token, uint256 erc721TokenId, bytes32 orderHash)`,
    erc1155SellOrderFilledFirst: `event ERC1155SellOrderFilled(${ELEMENT_FIRST}, uint256 erc20FillAmount, address erc1155Token, uint256 erc1155TokenId, uint128 erc1155FillAmount, bytes32 orderHash)`,
    erc1155BuyOrderFilledFirst: `event ERC1155BuyOrderFilled(${ELEMENT_FIRST}, uint256 erc20FillAmount, address erc1155Token, uint256 erc1155TokenId, uint128 erc1155FillAmount, bytes32 orderHash)`,
    erc721OrderCancelled: 'event ERC721OrderCancelled(address maker, uint256 nonce)',
    erc1155OrderCancelled: 'event ERC1155OrderCancelled(address maker, uint256 nonce)',
  },
  superRare: {
    tokenSold: 'event Sold(address indexed _buyer, address indexed _seller, uint256 _amount, uint256 indexed _tokenId)',
    tokenBidAccepted:
      'event AcceptBid(address indexed _bidder, address indexed _seller, uint256 _amount, uint256 indexed _tokenId)',
    tokenTransfer: 'event Transfer(address indexed _from, address indexed _to, uint256 _tokenId)',
    sold: `event Sold(address indexed _originContract, address indexed _buyer, ${SUPERRARE_SALE})`,
    bidAccepted: `event AcceptBid(address indexed _originContract, address indexed _bidder, ${SUPERRARE_SALE})`,
    auctionSettled:
      'event AuctionSettled(address indexed _contractAddress, address indexed _bidder, address _seller, uint256 indexed _tokenId, uint256 _amount)',
    bazaarSold: `event Sold(address indexed _originContract, address indexed _buyer, ${SUPERRARE_BAZAAR_SALE})`,
    bazaarOfferAccepted: `event AcceptOffer(address indexed _originContract, address indexed _bidder, ${SUPERRARE_BAZAAR_SALE}, address[] _splitAddresses, uint8[] _splitRatios)`,
    bazaarAuctionSettled:
      'event AuctionSettled(address indexed _contractAddress, address indexed _bidder, address _seller, uint256 indexed _tokenId, address _currencyAddress, uint256 _amount)',
  },
  nftxV2: {
    buy: 'event Buy(uint256 count, uint256 ethSpent, address to)',
    sell: 'event Sell(uint256 count, uint256 ethReceived, address to)',
  },
  nftxV3: {
    buy: 'event Buy(uint256 vaultId, uint256[] nftIds, uint256 ethSpent, address to, uint256 netRoyaltyAmount)',
    sell: 'event Sell(uint256 vaultId, uint256 count, uint256 ethReceived, address to, uint256 netRoyaltyAmount, uint256 wethFees)',
  },
  manifold: {
    purchase:
      'event PurchaseEvent(uint40 indexed listingId, address referrer, address buyer, uint24 count, uint256 amount)',
    offerAccepted: 'event AcceptOfferEvent(uint40 indexed listingId, address oferrer, uint256 amount)',
    listingFinalized: 'event FinalizeListing(uint40 indexed listingId)',
  },
  nouns: {
    auctionSettled: 'event AuctionSettled(uint256 indexed nounId, address winner, uint256 amount)',
  },
} satisfies Record<string, Record<string, string>>;

export const AT = {
  seaport: '0x0000000000000068f116a894984e2db1123eb395',
  blurV1: '0x000000000000ad05ccc4f10045630fb830b95127',
  blurV2: '0xb2ecfe4e4d61f8790bbb9de2d1259b9e2410cea5',
  blend: '0x29469395eaf6f95920e59f858042f0e28d98a20b',
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
  element: '0x20f780a973856b93f63670377900c1d2a50a77c4',
  raribleV1: '0xcd4ec7b66fbc029c116ba9ffb3e59351c20b5b06',
  superRare: '0x6d7c44773c52d396f43c2d511b81aa168e9a7a42',
  nftxV2: '0x0fc584529a2aefa997697fafacba5831fac0c22d',
  nftxV3: '0x293a0c49c85f1d8851c665ac3ce1f1dc2a79be3d',
  manifold: '0x3a3548e060be10c2614d0a4cb0c03cc9093fd799',
  nouns: '0x830bd73e4184cef73443c15111a1df14e495c706',
  zoraV1: '0xe5bfab544eca83849c53464f85b7164375bdaac1',
} as const satisfies Record<keyof typeof EVENTS, Hex>;

/** `encoded`: the log was not recorded from the chain, but encoded from known facts of the transaction. */
export type EncodedLog = { address: string; topics: readonly Hex[]; data: Hex; encoded?: boolean };

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
  at: string = AT[protocol],
): EncodedLog {
  return encode(at, (EVENTS[protocol] as Record<string, string>)[name] ?? '', args);
}

export const transferOf = (contract: string, from: string, to: string, tokenId: bigint) =>
  encode(contract, 'event Transfer(address indexed from, address indexed to, uint256 indexed tokenId)', {
    from,
    to,
    tokenId,
  });
