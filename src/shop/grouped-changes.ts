// Groups the changes of stock that wait at the same time, so that many changes share their statements and a commit. Each change keeps its
// own log entry, event, result and idempotency key. The changes of one product are made in the order of their arrival. A product that
// another transaction has locked delays only its own changes. A change is reported after its group was committed.

import type { Clock } from '../platform/core/clock.ts';
import { Deadline } from '../platform/core/deadline.ts';
import { ServiceError } from '../platform/core/errors.ts';
import type { SecretKeys } from '../platform/core/secret-keys.ts';
import type { Queryable, Statements } from '../platform/database/port.ts';
import { isStuck, repeatAborted } from '../platform/database/port.ts';
import { tooMany } from '../platform/resilience/fair-queue.ts';
import type { OnceRequest, OnceResponse, RepeatableResponse } from './idempotency.ts';
import { claimRequests, keepResponses } from './idempotency.ts';

/** What happens to the changes of a product that another transaction has locked: they wait for the lock, or they are not made. */
export type WhenLocked = 'wait' | 'skip';

export type GroupedChangesOptions<Request extends { productIds: readonly string[] }> = {
  /**
   * Returns the interface for the statements of one group of changes of a shop. The interface rejects statements that would begin after
   * `startBy`. `productId` is set if all changes of the group are of one product that another transaction has locked.
   */
  statementsOf: (shopId: string, options: { productId?: string; startBy: Deadline }) => Statements;
  clock: Clock;
  secretKeys: SecretKeys;
  /** Makes changes of a shop in their order. The outcomes have the same order. */
  write: (
    db: Queryable | Statements,
    shopId: string,
    requests: readonly Request[],
    at: { now: number; locked: WhenLocked },
  ) => Promise<Outcome[]>;
  /** Whether `write` needs a transaction. Otherwise a group without idempotency keys is written without one. */
  isTransaction?: boolean;
  /** The most changes in a group. Limits the memory and the SQL parameters of a group: the larger the changes, the smaller the limit must be. */
  sizeMax: number;
};

/** The result of one change, the error of the change, or `locked` if the change was not made. */
export type Outcome = OnceResponse | ServiceError | 'locked';

/** The most groups of a shop at a time. One group is executed while the commit of another one is written to disk. */
const GROUPS_MAX = 2;

export type ChangeOptions = { once: OnceRequest | null; startBy: Deadline };

type Waiting<Request> = PromiseWithResolvers<OnceResponse> & { request: Request } & ChangeOptions;

export class GroupedChanges<Request extends { productIds: readonly string[] }> {
  readonly #options: GroupedChangesOptions<Request>;
  readonly #shops = new Map<string, ShopChanges<Request>>();

  constructor(options: GroupedChangesOptions<Request>) {
    this.#options = options;
  }

  /**
   * Makes a change. With `once`, a repeated request gets its stored response. Throws the error that `write` returns for the change, and the
   * errors of `runOnce`. Throws `unavailable` and changes nothing if the change has not begun by `startBy`.
   */
  change(shopId: string, request: Request, options: ChangeOptions): Promise<OnceResponse> {
    let changes = this.#shops.get(shopId);
    if (!changes) {
      changes = new ShopChanges(shopId, this.#options, () => this.#shops.delete(shopId));
      this.#shops.set(shopId, changes);
    }
    return changes.add(request, options);
  }
}

/** Returns the earliest deadline of the changes, so that the group begins in time for all of them. */
function startByOf(group: readonly Waiting<unknown>[]): Deadline {
  return group.reduce((earliest, { startBy }) => earliest.earlierOf(startBy), Deadline.none);
}

/** The changes of one shop that wait or are being made. */
class ShopChanges<Request extends { productIds: readonly string[] }> {
  readonly #shopId: string;
  readonly #options: GroupedChangesOptions<Request>;
  readonly #onIdle: () => void;
  readonly #waiting = new Set<Waiting<Request>>();
  /** The products of the groups that are being made. Their next changes wait, so that the order is kept. */
  readonly #busy = new Set<string>();
  /** The changes of products that another transaction has locked, by product. They are made in groups of their own. */
  readonly #ofLocked = new Map<string, Waiting<Request>[]>();
  #groups = 0;
  #isScheduled = false;

