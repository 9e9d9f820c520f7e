// Who may use the routes of the intake interface. The public server requires an API key with the scope of the route. The local socket
// requires no key, because only the operator can open it.

import type { FastifyReply, FastifyRequest } from 'fastify';
import { describeError, OperatorError, ServiceError } from '../../platform/core/errors.ts';
import type { RateLimiter } from '../../platform/http/rate-limit.ts';
import { toRateLimitError } from '../../platform/http/rate-limit.ts';
import type { Log } from '../../platform/core/log.ts';
import type { Database } from '../../platform/database/port.ts';
import { isOutOfReach } from '../../platform/database/port.ts';
import type { Market } from '../../market/reads/market.ts';
import type { OrderContext } from '../../market/orders/submit.ts';
import type { Caller } from '../../shop/context.ts';
import type { KeyAccess } from '../../shop/http/authenticate.ts';
import { authenticate, lacksScope } from '../../shop/http/authenticate.ts';
import type { IntakeScope } from '../../shop/keys/scopes.ts';
import { INTAKE_SCOPES } from '../../shop/keys/scopes.ts';
import type { ImportContext } from '../import.ts';
import { ImportStopped } from '../import.ts';
import type { Importer } from '../ingest/products.ts';

export type IntakeContext = {
  records: ImportContext;
  orders: Omit<OrderContext, 'main'> & { main: Database };
  /** Provides exchange rates, and the name of this service as a marketplace, for the orders in responses. */
  market: Market;
};

type Authorize = (request: FastifyRequest, reply: FastifyReply) => Promise<void>;

export type IntakeAccess = {
  /** Returns a hook that rejects a request whose key has none of the scopes. */
  authorize(...scopes: IntakeScope[]): Authorize;
  /**
   * Returns a hook for the submission of an order. If at least one chain accepts orders without a key, the hook also admits a request
   * without a key. The route must then call `requireKey`.
   */
  authorizeSubmission(): Authorize;
  /** Throws `unauthorized` if the request has no key, and orders for this chain need a key. */
  requireKey(request: FastifyRequest, chain: string): void;
  scopesOf(request: FastifyRequest): ReadonlySet<string>;
  /** Returns the API key of an authorized request and the shop of the key. On the local socket, the operator imports. */
  importerOf(request: FastifyRequest): Importer;
  /** Whether column maps may have patterns. A malicious pattern can run for a very long time. */
  allowsPatterns: boolean;
  /** The largest accepted request body with records, in bytes. */
  recordsBytesMax: number;
  /**
   * Whether the response to an import may begin before the body has ended. nginx sends no more of the body once a response has begun, so
   * the response to a client that may be behind a proxy begins later.
   */
  respondsDuringBody: boolean;
  /** Describes the failure of an import in words that the client may read. */
  describeFailure: (cause: unknown) => string;
};

/** The largest body with records over HTTP. Larger files are imported with the command line. */
const RECORDS_BYTES_MAX = 64 * 1024 * 1024;
/**
 * The time limit for all statements of one order request on the primary database together. It includes the time that the request spends on
 * chain reads between two statements.
 */
const ORDER_TIMEOUT_MS = 20_000;
/** How many orders a minute a client address may submit without a key. */
export const KEYLESS_ORDERS_A_MINUTE_MAX = 30;

export type KeyedAccessOptions = {
  keys: KeyAccess & { limiter: RateLimiter<'key' | 'batch' | 'failure' | 'keyless'> };
  /** Signed orders for these chains are accepted without a key. The signature and the state of the chain prove whether an order is valid. */
  keylessChains: ReadonlySet<string>;
  log: Log;
};

/** Access by API key. */
export class KeyedAccess implements IntakeAccess {
  readonly allowsPatterns = false;
  readonly recordsBytesMax = RECORDS_BYTES_MAX;
  readonly respondsDuringBody = false;
  readonly #keys: KeyedAccessOptions['keys'];
  readonly #keylessChains: ReadonlySet<string>;
  readonly #callers = new WeakMap<FastifyRequest, Caller>();
  readonly #log: Log;

  constructor({ keys, keylessChains, log }: KeyedAccessOptions) {
    this.#keys = keys;
    this.#keylessChains = keylessChains;
    this.#log = log;
  }

  /** Errors of a database or of the program may name hosts, files and SQL. Such an error is logged, and the client learns only its kind. */
  readonly describeFailure = (cause: unknown): string => {
    if (cause instanceof ImportStopped || cause instanceof ServiceError || cause instanceof OperatorError) {
      return cause.message;
    }
    this.#log.warn('an import over HTTP failed', { error: cause });
    return isOutOfReach(cause) ? 'the service cannot reach its database' : 'the service failed; its log has the reason';
  };

  authorize(...scopes: IntakeScope[]) {
    return async (request: FastifyRequest, reply: FastifyReply): Promise<void> => {
      const caller = await authenticate(this.#keys, request, reply);
      if (!scopes.some((scope) => caller.scopes.has(scope))) throw lacksScope(scopes.join(' or '));
      this.#callers.set(request, caller);
    };
  }

  authorizeSubmission() {
    const authorize = this.authorize('orders:write');
    return async (request: FastifyRequest, reply: FastifyReply): Promise<void> => {
      if (this.#keylessChains.size === 0 || request.headers.authorization !== undefined) {
        await authorize(request, reply);
        return;
      }
      const exceeded = await this.#keys.limiter.count('keyless', this.#keys.clientAddress(request.raw));
      if (!exceeded) return;
      const { error, headers } = toRateLimitError(exceeded);
      reply.headers(headers);
      throw error;
    };
  }

  requireKey(request: FastifyRequest, chain: string): void {
    if (this.#callers.has(request) || this.#keylessChains.has(chain)) return;
    throw new ServiceError('unauthorized', `Orders for the chain ${chain} need an API key`);
  }

  scopesOf(request: FastifyRequest): ReadonlySet<string> {
    return this.#callerOf(request).scopes;
  }

  importerOf(request: FastifyRequest): Importer {
    const { keyId, shopId } = this.#callerOf(request);
    return { keyId, shopId };
  }

  #callerOf(request: FastifyRequest): Caller {
    const caller = this.#callers.get(request);
    if (!caller) throw new Error(`${request.method} ${request.url} has no authorize hook`);
    return caller;
  }
}

export const LOCAL_ACCESS: IntakeAccess = {
  authorize: () => () => Promise.resolve(),
  authorizeSubmission: () => () => Promise.resolve(),
  requireKey: () => undefined,
  scopesOf: () => new Set(INTAKE_SCOPES),
  importerOf: () => 'operator',
  allowsPatterns: true,
  recordsBytesMax: Number.MAX_SAFE_INTEGER,
  respondsDuringBody: true,
  describeFailure: describeError,
};

/** Returns the order context for one request. Its statements on the primary database fail after ORDER_TIMEOUT_MS. */
export function ordersOf({ orders }: IntakeContext): OrderContext {
  return { ...orders, main: orders.main.within(ORDER_TIMEOUT_MS) };
}
