// One log to the facts that it tells, by a table over its first topic. Only decodes: whether the log may be believed was
// settled before. Written for speed: following has to keep up with the busiest chain many times over, on one core.

import type { ChainEvent, ChainPlace, ReceivedItem, SpentItem } from '../../chain-log/chain-event.ts';
import type { Address } from '../../core/address.ts';
import { addressAt, arrayAt, bigintAt, flagAt, hashAt, smallAt, Unreadable } from './abi-words.ts';
import { toAddress, toBigint, tokenIdOfWord, wordAt } from './abi-words.ts';
import { SEAPORT_TOPICS, TOKEN_TOPICS } from './event-topics.ts';
import type { Hex } from '../../core/evm.ts';
import { ZERO_ADDRESS } from '../../core/evm.ts';
import { ITEM_TYPE } from '../../core/seaport.ts';

/** A log that was checked: lower case throughout. */
export type CheckedLog = {
  address: Address;
  topics: readonly Hex[];
  data: Hex;
  blockNumber: number;
  blockHash: Hex;
  tx: Hex;
  logIndex: number;
  /** Milliseconds; null where the endpoint does not serve it. */
  time: number | null;
};

export type LogRole = 'protocol' | 'token';

/**
 * Appends the events of one log to `events`: none where the kind is not for this role, or has the topics of ERC-20. Throws
 * Unreadable, having appended nothing, when the log is not what its first topic promises.
 */
export function decodeLog(log: CheckedLog, role: LogRole, blockTime: number, events: ChainEvent[]): void {
  const decode = DECODERS[role].get(log.topics[0] ?? '');
  if (decode) decode(log, toPlace(log, blockTime), events);
}

type Decoder = (log: CheckedLog, place: ChainPlace, events: ChainEvent[]) => void;

function toPlace({ blockNumber, tx, logIndex }: CheckedLog, blockTime: number): ChainPlace {
  return { blockNumber, blockTime, tx, logIndex, part: 0 };
}

const ITEM_TYPE_MAX = ITEM_TYPE.erc1155Criteria;
const SPENT_WORDS = 4;
const RECEIVED_WORDS = 5;
/** A first topic and three indexed members: what tells ERC-721 from ERC-20. */
const TOPICS_OF_NFT = 4;

const orderFulfilled: Decoder = ({ address, topics, data }, place, events) => {
  const offer = arrayAt(data, 2, SPENT_WORDS);
  const consideration = arrayAt(data, 3, RECEIVED_WORDS);
  events.push({
    ...place,
    kind: 'order-fulfilled',
    protocol: address,
    orderHash: hashAt(data, 0),
    offerer: addressIn(topics, 1),
    zone: addressIn(topics, 2),
    recipient: addressAt(data, 1),
    offer: listOf(offer.length, (index) => spentAt(data, offer.start + index * SPENT_WORDS)),
    consideration: listOf(consideration.length, (index) =>
      receivedAt(data, consideration.start + index * RECEIVED_WORDS),
    ),
  });
};

function spentAt(data: Hex, at: number): SpentItem {
  const itemType = smallAt(data, at);
  if (itemType > ITEM_TYPE_MAX) throw new Unreadable('no such item type');
  return {
    itemType,
    token: addressAt(data, at + 1),
    identifier: bigintAt(data, at + 2),
    amount: bigintAt(data, at + 3),
  };
}

function receivedAt(data: Hex, at: number): ReceivedItem {
  return { ...spentAt(data, at), recipient: addressAt(data, at + 4) };
}

const orderCancelled: Decoder = ({ address, topics, data }, place, events) => {
  const offerer = addressIn(topics, 1);
  events.push({ ...place, kind: 'order-cancelled', protocol: address, orderHash: hashAt(data, 0), offerer });
};

const orderValidated: Decoder = ({ address, data }, place, events) => {
  events.push({ ...place, kind: 'order-validated', protocol: address, orderHash: hashAt(data, 0) });
};

