// Reads the events of one block, or of the longest range of blocks that an endpoint accepts. Logs are rejected if a log contradicts the
// request, or if the endpoint does not have the last block of the range. If the bloom of the last block suggests that logs are missing, the
// logs are fetched a second time. Finally, the logs are compared with the logs of another endpoint, unless the settings exclude this
// comparison.

import type { BlockHeader, ChainEvent } from '../../../market/chain-log/chain-event.ts';
import { ZERO_HASH } from '../../../platform/core/evm.ts';
import type { Log } from '../../../platform/core/log.ts';
import { UndecodableData } from '../protocols/abi-words.ts';
import type { VerifiedLog } from '../protocols/event-decoder.ts';
import { decodeLog, UnreadSale } from '../protocols/event-decoder.ts';
import { TOKEN_DECODERS, toIndexed } from '../protocols/token-standards.ts';
import { toFundsMoved } from '../protocols/erc20-funds.ts';
import type { EndpointComparison, OnUncompared } from './endpoint-comparison.ts';
import type { ReadKind } from './disputes.ts';
import type { EndpointPool } from './endpoint-pool.ts';
import type { Endpoint } from './endpoint.ts';
import type { FetchedLogs } from './fetch-logs.ts';
import type { TimedLog } from './fetch-logs.ts';
import { digestLogs, fetchBlockLogs, fetchRangeLogs, joinRanges } from './fetch-logs.ts';
import type { EventFilter } from './log-query.ts';
import { LogQuery } from './log-query.ts';
import type { RpcFailureKind } from './rpc-failure.ts';
import { invalidResponse, RpcFailure } from './rpc-failure.ts';
import type { UnreadLogs } from './unread-logs.ts';

/** How often one read halves its range after errors that do not mention the range. */
const UNEXPLAINED_HALVINGS_MAX = 3;
/** If the second endpoint accepts only shorter ranges than the first endpoint, it gets at most this many requests for one range. */
const PARTS_MAX = 8;

/** Failures that a range of too many blocks may have caused. */
const MAY_BE_THE_RANGE: ReadonlySet<RpcFailureKind> = new Set(['timeout', 'server-error', 'rpc-error', 'unreachable']);

/** Fetches logs up to the block `to`. Throws RpcFailure. */
type FetchUpTo = (endpoint: Endpoint, to: number) => Promise<FetchedLogs>;
type DecodedLogs = { fetched: FetchedLogs; events: ChainEvent[] };

export class EventReads {
  readonly #pool: EndpointPool;
  readonly #comparison: EndpointComparison;
  readonly #log: Log;
  readonly #unread: UnreadLogs;

  constructor(pool: EndpointPool, comparison: EndpointComparison, unread: UnreadLogs, log: Log) {
    this.#pool = pool;
    this.#comparison = comparison;
    this.#unread = unread;
    this.#log = log;
  }

