// Responds to reads of products. The router parses and checks the target of a read once. Later reads of the same target are served by a stage
// before the router, because the router and its hooks take more time than the rest of such a read. The router and the stage use the same code
// to check the key, its rate limit and its scope, to read and to respond. The stage leaves a request to the router if the key or the target is
// not known, if the key lacks the scope, or if the product belongs to another shop.

import type { IncomingMessage, RequestListener, ServerResponse } from 'node:http';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { LRUCache } from 'lru-cache';
import type { ErrorResponse } from '../../http/error-response.ts';
import { sendErrorResponse } from '../../http/error-response.ts';
import type { RateLimitExceeded } from '../../http/rate-limit.ts';
import { toRateLimitError } from '../../http/rate-limit.ts';
import type { StoreScope } from '../keys/scopes.ts';
import { hasScope, peekCaller } from './authenticate.ts';
import type { KeyAccess } from './authenticate.ts';
import type { PreparedResponse } from './product-responses.ts';
import { writePrepared } from './product-responses.ts';
import type { StoreShares } from './shares.ts';

/** A read whose target was parsed and checked. */
export type KnownRead = {
  scope: StoreScope;
  /** The only shop for which the target is known: the shop of the product. Null: it is known for every shop. */
  shopId: string | null;
  /** The pattern of the route, for metrics. */
  route: string;
  /** Throws the errors of the request. `latest`: until when the read may wait for its turn, as a time of `performance.now()`. */
  read: (shopId: string, latest: number) => Promise<PreparedResponse>;
};

/** What the router does for each request. The stage does the same for the requests that it serves. */
export type StageOptions = {
  /** Notes the pattern of the route of a request. Null: requests are not observed. */
  noteRoute: ((request: IncomingMessage, route: string) => void) | null;
  /** Runs the work for a request in the trace of the request. Null: no traces are made. */
  enter: ((request: IncomingMessage, run: () => void) => void) | null;
  /** Called after each request that was served. */
  onServed: () => void;
  /** The response to an error. Logs an unexpected error. */
  toErrorResponse: (thrown: unknown, request: IncomingMessage, response: ServerResponse) => ErrorResponse;
};

/** At most this many targets are remembered. The router parses a target that was forgotten. */
const TARGETS_MAX = 10_000;
const TARGET_LENGTH_MAX = 512;

export class KnownReads {
  readonly #access: KeyAccess;
  readonly #shares: StoreShares;
  readonly #reads = new LRUCache<string, KnownRead>({ max: TARGETS_MAX });

  constructor(context: KeyAccess & { shares: StoreShares }) {
    this.#access = context;
    this.#shares = context.shares;
  }

  /**
   * Responds to a request that the router has received and `authorize` has admitted. `shopId` is the shop of the caller. Remembers the target
   * if the read succeeds.
   */
  async respond(
    { request, reply, shopId }: { request: FastifyRequest; reply: FastifyReply; shopId: string },
    read: KnownRead,
  ): Promise<FastifyReply> {
    const response = await this.#read(shopId, read);
    const target = request.raw.url ?? '';
    if (target.length <= TARGET_LENGTH_MAX) this.#reads.set(target, read);
    reply.hijack();
    writePrepared(request.raw, reply.raw, response);
    return reply;
  }

  /** Returns a listener that serves what it can, and passes all other requests to `route`. */
  before(route: RequestListener, options: StageOptions): RequestListener {
    return (request, response) => {
      const { method, url = '' } = request;
      const known = method === 'GET' || method === 'HEAD' ? this.#reads.get(url) : undefined;
      const caller = known && peekCaller(this.#access, request);
      if (!known || !caller || !hasScope(caller, known.scope)) return route(request, response);
      // Another shop gets its 404 from the router. A faster 404 of the stage would tell this shop that the product exists.
      if (known.shopId !== null && known.shopId !== caller.shopId) return route(request, response);
      options.noteRoute?.(request, known.route);
      const exceeded = this.#access.limiter.count('key', caller.keyId);
      const serve = () => void this.#serve(request, response, { known, shopId: caller.shopId, exceeded, options });
      if (options.enter) options.enter(request, serve);
      else serve();
    };
  }

  /** Never rejects. */
  async #serve(
    request: IncomingMessage,
    response: ServerResponse,
    { known, shopId, exceeded, options }: KnownRequest,
  ): Promise<void> {
    try {
      // Awaited only if it is a promise, because an await would delay the request.
      const counted = exceeded instanceof Promise ? await exceeded : exceeded;
      if (counted) {
        const { error, headers } = toRateLimitError(counted);
        // Responses of the router have `cache-control` before the headers of the rate limit. The order is the same here.
        const ordered = { 'cache-control': 'no-store', ...headers };
        return sendErrorResponse(request, response, options.toErrorResponse(error, request, response), ordered);
      }
      const prepared = await this.#read(shopId, known);
      writePrepared(request, response, prepared);
      options.onServed();
    } catch (error) {
      sendErrorResponse(request, response, options.toErrorResponse(error, request, response));
    }
  }

  #read(shopId: string, { read }: KnownRead): Promise<PreparedResponse> {
    return this.#shares.admit(shopId, (latest) => read(shopId, latest));
  }
}

type KnownRequest = {
  known: KnownRead;
  shopId: string;
  exceeded: RateLimitExceeded | null | Promise<RateLimitExceeded | null>;
  options: StageOptions;
};
