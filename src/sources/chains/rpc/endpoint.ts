// One JSON-RPC endpoint of a chain: sends requests, verifies that the endpoint serves the chain, and records successes and failures. A
// rejected batch is sent again in smaller batches; no other request is retried here. Logs do not contain the URL, which may be a secret.

import type { Chain } from '../../../platform/core/chains.ts';
import type { Clock } from '../../../platform/core/clock.ts';
import type { Log } from '../../../platform/core/log.ts';
import type { Random } from '../../../platform/core/random.ts';
import type { Exchange } from '../../../platform/resilience/http-exchange.ts';
import { exchange, ExchangeFailure } from '../../../platform/resilience/http-exchange.ts';
import { EndpointHealth } from './endpoint-health.ts';
import type { EndpointUrl } from './endpoint-url.ts';
import { parseEndpointUrl } from './endpoint-url.ts';
import { RangeSize } from './range-size.ts';
import type { RpcFailureKind } from './rpc-failure.ts';
import { invalidResponse, RpcFailure } from './rpc-failure.ts';
import type { ReadOptions, RpcRequest } from './rpc-response.ts';
import { readResults } from './rpc-response.ts';
import { readQuantity } from './rpc-values.ts';

/** `resting`: the breaker is open after failures. */
export type EndpointState = 'unknown' | 'ready' | 'resting' | 'wrong-chain';

export type EndpointStatus = {
  /** The index of the endpoint in the configured list, from 0. */
  position: number;
  /** Host and port. The rest of the URL may be a secret. */
  host: string;
  state: EndpointState;
  /** The number of the newest block, as the endpoint last reported it. Null before the first report. */
  head: number | null;
  /** How many blocks `head` is behind the best head of all endpoints of the chain. Null while `head` or the best head is unknown. */
  lag: number | null;
  /** Failures since the process started. */
  failures: number;
  lastFailure: string | null;
  rangeBlocks: number;
  /** The most requests in one batch; 1 when the endpoint accepts no batches. */
  batchSize: number;
};

export type EndpointOptions = {
  url: string;
  position: number;
  chain: Chain;
  log: Log;
  clock: Clock;
  random: Random;
  timeoutMs: number;
  /** How long the breaker stays open at first. The time doubles with each failed trial. */
  openMs: number;
  signal: AbortSignal;
};

const RESPONSE_BYTES_MAX = 64 * 2 ** 20;
const BATCH_SIZE_START = 50;
/** After this many accepted batches the batch size is doubled, because an earlier batch may have been rejected for another reason than its size. */
const ACCEPTED_TO_DOUBLE = 200;
/**
 * The most batches of one `send` that wait for their responses at once. If each batch waited for the response to the previous batch, a read
 * of many requests would be slow on a distant endpoint.
 */
const BATCHES_AT_ONCE_MAX = 4;

/** Failures that the size of a batch may have caused. A smaller batch is tried after them. */
const MAY_BE_THE_BATCH: ReadonlySet<RpcFailureKind> = new Set([
  'batch-rejected',
  'rejected',
  'too-large',
  'unsupported',
]);

export type SendOptions<R extends RpcRequest> = ReadOptions & {
  /**
   * Receives each accepted batch and its results, in the order of its requests, so that a caller can keep the results if `send` fails later.
   * The batches after a rejected batch are sent again, so this function may receive a request twice.
   */
  onAccepted?: (requests: readonly R[], results: readonly unknown[]) => void;
};

export class Endpoint {
  readonly position: number;
  readonly range = new RangeSize();
  readonly health: EndpointHealth;
  /** The number of the newest block, as the endpoint last reported it. Null before the first report. Set by BlockReads. */
  head: number | null = null;
  readonly #options: EndpointOptions;
  readonly #url: EndpointUrl;
  /** The result of verifying the chain id: `ready` when the endpoint serves its chain. */
  #chainState: Exclude<EndpointState, 'resting'> = 'unknown';
  #verification: Promise<void> | null = null;
  #batchSize = BATCH_SIZE_START;
  #batchesAccepted = 0;
  /** Grows by one with each accepted round of batches. One again after a rate limit. */
  #batchesAtOnce = 1;
  /** Whether the endpoint has accepted a batch since it last rejected one for its rate limit. */
  #hasAcceptedSinceLimit = false;
  /** Whether the log says that the endpoint failed, and not yet that it works again. */
  #isLoggedAsFailed = false;
  #nextId = 1;

