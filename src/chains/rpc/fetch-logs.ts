// Fetches the logs of a block or of a range of blocks from one endpoint. The header of the last block is fetched in the same batch, as
// evidence that the endpoint has all these blocks.

import type { BlockHeader } from '../../chain-log/chain-event.ts';
import type { Hex } from '../../core/evm.ts';
import type { VerifiedLog } from '../protocols/event-decoder.ts';
import type { Endpoint } from './endpoint.ts';
import type { LogQuery } from './log-query.ts';
import { readLogs } from './log-response.ts';
import { invalidResponse, RpcFailure } from './rpc-failure.ts';
import type { BloomedHeader } from './rpc-values.ts';
import { readHeader, toQuantity } from './rpc-values.ts';

/** Logs up to block `to`, whose header is `last`. */
export type FetchedLogs = { endpoint: Endpoint; logs: VerifiedLog[]; last: BloomedHeader; to: number };

/** Throws RpcFailure. */
export async function fetchBlockLogs(endpoint: Endpoint, header: BlockHeader, query: LogQuery): Promise<FetchedLogs> {
  const { number, hash } = header;
  const block = { method: 'eth_getBlockByHash', params: [hash, false] };
  const [result, ...results] = await endpoint.send([block, ...query.requests({ blockHash: hash })]);
  const last = readHeader(result);
  if (!last) throw new RpcFailure('not-found', `block ${number}`);
  if (last.header.hash !== hash || last.header.number !== number) throw invalidResponse('another block');
  const range = { from: number, to: number, hashes: new Map([[number, hash]]) };
  const logs = query.join(results, (one, selection) => readLogs(one, { ...range, ...selection }));
  return { endpoint, logs, last, to: number };
}

/** Throws RpcFailure. */
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
  return { endpoint, logs, last, to };
}

/**
 * The times of blocks whose logs have no time, by block number. They are fetched from the endpoint that served the logs. Throws RpcFailure.
 */
export async function fetchMissingTimes({ endpoint, logs, last }: FetchedLogs): Promise<Map<number, number>> {
  const hashes = new Map<number, Hex>();
  for (const log of logs) if (log.time === null) hashes.set(log.blockNumber, log.blockHash);
  const times = new Map<number, number>();
  if (hashes.delete(last.header.number)) times.set(last.header.number, last.header.time);
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
