// Reads the events of one block, or of the longest range of blocks that an endpoint accepts. Logs are rejected if a log contradicts the
// request, or if the endpoint does not have the last block of the range. If the bloom of the last block suggests that logs are missing, the
// logs are fetched a second time.

import type { BlockHeader, ChainEvent } from '../../chain-log/chain-event.ts';
import type { Address } from '../../core/address.ts';
import { ZERO_HASH } from '../../core/evm.ts';
import type { Log } from '../../core/log.ts';
import { UndecodableData } from '../protocols/abi-words.ts';
import type { VerifiedLog } from '../protocols/event-decoder.ts';
import { decodeLog } from '../protocols/event-decoder.ts';
import { TOKEN_DECODERS } from '../protocols/token-standards.ts';
import type { EndpointComparison } from './endpoint-comparison.ts';
import type { EndpointPool } from './endpoint-pool.ts';
import type { Endpoint } from './endpoint.ts';
import type { FetchedLogs } from './fetch-logs.ts';
import { fetchBlockLogs, fetchMissingTimes, fetchRangeLogs } from './fetch-logs.ts';
import type { EventFilter } from './log-query.ts';
import { LogQuery } from './log-query.ts';
import type { RpcFailureKind } from './rpc-failure.ts';
import { invalidResponse, RpcFailure } from './rpc-failure.ts';

/** How often one read halves its range after errors that do not mention the range. */
const UNEXPLAINED_HALVINGS_MAX = 3;
const UNDECODABLE_CONTRACTS_MAX = 1_000;

/** Failures that a range of too many blocks may have caused. */
const MAY_BE_THE_RANGE: ReadonlySet<RpcFailureKind> = new Set(['timeout', 'server-error', 'rpc-error', 'unreachable']);

export class EventReads {
  readonly #pool: EndpointPool;
  readonly #comparison: EndpointComparison;
  readonly #log: Log;
  readonly #undecodable = new Map<Address, number>();

  constructor(pool: EndpointPool, comparison: EndpointComparison, log: Log) {
    this.#pool = pool;
    this.#comparison = comparison;
    this.#log = log;
  }

  /**
   * All events of one new block, in block order. Null while the other endpoints contradict the block or do not have it yet
   * (endpoint-comparison.ts). Throws RpcFailure of kind `not-found` when no endpoint has the block. The logs are requested by block hash:
   * an endpoint without the block then reports an error and not an empty list.
   */
  async ofBlock(header: BlockHeader, filter: EventFilter): Promise<ChainEvent[] | null> {
    const query = new LogQuery(filter);
    const fetchFrom = (from: Endpoint) => fetchBlockLogs(from, header, query);
    const decode = (fetched: FetchedLogs) => ({
      fetched,
      events: this.#decode(fetched.logs, query, () => header.time),
    });
    const first = await this.#pool.read(async (endpoint) => decode(await fetchFrom(endpoint)));
    const better = await this.#confirmByBloom(first.fetched, query, fetchFrom);
    const { fetched, events } = better === first.fetched ? first : decode(better);
    // Requested by number: an endpoint with another block of this number then serves that block, which contradicts `header`.
    const { number } = header;
    const fetchAgain = (other: Endpoint) => fetchRangeLogs(other, { from: number, to: number }, query);
    return (await this.#comparison.accepts('new', fetched, fetchAgain)) ? events : null;
  }

  /**
   * The events of the blocks from `from` to the returned `to`, in block order. The returned `to` is lower than the requested `to` if the
   * endpoint accepts fewer blocks. If past blocks are compared, throws RpcFailure of kind `contradicted` while the other endpoints
   * contradict the blocks or do not have them yet.
   */
  async ofRange(from: number, to: number, filter: EventFilter): Promise<{ to: number; events: ChainEvent[] }> {
    if (!(from >= 0 && to >= from)) throw new Error(`not a range of blocks: ${from} to ${to}`);
    const query = new LogQuery(filter);
    const decode = async (fetched: FetchedLogs) => {
      const times = await fetchMissingTimes(fetched);
      const timeOf = (log: VerifiedLog) => log.time ?? times.get(log.blockNumber) ?? fetched.last.header.time;
      return { fetched, events: this.#decode(fetched.logs, query, timeOf) };
    };
    const first = await this.#pool.read(async (endpoint) =>
      decode(await this.#fetchAcceptedRange(endpoint, { from, to }, query)),
    );
    const fetchAgain = (other: Endpoint) => fetchRangeLogs(other, { from, to: first.fetched.to }, query);
    const better = await this.#confirmByBloom(first.fetched, query, fetchAgain);
    const { fetched, events } = better === first.fetched ? first : await decode(better);
    if (await this.#comparison.accepts('past', fetched, fetchAgain)) return { to: fetched.to, events };
    throw new RpcFailure('contradicted', `blocks ${from} to ${fetched.to}`);
  }

  /**
   * Compares `header` like the block of `ofBlock`, without logs. True if another endpoint serves the same block, or if none can be
   * compared. Sends no request if new blocks are not compared.
   */
  async accepts(header: BlockHeader): Promise<boolean> {
    return (
      !this.#comparison.compares('new') ||
      (await this.ofBlock(header, { protocols: new Map(), contracts: [] })) !== null
    );
  }

  /** How many logs of each contract were left out since the process started, because they could not be decoded. */
  undecodable(): ReadonlyMap<Address, number> {
    return this.#undecodable;
  }

  async #fetchAcceptedRange(
    endpoint: Endpoint,
    { from, to }: { from: number; to: number },
    query: LogQuery,
  ): Promise<FetchedLogs> {
    const { range } = endpoint;
    for (let unexplained = 0; ;) {
      const blocks = Math.min(range.current(), to - from + 1);
      try {
        const fetched = await fetchRangeLogs(endpoint, { from, to: from + blocks - 1 }, query);
        range.succeeded(blocks);
        return fetched;
      } catch (error) {
        if (!(error instanceof RpcFailure)) throw error;
        const { kind } = error;
        const isTooLarge = kind === 'range-too-large' || kind === 'too-large';
        if (isTooLarge) range.rejected(blocks);
        else if (MAY_BE_THE_RANGE.has(kind)) range.failed(blocks);
        if (kind === 'rpc-error') unexplained += 1;
        // After other failures that the range may have caused, the same endpoint is not called again at once.
        const isRetried = isTooLarge || (kind === 'rpc-error' && unexplained <= UNEXPLAINED_HALVINGS_MAX);
        if (!isRetried || blocks === 1) throw error;
        this.#log.debug('a request for logs failed and is repeated for fewer blocks', {
          chain: this.#pool.chain.id,
          endpoint: endpoint.position,
          blocks,
        });
      }
    }
  }

