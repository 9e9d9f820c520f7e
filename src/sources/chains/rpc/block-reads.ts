// Reads the newest block, block headers by number, and the number of the finalized block. A newest block is implausible if
// its number is far from the best head (best-head.ts). An implausible block is rejected until it is confirmed.

import type { BlockHeader } from '../../../market/chain-log/chain-event.ts';
import type { Clock } from '../../../platform/core/clock.ts';
import { AHEAD_MAX, BestHead, isNear } from './best-head.ts';
import type { EndpointPool } from './endpoint-pool.ts';
import { LAG_MAX } from './endpoint-pool.ts';
import type { Endpoint } from './endpoint.ts';
import { fetchBlock, fetchHead } from './fetch-block.ts';
import type { RpcFailureKind } from './rpc-failure.ts';
import { ChainUnavailable, invalidResponse, RpcFailure } from './rpc-failure.ts';
import type { BloomedHeader } from './rpc-values.ts';
import { toQuantity } from './rpc-values.ts';

/** While no other endpoint can be called, an implausible head is accepted after this time, because the chain may have been reset. */
const IMPLAUSIBLE_MS_MAX = 60_000;
/** How often the heads of all endpoints are compared, to detect an endpoint whose head stands still. */
const SURVEY_MS = 15_000;

export class BlockReads {
  readonly #pool: EndpointPool;
  readonly #clock: Clock;
  readonly #best: BestHead;
  #surveyedAt = Number.NEGATIVE_INFINITY;

  constructor(pool: EndpointPool, clock: Clock) {
    this.#pool = pool;
    this.#clock = clock;
    this.#best = new BestHead(clock);
  }

  /** Null before the first plausible head. */
  get bestHead(): number | null {
    return this.#best.number;
  }

  /** The newest block of the first endpoint that responds. It may be some blocks below a head that was returned earlier. */
  async head(): Promise<BlockHeader> {
    if (this.#clock() - this.#surveyedAt >= SURVEY_MS) await this.#survey();
    return this.#pool.read((endpoint) => this.#plausibleHead(endpoint));
  }

  /**
   * Returns null if no endpoint has a block with this number. For a number above the best head, returns null as soon as one endpoint does
   * not have the block.
   */
  async header(number: number): Promise<BlockHeader | null> {
    return nullIfUnknown(
      this.#pool.read(async (endpoint) => {
        const block = await fetchBlock(endpoint, toQuantity(number));
        if (block && block.header.number !== number) throw invalidResponse('another block than requested');
        if (!block && this.#best.number !== null && number <= this.#best.number) throw new RpcFailure('not-found');
        return block?.header ?? null;
      }),
    );
  }

  /**
   * Compares the endpoints that can be called now and are at most LAG_MAX blocks behind, and returns the number of the newest block that all
   * of them have. With a single endpoint, returns the number of its head.
   */
  async sharedHead(): Promise<number> {
    const { number } = await this.head();
    if (this.#pool.endpoints.length < 2) return number;
    const heads = await Promise.all(this.#pool.enterAll().map((endpoint) => this.#tryHead(endpoint)));
    const near = heads.flatMap((head) => (head && head.number >= number - LAG_MAX ? [head.number] : []));
    return Math.min(number, ...near);
  }

  /** Null if the endpoint that responds has no finalized block yet, or if no endpoint supports the request. */
  async finalizedNumber(): Promise<number | null> {
    return nullIfUnknown(
      this.#pool.read(async (endpoint) => {
        const block = await fetchFinalizedBlock(endpoint);
        const best = this.#best.number;
        if (block && best !== null && block.header.number > best + AHEAD_MAX) {
          throw invalidResponse('the finalized block is above the newest block');
        }
        return block?.header.number ?? null;
      }),
    );
  }

