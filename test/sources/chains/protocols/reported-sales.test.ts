// Sales that a public data set reports (test/fixtures/protocols/reported-sales.json), each with its transaction, parties, token,
// price and fees. The test encodes logs from these values. The sale that is decoded from the logs must have the reported price and parties.
// Source: https://github.com/duneanalytics/spellbook, zeroex_ethereum_nft_fills_sample.csv, and the files *_base_trades_seed.csv of
// foundation_ethereum, zora_v1_ethereum, zora_v2_ethereum, zora_v3_ethereum, cryptopunks_ethereum, element_ethereum, superrare_ethereum and
// alienswap_base.

import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { zeroAddress } from 'viem';
import type { Hex } from '../../../../src/platform/core/evm.ts';
import type { EncodedLog } from '../../../support/chain/encoded-logs.ts';
import { AT, logOf, transferOf } from '../../../support/chain/encoded-logs.ts';
import { salesOfTransaction } from '../../../support/chain/protocol-logs.ts';

/** Amounts in wei. `platformFee` and `royalty` are parts of the price. */
type ReportedSale = {
  event: keyof typeof ENCODERS;
  /** Ethereum if absent. */
  chain?: string;
  marketplace: string;
  tx: Hex;
  contract: string;
  asset: string;
  price: string;
  platformFee: string;
  royalty: string;
  seller: string;
  buyer: string;
};

const WRAPPED = '0xc02aaa39b223fe8d0a0e5c4f27ead9083c756cc2';
const ZORA_MEDIA = '0xabefbc9fd2f806065b4f3c237d4b59d9a97bcac7';
const ZORA_AUCTION_HOUSE = '0xe468ce99444174bd3bbbed09209577d25d1ad673';
const SUPERRARE_TOKEN = '0x41a322b28d0ff354040e2cbc676f0320d8c8850d';
const SUPERRARE_MARKET = '0x65b49f7aee40347f5a90b714be4ef086f3fe5e2c';
const ALIENSWAP = '0x878dd5e0c3dedfebff67046bb218fb03c26e3e47';
const ZERO_HASH = `0x${'00'.repeat(32)}`;

const elementOrder = (sale: ReportedSale) => ({
  orderHash: ZERO_HASH,
  nonce: 1n,
  erc20TokenAmount: BigInt(sale.price),
  fees: [
    { recipient: zeroAddress, amount: BigInt(sale.platformFee) },
    { recipient: zeroAddress, amount: BigInt(sale.royalty) },
  ],
  erc721Token: sale.contract,
  erc721TokenId: BigInt(sale.asset),
});
const superRareToken = (sale: ReportedSale) => ({
  _originContract: sale.contract,
  _contractAddress: sale.contract,
  _buyer: sale.buyer,
  _bidder: sale.buyer,
  _seller: sale.seller,
  _currencyAddress: zeroAddress,
  _amount: BigInt(sale.price),
  _tokenId: BigInt(sale.asset),
  _splitAddresses: [sale.seller],
  _splitRatios: [100],
});
const NATIVE_OF_ZEROEX = '0xeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeee';
const sharesOf = ({ price, platformFee, royalty }: ReportedSale) => ({
  totalFees: BigInt(platformFee),
  creatorRev: BigInt(royalty),
  sellerRev: BigInt(price) - BigInt(platformFee) - BigInt(royalty),
});

/**
 * The events of each sale. The sales of the protocol 0x are fills of listings (`direction: 0`): they are paid in the native currency, and bids
 * of 0x cannot offer this currency.
 */
