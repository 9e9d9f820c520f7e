// Decodes the events of ERC-721 and ERC-1155 contracts: transfers, approvals, and announcements of changed metadata.
// https://eips.ethereum.org/EIPS/eip-721, https://eips.ethereum.org/EIPS/eip-1155, https://eips.ethereum.org/EIPS/eip-4906

import type { ChainEvent, Transfer } from '../../../market/chain-log/chain-event.ts';
import type { Hex } from '../../../platform/core/evm.ts';
import { ZERO_ADDRESS } from '../../../platform/core/evm.ts';
import {
  arrayAt,
  bigintAt,
  bigintOfWord,
  booleanAt,
  tokenIdOfWord,
  topicAddress,
  topicWord,
  UndecodableData,
  wordAt,
} from './abi-words.ts';
import type { EventDecoder, EventDecoders, TransactionLogs, VerifiedLog } from './event-decoder.ts';
import { decodeLog } from './event-decoder.ts';

/** The ERC-20 events Transfer and Approval have the same first topics as `transfer` and `approval` here, but only three topics in all. */
export const TOKEN_TOPICS = {
  transfer: '0xddf252ad1be2c89b69c2b068fc378daa952ba7f163c4a11628f55a4df523b3ef',
  transferSingle: '0xc3d58168c5ae7397731d063d5bbf3d657854427343f4c083240f7aacaa2d0f62',
  transferBatch: '0x4a39dc06d4c0dbc64b70af90fd698a233a518aa5d07e595d983b8c0526c8f7fb',
  approvalForAll: '0x17307eab39ab6107e8899845ad3d59bd9653f200f220920489ca2b5937696c31',
  metadataUpdate: '0xf8e1a15aba9398e019f0b49df1a4fde98ee17ae345cb5f6b5e2c27f5033e8ce7',
  batchMetadataUpdate: '0x6bd5c950a8d8df17f772f5af37cb3655737899cbf903264b9795592da439661c',
  uri: '0x6bb7ff708619ba0610cba295a58592e0451dee2622938c8755667688daf3529b',
  contractUriUpdated: '0xa5d4097edda6d87cb9329af83fb3712ef77eeb13738ffe43cc35a4ce305ad962',
  approval: '0x8c5be1e5ebec7d5bd14f71427d1e84f3dd0314c0f7b2291e5b200ac8c7c3b925',
} as const satisfies Record<string, Hex>;

/** The first topic and three indexed parameters. ERC-20 events have one indexed parameter less. */
const ERC721_TOPICS = 4;

/**
 * Returns a `Transfer` or an `Approval` in the form of ERC-721, with all arguments indexed. In contracts that are older than ERC-721, no argument
 * is indexed (CryptoKitties), or the token id is not, and the log then has the form of ERC-20. So it must be known of the contract that its
 * arguments are token ids and not amounts. Returns any other log unchanged.
 */
export function toIndexed<Log extends VerifiedLog>(log: Log): Log {
  const { topics, data } = log;
  const [topic] = topics;
  if (topic !== TOKEN_TOPICS.transfer && topic !== TOKEN_TOPICS.approval) return log;
  const words = data.slice('0x'.length).match(WORD) ?? [];
  if (topics.length === ERC721_TOPICS || topics.length + words.length !== ERC721_TOPICS) return log;
  return { ...log, topics: [...topics, ...words.map((word): Hex => `0x${word}`)], data: '0x' };
}

const WORD = /[0-9a-f]{64}/g;

const transfer: EventDecoder = ({ address, topics }, position, events) => {
  if (topics.length !== ERC721_TOPICS) return;
  events.push({
    ...position,
    kind: 'transfer',
    contract: address,
    tokenId: tokenIdOfWord(topicWord(topics, 3)),
    from: topicAddress(topics, 1),
    to: topicAddress(topics, 2),
    quantity: 1n,
  });
};

const transferSingle: EventDecoder = ({ address, topics, data }, position, events) => {
  events.push({
    ...position,
    kind: 'transfer',
    contract: address,
    tokenId: tokenIdOfWord(wordAt(data, 0)),
    from: topicAddress(topics, 2),
    to: topicAddress(topics, 3),
    quantity: bigintAt(data, 1),
  });
};

