// Limits for fairness between shops: how many requests of a shop wait, how many connections a shop uses, how many changes of one product run
// at the same time, and how many long responses are streamed at the same time.

import { Readable } from 'node:stream';
import type { FastifyReply } from 'fastify';
import { Deadline, TimeBudget } from '../../platform/core/deadline.ts';
import { ServiceError } from '../../platform/core/errors.ts';
import type { Log } from '../../platform/core/log.ts';
import type { Database, Statements } from '../../platform/database/port.ts';
import { isStuck } from '../../platform/database/port.ts';
import { FairQueue, tooMany } from '../../platform/resilience/fair-queue.ts';

/**
 * The time for which a request may use the database. The wait for its turn is not counted. After this time the response is a 503 and the
 * connection is released.
 */
export const REQUEST_TIMEOUT_MS = 5_000;
/** The same for a batch, and the longest wait for its turn. Together they stay below the same 30 seconds. */
export const BATCH_TIMEOUT_MS = 15_000;
export const BATCH_WAIT_MAX_MS = 10_000;
/**
 * The longest wait of a request, or of one page of a long response, for its turns. This wait and the time for the database must together
 * stay below 30 seconds, because a client that has received no byte for 30 seconds is disconnected.
 */
const WAIT_MAX_MS = 20_000;
/**
 * The longest wait of a request that shares statements with other requests. It is shorter than WAIT_MAX_MS, because the 30 seconds must also
 * contain two other time limits: the limit of the key check before the wait, and the limit of the last statement. This statement begins at
 * the end of the wait at the latest.
 */
const SHARED_WAIT_MAX_MS = 15_000;
/** A request is rejected earlier if no other request of its product or shop has begun or ended for this long. */
const STALL_MS = 5_000;

/**
 * The limit of a shop's requests in progress, as a multiple of the free places. Each request in progress takes one place. A shop that is
 * alone reaches this limit when it has two thirds of the places and one third is free.
 */
const SHARE_OF_FREE_PLACES = 2;
/** Changes of one product wait for each other in the database, so two at a time keep the row busy. */
const PRODUCT_RUNNING = 2;
/**
 * One shop may use all connections of the store except this many. So the other shops are served even if all requests of one shop hang.
 * The number is small, because a shop with fewer connections costs more CPU time for each request: the event loop then sleeps and wakes more
 * often.
 */
const CONNECTIONS_LEFT = 2;
/**
 * How many requests of one shop may have their turn at the same time on the embedded engine. This engine has one connection, and its
 * statements wait for this connection in an order of their own (platform/database/connection-order.ts).
 */
const SHOP_RUNNING_EMBEDDED = 8;

/** The limits for the streams of one shop. A stream uses a connection only while it reads a page. */
const SHOP_STREAMS = { places: () => 2, waitingMax: 8, refusal: tooMany };
/** The limits for the streams of all shops. Making a page delays other requests by a few milliseconds. */
const ALL_STREAMS = { places: () => 4, waitingMax: 100, refusal: tooMany };
const STREAM_BUFFER_BYTES = 64 * 1024;

/** Runs the work when it is its turn. */
type Take = <T>(work: () => Promise<T>) => Promise<T>;

export type StreamPace = {
  /** The longest wait of a part until the client has read enough of the earlier parts. A part is a page of a list, about 40 kB. */
  partMaxMs: number;
  /** The longest time for a complete response. */
  totalMaxMs: number;
};
const STREAM_PACE: StreamPace = { partMaxMs: 15_000, totalMaxMs: 10 * 60_000 };

export type StoreSharesOptions = {
  log: Log;
  /** The number of requests of all shops that may be in progress now. */
  requestsMax: () => number;
  pace?: StreamPace;
};

export class StoreShares {
  readonly #main: Database;
  readonly #log: Log;
  readonly #pace: StreamPace;
  /** Divides the places of all requests between shops, so that each shop always finds free places. */
  readonly #requests: FairQueue;
  readonly #streamsOfShops = new FairQueue(SHOP_STREAMS);
  readonly #streams = new FairQueue(ALL_STREAMS);
  readonly #products = new FairQueue({ places: () => PRODUCT_RUNNING, stallMs: STALL_MS, refusal: tooMany });
  readonly #shops: FairQueue;

  constructor(main: Database, { log, requestsMax, pace = STREAM_PACE }: StoreSharesOptions) {
    this.#main = main;
    const { max } = main.pool();
    const running = max === 1 ? SHOP_RUNNING_EMBEDDED : Math.max(1, max - CONNECTIONS_LEFT);
    this.#shops = new FairQueue({ places: () => running, stallMs: STALL_MS, refusal: tooMany });
    this.#log = log;
    this.#pace = pace;
    this.#requests = new FairQueue({ places: (taken) => SHARE_OF_FREE_PLACES * (requestsMax() - taken) });
  }

  /** The end of the wait of a request that begins to wait now. */
  startBy(): Deadline {
    return Deadline.after(WAIT_MAX_MS);
  }

