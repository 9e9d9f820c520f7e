// Reads the newest block, block headers by number, and the number of the finalized block. An implausible newest block is rejected until it
// is confirmed.

import type { BlockHeader } from '../../chain-log/chain-event.ts';
import type { Clock } from '../../core/clock.ts';
import type { Hex } from '../../core/evm.ts';
import { AHEAD_MAX, BestHead, isNear } from './best-head.ts';
import type { EndpointPool } from './endpoint-pool.ts';
import type { Endpoint } from './endpoint.ts';
import type { RpcFailureKind } from './rpc-failure.ts';
import { ChainUnavailable, invalidResponse, RpcFailure } from './rpc-failure.ts';
import type { BloomedHeader } from './rpc-values.ts';
import { readHeader, toQuantity } from './rpc-values.ts';

/** While no other endpoint can be called, an implausible head is accepted after this long: the chain may have been reset. */
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

  /** The newest block of the first endpoint that responds. It may be some blocks below the head returned before. */
  async head(): Promise<BlockHeader> {
    if (this.#clock() - this.#surveyedAt >= SURVEY_MS) await this.#survey();
    return this.#pool.read((endpoint) => this.#plausibleHead(endpoint));
  }

  /**
   * Null when no endpoint has a block of this number. For a number above the best head, null as soon as one endpoint does not have the
   * block.
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
   * Endpoint A, whose head is `head`, served another block with the number of `block`. Returns whether an endpoint B contradicts A: B has
   * `block`, and B has a next block whose parent is `block`, or a head at least as high as `head`. If so, all endpoints with another block
   * count as failed, because they serve a fork. Always false with a single endpoint.
   */
  async isDisputed(block: Pick<BlockHeader, 'number' | 'hash'>, head: number): Promise<boolean> {
    if (this.#pool.endpoints.length < 2) return false;
    const views = await Promise.all(
      this.#pool.enterAll().map(async (endpoint) => ({ endpoint, view: await this.#tryView(endpoint, block.number) })),
    );
    const isContinuedBy = (view: BlockView) =>
      view.hash === block.hash && (view.nextParent === block.hash || view.head >= head);
    if (!views.some(({ view }) => view !== null && isContinuedBy(view))) return false;
    for (const { endpoint, view } of views)
      if (view?.hash && view.hash !== block.hash && endpoint.enter()) await this.#tryFail(endpoint, block.number);
    return true;
  }

  async #tryView(endpoint: Endpoint, number: number): Promise<BlockView | null> {
    return nullIfFailed(
      this.#pool.attempt(endpoint, async () => {
        const at = await fetchBlock(endpoint, toQuantity(number));
        const next = await fetchBlock(endpoint, toQuantity(number + 1));
        const { number: head } = await fetchHead(endpoint);
        return { hash: at?.header.hash ?? null, nextParent: next?.header.parentHash ?? null, head };
      }),
    );
  }

  async #tryFail(endpoint: Endpoint, number: number): Promise<void> {
    const serveFork = () =>
      Promise.reject(new RpcFailure('wrong-chain', `another block ${number} than other endpoints`));
    await nullIfFailed(this.#pool.attempt(endpoint, serveFork));
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
   * Whether another endpoint serves about the same head. If no other endpoint can be called, implausible heads must have been seen for
   * IMPLAUSIBLE_MS_MAX. On a chain with a single endpoint, a head that is too far ahead is confirmed immediately.
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

async function fetchHead(endpoint: Endpoint): Promise<BlockHeader> {
  const block = await fetchBlock(endpoint, 'latest');
  if (!block) throw invalidResponse('there is no newest block');
  return block.header;
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

async function fetchBlock(endpoint: Endpoint, tag: string): Promise<BloomedHeader | null> {
  const [result] = await endpoint.send([{ method: 'eth_getBlockByNumber', params: [tag, false] }]);
  return readHeader(result);
}

/** What an endpoint has of a block: its hash, the parent of the next block, and the newest block. Null if it has no such block. */
type BlockView = { hash: Hex | null; nextParent: Hex | null; head: number };

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
