// Foundation's market. https://github.com/f8n/fnd-protocol, contracts/NFTMarket.sol and its mixins
// The price is the sum of the shares of the protocol, the creators and the seller. All sales are in native currency.

import type { Hex } from '../../../platform/core/evm.ts';
import { ZERO_ADDRESS } from '../../../platform/core/evm.ts';
import { addressAt, bigintAt, bigintOfWord, topicAddress, topicWord } from './abi-words.ts';
import { deployedAt } from './deployments.ts';
import type { EventDecoder } from './event-decoder.ts';
import { UnreadSale } from './event-decoder.ts';
import { toFill } from './market-fill.ts';
import type { SettlementProtocol } from './settlement-protocol.ts';
import { listTransfersBefore } from './token-standards.ts';

export const FOUNDATION_TOPICS = {
  buyPriceAccepted: '0xd28c0a7dd63bc853a4e36306655da9f8c0b29ff9d0605bb976ae420e46a99930',
  privateSaleFinalized: '0x6c623fa5e13aaaf28288f807e5b4f9ec6fb7ef812568e00317c552663bea918f',
  offerAccepted: '0x1cb8adb37d6d35e94cd0695ca39895b84371864713f5ca7eada52af9ff23744b',
  reserveAuctionFinalized: '0x2edb0e99c6ac35be6731dab554c1d1fa1b7beb675090dbb09fb14e615aca1c4a',
} as const satisfies Record<string, Hex>;

/**
 * The third indexed argument is the account that made the order: the seller of a listing or of a private sale, or the buyer of an offer. The
 * first word of the data is the account that accepted the order.
 */
function accepted(isBid: boolean): EventDecoder {
  return ({ address, topics, data }, position, events) => {
    const [maker, taker] = [topicAddress(topics, 3), addressAt(data, 0)];
    const token = { contract: topicAddress(topics, 1), tokenId: bigintOfWord(topicWord(topics, 2)), quantity: 1n };
    events.push(
      toFill(position, {
        protocol: address,
        orderHash: null,
        isBid,
        seller: isBid ? taker : maker,
        buyer: isBid ? maker : taker,
        tokens: [token],
        currency: ZERO_ADDRESS,
        price: bigintAt(data, 1) + bigintAt(data, 2) + bigintAt(data, 3),
      }),
    );
  };
}

/**
 * The event names the auction but not its token. The market holds the token during the auction, and sends it to the highest bidder before it
 * emits the event. So the token is the one in the last transfer from the market to the buyer before the event.
 */
const reserveAuctionFinalized: EventDecoder = (log, position, events, logsOf) => {
  const { address, topics, data } = log;
  const [seller, buyer] = [topicAddress(topics, 2), topicAddress(topics, 3)];
  const price = bigintAt(data, 0) + bigintAt(data, 1) + bigintAt(data, 2);
  const sent = listTransfersBefore(log, logsOf).findLast(({ from, to }) => from === address && to === buyer);
  if (!sent) throw new UnreadSale('an auction without a token');
  const { contract, tokenId, quantity } = sent;
  const tokens = [{ contract, tokenId: BigInt(tokenId), quantity }];
  const parties = { seller, buyer, tokens, currency: ZERO_ADDRESS, price };
  events.push(toFill(position, { protocol: address, orderHash: null, isBid: false, ...parties }));
};

/** Listings and offers are made on the chain and have no order hash. So a fill cannot be matched by its hash with a mirrored listing. */
export const FOUNDATION: SettlementProtocol = {
  name: 'foundation',
  listContracts: deployedAt({ ethereum: ['0xcda72070e455bb31c7690a170224ce43623d0b6f'] }),
  decoders: new Map<Hex, EventDecoder>([
    [FOUNDATION_TOPICS.buyPriceAccepted, accepted(false)],
    [FOUNDATION_TOPICS.privateSaleFinalized, accepted(false)],
    [FOUNDATION_TOPICS.offerAccepted, accepted(true)],
    [FOUNDATION_TOPICS.reserveAuctionFinalized, reserveAuctionFinalized],
  ]),
  settlesOwnOrders: false,
  findMarketplace: () => 'foundation',
};
