// Limits how many connections of the store one shop, or the changes of one product, may use at the same time, and how many long responses
// are streamed at the same time.

import { Readable } from 'node:stream';
import type { FastifyReply } from 'fastify';
import type { Database, Statements } from '../../database/port.ts';
import { TimeBudget, Turns, inTurn } from '../../database/turns.ts';

/** The longest wait for a turn. It is shorter than the 30 seconds after which a client that has received no byte is disconnected. */
const WAIT_MAX_MS = 20_000;
const STALL_MS = 5_000;

/** Changes of one product wait for each other in the database anyway. Two at a time keep the row busy. */
const PRODUCT_LIMITS = { runningMax: 2, waitingMax: 1_000, stallMs: STALL_MS, waitMaxMs: WAIT_MAX_MS };
/** Half of the connections of the store, so that a shop whose requests all hang leaves the other half to other shops. */
const SHOP_LIMITS = { runningMax: 3, waitingMax: 2_000, stallMs: STALL_MS, waitMaxMs: WAIT_MAX_MS };

/** The limits of the streams of one shop. A stream uses a connection only while it reads a page. */
const STREAM_LIMITS = { runningMax: 2, waitingMax: 8, stallMs: WAIT_MAX_MS, waitMaxMs: WAIT_MAX_MS };
/** The limits of the streams of all shops together. While a stream makes a page, other requests wait for a few milliseconds. */
const ALL_STREAMS_LIMITS = { runningMax: 4, waitingMax: 100, stallMs: WAIT_MAX_MS, waitMaxMs: WAIT_MAX_MS };
const STREAM_BUFFER_BYTES = 64 * 1024;

export class StoreShares {
  readonly #main: Database;
  readonly #streamsOfShops = new Turns({ ...STREAM_LIMITS, failsTogether: false });
  readonly #streams = new Turns({ ...ALL_STREAMS_LIMITS, failsTogether: false });
  readonly #products = new Turns({ ...PRODUCT_LIMITS, failsTogether: true });
  readonly #shops = new Turns({ ...SHOP_LIMITS, failsTogether: false });

  constructor(main: Database) {
    this.#main = main;
  }

  /**
   * The statements of one request of a shop. They may use the database for `timeoutMs` in all. With `productId` the request changes this
   * product, and takes its turn among the changes of the product.
   */
  statementsOf(shopId: string, options: { productId?: string; timeoutMs: number }): Statements {
    const { productId, timeoutMs } = options;
    const inShop = <T>(work: () => Promise<T>) => this.#shops.take(shopId, work);
    const inProduct = <T>(work: () => Promise<T>) => this.#products.take(`${shopId} ${productId}`, () => inShop(work));
    return inTurn(this.#main, new TimeBudget(timeoutMs), productId === undefined ? inShop : inProduct);
  }

  /**
   * Sends a response part by part, when it is the turn of the shop. The next part is made when the client has read most of the earlier
   * parts. When a part fails, the connection is closed, so that the client does not take the response for complete.
   */
  streamTo(shopId: string, reply: FastifyReply, parts: AsyncGenerator<string>): Promise<FastifyReply> {
    return this.#streamsOfShops.take(shopId, () =>
      this.#streams.take('all', async () => {
        const stream = Readable.from(parts, { objectMode: false, highWaterMark: STREAM_BUFFER_BYTES });
        const ended = new Promise<void>((resolve) => stream.once('close', resolve));
        void reply.send(stream);
        await ended;
        return reply;
      }),
    );
  }
}