  /**
   * Counts the contracts that the bloom contains but that have no log in the response. If there are any, fetches the logs a second time,
   * from another endpoint if possible. Returns the response with fewer such contracts. Returns the first response if the second request
   * fails or has as many: a bloom filter can have false positives.
   */
  async #confirmByBloom(
    first: FetchedLogs,
    query: LogQuery,
    fetchAgain: (endpoint: Endpoint) => Promise<FetchedLogs>,
  ): Promise<FetchedLogs> {
    const { last, logs, endpoint } = first;
    const omitted = query.countOmitted(last, logs);
    if (omitted === 0) return first;
    const other = this.#pool.enterAlternative(endpoint);
    const second = await this.#tryAttempt(other, fetchAgain);
    if (!second || second.last.header.hash !== last.header.hash) return first;
    const omittedAgain = query.countOmitted(second.last, second.logs);
    if (omittedAgain === omitted) return first;
    const [better, faulty] = omittedAgain < omitted ? [second, endpoint] : [first, other];
    const block = last.header.number;
    this.#log.warn('an endpoint omitted logs', { chain: this.#pool.chain.id, endpoint: faulty.position, block });
    if (faulty !== better.endpoint) faulty.failed(invalidResponse(`logs of block ${block} are omitted`));
    return better;
  }

  async #tryAttempt<T>(endpoint: Endpoint, work: (endpoint: Endpoint) => Promise<T>): Promise<T | null> {
    try {
      return await this.#pool.attempt(endpoint, work);
    } catch (error) {
      if (error instanceof RpcFailure && error.kind !== 'closed') return null;
      throw error;
    }
  }

  /**
   * An undecodable log of a protocol that settles own orders makes the read fail. Any other undecodable log is left out and counted. The
   * logs must be in block order, so that the logs of a transaction stand together.
   */
  #decode(logs: readonly VerifiedLog[], query: LogQuery, timeOf: (log: VerifiedLog) => number): ChainEvent[] {
    const events: ChainEvent[] = [];
    for (const [index, log] of logs.entries()) {
      const protocol = query.protocols.get(log.address);
      try {
        // A log without a transaction has no identity under which it could be stored.
        if (log.tx === ZERO_HASH) throw new UndecodableData('no transaction');
        const logsOf = () => logsOfTransaction(logs, index);
        decodeLog(log, protocol?.decoders ?? TOKEN_DECODERS, timeOf(log), events, logsOf);
      } catch (error) {
        if (!(error instanceof UndecodableData)) throw error;
        if (protocol?.settlesOwnOrders) {
          throw new RpcFailure('undecodable', `${error.message}, log ${log.logIndex} of ${log.tx}`);
        }
        this.#countUndecodable(log, error.message);
      }
    }
    return events;
  }

  #countUndecodable({ address, tx, logIndex }: VerifiedLog, reason: string): void {
    const count = this.#undecodable.get(address) ?? 0;
    if (count === 0 && this.#undecodable.size >= UNDECODABLE_CONTRACTS_MAX) return;
    this.#undecodable.set(address, count + 1);
    this.#log[count === 0 ? 'warn' : 'debug']('a log cannot be decoded and is left out', {
      chain: this.#pool.chain.id,
      contract: address,
      tx,
      logIndex,
      reason,
    });
  }
}

/** The logs around `index` that are of the same transaction. */
function logsOfTransaction(logs: readonly VerifiedLog[], index: number): readonly VerifiedLog[] {
  const tx = logs[index]?.tx;
  let [from, to] = [index, index + 1];
  while (from > 0 && logs[from - 1]?.tx === tx) from -= 1;
  while (to < logs.length && logs[to]?.tx === tx) to += 1;
  return logs.slice(from, to);
}