const ordersMatched: Decoder = ({ address, data }, place, events) => {
  const { start, length } = arrayAt(data, 0, 1);
  const orderHashes = listOf(length, (index) => hashAt(data, start + index));
  events.push({ ...place, kind: 'orders-matched', protocol: address, orderHashes });
};

const counterIncremented: Decoder = ({ address, topics, data }, place, events) => {
  const [offerer, counter] = [addressIn(topics, 1), bigintAt(data, 0)];
  events.push({ ...place, kind: 'counter-incremented', protocol: address, offerer, counter });
};

const transfer: Decoder = ({ address, topics }, place, events) => {
  if (topics.length !== TOPICS_OF_NFT) return;
  events.push({
    ...place,
    kind: 'transfer',
    contract: address,
    tokenId: tokenIdOfWord(topicWord(topics, 3)),
    from: addressIn(topics, 1),
    to: addressIn(topics, 2),
    quantity: 1n,
  });
};

const transferSingle: Decoder = ({ address, topics, data }, place, events) => {
  events.push({
    ...place,
    kind: 'transfer',
    contract: address,
    tokenId: tokenIdOfWord(wordAt(data, 0)),
    from: addressIn(topics, 2),
    to: addressIn(topics, 3),
    quantity: bigintAt(data, 1),
  });
};

const transferBatch: Decoder = ({ address, topics, data }, place, events) => {
  const ids = arrayAt(data, 0, 1);
  const quantities = arrayAt(data, 1, 1);
  if (ids.length !== quantities.length) throw new Unreadable('as many ids as quantities were expected');
  const [from, to] = [addressIn(topics, 2), addressIn(topics, 3)];
  for (let part = 0; part < ids.length; part += 1) {
    const tokenId = tokenIdOfWord(wordAt(data, ids.start + part));
    const quantity = toBigint(wordAt(data, quantities.start + part));
    events.push({ ...place, part, kind: 'transfer', contract: address, tokenId, from, to, quantity });
  }
};

const approvalForAll: Decoder = ({ address, topics, data }, place, events) => {
  const [owner, operator] = [addressIn(topics, 1), addressIn(topics, 2)];
  const approved = flagAt(data, 0);
  events.push({ ...place, kind: 'approval-for-all', contract: address, owner, operator, approved });
};

const approval: Decoder = ({ address, topics }, place, events) => {
  if (topics.length !== TOPICS_OF_NFT) return;
  const [owner, approved] = [addressIn(topics, 1), addressIn(topics, 2)];
  const operator = approved === ZERO_ADDRESS ? null : approved;
  const tokenId = tokenIdOfWord(topicWord(topics, 3));
  events.push({ ...place, kind: 'token-approval', contract: address, tokenId, owner, operator });
};

const DECODERS: Record<LogRole, ReadonlyMap<string, Decoder>> = {
  protocol: new Map([
    [SEAPORT_TOPICS.orderFulfilled, orderFulfilled],
    [SEAPORT_TOPICS.orderCancelled, orderCancelled],
    [SEAPORT_TOPICS.orderValidatedFirst, orderValidated],
    [SEAPORT_TOPICS.orderValidated, orderValidated],
    [SEAPORT_TOPICS.ordersMatched, ordersMatched],
    [SEAPORT_TOPICS.counterIncremented, counterIncremented],
  ]),
  token: new Map([
    [TOKEN_TOPICS.transfer, transfer],
    [TOKEN_TOPICS.transferSingle, transferSingle],
    [TOKEN_TOPICS.transferBatch, transferBatch],
    [TOKEN_TOPICS.approvalForAll, approvalForAll],
    [TOKEN_TOPICS.approval, approval],
  ]),
};

function topicWord(topics: readonly Hex[], index: number): string {
  const topic = topics[index];
  if (topic === undefined) throw new Unreadable(`no topic ${index}`);
  return topic.slice(2);
}

function addressIn(topics: readonly Hex[], index: number): Address {
  return toAddress(topicWord(topics, index));
}

function listOf<T>(length: number, at: (index: number) => T): T[] {
  return Array.from({ length }, (_, index) => at(index));
}
