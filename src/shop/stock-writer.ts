// Groups the changes of stock that wait at the same time, so that many changes share a statement and a commit. Each change keeps its own
// log entry, event, result and idempotency key. The changes of one product are made in the order of their arrival. A product that another
// transaction has locked delays only its own changes. A change is reported after its group was committed.

import type { Clock } from '../core/clock.ts';
import { ServiceError } from '../core/errors.ts';
import type { SecretKeys } from '../core/secret-keys.ts';
import { isId } from '../core/time-ordered-id.ts';
import type { Queryable, Statements } from '../database/port.ts';
import { repeatAborted } from '../database/port.ts';
import { isStuck, tooMany } from '../database/turns.ts';
import type { OnceRequest, OnceResponse, RepeatableResponse } from './idempotency.ts';
import { claimRequests, keepResponses, toFirstResponse } from './idempotency.ts';
import type { AppliedStockChange, StockChangeResult, StockGroupOptions } from './queries/stock.ts';
import type { StockRequest } from './stock.ts';
import { changeStocks } from './stock.ts';

export type StockWriterOptions = {
  /**
   * Returns the statements of one group of changes of a shop, which begin by `latest`, a time of `performance.now()`. If all changes of the
   * group wait for one product, it is `productId`.
   */
  statementsOf: (shopId: string, options: { productId?: string; latest: number }) => Statements;
  clock: Clock;
  secretKeys: SecretKeys;
  /** The response that is stored for a request with an idempotency key. */
  toResponse: (change: AppliedStockChange) => RepeatableResponse;
};

/** The most changes in a group. */
const GROUP_SIZE_MAX = 100;
/** The most groups of a shop at a time. One group is executed while the commit of another one is written to disk. */
const GROUPS_MAX = 2;

type ChangeOptions = { once: OnceRequest | null; latest: number };

type Waiting = PromiseWithResolvers<OnceResponse> & { request: StockRequest } & ChangeOptions;

export class StockWriter {
  readonly #options: StockWriterOptions;
  readonly #shops = new Map<string, ShopChanges>();

  constructor(options: StockWriterOptions) {
    this.#options = options;
  }

  /**
   * Changes stock. With `once`, a repeated request gets its stored response. Throws `not_found` if the shop has no such product, `conflict` if
   * the stock does not equal `expected`, and the errors of `runOnce`. Throws `unavailable` and changes nothing if the change has not begun by
   * `latest`, a time of `performance.now()`.
   */
  async change(shopId: string, request: StockRequest, options: ChangeOptions): Promise<OnceResponse> {
    // Text that is not a product id is not sent to the database, which does not accept every text.
    if (!isId('prod', request.productId)) throw missing();
    let changes = this.#shops.get(shopId);
    if (!changes) {
      changes = new ShopChanges(shopId, this.#options, () => this.#shops.delete(shopId));
      this.#shops.set(shopId, changes);
    }
    return changes.add(request, options);
  }
}

/** A group begins in time for all its changes. */
function latestOf(group: readonly Waiting[]): number {
  return group.reduce((earliest, { latest }) => Math.min(earliest, latest), Number.POSITIVE_INFINITY);
}

/** The changes of one shop that wait or are being made. */
class ShopChanges {
  readonly #shopId: string;
  readonly #options: StockWriterOptions;
  readonly #onIdle: () => void;
  readonly #waiting = new Set<Waiting>();
  /** The products of the groups that are being made. Their next changes wait, so that the order is kept. */
  readonly #busy = new Set<string>();
  /** The changes of products that another transaction has locked, by product. They are made in groups of their own. */
  readonly #ofLocked = new Map<string, Waiting[]>();
  #groups = 0;
  #isScheduled = false;

  /** `onIdle` is called when no change is left. */
  constructor(shopId: string, options: StockWriterOptions, onIdle: () => void) {
    this.#shopId = shopId;
    this.#options = options;
    this.#onIdle = onIdle;
  }

  add(request: StockRequest, { once, latest }: ChangeOptions): Promise<OnceResponse> {
    const waiting = { ...Promise.withResolvers<OnceResponse>(), request, once, latest };
    const ofLocked = this.#ofLocked.get(request.productId);
    if (ofLocked) ofLocked.push(waiting);
    else {
      this.#waiting.add(waiting);
      this.#schedule();
    }
    return waiting.promise;
  }

  /** A group is made after the events that are ready now, so that the requests which arrive together share it. */
  #schedule(): void {
    if (this.#isScheduled || this.#groups >= GROUPS_MAX || this.#waiting.size === 0) return;
    this.#isScheduled = true;
    setImmediate(() => {
      this.#isScheduled = false;
      const group = this.#take();
      if (group.length > 0) void this.#make(group);
      else this.#noteIdle();
    });
  }

  #take(): Waiting[] {
    const group: Waiting[] = [];
    const now = performance.now();
    for (const waiting of this.#waiting) {
      if (group.length === GROUP_SIZE_MAX) break;
      if (this.#busy.has(waiting.request.productId)) continue;
      this.#waiting.delete(waiting);
      if (waiting.latest > now) group.push(waiting);
      else waiting.reject(tooMany());
    }
    return group;
  }

