// Fetches the logs of a block or of a range of blocks from one endpoint. The header of the last block is fetched in the same batch, as
// evidence that the endpoint has all these blocks. All data comes from this endpoint, so that two endpoints can be compared.

import { createHash } from 'node:crypto';
import type { BlockHeader } from '../../../market/chain-log/chain-event.ts';
import type { Hex } from '../../../platform/core/evm.ts';
import type { VerifiedLog } from '../protocols/event-decoder.ts';
import type { Endpoint } from './endpoint.ts';
import type { LogQuery } from './log-query.ts';
import { readLogs } from './log-response.ts';
import { invalidResponse, RpcFailure } from './rpc-failure.ts';
import type { BloomedHeader } from './rpc-values.ts';
import { readHeader, toQuantity } from './rpc-values.ts';

export type TimedLog = VerifiedLog & { time: number };

/** Logs up to block `to`, whose header is `last`. */
export type FetchedLogs = { endpoint: Endpoint; logs: TimedLog[]; last: BloomedHeader; to: number };

/** The logs of the block `header`, with its time. Throws RpcFailure. */
export async function fetchBlockLogs(endpoint: Endpoint, header: BlockHeader, query: LogQuery): Promise<FetchedLogs> {
  const { number, hash } = header;
  const block = { method: 'eth_getBlockByHash', params: [hash, false] };
  const [result, ...results] = await endpoint.send([block, ...query.requests({ blockHash: hash })]);
  const last = readHeader(result);
  if (!last) throw new RpcFailure('not-found', `block ${number}`);
  if (last.header.hash !== hash || last.header.number !== number) throw invalidResponse('another block');
  const range = { from: number, to: number, hashes: new Map([[number, hash]]) };
  const logs = query.join(results, (one, selection) => readLogs(one, { ...range, ...selection }));
  return { endpoint, logs: logs.map((log) => ({ ...log, time: header.time })), last: { ...last, header }, to: number };
}

/** If a log has no time, the time is read from the header of its block. Throws RpcFailure. */
export async function fetchRangeLogs(
  endpoint: Endpoint,
  { from, to }: { from: number; to: number },
  query: LogQuery,
): Promise<FetchedLogs> {
  const lastBlock = { method: 'eth_getBlockByNumber', params: [toQuantity(to), false] };
  const span = { fromBlock: toQuantity(from), toBlock: toQuantity(to) };
  const [result, ...results] = await endpoint.send([lastBlock, ...query.requests(span)]);
  const last = readHeader(result);
  if (!last) throw new RpcFailure('not-found', `block ${to}`);
  if (last.header.number !== to) throw invalidResponse('another block');
  const range = { from, to, hashes: new Map([[to, last.header.hash]]) };
  const logs = query.join(results, (one, selection) => readLogs(one, { ...range, ...selection }));
  if (logs.some((log) => log.time !== null && log.time > last.header.time)) {
    throw invalidResponse('a log is later than the last block');
  }
  const times = await fetchMissingTimes(endpoint, logs, last.header);
  const timed = logs.map((log) => ({ ...log, time: log.time ?? times.get(log.blockNumber) ?? last.header.time }));
  return { endpoint, logs: timed, last, to };
}

/** The logs of consecutive ranges, the first range first. */
export function joinRanges(first: FetchedLogs, ...others: readonly FetchedLogs[]): FetchedLogs {
  const last = others.at(-1) ?? first;
  return { ...last, logs: [first, ...others].flatMap(({ logs }) => logs) };
}

/** Two responses have the same digest exactly if they have the same last block and the same logs. */
export function digestLogs({ last: { header }, logs }: FetchedLogs): string {
  const hash = createHash('sha256');
  hash.update([header.number, header.hash, header.parentHash, header.time].join());
  for (const { address, topics, data, blockNumber, blockHash, tx, logIndex, time } of logs) {
    hash.update(`\n${[address, ...topics, data, blockNumber, blockHash, tx, logIndex, time].join()}`);
  }
  return hash.digest('hex');
}

/** The times of blocks whose logs have no time, by block number. */
async function fetchMissingTimes(
  endpoint: Endpoint,
  logs: readonly VerifiedLog[],
  last: BlockHeader,
): Promise<Map<number, number>> {
  const hashes = new Map<number, Hex>();
  for (const log of logs) if (log.time === null) hashes.set(log.blockNumber, log.blockHash);
  const times = new Map<number, number>();
  if (hashes.delete(last.number)) times.set(last.number, last.time);
  const numbers = [...hashes.keys()];
  const requests = numbers.map((number) => ({ method: 'eth_getBlockByNumber', params: [toQuantity(number), false] }));
  for (const [index, result] of (await endpoint.send(requests)).entries()) {
    const number = numbers[index] ?? 0;
    const block = readHeader(result);
    if (!block) throw new RpcFailure('not-found', `block ${number}`);
    if (block.header.hash !== hashes.get(number)) throw invalidResponse(`logs of another block ${number}`);
    times.set(number, block.header.time);
  }
  return times;
}
