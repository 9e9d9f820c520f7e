// Compares the data of one endpoint with the data of the other endpoints of the chain, so that one wrong endpoint cannot cause wrong data to
// be stored.

import type { BlockHeader } from '../../../market/chain-log/chain-event.ts';
import type { Clock } from '../../../platform/core/clock.ts';
import type { Hex } from '../../../platform/core/evm.ts';
import type { Log } from '../../../platform/core/log.ts';
import type { Dispute, ReadKind } from './disputes.ts';
import { Disputes } from './disputes.ts';
import type { EndpointPool } from './endpoint-pool.ts';
import { LAG_MAX } from './endpoint-pool.ts';
import type { Endpoint } from './endpoint.ts';
import { fetchBlock, fetchHead } from './fetch-block.ts';
import { RpcFailure } from './rpc-failure.ts';
import { toQuantity } from './rpc-values.ts';

/** `new`: new blocks, calls to contracts, and blocks that are read again. `all`: also ranges of past blocks. */
export type ComparedReads = 'all' | 'new' | 'off';

export type ComparisonStatus = {
  /** `one-endpoint`: there is no second endpoint, so nothing is compared. */
  compared: ComparedReads | 'one-endpoint';
  /** Blocks that were accepted without a comparison since the process started. */
  uncompared: number;
  /** Calls to contracts, and reads of transactions, that were accepted without a comparison since the process started. */
  uncomparedCalls: number;
  /**
   * The oldest dispute about a new block. If there is none, the oldest dispute about another read. Disputed data is not stored. Null while the
   * endpoints agree.
   */
  disputed: Dispute | null;
};

/** A read that several endpoints can make. `R` is the response of one of them. */
export type ComparedRead<R extends { endpoint: Endpoint }> = {
  kind: ReadKind;
  /** The same for every attempt of one read, so that an agreement in a later attempt ends the dispute. */
  topic: string;
  /** The last block that is read. */
  block: number;
  /** How many blocks are read; 0 for a call. */
  blocks: number;
  /** Returns the same text for two responses that agree. */
  toComparable: (response: R) => string;
  /** Throws RpcFailure. */
  fetch: (endpoint: Endpoint) => Promise<R>;
  /**
   * Whether different responses show that an endpoint is wrong. False if the response may depend on the settings of the endpoint, such as its
   * gas limit. If false, no endpoint counts as failed, and no dispute is recorded.
   */
  isEvidence?: boolean;
  /** Called if the response is accepted without a comparison although reads of this kind are compared, because no other endpoint responded. */
  onUncompared?: OnUncompared;
};

export type OnUncompared = () => void;

/**
 * `accepted`: the response may be stored. `outvoted`: two other endpoints agree on a different response. `disputed`: another endpoint
 * contradicts it, and no two endpoints agree. `awaited`: no endpoint contradicts it, and an endpoint that could confirm it is expected to
 * respond soon.
 */
export type Verdict = 'accepted' | 'outvoted' | 'disputed' | 'awaited';

export type EndpointComparisonOptions = { pool: EndpointPool; compared: ComparedReads; clock: Clock; log: Log };

/**
 * The time limit of three waits:
 * - for an endpoint that lacks a block. The wait ends when the newest block of the endpoint has not changed for this long. There is no wait
 *   for an endpoint whose newest block is more than LAG_MAX blocks lower than the missing block.
 * - for an endpoint that fails to return a range of past blocks. The wait ends when the endpoint has returned no range for this long.
 * - before a stored block is reverted. One endpoint has replaced this block, and another endpoint still has this block as its newest block.
 */
const WAIT_MS = 60_000;
export class EndpointComparison {
  readonly #options: EndpointComparisonOptions;
  /** For each endpoint that lacked a block at its last comparison: the head of the endpoint, and since when this is its head. */
  readonly #behind = new Map<Endpoint, { head: number | null; since: number }>();
  /** Since when each endpoint has returned no range of past blocks. */
  readonly #failingSince = new Map<Endpoint, number>();
  /** For each endpoint whose newest block another endpoint has replaced: the hash of this block, and since when the replacement is known. */
  readonly #standing = new Map<Endpoint, { hash: Hex; since: number }>();
  readonly #disputes: Disputes;
  #uncompared = 0;
  #uncomparedCalls = 0;

  constructor(options: EndpointComparisonOptions) {
    this.#options = options;
    this.#disputes = new Disputes(options.clock);
  }

