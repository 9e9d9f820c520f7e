// Defines Seaport 1.1, 1.4, 1.5 and 1.6 as a settlement protocol. Decodes the events of its contracts, and finds the marketplace of a fill.
// https://github.com/ProjectOpenSea/seaport-types, ConsiderationEventsAndErrors.sol

import type { OrderFulfilled, ReceivedItem, SpentItem } from '../../../market/chain-log/chain-event.ts';
import type { Address } from '../../../platform/core/address.ts';
import type { Hex } from '../../../platform/core/evm.ts';
import { ITEM_TYPE } from '../../../platform/core/seaport.ts';
import {
  findMarketplaceByFeeRecipient,
  findMarketplaceByTag,
  listProtocols,
} from '../../../market/orders/seaport/deployments.ts';
import { addressAt, arrayAt, bigintAt, hashAt, smallIntegerAt, topicAddress, UndecodableData } from './abi-words.ts';
import type { EventDecoder, EventDecoders } from './event-decoder.ts';
import type { SettlementProtocol } from './settlement-protocol.ts';

/**
 * The first topics of the events. Seaport 1.1 emits `orderValidatedFirst`, with offerer and zone in topics. Later versions emit
 * `orderValidated`.
 */
export const SEAPORT_TOPICS = {
  orderFulfilled: '0x9d9af8e38d66c62e2c12f0225249fd9d721c54b83f48d9352c97c6cacdcb6f31',
  orderCancelled: '0x6bacc01dbe442496068f7d234edd811f1a5f833243e0aec824f86ab861f3c90d',
  orderValidatedFirst: '0xfde361574a066b44b3b5fe98a87108b7565e327327954c4faeea56a4e6491a0a',
  orderValidated: '0xf280791efe782edcf06ce15c8f4dff17601db3b88eb3805a0db7d77faf757f04',
  ordersMatched: '0x4b9f2d36e1b4c93de62cc077b00b1a91d84b6c31b4a14e012718dcca230689e7',
  counterIncremented: '0x721c20121297512b72821b97f5326877ea8ecf4bb9948fea5bfcb6453074d37f',
} as const satisfies Record<string, Hex>;

/**
 * Contracts that orders name in place of the contract of the token. The first is the adapter with which OpenSea lists tokens of its shared
 * storefront that are not minted yet. https://etherscan.io/address/0xa604060890923ff400e8c6f5290461a83aedacec
 */
const ALIASES: ReadonlyMap<string, Address> = new Map([
  ['0xa604060890923ff400e8c6f5290461a83aedacec', '0x495f947276749ce646f68ac8c248420045cb7b5e' as Address],
]);

const ITEM_TYPE_MAX = ITEM_TYPE.erc1155Criteria;
const SPENT_ITEM_WORDS = 4;
const RECEIVED_ITEM_WORDS = 5;

const orderFulfilled: EventDecoder = ({ address, topics, data }, position, events) => {
  const offer = arrayAt(data, 2, SPENT_ITEM_WORDS);
  const consideration = arrayAt(data, 3, RECEIVED_ITEM_WORDS);
  events.push({
    ...position,
    kind: 'order-fulfilled',
    protocol: address,
    orderHash: hashAt(data, 0),
    offerer: topicAddress(topics, 1),
    zone: topicAddress(topics, 2),
    recipient: addressAt(data, 1),
    offer: listOf(offer.length, (index) => spentItemAt(data, offer.start + index * SPENT_ITEM_WORDS)),
    consideration: listOf(consideration.length, (index) =>
      receivedItemAt(data, consideration.start + index * RECEIVED_ITEM_WORDS),
    ),
  });
};

function spentItemAt(data: Hex, word: number): SpentItem {
  const itemType = smallIntegerAt(data, word);
  if (itemType > ITEM_TYPE_MAX) throw new UndecodableData('an unknown item type');
  const token = addressAt(data, word + 1);
  return {
    itemType,
    token: ALIASES.get(token) ?? token,
    identifier: bigintAt(data, word + 2),
    amount: bigintAt(data, word + 3),
  };
}

function receivedItemAt(data: Hex, word: number): ReceivedItem {
  return { ...spentItemAt(data, word), recipient: addressAt(data, word + 4) };
}

const orderCancelled: EventDecoder = ({ address, topics, data }, position, events) => {
  const offerer = topicAddress(topics, 1);
  events.push({ ...position, kind: 'order-cancelled', protocol: address, orderHash: hashAt(data, 0), offerer });
};

const orderValidated: EventDecoder = ({ address, data }, position, events) => {
  events.push({ ...position, kind: 'order-validated', protocol: address, orderHash: hashAt(data, 0) });
};

const ordersMatched: EventDecoder = ({ address, data }, position, events) => {
  const { start, length } = arrayAt(data, 0, 1);
  const orderHashes = listOf(length, (index) => hashAt(data, start + index));
  events.push({ ...position, kind: 'orders-matched', protocol: address, orderHashes });
};

const counterIncremented: EventDecoder = ({ address, topics, data }, position, events) => {
  const [offerer, counter] = [topicAddress(topics, 1), bigintAt(data, 0)];
  events.push({ ...position, kind: 'counter-incremented', protocol: address, offerer, counter });
};

const DECODERS: EventDecoders = new Map<Hex, EventDecoder>([
  [SEAPORT_TOPICS.orderFulfilled, orderFulfilled],
  [SEAPORT_TOPICS.orderCancelled, orderCancelled],
  [SEAPORT_TOPICS.orderValidatedFirst, orderValidated],
  [SEAPORT_TOPICS.orderValidated, orderValidated],
  [SEAPORT_TOPICS.ordersMatched, ordersMatched],
  [SEAPORT_TOPICS.counterIncremented, counterIncremented],
]);

export const SEAPORT: SettlementProtocol = {
  name: 'seaport',
  listContracts: (chain, added) => listProtocols(chain, added).map(({ address }) => address),
  decoders: DECODERS,
  settlesOwnOrders: true,
  findMarketplace,
};

/** The marketplace whose tag ends the call data. Without a known tag: the marketplace that received a fee, or null. */
function findMarketplace({ domain, consideration }: OrderFulfilled): string | null {
  const tagged = domain === undefined ? null : findMarketplaceByTag(domain);
  if (tagged !== null) return tagged;
  for (const { recipient } of consideration) {
    const slug = findMarketplaceByFeeRecipient(recipient);
    if (slug !== null) return slug;
  }
  return null;
}

function listOf<T>(length: number, elementAt: (index: number) => T): T[] {
  return Array.from({ length }, (_, index) => elementAt(index));
}