const ENCODERS = {
  BuyPriceAccepted: (sale) => [
    logOf('foundation', 'buyPriceAccepted', {
      nftContract: sale.contract,
      tokenId: BigInt(sale.asset),
      seller: sale.seller,
      buyer: sale.buyer,
      ...sharesOf(sale),
    }),
  ],
  PrivateSaleFinalized: (sale) => {
    const { totalFees, creatorRev, sellerRev } = sharesOf(sale);
    return [
      logOf('foundation', 'privateSaleFinalized', {
        nftContract: sale.contract,
        tokenId: BigInt(sale.asset),
        seller: sale.seller,
        buyer: sale.buyer,
        protocolFee: totalFees,
        creatorFee: creatorRev,
        sellerRev,
        deadline: 1n,
      }),
    ];
  },
  OfferAccepted: (sale) => [
    logOf('foundation', 'offerAccepted', {
      nftContract: sale.contract,
      tokenId: BigInt(sale.asset),
      seller: sale.seller,
      buyer: sale.buyer,
      ...sharesOf(sale),
    }),
  ],
  ReserveAuctionFinalized: (sale) => [
    transferOf(sale.contract, AT.foundation, sale.buyer, BigInt(sale.asset)),
    logOf('foundation', 'reserveAuctionFinalized', {
      auctionId: 1n,
      seller: sale.seller,
      bidder: sale.buyer,
      ...sharesOf(sale),
    }),
  ],
  AskFilled: (sale) => [
    logOf('zoraV3', 'askFilled', {
      tokenContract: sale.contract,
      tokenId: BigInt(sale.asset),
      buyer: sale.buyer,
      finder: zeroAddress,
      ask: {
        seller: sale.seller,
        sellerFundsRecipient: sale.seller,
        askCurrency: zeroAddress,
        findersFeeBps: 0,
        askPrice: BigInt(sale.price),
      },
    }),
  ],
  PunkBought: (sale) => [
    logOf('cryptoPunks', 'punkBought', {
      punkIndex: BigInt(sale.asset),
      value: BigInt(sale.price),
      fromAddress: sale.seller,
      toAddress: sale.buyer,
    }),
  ],
  ERC721OrderFilled: (sale) => [
    logOf('zeroExV4', 'erc721OrderFilled', {
      direction: 0,
      maker: sale.seller,
      taker: sale.buyer,
      nonce: 1n,
      erc20Token: NATIVE_OF_ZEROEX,
      erc20TokenAmount: BigInt(sale.price),
      erc721Token: sale.contract,
      erc721TokenId: BigInt(sale.asset),
      matcher: zeroAddress,
    }),
  ],
  ElementSell: (sale) => [
    logOf('element', 'erc721SellOrderFilled', {
      ...elementOrder(sale),
      maker: sale.seller,
      taker: sale.buyer,
      erc20Token: NATIVE_OF_ZEROEX,
    }),
  ],
  ElementBuy: (sale) => [
    logOf('element', 'erc721BuyOrderFilled', {
      ...elementOrder(sale),
      maker: sale.buyer,
      taker: sale.seller,
      erc20Token: WRAPPED,
    }),
  ],
  TokenSold: (sale) => [logOf('superRare', 'tokenSold', superRareToken(sale), SUPERRARE_TOKEN)],
  TokenAcceptBid: (sale) => [logOf('superRare', 'tokenBidAccepted', superRareToken(sale), SUPERRARE_TOKEN)],
  MarketSold: (sale) => [logOf('superRare', 'sold', superRareToken(sale), SUPERRARE_MARKET)],
  MarketAcceptBid: (sale) => [logOf('superRare', 'bidAccepted', superRareToken(sale), SUPERRARE_MARKET)],
  BazaarSold: (sale) => [logOf('superRare', 'bazaarSold', superRareToken(sale))],
  BazaarAcceptOffer: (sale) => [logOf('superRare', 'bazaarOfferAccepted', superRareToken(sale))],
  BazaarAuctionSettled: (sale) => [logOf('superRare', 'bazaarAuctionSettled', superRareToken(sale))],
  BidFinalized: (sale) => [
    transferOf(ZORA_MEDIA, sale.seller, sale.buyer, BigInt(sale.asset)),
    logOf('zoraV1', 'bidFinalized', {
      tokenId: BigInt(sale.asset),
      bid: {
        amount: BigInt(sale.price),
        currency: WRAPPED,
        bidder: sale.buyer,
        recipient: sale.buyer,
        sellOnShare: { value: 0n },
      },
    }),
  ],
  AuctionEnded: (sale) => [
    logOf(
      'zoraV1',
      'auctionEnded',
      {
        auctionId: 1n,
        tokenId: BigInt(sale.asset),
        tokenContract: sale.contract,
        tokenOwner: sale.seller,
        curator: zeroAddress,
        winner: sale.buyer,
        amount: BigInt(sale.price),
        curatorFee: 0n,
        auctionCurrency: WRAPPED,
      },
      ZORA_AUCTION_HOUSE,
    ),
  ],
  NativeAskFilled: (sale) => [
    logOf('zoraV3', 'nativeAskFilled', {
      tokenContract: sale.contract,
      tokenId: BigInt(sale.asset),
      buyer: sale.buyer,
      seller: sale.seller,
      price: BigInt(sale.price),
    }),
  ],
  PrivateAskFilled: (sale) => [
    logOf('zoraV3', 'privateAskFilled', {
      tokenContract: sale.contract,
      tokenId: BigInt(sale.asset),
      ask: { seller: sale.seller, price: BigInt(sale.price), buyer: sale.buyer },
    }),
  ],
  OrderFulfilled: (sale) => {
    const payment = { itemType: 0, token: zeroAddress, identifier: 0n };
    return [
      logOf(
        'seaport',
        'orderFulfilled',
        {
          orderHash: ZERO_HASH,
          offerer: sale.seller,
          zone: zeroAddress,
          recipient: sale.buyer,
          offer: [{ itemType: 2, token: sale.contract, identifier: BigInt(sale.asset), amount: 1n }],
          consideration: [
            { ...payment, amount: BigInt(sale.price) - BigInt(sale.royalty), recipient: sale.seller },
            { ...payment, amount: BigInt(sale.royalty), recipient: ALIENSWAP },
          ],
        },
        ALIENSWAP,
      ),
    ];
  },
} satisfies Record<string, (sale: ReportedSale) => EncodedLog[]>;

const file = new URL('../../../fixtures/protocols/reported-sales.json', import.meta.url);

for (const sale of JSON.parse(readFileSync(file, 'utf8')) as ReportedSale[]) {
  const { event, chain = 'ethereum', tx, marketplace, contract, asset, price, seller, buyer } = sale;
  test(`a reported sale is decoded with its price and its parties: ${event}, ${tx.slice(0, 10)}`, () => {
    const sales = salesOfTransaction({ tx, chain, logs: ENCODERS[event](sale) });
    assert.deepEqual(
      sales.map(({ facts }) => facts),
      [{ marketplace, contract, asset, price, seller, buyer }],
    );
  });
}
