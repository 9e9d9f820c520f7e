// Sales on Ethereum that a public data set reports (test/fixtures/protocols/reported-sales.json), each with its transaction, parties, token,
// price and fees. The test encodes logs from these values. The sale that is decoded from the logs must have the reported price and parties.
// Source: https://github.com/duneanalytics/spellbook, foundation_ethereum_base_trades_seed.csv, zora_v3_ethereum_base_trades_seed.csv,
// cryptopunks_ethereum_base_trades_seed.csv and zeroex_ethereum_nft_fills_sample.csv.

import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { zeroAddress } from 'viem';
import type { Hex } from '../../../src/core/evm.ts';
import type { EncodedLog } from '../../support/chain/encoded-logs.ts';
import { AT, logOf, transferOf } from '../../support/chain/encoded-logs.ts';
import { salesOfTransaction } from '../../support/chain/protocol-logs.ts';

/** Amounts in wei. `platformFee` and `royalty` are parts of the price. */
type ReportedSale = {
  event: keyof typeof ENCODERS;
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
} satisfies Record<string, (sale: ReportedSale) => EncodedLog[]>;

const file = new URL('../../fixtures/protocols/reported-sales.json', import.meta.url);

for (const sale of JSON.parse(readFileSync(file, 'utf8')) as ReportedSale[]) {
  const { event, tx, marketplace, contract, asset, price, seller, buyer } = sale;
  test(`a reported sale is decoded with its price and its parties: ${event}, ${tx.slice(0, 10)}`, () => {
    const sales = salesOfTransaction({ tx, logs: ENCODERS[event](sale) });
    assert.deepEqual(
      sales.map(({ facts }) => facts),
      [{ marketplace, contract, asset, price, seller, buyer }],
    );
  });
}
