// Version 1 of Zora, the market of one token contract (https://github.com/ourzora/core, contracts/Market.sol), and version 2, an auction house for all
// token contracts (https://github.com/ourzora/auction-house, contracts/AuctionHouse.sol). The two are one protocol here, because the auction house
// settles the auctions of the first token contract with a bid on the market. The addresses are in the folder `addresses` of the repositories.

import type { Address } from '../../../platform/core/address.ts';
import type { Hex } from '../../../platform/core/evm.ts';
import { ZERO_ADDRESS } from '../../../platform/core/evm.ts';
import { addressAt, bigintAt, bigintOfWord, topicAddress, topicWord } from './abi-words.ts';
import { deployedAt } from './deployments.ts';
import type { EventDecoder, TransactionLogs } from './event-decoder.ts';
import { toFill } from './market-fill.ts';
import type { SettlementProtocol } from './settlement-protocol.ts';

export const ZORA_V1_TOPICS = {
  bidFinalized: '0xb6ef177c7a6f32b283a49b5e0463a39240cdaa278028dfb219480d050e8ee54c',
  auctionEnded: '0x4f35fb3ea0081b3ccbe8df613cab0f9e1694d50a025e0aa09b88a86a3d07c2de',
} as const satisfies Record<string, Hex>;

/** Each market with the only token contract that it trades. */
const TOKEN_OF_MARKET: Readonly<Record<string, string>> = {
  '0xe5bfab544eca83849c53464f85b7164375bdaac1': '0xabefbc9fd2f806065b4f3c237d4b59d9a97bcac7',
  '0xe20bd7dc76e09aebc2a9a732ab6aee616c5a17eb': '0x6953190aafd8f8995e8f47e8f014d0db83e92300',
};
const AUCTION_HOUSES: readonly string[] = [
  '0xe468ce99444174bd3bbbed09209577d25d1ad673',
  '0x48f1c97259dc7f3900965391651693baebfd59a2',
];

/** The words of the bid. */
const BID = { amount: 0, currency: 1, bidder: 2, recipient: 3 };

/**
 * A bid that the owner accepted, or that was as high as the owner's ask. The event does not name the seller. A bid of an auction house is part of
 * an auction (`auctionEnded`).
 */
const bidFinalized: EventDecoder = ({ address, topics, data }, position, events) => {
  const contract = TOKEN_OF_MARKET[address] as Address | undefined;
  const tokenId = bigintOfWord(topicWord(topics, 1));
  const [bidder, buyer] = [addressAt(data, BID.bidder), addressAt(data, BID.recipient)];
  const [currency, price] = [addressAt(data, BID.currency), bigintAt(data, BID.amount)];
  if (AUCTION_HOUSES.includes(bidder) || contract === undefined) return;
  const tokens = [{ contract, tokenId, quantity: 1n }];
  const parties = { seller: ZERO_ADDRESS, buyer, tokens, currency, price };
  events.push(toFill(position, { protocol: address, orderHash: null, isBid: true, ...parties }));
};

/**
 * The topics are auction, token id and token contract. The words are seller, curator, winner, the amount that the seller received, the fee of the
 * curator, and the currency, which is the wrapped currency for a bid in the native one. A token of the market also pays its creator and its
 * previous owner: then the bid of the auction house on the market has the full price.
 */
const auctionEnded: EventDecoder = (log, position, events, logsOf) => {
  const { address, topics, data } = log;
  const token = { contract: topicAddress(topics, 3), tokenId: bigintOfWord(topicWord(topics, 2)), quantity: 1n };
  const received = bigintAt(data, 3) + bigintAt(data, 4);
  events.push(
    toFill(position, {
      protocol: address,
      orderHash: null,
      isBid: false,
      seller: addressAt(data, 0),
      buyer: addressAt(data, 2),
      tokens: [token],
      currency: addressAt(data, 5),
      price: findBidOnMarket(token, address, logsOf) ?? received,
    }),
  );
};

/** The amount of the auction house's bid for the token. Null if the transaction has no such bid. */
function findBidOnMarket(
  { contract, tokenId }: { contract: Address; tokenId: bigint },
  auctionHouse: Address,
  logsOf: TransactionLogs,
): bigint | null {
  const bid = logsOf().findLast(
    ({ address, topics, data }) =>
      TOKEN_OF_MARKET[address] === contract &&
      topics[0] === ZORA_V1_TOPICS.bidFinalized &&
      bigintOfWord(topicWord(topics, 1)) === tokenId &&
      addressAt(data, BID.bidder) === auctionHouse,
  );
  return bid ? bigintAt(bid.data, BID.amount) : null;
}

/** Bids are made on the chain and have no order hash. So a fill cannot be matched by its hash with a mirrored listing. */
export const ZORA_V1: SettlementProtocol = {
  name: 'zora-v1',
  listContracts: deployedAt({
    ethereum: ['0xe5bfab544eca83849c53464f85b7164375bdaac1', '0xe468ce99444174bd3bbbed09209577d25d1ad673'],
    polygon: ['0xe20bd7dc76e09aebc2a9a732ab6aee616c5a17eb', '0x48f1c97259dc7f3900965391651693baebfd59a2'],
  }),
  decoders: new Map<Hex, EventDecoder>([
    [ZORA_V1_TOPICS.bidFinalized, bidFinalized],
    [ZORA_V1_TOPICS.auctionEnded, auctionEnded],
  ]),
  settlesOwnOrders: false,
  findMarketplace: () => 'zora',
};