  async #plausibleHead(endpoint: Endpoint): Promise<BlockHeader> {
    const head = await fetchHead(endpoint);
    if (this.#best.isPlausible(head.number)) {
      this.#accept(endpoint, head.number);
      return head;
    }
    // The head of an endpoint that is too far behind is recorded, so that the other endpoints are called first.
    if (this.#best.isBehind(head.number)) endpoint.head = head.number;
    const again = await fetchHead(endpoint);
    if (isNear(again.number, head.number) && (await this.#isConfirmed(endpoint, again.number))) {
      endpoint.head = again.number;
      this.#best.replace(again.number);
      return again;
    }
    throw new RpcFailure('implausible-head', `${head.number} after ${this.#best.number ?? 'none'}`);
  }

  #accept(endpoint: Endpoint, number: number): void {
    endpoint.head = number;
    this.#best.accept(number);
  }

  /**
   * Whether an implausible head is confirmed: another endpoint serves about the same head. If no other endpoint can be called, the head is
   * confirmed when heads have been implausible for IMPLAUSIBLE_MS_MAX. On a chain with a single endpoint, a head that is too far ahead is
   * confirmed immediately.
   */
  async #isConfirmed(endpoint: Endpoint, number: number): Promise<boolean> {
    const implausibleForMs = this.#best.implausibleForMs();
    const other = this.#pool.enterAlternative(endpoint);
    if (other === endpoint) {
      const isOnlyEndpoint = this.#pool.endpoints.length === 1;
      return (isOnlyEndpoint && this.#best.isAhead(number)) || implausibleForMs >= IMPLAUSIBLE_MS_MAX;
    }
    const head = await this.#tryHead(other);
    return head !== null && isNear(head.number, number);
  }

  async #tryHead(endpoint: Endpoint): Promise<BlockHeader | null> {
    return nullIfFailed(this.#pool.attempt(endpoint, fetchHead));
  }

  /** Compares the heads of all endpoints that may be called now. An endpoint that fails keeps its recorded head. */
  async #survey(): Promise<void> {
    this.#surveyedAt = this.#clock();
    if (this.#pool.endpoints.length < 2) return;
    const heads = await Promise.all(
      this.#pool.enterAll().map(async (endpoint) => ({ endpoint, head: await this.#tryHead(endpoint) })),
    );
    // Before the first head, the clock is the only reference: the head whose time is nearest to now is accepted first.
    const ageOf = (head: BlockHeader) => Math.abs(this.#clock() - head.time);
    const known = heads.flatMap(({ endpoint, head }) => (head ? [{ endpoint, head }] : []));
    for (const { endpoint, head } of known.sort((a, b) => ageOf(a.head) - ageOf(b.head))) {
      if (this.#best.isPlausible(head.number)) this.#accept(endpoint, head.number);
      else if (this.#best.isBehind(head.number)) endpoint.head = head.number;
    }
  }
}

async function fetchFinalizedBlock(endpoint: Endpoint): Promise<BloomedHeader | null> {
  try {
    return await fetchBlock(endpoint, 'finalized');
  } catch (error) {
    // Endpoints that do not support the tag `finalized` return errors with different texts.
    if (error instanceof RpcFailure && error.kind === 'rpc-error') throw new RpcFailure('unsupported');
    throw error;
  }
}

async function nullIfFailed<T>(attempt: Promise<T>): Promise<T | null> {
  try {
    return await attempt;
  } catch (error) {
    if (error instanceof RpcFailure) return null;
    throw error;
  }
}

const UNKNOWN: ReadonlySet<RpcFailureKind> = new Set(['not-found', 'unsupported']);

/** Null when every endpoint failed because it does not have the block or does not support the request. */
async function nullIfUnknown<T>(read: Promise<T | null>): Promise<T | null> {
  try {
    return await read;
  } catch (error) {
    if (error instanceof RpcFailure && UNKNOWN.has(error.kind)) return null;
    const isUnknown = error instanceof ChainUnavailable && [...error.failures.values()].every(isUnknownFailure);
    if (isUnknown) return null;
    throw error;
  }
}

function isUnknownFailure({ kind }: RpcFailure): boolean {
  return UNKNOWN.has(kind);
}