  /** Whether reads of this kind are compared. False with a single endpoint. */
  compares(kind: ReadKind): boolean {
    const { pool, compared } = this.#options;
    return pool.endpoints.length > 1 && (compared === 'all' || (compared === 'new' && kind !== 'past'));
  }

  status(): ComparisonStatus {
    const { pool, compared } = this.#options;
    return {
      compared: pool.endpoints.length > 1 ? compared : 'one-endpoint',
      uncompared: this.#uncompared,
      uncomparedCalls: this.#uncomparedCalls,
      disputed: this.#disputes.first(),
    };
  }

  /**
   * Calls `fetch` now for the second endpoint, whose response will probably be compared with the response of the first endpoint. The two
   * endpoints then respond at the same time. The returned function returns the early response for the second endpoint, and calls `fetch`
   * for every other endpoint. If reads of this kind are not compared, nothing is called now.
   */
  fetchAhead<R>(kind: ReadKind, fetch: (endpoint: Endpoint) => Promise<R>): (endpoint: Endpoint) => Promise<R> {
    const [, second] = this.compares(kind) ? this.#options.pool.inOrder() : [];
    if (!second) return fetch;
    const response = second.verify().then(() => fetch(second));
    // Without this handler, a failed response that is never compared would be an unhandled rejection. A failure is recorded when the response
    // is compared.
    response.catch(() => undefined);
    return (endpoint) => (endpoint === second ? response : fetch(endpoint));
  }

  /**
   * Whether the response `first` may be stored. An endpoint counts as failed if two other endpoints agree on a different response (but see
   * `isEvidence`). If no other endpoint responds, and WAIT_MS has passed for each endpoint that is waited for, the response is accepted without
   * a comparison, and counted. A response is also accepted and counted if reads of this kind are not compared. Blocks that are read again are
   * never accepted without a comparison that the settings demand.
   */
  async judge<R extends { endpoint: Endpoint }>(read: ComparedRead<R>, first: R): Promise<Verdict> {
    if (!this.compares(read.kind)) return this.acceptUncompared(read);
    const { pool } = this.#options;
    if (read.kind === 'past') this.#failingSince.delete(first.endpoint);
    const votes = new Map<string, Endpoint[]>([[read.toComparable(first), [first.endpoint]]]);
    let isAwaited = false;
    for (const other of pool.endpoints) {
      if (other === first.endpoint) continue;
      const second = await this.#tryFetch(other, read.fetch);
      if (typeof second === 'string') {
        if (this.#isWaitedFor(other, read, second)) isAwaited = true;
        continue;
      }
      this.#behind.delete(other);
      if (read.kind === 'past') this.#failingSince.delete(other);
      const key = read.toComparable(second);
      votes.set(key, [...(votes.get(key) ?? []), other]);
      const majority = [...votes.values()].find((endpoints) => endpoints.length > 1);
      if (majority) return this.#decide(read, { first: first.endpoint, majority, voters: [...votes.values()].flat() });
    }
    if (votes.size > 1) return this.#dispute(read);
    if (isAwaited || read.kind === 'again') return 'awaited';
    read.onUncompared?.();
    return this.acceptUncompared(read);
  }

  /** Counts a response that is accepted without a comparison, and ends the dispute about it. */
  acceptUncompared({ kind, topic, blocks }: { kind: ReadKind; topic: string; blocks: number }): 'accepted' {
    if (kind === 'call') this.#uncomparedCalls += 1;
    else this.#uncompared += blocks;
    this.#disputes.end(topic);
    return 'accepted';
  }

  /**
   * Endpoint A, whose head is `head`, served another block with the number of the stored block `block`. Returns whether an endpoint B
   * contradicts A. B contradicts A if B has `block`, and one of these holds: the next block of B has `block` as its parent; the head of B is at
   * least as high as `head`. If so, all endpoints with another block of this number count as failed, because they serve a fork. Also returns
   * true, for at most WAIT_MS, if `block` is the newest block of B: it is not known yet which of the two endpoints is right. Always false with a
   * single endpoint. Does not depend on which reads are compared.
   */
  async isStillContinued(block: Pick<BlockHeader, 'number' | 'hash'>, head: number): Promise<boolean> {
    const { pool } = this.#options;
    if (pool.endpoints.length < 2) return false;
    const views = await Promise.all(
      pool.endpoints.map(async (endpoint) => {
        const view = await this.#tryFetch(endpoint, (one) => fetchView(one, block.number));
        return { endpoint, view: typeof view === 'string' ? null : view };
      }),
    );
    const isContinuedBy = (view: BlockView) =>
      view.hash === block.hash && (view.nextParent === block.hash || view.head >= head);
    if (!views.some(({ view }) => view !== null && isContinuedBy(view))) {
      return views.filter(({ endpoint, view }) => this.#standsAt(endpoint, view, block.hash)).length > 0;
    }
    for (const { endpoint, view } of views)
      if (view?.hash && view.hash !== block.hash) contradict(endpoint, block.number);
    return true;
  }

  #decide(
    { topic, block, isEvidence = true }: { topic: string; block: number; isEvidence?: boolean },
    { first, majority, voters }: { first: Endpoint; majority: readonly Endpoint[]; voters: readonly Endpoint[] },
  ): Verdict {
    this.#disputes.end(topic);
    const outvoted = isEvidence ? voters.filter((endpoint) => !majority.includes(endpoint)) : [];
    for (const endpoint of outvoted) contradict(endpoint, block);
    return majority.includes(first) ? 'accepted' : 'outvoted';
  }

  #dispute(read: { kind: ReadKind; topic: string; block: number; isEvidence?: boolean }): 'disputed' {
    const { kind, topic, block, isEvidence = true } = read;
    if (!isEvidence) return 'disputed';
    const { log, pool } = this.#options;
    if (this.#disputes.add(topic, { kind, block })) {
      const chain = pool.chain.id;
      log.warn('the endpoints of a chain disagree, and the disputed data is not stored', {
        chain,
        kind,
        block,
      });
    }
    return 'disputed';
  }