  /** `onIdle` is called once, when no change is left. */
  constructor(shopId: string, options: GroupedChangesOptions<Request>, onIdle: () => void) {
    this.#shopId = shopId;
    this.#options = options;
    this.#onIdle = onIdle;
  }

  add(request: Request, { once, startBy }: ChangeOptions): Promise<OnceResponse> {
    const waiting = { ...Promise.withResolvers<OnceResponse>(), request, once, startBy };
    const locked = request.productIds.find((id) => this.#ofLocked.has(id));
    if (locked !== undefined) this.#ofLocked.get(locked)?.push(waiting);
    else {
      this.#waiting.add(waiting);
      this.#schedule();
    }
    return waiting.promise;
  }

  /** A group is made after the event loop has handled all events that are ready now, so that requests that arrive together share a group. */
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

  #take(): Waiting<Request>[] {
    const group: Waiting<Request>[] = [];
    const skipped = new Set(this.#busy);
    for (const waiting of this.#waiting) {
      if (group.length === this.#options.sizeMax) break;
      const { productIds } = waiting.request;
      if (productIds.some((id) => skipped.has(id))) {
        // A later change must not overtake this one at any of its products.
        for (const id of productIds) skipped.add(id);
        continue;
      }
      this.#waiting.delete(waiting);
      if (waiting.startBy.hasPassed) waiting.reject(tooMany());
      else group.push(waiting);
    }
    return group;
  }

  async #make(group: readonly Waiting<Request>[]): Promise<void> {
    const products = new Set(group.flatMap(({ request }) => request.productIds));
    for (const product of products) this.#busy.add(product);
    this.#groups += 1;
    this.#schedule();
    try {
      const locked = await this.#write(
        group,
        this.#options.statementsOf(this.#shopId, { startBy: startByOf(group) }),
        'skip',
      );
      const left = new Set([...locked, ...this.#waiting]);
      for (const { request } of locked) {
        const [product = ''] = request.productIds;
        const first = [...left].filter((waiting) => waiting.request.productIds.includes(product));
        for (const waiting of first) left.delete(waiting);
        if (first.length > 0) void this.#makeOfLocked(product, first);
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
    // A scheduled group calls this again. A second call of `onIdle` would remove the successor of this object, with its changes.
    const isIdle = !this.#isScheduled && this.#waiting.size === 0 && this.#groups === 0 && this.#ofLocked.size === 0;
    if (isIdle) this.#onIdle();
  }

  #rejectWaiting(): void {
    for (const { reject } of this.#waiting) reject(tooMany());
    this.#waiting.clear();
  }

  /** Makes the changes of a product that another transaction has locked. If the product stays locked, all its waiting changes fail. */
  async #makeOfLocked(product: string, first: Waiting<Request>[]): Promise<void> {
    for (const waiting of first) this.#waiting.delete(waiting);
    this.#ofLocked.set(product, first);
    while (first.length > 0) {
      const group = first.splice(0, this.#options.sizeMax);
      try {
        const options = { productId: product, startBy: startByOf(group) };
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
    group: readonly Waiting<Request>[],
    statements: Statements,
    locked: WhenLocked,
  ): Promise<Waiting<Request>[]> {
    const needsTransaction = this.#options.isTransaction || group.some(({ once }) => once !== null);
    const at = { now: this.#options.clock(), locked };
    const outcomes = await repeatAborted(() =>
      needsTransaction
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

  #writeAll(db: Queryable | Statements, group: readonly Waiting<Request>[], at: WriteTime): Promise<Outcome[]> {
    const requests = group.map(({ request }) => request);
    return requests.length === 0 ? Promise.resolve([]) : this.#options.write(db, this.#shopId, requests, at);
  }

  /** Makes a group in a transaction. Requests whose responses are stored are not executed, and the responses of the others are stored. */
  async #writeOnce(tx: Queryable, group: readonly Waiting<Request>[], at: WriteTime): Promise<Outcome[]> {
    const context = { now: at.now, secretKeys: this.#options.secretKeys };
    const keyed = group.flatMap((waiting) => (waiting.once ? [{ waiting, once: waiting.once }] : []));
    const requests = keyed.map(({ once }) => once);
    const claims = requests.length === 0 ? [] : await claimRequests(tx, requests, context);
    const outcomes = new Map<Waiting<Request>, Outcome>();
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
}

type WriteTime = { now: number; locked: WhenLocked };