  constructor(options: EndpointOptions) {
    this.position = options.position;
    this.health = new EndpointHealth(options);
    this.#options = options;
    this.#url = parseEndpointUrl(options.url);
  }

  /** Whether the breaker admits one call. After true, the caller must record the outcome with `succeeded` or `failed`. */
  enter(): boolean {
    const entry = this.health.enter();
    // After an outage, the URL may serve another chain.
    if (entry === 'trial') this.#verification = null;
    return entry !== 'no';
  }

  /** Verifies that the endpoint serves the chain. A success is remembered until the next trial of the breaker. Throws RpcFailure. */
  async verify(): Promise<void> {
    this.#verification ??= this.#verifyChainId();
    try {
      await this.#verification;
    } catch (error) {
      this.#verification = null;
      throw error;
    }
  }

  /** The results are in the order of the requests. Throws RpcFailure if a request fails. */
  async send<R extends RpcRequest>(
    requests: readonly R[],
    { onAccepted, ...options }: SendOptions<R> = {},
  ): Promise<unknown[]> {
    const sizeBefore = this.#batchSize;
    const results: unknown[] = [];
    while (results.length < requests.length) {
      const batches = this.#nextBatches(requests.slice(results.length));
      const ended = await Promise.allSettled(batches.map((batch) => this.#sendBatch(batch, options)));
      const rejected = ended.findIndex(({ status }) => status === 'rejected');
      for (const [index, batch] of batches.entries()) {
        const one = ended[index];
        if (one?.status !== 'fulfilled') continue;
        onAccepted?.(batch, one.value);
        if (rejected === -1 || index < rejected) results.push(...one.value);
        this.#noteAccepted();
      }
      const failure = ended[rejected];
      if (failure?.status === 'rejected')
        this.#noteRejected(failure.reason, batches[rejected]?.length ?? 0, sizeBefore);
      else this.#batchesAtOnce = Math.min(BATCHES_AT_ONCE_MAX, this.#batchesAtOnce + 1);
    }
    return results;
  }

  succeeded(): void {
    if (!this.health.succeeded() || !this.#isLoggedAsFailed) return;
    this.#isLoggedAsFailed = false;
    this.#log('info', 'an endpoint works again');
  }

  /** Ends the call that `enter` admitted. An error counts as a failure of the endpoint only if the endpoint caused it. */
  failed(error: unknown): void {
    if (!(error instanceof RpcFailure) || error.kind === 'closed') {
      this.health.abandoned();
      return;
    }
    this.#log('debug', 'an endpoint failed', { error });
    const isLimited = error.kind === 'rate-limited';
    // An endpoint that has accepted requests since the last rate limit works, so no warning is logged. A long read may reach the rate limit
    // every second.
    const isAtItsLimit = isLimited && this.#hasAcceptedSinceLimit;
    if (isLimited) this.#noteRateLimit();
    const hasOpened = this.health.failed(error);
    if (isAtItsLimit || this.#isLoggedAsFailed || !(hasOpened || isLimited)) return;
    this.#isLoggedAsFailed = true;
    this.#log('warn', 'the breaker of an endpoint opened after failures', { error });
  }

  /** `bestHead` is the newest block that any endpoint of the chain served. */
  status(bestHead: number | null): EndpointStatus {
    const { position, head, health, range } = this;
    const isResting = this.#chainState !== 'wrong-chain' && health.openForMs() > 0;
    return {
      position,
      host: this.#url.host,
      state: isResting ? 'resting' : this.#chainState,
      head,
      lag: head === null || bestHead === null ? null : Math.max(0, bestHead - head),
      failures: health.failures,
      lastFailure: health.lastFailure,
      rangeBlocks: range.current(),
      batchSize: this.#batchSize,
    };
  }

  #nextBatches<R extends RpcRequest>(requests: readonly R[]): (readonly R[])[] {
    const size = this.#batchSize;
    const count = Math.min(this.#batchesAtOnce, Math.ceil(requests.length / size));
    return Array.from({ length: count }, (_, index) => requests.slice(index * size, (index + 1) * size));
  }

  #noteAccepted(): void {
    this.#hasAcceptedSinceLimit = true;
    this.#batchesAccepted += 1;
    if (this.#batchesAccepted % ACCEPTED_TO_DOUBLE === 0) {
      this.#batchSize = Math.min(BATCH_SIZE_START, this.#batchSize * 2);
    }
  }

  /** Chooses a smaller size after a rejected batch of `size` requests. Throws the error if a smaller batch would not help. */
  #noteRejected(error: unknown, size: number, sizeBefore: number): void {
    if (!(error instanceof RpcFailure && size > 1 && MAY_BE_THE_BATCH.has(error.kind))) {
      // If a request fails even when it is sent alone, the rejections before were no evidence about the size of batches. So the batch size is
      // again the size before this `send`.
      this.#batchSize = Math.max(this.#batchSize, sizeBefore);
      throw error;
    }
    this.#batchSize = Math.min(this.#batchSize, size >> 1);
    this.#batchesAccepted = 0;
    this.#log('debug', 'an endpoint rejected a batch', { requests: size });
  }

  /**
   * Many endpoints count each request of a batch, so one batch may have more requests than the endpoint allows per second. If the endpoint has
   * accepted nothing since the last rate limit, the next batch is smaller. Otherwise the endpoint works, only more slowly, so the time for
   * which the breaker stays open does not grow.
   */
  #noteRateLimit(): void {
    this.#batchesAtOnce = 1;
    if (this.#hasAcceptedSinceLimit) this.health.succeeded();
    else this.#batchSize = Math.max(1, this.#batchSize >> 1);
    this.#hasAcceptedSinceLimit = false;
    this.#batchesAccepted = 0;
  }

  async #sendBatch(requests: readonly RpcRequest[], options: ReadOptions): Promise<unknown[]> {
    const firstId = this.#nextId;
    this.#nextId += requests.length;
    const calls = requests.map((request, index) => ({ jsonrpc: '2.0', id: firstId + index, ...request }));
    const methods = [...new Set(requests.map(({ method }) => method))].toSorted().join(' ');
    const response = await this.#post(JSON.stringify(calls.length === 1 ? calls[0] : calls), methods);
    return readResults(response, { ...options, firstId, count: requests.length, redact: this.#url.redact });
  }

  /** `methods` are shown in traces. */
  async #post(body: string, methods: string): Promise<Exchange> {
    const { timeoutMs, signal, chain, position } = this.#options;
    const trace = { peer: `${chain.id}-${position}`, operation: methods };
    const { url, headers } = this.#url;
    try {
      return await exchange(url, {
        method: 'POST',
        trace,
        headers,
        body,
        timeoutMs,
        bytesMax: RESPONSE_BYTES_MAX,
        signal,
      });
    } catch (error) {
      if (!(error instanceof ExchangeFailure)) throw error;
      if (error.reason === 'aborted') throw new RpcFailure('closed');
      if (error.reason === 'redirected') throw invalidResponse('a redirect');
      throw new RpcFailure(error.reason);
    }
  }

  async #verifyChainId(): Promise<void> {
    const { chain } = this.#options;
    // This request is not counted as an accepted batch: it is sent before each trial, and is accepted even if no larger batch is.
    const [result] = await this.#sendBatch([{ method: 'eth_chainId', params: [] }], {});
    const chainId = readQuantity(result, 'the chain id');
    // A configured chain may have no chain id. Then any endpoint is accepted.
    if (chain.chainId === null || chainId === chain.chainId) {
      if (this.#chainState === 'wrong-chain') this.#log('info', 'an endpoint serves its chain now');
      this.#chainState = 'ready';
      return;
    }
    if (this.#chainState !== 'wrong-chain') {
      this.#log('error', 'an endpoint serves another chain and is not used', { chainId });
    }
    this.#chainState = 'wrong-chain';
    throw new RpcFailure('wrong-chain', `${chainId} in place of ${chain.chainId}`);
  }

  #log(level: 'debug' | 'info' | 'warn' | 'error', message: string, fields: Record<string, unknown> = {}): void {
    const { log, chain } = this.#options;
    log[level](message, { chain: chain.id, endpoint: this.position, ...fields });
  }
}
