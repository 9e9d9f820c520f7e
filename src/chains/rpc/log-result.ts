// An answer of eth_getLogs, held against the question. One log that cannot belong to it condemns all of it: an endpoint that
// is wrong in what can be checked is not believed in the rest.

import type { Address } from '../../core/address.ts';
import { readBytes, readHash, readQuantity, readTime } from './results.ts';
import type { VerifiedLog } from '../protocols/event-decoder.ts';
import { lie } from './rpc-failure.ts';
import type { Hex } from '../../core/evm.ts';
import { ZERO_HASH } from '../../core/evm.ts';

/** What was asked for. */
export type LogQuestion = {
  addresses: ReadonlySet<string>;
  topics: ReadonlySet<string>;
  from: number;
  to: number;
  /** Known hashes of blocks in the range: those of the headers that were read from the same endpoint. */
  hashes: ReadonlyMap<number, Hex>;
};

const TOPICS_MAX = 4;
const ADDRESS = /^0x[0-9a-f]{40}$/;

/** The logs of the answer, in the order of the chain. Throws RpcFailure. */
export function readLogs(answer: unknown, question: LogQuestion): VerifiedLog[] {
  if (!Array.isArray(answer)) throw lie('logs are not a list');
  const logs: VerifiedLog[] = [];
  const hashes = new Map(question.hashes);
  let last: VerifiedLog | null = null;
  for (const raw of answer as readonly unknown[]) {
    const log = readLog(raw, question);
    if (!log) continue;
    if (last && !isAfter(log, last)) throw lie('logs out of order, or one of them twice');
    if (last && log.time !== null && last.time !== null && log.time < last.time) throw lie('time runs backwards');
    const known = hashes.get(log.blockNumber);
    if (known === undefined) hashes.set(log.blockNumber, log.blockHash);
    else if (known !== log.blockHash) throw lie(`a log of another block ${log.blockNumber}`);
    logs.push(log);
    last = log;
  }
  return logs;
}

function isAfter(log: VerifiedLog, last: VerifiedLog): boolean {
  return log.blockNumber === last.blockNumber ? log.logIndex > last.logIndex : log.blockNumber > last.blockNumber;
}

/** Null for a log of the system that nobody asked for and that harms nobody. */
function readLog(raw: unknown, { addresses, topics: wanted, from, to }: LogQuestion): VerifiedLog | null {
  if (typeof raw !== 'object' || raw === null) throw lie('a log is not an object');
  const fields = raw as Record<string, unknown>;
  const address = readAddress(fields['address']);
  const topics = readTopics(fields['topics']);
  const isWanted = addresses.has(address) && wanted.has(topics[0] ?? '');
  const tx = fields['transactionHash'];
  if (!isWanted && tx === ZERO_HASH) return null;
  if (!isWanted) throw lie('a log that was not asked for');
  if (fields['removed'] === true) throw lie('a log that was taken back');
  const blockNumber = readQuantity(fields['blockNumber'], 'the block of a log');
  if (blockNumber < from || blockNumber > to) throw lie('a log outside the range');
  const time = fields['blockTimestamp'];
  return {
    address,
    topics,
    data: readBytes(fields['data'], 'the data of a log'),
    blockNumber,
    blockHash: readHash(fields['blockHash'], 'the block hash of a log'),
    tx: readHash(tx, 'the transaction of a log'),
    logIndex: readQuantity(fields['logIndex'], 'the index of a log'),
    time: time === undefined || time === null ? null : readTime(time, 'the time of a log') || null,
  };
}

function readAddress(value: unknown): Address {
  const text = typeof value === 'string' ? value.toLowerCase() : '';
  if (!ADDRESS.test(text)) throw lie('the address of a log is none');
  return text as Address;
}

function readTopics(value: unknown): Hex[] {
  if (!Array.isArray(value) || value.length > TOPICS_MAX) throw lie('the topics of a log are none');
  return value.map((topic) => readHash(topic, 'a topic'));
}
