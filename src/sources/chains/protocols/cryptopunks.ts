// Reads the events of the contract of the CryptoPunks, which is both the token contract and the marketplace: contracts/CryptoPunksMarket.sol in
// https://github.com/larvalabs/cryptopunks. Because of a bug of the contract, the `PunkBought` of an accepted bid contains neither the price
// nor the buyer. The buyer is in the `Transfer` of the same transaction. The price is in the buyer's last `PunkBidEntered` for the punk.

import type { Address } from '../../../platform/core/address.ts';
import type { Hex } from '../../../platform/core/evm.ts';
import { ZERO_ADDRESS } from '../../../platform/core/evm.ts';
import { bigintAt, bigintOfWord, tokenIdOfWord, topicAddress, topicWord, wordAt } from './abi-words.ts';
import { deployedAt } from './deployments.ts';
import type { EventDecoder, TransactionLogs, VerifiedLog } from './event-decoder.ts';
import { toFill } from './market-fill.ts';
import type { SettlementProtocol } from './settlement-protocol.ts';

export const CRYPTOPUNKS_TOPICS = {
  assign: '0x8a0e37b73a0d9c82e205d4d1a3ff3d0b57ce5f4d7bccf6bac03336dc101cb7ba',
  transfer: '0xddf252ad1be2c89b69c2b068fc378daa952ba7f163c4a11628f55a4df523b3ef',
  punkTransfer: '0x05af636b70da6819000c49f85b21fa82081c632069bb626f30932034099107d8',
  punkBidEntered: '0x5b859394fabae0c1ba88baffe67e751ab5248d2e879028b8c8d6897b0519f56a',
  punkBought: '0x58e5d5a525e3b40bc15abaa38b5882678db1ee68befd2f60bafe3a7fd06db9e3',
} as const satisfies Record<string, Hex>;

/** The first owner of a punk. */
const assign: EventDecoder = ({ address, topics, data }, position, events) => {
  const tokenId = tokenIdOfWord(wordAt(data, 0));
  const to = topicAddress(topics, 1);
  events.push({ ...position, kind: 'transfer', contract: address, tokenId, from: ZERO_ADDRESS, to, quantity: 1n });
};

/** A gift. Sales emit no `PunkTransfer`. */
const punkTransfer: EventDecoder = ({ address, topics, data }, position, events) => {
  const tokenId = tokenIdOfWord(wordAt(data, 0));
  const [from, to] = [topicAddress(topics, 1), topicAddress(topics, 2)];
  events.push({ ...position, kind: 'transfer', contract: address, tokenId, from, to, quantity: 1n });
};

const punkBidEntered: EventDecoder = ({ address, topics, data }, position, events) => {
  const tokenId = tokenIdOfWord(topicWord(topics, 1));
  const [bidder, price] = [topicAddress(topics, 2), bigintAt(data, 0)];
  events.push({ ...position, kind: 'token-bid', protocol: address, tokenId, bidder, price });
};

/**
 * A `PunkBought` without a buyer is an accepted bid. The projection reads the payment from the bid (`readBidPayments`). A `PunkBought` with
 * a buyer and the price zero is a transfer and not a sale: an owner may offer a punk to one account for nothing.
 */
const punkBought: EventDecoder = (log, position, events, logsOf) => {
  const { address, topics, data } = log;
  const punk = topicWord(topics, 1);
  const [seller, named] = [topicAddress(topics, 2), topicAddress(topics, 3)];
  const price = bigintAt(data, 0);
  const isBid = named === ZERO_ADDRESS;
  const buyer = isBid ? findReceiver(log, seller, logsOf) : named;
  const tokenId = tokenIdOfWord(punk);
  const moved = { contract: address, tokenId, from: seller, to: buyer, quantity: 1n };
  if (isBid || price > 0n) {
    const token = { contract: address, tokenId: bigintOfWord(punk), quantity: 1n };
    const parties = { seller, buyer, tokens: [token], currency: isBid ? address : ZERO_ADDRESS, price };
    events.push(toFill(position, { protocol: address, orderHash: null, isBid, ...parties }));
  }
  events.push({ ...position, part: 1, kind: 'transfer', ...moved });
};

/** The receiver in the seller's last `Transfer` before the `PunkBought`. A `Transfer` does not contain the id of the punk, so its sender is compared. */
function findReceiver({ address, logIndex }: VerifiedLog, seller: Address, logsOf: TransactionLogs): Address {
  const sent = logsOf().findLast(
    (log) =>
      log.address === address &&
      log.topics[0] === CRYPTOPUNKS_TOPICS.transfer &&
      log.logIndex < logIndex &&
      topicAddress(log.topics, 1) === seller,
  );
  return sent ? topicAddress(sent.topics, 2) : ZERO_ADDRESS;
}

/** Makes no event. The log is requested because `punkBought` reads it. */
const transfer: EventDecoder = () => undefined;

export const CRYPTOPUNKS: SettlementProtocol = {
  name: 'cryptopunks',
  listContracts: deployedAt({ ethereum: ['0xb47e3cd837ddf8e4c57f05d70ab865de6e193bbb'] }),
  decoders: new Map<Hex, EventDecoder>([
    [CRYPTOPUNKS_TOPICS.assign, assign],
    [CRYPTOPUNKS_TOPICS.transfer, transfer],
    [CRYPTOPUNKS_TOPICS.punkTransfer, punkTransfer],
    [CRYPTOPUNKS_TOPICS.punkBidEntered, punkBidEntered],
    [CRYPTOPUNKS_TOPICS.punkBought, punkBought],
  ]),
  settlesOwnOrders: false,
  findMarketplace: () => 'larvalabs',
};