  /**
   * All events of one new block, in block order, and then the moved funds. Null while the other endpoints contradict the block or do not have it yet
   * (endpoint-comparison.ts). Throws RpcFailure of kind `not-found` when no endpoint has the block. The logs are requested by block hash:
   * an endpoint without the block then reports an error and not an empty list. `onUncompared` is called if the events are returned although no
   * other endpoint could be compared.
   */
  async ofBlock(header: BlockHeader, filter: EventFilter, onUncompared?: OnUncompared): Promise<ChainEvent[] | null> {
    const query = new LogQuery(filter);
    const fetchFrom = (from: Endpoint) => fetchBlockLogs(from, header, query);
    const { number } = header;
    const { fetched, events } = await this.#readDecoded(fetchFrom, fetchFrom, query);
    const verdict = await this.#comparison.judge(
      {
        kind: 'new',
        topic: 'new',
        block: number,
        blocks: 1,
        toComparable: digestLogs,
        // For the comparison, the logs are requested by block number. An endpoint that has another block with this number then returns the
        // logs of that block, and the comparison shows the contradiction.
        fetch: (other) => fetchRangeLogs(other, { from: number, to: number }, query),
        ...(onUncompared && { onUncompared }),
      },
      fetched,
    );
    return verdict === 'accepted' ? events : null;
  }

  /**
   * The events of the blocks from `from` to the returned `to`, in block order, and then the moved funds, the logs from which they were decoded, and the header of the
   * last block. The returned `to` is lower than the requested `to` if the endpoints accept fewer blocks. The first and the second endpoint
   * are called at the same time. Throws RpcFailure of kind `contradicted` while the other endpoints contradict the blocks or cannot return them yet (endpoint-comparison.ts).
   * `again`: the blocks were stored before, and are only of use if another endpoint has the same. `onUncompared`: as in `ofBlock`.
   */
  async ofRange(
    from: number,
    to: number,
    filter: EventFilter,
    { again = false, onUncompared }: { again?: boolean; onUncompared?: OnUncompared } = {},
  ): Promise<{ to: number; last: BlockHeader; events: ChainEvent[]; logs: readonly VerifiedLog[] }> {
    if (!(from >= 0 && to >= from)) throw new Error(`not a range of blocks: ${from} to ${to}`);
    const query = new LogQuery(filter);
    const kind = again ? 'again' : 'past';
    const upTo = this.#expectedEnd(kind, { from, to });
    const fetchSecond = this.#comparison.fetchAhead(kind, (other) =>
      this.#fetchParts(other, { from, to: upTo }, query),
    );
    const fetchFirst = (endpoint: Endpoint) => this.#fetchAcceptedRange(endpoint, { from, to: upTo }, query);
    const fetchAgain = (other: Endpoint, end: number) =>
      end === upTo ? fetchSecond(other) : this.#fetchParts(other, { from, to: end }, query);
    const { fetched, events } = await this.#readDecoded(fetchFirst, fetchAgain, query);
    const verdict = await this.#comparison.judge(
      {
        kind,
        topic: `${kind} ${from} ${[...filter.contracts].toSorted().join()}`,
        block: fetched.to,
        blocks: fetched.to - from + 1,
        toComparable: digestLogs,
        fetch: (other) => fetchAgain(other, fetched.to),
        ...(onUncompared && { onUncompared }),
      },
      fetched,
    );
    const { to: end, last, logs } = fetched;
    if (verdict === 'accepted') return { to: end, last: last.header, events, logs };
    throw new RpcFailure('contradicted', `blocks ${from} to ${fetched.to}`);
  }

  /**
   * How many of the blocks from `from` to `to` an endpoint accepts in one request. The result is used for estimates only, so the events are
   * neither decoded nor compared.
   */
  async countAccepted(from: number, to: number, filter: EventFilter): Promise<number> {
    const query = new LogQuery(filter);
    const fetched = await this.#pool.read((endpoint) => this.#fetchAcceptedRange(endpoint, { from, to }, query));
    return fetched.to - from + 1;
  }

  /**
   * Compares `header` with another endpoint, as `ofBlock` does, but without logs. True if another endpoint has the same block, or if no
   * other endpoint can be compared. Sends no request if new blocks are not compared.
   */
  async accepts(header: BlockHeader): Promise<boolean> {
    return (
      !this.#comparison.compares('new') ||
      (await this.ofBlock(header, { protocols: new Map(), contracts: [] })) !== null
    );
  }

  /**
   * Reads logs with `fetchFirst`, and decodes them. If the bloom of the last block suggests that logs are missing, reads the logs a second
   * time, with `fetchAgain`. An endpoint whose logs cannot be decoded counts as failed.
   */
  async #readDecoded(
    fetchFirst: (endpoint: Endpoint) => Promise<FetchedLogs>,
    fetchAgain: FetchUpTo,
    query: LogQuery,
  ): Promise<DecodedLogs> {
    const decode = (fetched: FetchedLogs) => ({ fetched, events: this.#decode(fetched.logs, query) });
    const first = await this.#pool.read(async (endpoint) => decode(await fetchFirst(endpoint)));
    const better = await this.#confirmByBloom(first.fetched, query, fetchAgain);
    return better === first.fetched ? first : decode(better);
  }

  /**
   * The last block of a range that the endpoints will probably accept. The first endpoint must accept the range in one request, and the
   * second endpoint in at most PARTS_MAX requests.
   */
  #expectedEnd(kind: ReadKind, { from, to }: { from: number; to: number }): number {
    if (!this.#comparison.compares(kind)) return to;
    const [first, second] = this.#pool.inOrder();
    const blocks = Math.min(first?.range.current() ?? Infinity, PARTS_MAX * (second?.range.current() ?? Infinity));
    return Math.min(to, from + blocks - 1);
  }

  /** Fetches the logs of the complete range, in several requests if the endpoint accepts only shorter ranges. Throws RpcFailure. */
  async #fetchParts(
    endpoint: Endpoint,
    { from, to }: { from: number; to: number },
    query: LogQuery,
  ): Promise<FetchedLogs> {
    const first = await this.#fetchAcceptedRange(endpoint, { from, to }, query);
    const others: FetchedLogs[] = [];
    for (let end = first.to; end < to;) {
      const next = await this.#fetchAcceptedRange(endpoint, { from: end + 1, to }, query);
      others.push(next);
      end = next.to;
    }
    return joinRanges(first, ...others);
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
        range.succeeded(blocks, fetched.logs.length);
        return fetched;
      } catch (error) {
        if (!(error instanceof RpcFailure)) throw error;
        const { kind } = error;
        const isTooLarge = kind === 'range-too-large' || kind === 'too-large';
        if (isTooLarge) range.rejected(blocks);
        else if (MAY_BE_THE_RANGE.has(kind)) range.failed(blocks);
        if (kind === 'rpc-error') unexplained += 1;
        // After a timeout, a server error or a failed connection, the same endpoint is not called again at once.
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
   * from another endpoint if possible. Returns the response that has fewer such contracts. Returns the first response if the second request
   * fails or if the two numbers are equal, because a bloom filter can have false positives.
   */
  async #confirmByBloom(first: FetchedLogs, query: LogQuery, fetchAgain: FetchUpTo): Promise<FetchedLogs> {
    const { last, logs, endpoint } = first;
    const omitted = query.countOmitted(last, logs);
    if (omitted === 0) return first;
    const other = this.#pool.enterAlternative(endpoint);
    const second = await this.#tryAttempt(other, (one) => fetchAgain(one, first.to));
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
   * An undecodable log of a protocol that settles own orders makes the read fail. Any other undecodable log is left out and counted. A log
   * whose sale cannot be read (UnreadSale) is counted if a token moved in its transaction. Only the tokens of followed contracts have logs
   * here, so without such a log the sale is of another collection. The logs must be in block order, so that the logs of a transaction are
   * adjacent.
   */
  #decode(fetched: readonly TimedLog[], query: LogQuery): ChainEvent[] {
    const { unindexed, funds } = query;
    const accountsOf = ({ address }: TimedLog) => funds?.get(address);
    const received = funds ? fetched.filter((log) => !accountsOf(log)) : fetched;
    // Decoders of protocols read the transfers of other contracts too, so all decoders get the same logs.
    const logs =
      unindexed.size === 0 ? received : received.map((log) => (unindexed.has(log.address) ? toIndexed(log) : log));
    const events: ChainEvent[] = [];
    const unread: { log: TimedLog; protocol: string | null; reason: string }[] = [];
    for (const [index, log] of logs.entries()) {
      const protocol = query.protocols.get(log.address);
      try {
        // A log without a transaction has no identity under which it could be stored.
        if (log.tx === ZERO_HASH) throw new UndecodableData('no transaction');
        const logsOf = () => logsOfTransaction(logs, index);
        decodeLog(log, protocol?.decoders ?? TOKEN_DECODERS, log.time, events, logsOf);
      } catch (error) {
        if (error instanceof UnreadSale) {
          unread.push({ log, protocol: protocol?.name ?? null, reason: error.message });
          continue;
        }
        if (!(error instanceof UndecodableData)) throw error;
        if (protocol?.settlesOwnOrders) {
          throw new RpcFailure('undecodable', `${error.message}, log ${log.logIndex} of ${log.tx}`);
        }
        this.#unread.count(log, protocol?.name ?? null, error.message);
      }
    }
    const moved = new Set(unread.length > 0 ? events.flatMap(({ kind, tx }) => (kind === 'transfer' ? [tx] : [])) : []);
    for (const { log, protocol, reason } of unread) if (moved.has(log.tx)) this.#unread.count(log, protocol, reason);
    // The events of currencies concern no sale, so they are not in the order of the other events.
    const ofFunds = funds
      ? fetched.flatMap((log) => {
          const accounts = accountsOf(log);
          return (accounts && toFundsMoved(log, accounts)) ?? [];
        })
      : [];
    return [...events, ...ofFunds];
  }
}

/** The log at `index` and the adjacent logs of the same transaction. */
function logsOfTransaction(logs: readonly TimedLog[], index: number): readonly TimedLog[] {
  const tx = logs[index]?.tx;
  let [from, to] = [index, index + 1];
  while (from > 0 && logs[from - 1]?.tx === tx) from -= 1;
  while (to < logs.length && logs[to]?.tx === tx) to += 1;
  return logs.slice(from, to);
}