const transferBatch: EventDecoder = ({ address, topics, data }, position, events) => {
  const ids = arrayAt(data, 0, 1);
  const quantities = arrayAt(data, 1, 1);
  if (ids.length !== quantities.length) throw new UndecodableData('the numbers of ids and quantities differ');
  const [from, to] = [topicAddress(topics, 2), topicAddress(topics, 3)];
  for (let part = 0; part < ids.length; part += 1) {
    const tokenId = tokenIdOfWord(wordAt(data, ids.start + part));
    const quantity = bigintOfWord(wordAt(data, quantities.start + part));
    events.push({ ...position, part, kind: 'transfer', contract: address, tokenId, from, to, quantity });
  }
};

const approvalForAll: EventDecoder = ({ address, topics, data }, position, events) => {
  const [owner, operator] = [topicAddress(topics, 1), topicAddress(topics, 2)];
  const approved = booleanAt(data, 0);
  events.push({ ...position, kind: 'approval-for-all', contract: address, owner, operator, approved });
};

const approval: EventDecoder = ({ address, topics }, position, events) => {
  if (topics.length !== ERC721_TOPICS) return;
  const [owner, approvedAddress] = [topicAddress(topics, 1), topicAddress(topics, 2)];
  const operator = approvedAddress === ZERO_ADDRESS ? null : approvedAddress;
  const tokenId = tokenIdOfWord(topicWord(topics, 3));
  events.push({ ...position, kind: 'token-approval', contract: address, tokenId, owner, operator });
};

const metadataUpdate: EventDecoder = ({ address, data }, position, events) => {
  const tokenId = bigintAt(data, 0);
  events.push({ ...position, kind: 'metadata-updated', contract: address, fromId: tokenId, toId: tokenId });
};

const batchMetadataUpdate: EventDecoder = ({ address, data }, position, events) => {
  const [fromId, toId] = [bigintAt(data, 0), bigintAt(data, 1)];
  events.push({ ...position, kind: 'metadata-updated', contract: address, fromId, toId });
};

const uriChange: EventDecoder = ({ address, topics }, position, events) => {
  const tokenId = bigintOfWord(topicWord(topics, 1));
  events.push({ ...position, kind: 'metadata-updated', contract: address, fromId: tokenId, toId: tokenId });
};

/** ERC-7572. The event has no parameters. */
const contractUriUpdated: EventDecoder = ({ address }, position, events) => {
  events.push({ ...position, kind: 'collection-metadata-updated', contract: address });
};

/** Announcements of changed metadata. A backfill does not read them, because the metadata is read anyway when a token becomes known. */
export const ANNOUNCEMENT_TOPICS: ReadonlySet<Hex> = new Set([
  TOKEN_TOPICS.metadataUpdate,
  TOKEN_TOPICS.batchMetadataUpdate,
  TOKEN_TOPICS.uri,
  TOKEN_TOPICS.contractUriUpdated,
]);

export const TOKEN_DECODERS: EventDecoders = new Map<Hex, EventDecoder>([
  [TOKEN_TOPICS.transfer, transfer],
  [TOKEN_TOPICS.transferSingle, transferSingle],
  [TOKEN_TOPICS.transferBatch, transferBatch],
  [TOKEN_TOPICS.approvalForAll, approvalForAll],
  [TOKEN_TOPICS.approval, approval],
  [TOKEN_TOPICS.metadataUpdate, metadataUpdate],
  [TOKEN_TOPICS.batchMetadataUpdate, batchMetadataUpdate],
  [TOKEN_TOPICS.uri, uriChange],
  [TOKEN_TOPICS.contractUriUpdated, contractUriUpdated],
]);

/**
 * The transfers of the transaction before the log, since the previous log of its contract. A contract that sends tokens before it emits its
 * event has made these transfers, unless another contract did.
 */
export function listTransfersBefore(
  { address, logIndex }: Pick<VerifiedLog, 'address' | 'logIndex'>,
  logsOf: TransactionLogs,
): Transfer[] {
  const before = logsOf().filter((log) => log.logIndex < logIndex);
  const previous = before.findLastIndex((log) => log.address === address);
  return listTransfers(before.slice(previous + 1));
}

/** The transfers of tokens among the logs, in their order. Logs that cannot be decoded are left out. */
export function listTransfers(logs: readonly VerifiedLog[]): Transfer[] {
  return logs.flatMap((log) => {
    const events: ChainEvent[] = [];
    try {
      decodeLog(log, TOKEN_DECODERS, 0, events);
    } catch (error) {
      if (!(error instanceof UndecodableData)) throw error;
    }
    return events.filter((event) => event.kind === 'transfer');
  });
}
