// The auction houses of Nouns and of Lil Nouns. https://github.com/nounsDAO/nouns-monorepo, packages/nouns-contracts/contracts/NounsAuctionHouse.sol
// Each auction sells a token that was minted for it, so the auction house is the seller. A fork with the same event needs only its address.

import type { Hex } from '../../../platform/core/evm.ts';
import { ZERO_ADDRESS } from '../../../platform/core/evm.ts';
import { addressAt, bigintAt, bigintOfWord, topicWord } from './abi-words.ts';
import { deployedAt } from './deployments.ts';
import type { EventDecoder } from './event-decoder.ts';
import { UnreadSale } from './event-decoder.ts';
import { toFill } from './market-fill.ts';
import type { SettlementProtocol } from './settlement-protocol.ts';
import { listTransfersBefore } from './token-standards.ts';

export const NOUNS_TOPICS = {
  auctionSettled: '0xc9f72b276a388619c6d185d146697036241880c36654b1a3ffdad07c24038d99',
} as const satisfies Record<string, Hex>;

/**
 * The event has the id of the token but not its contract. The auction house sends the token to the winner before it emits the event. An auction
 * without a bid burns the token, and is no sale.
 */
const auctionSettled: EventDecoder = (log, position, events, logsOf) => {
  const { address, topics, data } = log;
  const tokenId = bigintOfWord(topicWord(topics, 1));
  const [winner, price] = [addressAt(data, 0), bigintAt(data, 1)];
  if (winner === ZERO_ADDRESS) return;
  const sent = listTransfersBefore(log, logsOf).findLast(
    (transfer) => transfer.from === address && transfer.to === winner && BigInt(transfer.tokenId) === tokenId,
  );
  if (!sent) throw new UnreadSale('an auction without a token');
  events.push(
    toFill(position, {
      protocol: address,
      orderHash: null,
      isBid: false,
      seller: address,
      buyer: winner,
      tokens: [{ contract: sent.contract, tokenId, quantity: 1n }],
      currency: ZERO_ADDRESS,
      price,
    }),
  );
};

/** https://github.com/lilnounsDAO/lilnouns-monorepo */
const LIL_NOUNS = '0x55e0f7a3bb39a28bd7bcc458e04b3cf00ad3219e';

export const NOUNS: SettlementProtocol = {
  name: 'nouns',
  listContracts: deployedAt({
    ethereum: ['0x830bd73e4184cef73443c15111a1df14e495c706', LIL_NOUNS],
  }),
  decoders: new Map<Hex, EventDecoder>([[NOUNS_TOPICS.auctionSettled, auctionSettled]]),
  settlesOwnOrders: false,
  findMarketplace: ({ protocol }) => (protocol === LIL_NOUNS ? 'lil-nouns' : 'nouns'),
};
