// What the routes of the intake share, and the two doors that they stand behind: keys with scopes on the public server, and none
// on the local socket, which only the operator can open.

import type { FastifyReply, FastifyRequest } from 'fastify';
import type { Database } from '../../database/port.ts';
import type { IntakeScope } from '../../shop/keys/scopes.ts';
import { INTAKE_SCOPES } from '../../shop/keys/scopes.ts';
import type { ImportContext } from '../import.ts';
import type { RecordSender } from '../ingest/products.ts';
import type { OrderContext } from '../../orders/submit.ts';
import type { Market } from '../../market/market.ts';
import type { Caller } from '../../shop/context.ts';
import type { KeyAccess } from '../../shop/http/authenticate.ts';
import { authenticate, lacksScope } from '../../shop/http/authenticate.ts';

export type IntakeContext = {
  records: ImportContext;
  orders: Omit<OrderContext, 'main'> & { main: Database };
  /** For the words of answers: rates and the service's own code. */
  market: Market;
};

export type IntakeAccess = {
  /** A hook that lets through whoever has one of the scopes. */
  authorize(...scopes: IntakeScope[]): (request: FastifyRequest, reply: FastifyReply) => Promise<void>;
  scopesOf(request: FastifyRequest): ReadonlySet<string>;
  /** The key that the request came with, and the shop that it belongs to. */
  senderOf(request: FastifyRequest): RecordSender;
  /** Bytes of a stream of records. */
  recordsBytesMax: number;
};

/** Longer streams are imported by the command line. */
const RECORDS_BYTES_MAX = 64 * 1024 * 1024;
/** What an order may take of the database's time. Longer than a chain may take to answer. */
const ORDER_TIMEOUT_MS = 20_000;

export function createKeyedAccess(door: KeyAccess): IntakeAccess {
  const known = new WeakMap<FastifyRequest, Caller>();
  const callerOf = (request: FastifyRequest): Caller => {
    const caller = known.get(request);
    if (!caller) throw new Error(`${request.method} ${request.url} has no authorize hook`);
    return caller;
  };
  return {
    authorize:
      (...scopes) =>
      async (request, reply) => {
        const caller = await authenticate(door, request, reply);
        if (!scopes.some((scope) => caller.scopes.has(scope))) throw lacksScope(scopes.join(' or '));
        known.set(request, caller);
      },
    scopesOf: (request) => callerOf(request).scopes,
    senderOf: (request) => callerOf(request),
    recordsBytesMax: RECORDS_BYTES_MAX,
  };
}

export const LOCAL_ACCESS: IntakeAccess = {
  authorize: () => () => Promise.resolve(),
  scopesOf: () => new Set(INTAKE_SCOPES),
  senderOf: () => ({ keyId: null, shopId: null }),
  recordsBytesMax: Number.MAX_SAFE_INTEGER,
};

/** The orders for as long as one request may take. */
export function ordersOf({ orders }: IntakeContext): OrderContext {
  return { ...orders, main: orders.main.within(ORDER_TIMEOUT_MS) };
}