  async #make(group: readonly Waiting[]): Promise<void> {
    const products = new Set(group.map(({ request }) => request.productId));
    for (const product of products) this.#busy.add(product);
    this.#groups += 1;
    this.#schedule();
    try {
      const locked = await this.#write(
        group,
        this.#options.statementsOf(this.#shopId, { latest: latestOf(group) }),
        'skip',
      );
      for (const product of new Set(locked.map(({ request }) => request.productId))) {
        void this.#makeOfLocked(
          product,
          [...locked, ...this.#waiting].filter(({ request }) => request.productId === product),
        );
      }
    } catch (error) {
      for (const { reject } of group) reject(error);
      // The group has waited for no lock, so it missed its deadline because the database hangs. The changes in the queue would miss their
      // deadlines too.
      if (isStuck(error)) this.#rejectWaiting();
    } finally {
      this.#groups -= 1;
      for (const product of products) this.#busy.delete(product);
      this.#schedule();
      this.#noteIdle();
    }
  }

  #noteIdle(): void {
    if (this.#waiting.size === 0 && this.#groups === 0 && this.#ofLocked.size === 0) this.#onIdle();
  }

  #rejectWaiting(): void {
    for (const { reject } of this.#waiting) reject(tooMany());
    this.#waiting.clear();
  }

  /** Makes the changes of a product that another transaction has locked. If the product stays locked, all its waiting changes fail. */
  async #makeOfLocked(product: string, first: Waiting[]): Promise<void> {
    for (const waiting of first) this.#waiting.delete(waiting);
    this.#ofLocked.set(product, first);
    while (first.length > 0) {
      const group = first.splice(0, GROUP_SIZE_MAX);
      try {
        const options = { productId: product, latest: latestOf(group) };
        const left = await this.#write(group, this.#options.statementsOf(this.#shopId, options), 'wait');
        for (const { reject } of left) reject(tooMany());
      } catch (error) {
        for (const { reject } of group) reject(error);
        if (isStuck(error) || error instanceof ServiceError)
          for (const { reject } of first.splice(0)) reject(tooMany());
      }
    }
    this.#ofLocked.delete(product);
    this.#noteIdle();
  }

  /** Makes a group and settles its changes after the commit. Returns the changes of locked products, which were not made. */
  async #write(
    group: readonly Waiting[],
    statements: Statements,
    locked: StockGroupOptions['locked'],
  ): Promise<Waiting[]> {
    const isRepeatable = group.some(({ once }) => once !== null);
    const at = { now: this.#options.clock(), locked };
    const outcomes = await repeatAborted(() =>
      isRepeatable
        ? statements.transaction((tx) => this.#writeOnce(tx, group, at))
        : this.#writeAll(statements, group, at),
    );
    return group.filter((waiting, index) => {
      const outcome = outcomes[index] ?? 'locked';
      if (outcome === 'locked') return true;
      if (outcome instanceof ServiceError) waiting.reject(outcome);
      else waiting.resolve(outcome);
      return false;
    });
  }

  async #writeAll(db: Queryable | Statements, group: readonly Waiting[], at: WriteTime): Promise<Outcome[]> {
    const results = await changeStocks(
      db,
      this.#shopId,
      group.map(({ request }) => request),
      at,
    );
    return results.map((result, index) => this.#toOutcome(result, group[index]?.request.expected ?? null));
  }

  /** Makes a group in a transaction. Requests whose responses are stored are not executed, and the responses of the others are stored. */
  async #writeOnce(tx: Queryable, group: readonly Waiting[], at: WriteTime): Promise<Outcome[]> {
    const context = { now: at.now, secretKeys: this.#options.secretKeys };
    const keyed = group.flatMap((waiting) => (waiting.once ? [{ waiting, once: waiting.once }] : []));
    const claims = await claimRequests(
      tx,
      keyed.map(({ once }) => once),
      context,
    );
    const outcomes = new Map<Waiting, Outcome>();
    for (const [index, { waiting }] of keyed.entries()) {
      const claim = claims[index] ?? 'new';
      if (claim !== 'new') outcomes.set(waiting, claim);
    }
    const executed = group.filter((waiting) => !outcomes.has(waiting));
    const responses: { request: OnceRequest; response: RepeatableResponse }[] = [];
    for (const [index, outcome] of (await this.#writeAll(tx, executed, at)).entries()) {
      const waiting = executed[index];
      if (!waiting) continue;
      outcomes.set(waiting, outcome);
      if (waiting.once && outcome !== 'locked' && !(outcome instanceof ServiceError)) {
        responses.push({ request: waiting.once, response: { ...outcome.response, hasSecret: false } });
      }
    }
    if (responses.length > 0) await keepResponses(tx, responses, context);
    return group.map((waiting) => outcomes.get(waiting) ?? 'locked');
  }

  #toOutcome(result: StockChangeResult, expected: number | null): Outcome {
    if (result.outcome === 'applied') return toFirstResponse(this.#options.toResponse(result.change));
    if (result.outcome === 'unexpected') return unexpected(result.level, expected);
    return result.outcome === 'locked' ? 'locked' : missing();
  }
}

type WriteTime = { now: number; locked: StockGroupOptions['locked'] };
/** The result of one change, its error, or `locked` if it was not made. */
type Outcome = OnceResponse | ServiceError | 'locked';

function missing(): ServiceError {
  return new ServiceError('not_found', 'Product not found');
}

function unexpected(level: number, expected: number | null): ServiceError {
  const message = `stock is ${level}, not ${expected}`;
  return new ServiceError('conflict', `The ${message}`, { details: [{ path: 'expected', message }] });
}
