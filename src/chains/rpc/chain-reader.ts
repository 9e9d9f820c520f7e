// Reading one EVM chain through endpoints that may lie, stall, limit and fail. It holds nothing that lasts longer than the process
// and knows no database.

import type { Chain } from '../../core/chains.ts';
import type { Clock } from '../../core/clock.ts';
import { systemClock } from '../../core/clock.ts';
import type { Log } from '../../core/log.ts';
import { createBlockReads } from './block-reads.ts';
import type { ChainReader } from './chain-reads.ts';
import { createContractReads } from './contract-reads.ts';
import { createEndpoint } from './endpoint.ts';
import { createLogReads } from './log-reads.ts';
import { createPool } from './pool.ts';

export type { ChainReader, EventFilter, SeaportOrderStatus } from './chain-reads.ts';
export type { EndpointStatus } from './endpoint.ts';
export { ChainUnavailable, RpcFailure } from './rpc-failure.ts';

export type ChainReaderOptions = {
  chain: Chain;
  /** In order of preference. */
  urls: readonly string[];
  log: Log;
  clock?: Clock;
  /** For one request. */
  timeoutMs?: number;
  /** For one read with all its retries: no request begins after that. */
  patienceMs?: number;
  /** The first rest of a failing endpoint; doubles with each further one. */
  restMs?: number;
};

const TIMEOUT_MS = 10_000;
const PATIENCE_MS = 45_000;
const REST_MS = 1_000;

export function createChainReader(options: ChainReaderOptions): ChainReader {
  const { chain, urls, log, clock = systemClock } = options;
  const { timeoutMs = TIMEOUT_MS, patienceMs = PATIENCE_MS, restMs = REST_MS } = options;
  if (chain.family !== 'evm') throw new Error(`${chain.id} is not an EVM chain`);
  const ending = new AbortController();
  const endpoints = urls.map((url, position) =>
    createEndpoint({ url, position, chain, log, clock, timeoutMs, restMs, signal: ending.signal }),
  );
  const pool = createPool({ chain, endpoints, log, clock, patienceMs, signal: ending.signal });
  const blocks = createBlockReads({ pool, clock });
  const logs = createLogReads({ pool, log, bestHead: blocks.bestHead });
  const contracts = createContractReads({ pool, headNumber: async () => (await blocks.head()).number });
  return {
    chain,
    head: blocks.head,
    header: blocks.header,
    finalizedNumber: blocks.finalizedNumber,
    callDataTails: blocks.callDataTails,
    eventsOfBlock: logs.eventsOfBlock,
    eventsOfRange: logs.eventsOfRange,
    skippedLogs: logs.skipped,
    ...contracts,
    endpoints: () => endpoints.map((endpoint) => endpoint.status(blocks.bestHead())),
    close: () => ending.abort(),
  };
}
