// Verifies a result of eth_getLogs against its request. One log that does not match the request makes the complete response invalid:
// the other logs of a faulty response are not trusted.

import type { Address } from '../../../platform/core/address.ts';
import type { Hex } from '../../../platform/core/evm.ts';
import { ZERO_HASH } from '../../../platform/core/evm.ts';
import type { VerifiedLog } from '../protocols/event-decoder.ts';
import { invalidResponse } from './rpc-failure.ts';
import { readBytes, readHash, readObject, readQuantity, readTime } from './rpc-values.ts';

export type LogRequest = {
  /** Null when logs of all contracts were requested. */
  addresses: ReadonlySet<string> | null;
  topics: ReadonlySet<string>;
  from: number;
  to: number;
  /** Known hashes of blocks in the range, from headers that the same endpoint served. */
  hashes: ReadonlyMap<number, Hex>;
};

const TOPICS_MAX = 4;
const ADDRESS = /^0x[0-9a-f]{40}$/;

/** Returns the verified logs in block order. Throws RpcFailure. */
export function readLogs(result: unknown, request: LogRequest): VerifiedLog[] {
  if (!Array.isArray(result)) throw invalidResponse('logs are not a list');
  const logs: VerifiedLog[] = [];
  const hashes = new Map(request.hashes);
  let last: VerifiedLog | null = null;
  for (const entry of result as readonly unknown[]) {
    const log = readLog(entry, request);
    if (!log) continue;
    if (last && !isAfter(log, last)) throw invalidResponse('logs are out of order or repeated');
    if (last && log.time !== null && last.time !== null && log.time < last.time) {
      throw invalidResponse('the times of logs decrease');
    }
    const known = hashes.get(log.blockNumber);
    if (known === undefined) hashes.set(log.blockNumber, log.blockHash);
    else if (known !== log.blockHash)
      throw invalidResponse(`a log has a hash of block ${log.blockNumber} that differs from the known hash`);
    logs.push(log);
    last = log;
  }
  return logs;
}

function isAfter(log: VerifiedLog, last: VerifiedLog): boolean {
  return log.blockNumber === last.blockNumber ? log.logIndex > last.logIndex : log.blockNumber > last.blockNumber;
}

/** Null for a system log without a transaction, which some chains (such as zkSync) add although it was not requested. */
function readLog(entry: unknown, { addresses, topics: requestedTopics, from, to }: LogRequest): VerifiedLog | null {
  const fields = readObject(entry, 'a log');
  const address = readAddress(fields['address']);
  const topics = readTopics(fields['topics']);
  const isRequested = (addresses === null || addresses.has(address)) && requestedTopics.has(topics[0] ?? '');
  const tx = fields['transactionHash'];
  if (!isRequested && tx === ZERO_HASH) return null;
  if (!isRequested) throw invalidResponse('a log that was not requested');
  if (fields['removed'] === true) throw invalidResponse('a log that was removed');
  const blockNumber = readQuantity(fields['blockNumber'], 'the block of a log');
  if (blockNumber < from || blockNumber > to) throw invalidResponse('a log outside the range');
  const time = fields['blockTimestamp'];
  return {
    address,
    topics,
    data: readBytes(fields['data'], 'the data of a log'),
    blockNumber,
    blockHash: readHash(fields['blockHash'], 'the block hash of a log'),
    tx: readHash(tx, 'the transaction of a log'),
    logIndex: readQuantity(fields['logIndex'], 'the index of a log'),
    // Zero means that the endpoint does not know the time.
    time: time === undefined || time === null ? null : readTime(time, 'the time of a log') || null,
  };
}

function readAddress(value: unknown): Address {
  const text = typeof value === 'string' ? value.toLowerCase() : '';
  if (!ADDRESS.test(text)) throw invalidResponse('the address of a log is not an address');
  return text as Address;
}

function readTopics(value: unknown): Hex[] {
  if (!Array.isArray(value) || value.length > TOPICS_MAX) throw invalidResponse('the topics of a log are not topics');
  return value.map((topic) => readHash(topic, 'a topic'));
}