  /**
   * The statements of one request of a shop, which may use the database for `timeoutMs` in total. If `productId` is given, the request
   * changes this product and waits for its turn among the changes of the product.
   */
  statementsOf(
    shopId: string,
    { productId, timeoutMs, startBy = this.startBy() }: { productId?: string; timeoutMs: number; startBy?: Deadline },
  ): Statements {
    const take = this.#turnOf(shopId, productId, startBy);
    return inTurn(this.#main, timeoutMs, (work) => this.#admit(shopId, () => take(work)));
  }

  /**
   * Counts a request of a shop while it waits for statements that it shares with other requests. `work` receives the end of the wait.
   * After this time, `work` must not wait for a statement to begin.
   */
  admit<T>(shopId: string, work: (startBy: Deadline) => Promise<T>): Promise<T> {
    const startBy = Deadline.after(SHARED_WAIT_MAX_MS);
    return this.#admit(shopId, () => work(startBy));
  }

  /**
   * Like `statementsOf`, for statements that several requests share. `admit` counts each of these requests. Rejects statements that would
   * begin after `startBy`, even if it is the turn of the shop.
   */
  sharedStatementsOf(shopId: string, { productId, startBy }: { productId?: string; startBy: Deadline }): Statements {
    const take = this.#turnOf(shopId, productId, startBy);
    return inTurn(this.#main, REQUEST_TIMEOUT_MS, (work) =>
      startBy.hasPassed ? Promise.reject(tooMany()) : take(work),
    );
  }

  /** Counts the request of a shop while the work runs. Throws `unavailable` if the shop has used its share. */
  async #admit<T>(shopId: string, work: () => Promise<T>): Promise<T> {
    if (!this.#requests.tryEnter(shopId)) throw tooManyOfShop();
    try {
      return await work();
    } finally {
      this.#requests.leave(shopId);
    }
  }

  #turnOf(shopId: string, productId: string | undefined, startBy: Deadline): Take {
    const inShop: Take = (work) => this.#shops.take(work, startBy, shopId);
    if (productId === undefined) return inShop;
    const product = `${shopId} ${productId}`;
    const inProduct: Take = async (work) => {
      try {
        return await inShop(work);
      } catch (error) {
        // The changes that wait for this product wait for the same row, and would probably fail too.
        if (isStuck(error)) this.#products.refuseWaiting(product);
        throw error;
      }
    };
    return (work) => this.#products.take(() => inProduct(work), startBy, product);
  }

  /**
   * Sends a response part by part, when it is the turn of the shop. The next part is made after the client has read most of the earlier
   * parts. If a part fails or the client reads too slowly, the connection is closed. The client can then tell that the response is
   * incomplete. `startBy`: the end of the wait for the turn. For a request that has waited before, it is the end of its first wait.
   */
  streamTo(
    shopId: string,
    reply: FastifyReply,
    parts: AsyncGenerator<string>,
    startBy = this.startBy(),
  ): Promise<FastifyReply> {
    const send = async () => {
      const { partMaxMs, totalMaxMs } = this.#pace;
      const fail = () => stream.destroy(new Error('the client reads too slowly'));
      const stream = Readable.from(limitPauses(parts, partMaxMs, fail), {
        objectMode: false,
        highWaterMark: STREAM_BUFFER_BYTES,
      });
      const timer = setTimeout(fail, totalMaxMs);
      stream.once('error', (error) => this.#log.warn('a streamed response ended early', { shop: shopId, error }));
      const ended = new Promise<void>((resolve) => stream.once('close', resolve));
      void reply.send(stream);
      await ended;
      clearTimeout(timer);
      return reply;
    };
    return this.#streamsOfShops.take(() => this.#streams.take(send, startBy), startBy, shopId);
  }
}

/** Passes the parts on. Calls `onSlow` if the next part is not requested within `maxMs`. */
async function* limitPauses(parts: AsyncGenerator<string>, maxMs: number, onSlow: () => void): AsyncGenerator<string> {
  for await (const part of parts) {
    const timer = setTimeout(onSlow, maxMs);
    try {
      yield part;
    } finally {
      clearTimeout(timer);
    }
  }
}

/**
 * The statements of a request. Each statement or transaction runs when it is the request's turn. The wait for the turn is not subtracted
 * from the time for the database.
 */
function inTurn(db: Database, timeoutMs: number, take: Take): Statements {
  const budget = new TimeBudget(timeoutMs);
  const run = <T>(use: (statements: Statements) => Promise<T>): Promise<T> =>
    take(() => budget.spend((leftMs) => use(db.within(leftMs))));
  return {
    query: (sql, params) => run((statements) => statements.query(sql, params)),
    queryPrepared: (sql, params) => run((statements) => statements.queryPrepared(sql, params)),
    transaction: (work) => run((statements) => statements.transaction(work)),
  };
}

function tooManyOfShop(): ServiceError {
  return new ServiceError('unavailable', 'Too many requests of this shop are in progress, try again soon');
}