  /** Returns `failed` also when the breaker of the endpoint is open. */
  async #tryFetch<R>(
    endpoint: Endpoint,
    fetch: (endpoint: Endpoint) => Promise<R>,
  ): Promise<R | 'not-found' | 'failed'> {
    if (!endpoint.enter()) return 'failed';
    try {
      return await this.#options.pool.attempt(endpoint, fetch);
    } catch (error) {
      if (!(error instanceof RpcFailure) || error.kind === 'closed') throw error;
      return error.kind === 'not-found' ? 'not-found' : 'failed';
    }
  }

  /** Whether the newest block of the endpoint has this hash, and this was first seen less than WAIT_MS ago. */
  #standsAt(endpoint: Endpoint, view: BlockView | null, hash: Hex): boolean {
    if (view?.hash !== hash || view.nextParent !== null) {
      this.#standing.delete(endpoint);
      return false;
    }
    const now = this.#options.clock();
    const known = this.#standing.get(endpoint);
    if (known?.hash === hash) return now - known.since < WAIT_MS;
    this.#standing.set(endpoint, { hash, since: now });
    return true;
  }

  #isWaitedFor(
    endpoint: Endpoint,
    { kind, block }: { kind: ReadKind; block: number },
    outcome: 'not-found' | 'failed',
  ): boolean {
    const now = this.#options.clock();
    if (kind === 'past') {
      const since = this.#failingSince.get(endpoint) ?? now;
      this.#failingSince.set(endpoint, since);
      return now - since < WAIT_MS;
    }
    if (outcome === 'failed') return false;
    // An endpoint that is still syncing is not waited for: its head changes each time, but may be days behind.
    if (endpoint.head !== null && endpoint.head < block - LAG_MAX) return false;
    const known = this.#behind.get(endpoint);
    if (known && known.head === endpoint.head) return now - known.since < WAIT_MS;
    this.#behind.set(endpoint, { head: endpoint.head, since: now });
    return true;
  }
}

function contradict(endpoint: Endpoint, block: number): void {
  endpoint.failed(new RpcFailure('contradicted', `block ${block}`));
}

/**
 * What an endpoint has at a block number: the hash of the block, and the parent hash of the next block. A hash is null if the endpoint
 * does not have its block. `head`: the number of the endpoint's newest block.
 */
type BlockView = { hash: Hex | null; nextParent: Hex | null; head: number };

async function fetchView(endpoint: Endpoint, number: number): Promise<BlockView> {
  const at = await fetchBlock(endpoint, toQuantity(number));
  const next = await fetchBlock(endpoint, toQuantity(number + 1));
  const { number: head } = await fetchHead(endpoint);
  return { hash: at?.header.hash ?? null, nextParent: next?.header.parentHash ?? null, head };
}
