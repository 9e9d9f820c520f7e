// The type of a decoder, which converts one EVM log to events.

import type { ChainEvent, EventPosition } from '../../../market/chain-log/chain-event.ts';
import type { Address } from '../../../platform/core/address.ts';
import type { Hex } from '../../../platform/core/evm.ts';

/** A log that was verified against its request (rpc/log-response.ts). Hexadecimal digits are lower case. */
export type VerifiedLog = {
  address: Address;
  topics: readonly Hex[];
  data: Hex;
  blockNumber: number;
  blockHash: Hex;
  tx: Hex;
  logIndex: number;
  /** The time of the block in milliseconds; null when the endpoint did not send it with the log. */
  time: number | null;
};

/**
 * Returns the logs of one transaction in their order. These are only the logs of settlement protocols and of followed contracts, because
 * other logs are not requested from the endpoint.
 */
export type TransactionLogs = () => readonly VerifiedLog[];

/**
 * Thrown by a decoder when the log reports a sale that the logs of its transaction do not show completely, such as a match without a token.
 * The message is the reason. The log is left out, and counted by protocol if a token of a followed contract moved in the transaction.
 */
export class UnreadSale extends Error {
  override readonly name = 'UnreadSale';
}

/** The decoder of an event that reports sales but not their facts. */
export function unreadable(reason: string): EventDecoder {
  return () => {
    throw new UnreadSale(reason);
  };
}

/**
 * Appends the events of the log to `events`. If the log cannot be decoded, throws UndecodableData and appends nothing. If the log reports a
 * sale that cannot be read, throws UnreadSale and appends nothing. `logsOf` returns the logs of the same transaction, for facts that the log
 * itself does not have.
 */
export type EventDecoder = (
  log: VerifiedLog,
  position: EventPosition,
  events: ChainEvent[],
  logsOf: TransactionLogs,
) => void;

/** The decoder for each first topic of a log. */
export type EventDecoders = ReadonlyMap<Hex, EventDecoder>;

/**
 * Appends the events of the log to `events`, with the decoder for the log's first topic. Appends nothing if there is no such decoder. If the
 * log does not have the form that its first topic prescribes, throws UndecodableData and appends nothing. Throws UnreadSale as the decoder does.
 */
export function decodeLog(
  log: VerifiedLog,
  decoders: EventDecoders,
  blockTime: number,
  events: ChainEvent[],
  logsOf: TransactionLogs = () => [log],
): void {
  const [topic] = log.topics;
  const decode = topic === undefined ? undefined : decoders.get(topic);
  const { blockNumber, tx, logIndex } = log;
  if (decode) decode(log, { blockNumber, blockTime, tx, logIndex, part: 0 }, events, logsOf);
}
