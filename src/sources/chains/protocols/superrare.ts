// The contracts of SuperRare on Ethereum, from 2018 on: the first token contract, which was its own market, two markets, the auction house, and the
// bazaar. The events are in https://github.com/superrare/pixura-contracts (SuperRareMarketAuctionV2.sol, SuperRareAuctionHouse.sol) and
// https://github.com/superrare/core (SuperRareBazaarStorage.sol); the addresses are those in superrare_ethereum_base_trades.sql of
// https://github.com/duneanalytics/spellbook. The buyer pays a fee on top of the price, which no event reports.

import type { Address } from '../../../platform/core/address.ts';
import type { Hex } from '../../../platform/core/evm.ts';
import { ZERO_ADDRESS } from '../../../platform/core/evm.ts';
import { addressAt, bigintAt, bigintOfWord, tokenIdOfWord, topicAddress, topicWord, wordAt } from './abi-words.ts';
import { deployedAt } from './deployments.ts';
import type { EventDecoder } from './event-decoder.ts';
import { toFill } from './market-fill.ts';
import type { SettlementProtocol } from './settlement-protocol.ts';

export const SUPERRARE_TOPICS = {
  /** The first token contract. */
  tokenSold: '0x16dd16959a056953a63cf14bf427881e762e54f03d86b864efea8238dd3b822f',
  tokenBidAccepted: '0xd6deddb2e105b46d4644d24aac8c58493a0f107e7973b2fe8d8fa7931a2912be',
  tokenTransfer: '0xddf252ad1be2c89b69c2b068fc378daa952ba7f163c4a11628f55a4df523b3ef',
  /** The two markets and the auction house. */
  sold: '0x5764dbcef91eb6f946584f4ea671217c686fa7e858ce4f9f42d08422b86556a9',
  bidAccepted: '0x2a9d06eec42acd217a17785dbec90b8b4f01a93ecd8c127edd36bfccf239f8b6',
  auctionSettled: '0xea6d16c6bfcad11577aef5cc6728231c9f069ac78393828f8ca96847405902a9',
  /** The bazaar, which also accepts other currencies than the native one. */
  bazaarSold: '0x6f9e7bc841408072f4a49e469f90e1a634b85251803662bc8e5c220b28782472',
  bazaarOfferAccepted: '0x97c3d2068ce177bc33d84acecc45eededcf298c4a9d4340ae03d4afbb3993f7b',
  bazaarAuctionSettled: '0xef4e2262a841641690bb931801dc0d1923e6b417cd217f91f8049d8aa9f5f086',
} as const satisfies Record<string, Hex>;

/** The topics are buyer, seller and token id; the word is the price. */
function soldByToken(isBid: boolean): EventDecoder {
  return ({ address, topics, data }, position, events) => {
    const token = { contract: address, tokenId: bigintOfWord(topicWord(topics, 3)), quantity: 1n };
    const parties = { buyer: topicAddress(topics, 1), seller: topicAddress(topics, 2) };
    const price = bigintAt(data, 0);
    events.push(
      toFill(position, {
        protocol: address,
        orderHash: null,
        isBid,
        ...parties,
        tokens: [token],
        currency: ZERO_ADDRESS,
        price,
      }),
    );
  };
}

/** Every transfer of the first token contract has the token id in its data: ERC-721 was not final yet. */
const tokenTransfer: EventDecoder = ({ address, topics, data }, position, events) => {
  const tokenId = tokenIdOfWord(wordAt(data, 0));
  const [from, to] = [topicAddress(topics, 1), topicAddress(topics, 2)];
  events.push({ ...position, kind: 'transfer', contract: address, tokenId, from, to, quantity: 1n });
};

/** The topics are token contract, buyer and seller. The words are, in the bazaar, the currency; then price and token id. */
function sold(isBid: boolean, hasCurrency: boolean): EventDecoder {
  return ({ address, topics, data }, position, events) => {
    const price = hasCurrency ? 1 : 0;
    const token = { contract: topicAddress(topics, 1), tokenId: bigintAt(data, price + 1), quantity: 1n };
    events.push(
      toFill(position, {
        protocol: address,
        orderHash: null,
        isBid,
        seller: topicAddress(topics, 3),
        buyer: topicAddress(topics, 2),
        tokens: [token],
        currency: hasCurrency ? addressAt(data, 0) : ZERO_ADDRESS,
        price: bigintAt(data, price),
      }),
    );
  };
}

/**
 * The topics are token contract, highest bidder and token id. The words are the seller; in the bazaar, the currency; then the highest bid. An
 * auction without a bid returns the token to the seller, and is no sale.
 */
function auctionSettled(hasCurrency: boolean): EventDecoder {
  return ({ address, topics, data }, position, events) => {
    const token = { contract: topicAddress(topics, 1), tokenId: bigintOfWord(topicWord(topics, 3)), quantity: 1n };
    const [seller, buyer]: [Address, Address] = [addressAt(data, 0), topicAddress(topics, 2)];
    const currency = hasCurrency ? addressAt(data, 1) : ZERO_ADDRESS;
    const price = bigintAt(data, hasCurrency ? 2 : 1);
    if (buyer === ZERO_ADDRESS) return;
    events.push(
      toFill(position, {
        protocol: address,
        orderHash: null,
        isBid: false,
        seller,
        buyer,
        tokens: [token],
        currency,
        price,
      }),
    );
  };
}

/** Listings and offers are made on the chain and have no order hash. So a fill cannot be matched by its hash with a mirrored listing. */
export const SUPERRARE: SettlementProtocol = {
  name: 'superrare',
  listContracts: deployedAt({
    ethereum: [
      '0x41a322b28d0ff354040e2cbc676f0320d8c8850d',
      '0x2947f98c42597966a0ec25e92843c09ac17fbaa7',
      '0x65b49f7aee40347f5a90b714be4ef086f3fe5e2c',
      '0x8c9f364bf7a56ed058fc63ef81c6cf09c833e656',
      '0x6d7c44773c52d396f43c2d511b81aa168e9a7a42',
    ],
  }),
  decoders: new Map<Hex, EventDecoder>([
    [SUPERRARE_TOPICS.tokenSold, soldByToken(false)],
    [SUPERRARE_TOPICS.tokenBidAccepted, soldByToken(true)],
    [SUPERRARE_TOPICS.tokenTransfer, tokenTransfer],
    [SUPERRARE_TOPICS.sold, sold(false, false)],
    [SUPERRARE_TOPICS.bidAccepted, sold(true, false)],
    [SUPERRARE_TOPICS.auctionSettled, auctionSettled(false)],
    [SUPERRARE_TOPICS.bazaarSold, sold(false, true)],
    [SUPERRARE_TOPICS.bazaarOfferAccepted, sold(true, true)],
    [SUPERRARE_TOPICS.bazaarAuctionSettled, auctionSettled(true)],
  ]),
  settlesOwnOrders: false,
  findMarketplace: () => 'superrare',
};
