// The routes of /intake/v1/orders: submit, read, explain and cancel signed orders.

import type { FastifyInstance, FastifyRequest } from 'fastify';
import Type from 'typebox';
import type { StoredOrder } from '../../market/orders/queries/stored-orders.ts';
import { findCurrency } from '../../platform/core/chains.ts';
import { isStorable } from '../../platform/core/text.ts';
import type { ErrorDetail } from '../../platform/core/errors.ts';
import { ServiceError } from '../../platform/core/errors.ts';
import type { OffChainCancel } from '../../market/orders/cancel.ts';
import { cancelOrder } from '../../market/orders/cancel.ts';
import { explainOrder } from '../../market/orders/explain.ts';
import { submitOrder } from '../../market/orders/submit.ts';
import type { SubmittedCriteria } from '../../market/orders/token-sets.ts';
import { SET_TOKENS_MAX, SET_TRAITS_MAX } from '../../market/orders/token-sets.ts';
import { findStoredOrder } from '../../market/orders/queries/stored-orders.ts';
import { lacksScope } from '../../shop/http/authenticate.ts';
import { readPriceContext } from '../../market/reads/http/price.ts';
import { ref } from '../../platform/http/schema-builders.ts';
import { bodyOf } from '../../platform/http/json-body.ts';
import type { IntakeContext, IntakeAccess } from './access.ts';
import { ordersOf } from './access.ts';
import { CANCELLED_ORDER_EXAMPLE, EXAMPLE_ORDER_ID } from './example-order.ts';
import { withRejections } from './rejections.ts';
import { intakeResponses } from './schemas.ts';
import type { LocatedOrder, WireOrderResponse } from './shapes.ts';
import { toWireExplanation, toWireOrder } from './shapes.ts';

const PATH = '/intake/v1/orders';
const ONE_PATH = `${PATH}/:orderId`;
/** The values of an order, and the tokens that meet it. */
const SUBMITTED_VALUES_MAX = 2_000 + SET_TOKENS_MAX;
const tags = ['Orders'];
const params = Type.Object({
  orderId: Type.String({ minLength: 1, description: 'Order id.', examples: [EXAMPLE_ORDER_ID] }),
});

export function registerOrderRoutes(app: FastifyInstance, context: IntakeContext, access: IntakeAccess): void {
  app.post(
    PATH,
    {
      onRequest: access.authorizeSubmission(),
      config: { bucket: 'key', valuesMax: SUBMITTED_VALUES_MAX },
      schema: {
        operationId: 'submitOrder',
        summary: 'Submit a signed order',
        description:
          'Stores a signed Seaport order, a listing or a bid, or rejects it with the code of the first check that fails. Scope `orders:write`. Orders for a chain that `TRADING_CHAINS` names need no key.',
        tags,
        body: ref('OrderSubmission'),
        response: intakeResponses(201, ref('OrderResponse'), 409, 422),
      },
    },
    withRejections(async (request, reply) => {
      const submission = readSubmission(context, bodyOf(request).value);
      access.requireKey(request, submission.chain.id);
      const orders = ordersOf(context);
      const { orderId } = await submitOrder(orders, submission);
      const body = await toOrderResponse(context, await findStoredOrder(orders.main, orderId));
      return reply
        .code(201)
        .header('location', `${PATH}/${encodeURIComponent(orderId)}`)
        .send(body);
    }),
  );
  app.get(
    ONE_PATH,
    {
      onRequest: access.authorize('orders:write', 'intake:write'),
      config: { bucket: 'key' },
      schema: {
        operationId: 'getOrder',
        summary: 'Read an order',
        description:
          'Returns an order of this service, whatever its status is. Scope `orders:write` or `intake:write`.',
        tags,
        params,
        response: intakeResponses(200, ref('OrderResponse'), 404),
      },
    },
    async (request) => toOrderResponse(context, await findStoredOrder(ordersOf(context).main, idOf(request))),
  );
  app.get(
    `${ONE_PATH}/explain`,
    {
      onRequest: access.authorize('orders:write', 'intake:write'),
      config: { bucket: 'key' },
      schema: {
        operationId: 'explainOrder',
        summary: 'Explain the state of an order',
        description:
          'Returns the status of an order, with the checks, transitions and chain events from which the status follows. Each chain event has its block, transaction and EVM log index. Scope `orders:write` or `intake:write`.',
        tags,
        params,
        response: intakeResponses(200, ref('OrderExplanation'), 404),
      },
    },
    async (request) => {
      const explanation = await explainOrder(ordersOf(context), idOf(request));
      if (!explanation) throw notFound();
      const located = requireLocated(context, explanation.order);
      return { data: toWireExplanation(explanation, located, await readPriceContext(context.market)) };
    },
  );
  registerCancel(app, context, access);
}

function registerCancel(app: FastifyInstance, context: IntakeContext, access: IntakeAccess): void {
  app.post(
    `${ONE_PATH}/cancel`,
    {
      onRequest: access.authorize('orders:write', 'intake:write'),
      config: { bucket: 'key' },
      schema: {
        operationId: 'cancelOrder',
        summary: 'Cancel an order without a transaction',
        description:
          'Cancels an order. The offerer cancels with a signature (scope `orders:write` or `intake:write`). The operator of the service cancels without a signature (scope `intake:write`). A second cancel changes nothing.',
        tags,
        params,
        body: ref('OrderCancel'),
        response: intakeResponses(
          200,
          {
            description: 'The cancelled order.',
            content: { 'application/json': { schema: ref('OrderResponse'), example: CANCELLED_ORDER_EXAMPLE } },
          },
          404,
          409,
          422,
        ),
      },
    },
    withRejections(
      async (request) => {
        const { signature } = readFields(bodyOf(request).value ?? {}, ['signature']);
        const isOperator = access.scopesOf(request).has('intake:write');
        if (signature === undefined && !isOperator) throw lacksScope('intake:write');
        const cancel: OffChainCancel =
          signature === undefined ? { cancelledBy: 'operator' } : { cancelledBy: 'offerer', signature };
        return toOrderResponse(context, await cancelOrder(ordersOf(context), idOf(request), cancel));
      },
      { ended: 409 },
    ),
  );
}

/** Returns the order id in the path. Throws `not_found` for text that the database cannot store. */
function idOf(request: FastifyRequest): string {
  const { orderId } = request.params as { orderId: string };
  if (!isStorable(orderId)) throw notFound();
  return orderId;
}

async function toOrderResponse(context: IntakeContext, order: StoredOrder | null): Promise<WireOrderResponse> {
  if (!order) throw notFound();
  return toWireOrder(requireLocated(context, order), await readPriceContext(context.market));
}

/** Throws `not_found` when the chain or the currency of the order is not configured any more. */
function requireLocated(context: IntakeContext, order: StoredOrder): LocatedOrder {
  const chain = context.orders.chains.get(order.chain);
  const currency = chain && findCurrency(chain, order.currency);
  if (!chain || currency === undefined) throw notFound();
  return { order, chain, currency };
}

function notFound(): ServiceError {
  return new ServiceError('not_found', 'There is no order with this id');
}

function readSubmission(context: IntakeContext, body: unknown) {
  const fields = readFields(body, ['chain', 'protocolAddress', 'order', 'criteria']);
  const { chain: id, protocolAddress = null, order, criteria = null } = fields;
  const { parameters, signature } = readFields(order, ['parameters', 'signature'], 'order');
  const { chains } = context.orders;
  const chain = typeof id === 'string' ? chains.get(id) : undefined;
  if (!chain) throw badRequest({ path: 'chain', message: `must be one of ${[...chains.keys()].join(', ')}` });
  if (protocolAddress !== null && typeof protocolAddress !== 'string') {
    throw badRequest({ path: 'protocolAddress', message: 'must be a string or null' });
  }
  return { chain, protocolAddress, order: { parameters, signature }, criteria: readCriteria(criteria) };
}

/** The tokens that meet a bid, by their ids or by their traits. */
function readCriteria(value: unknown): SubmittedCriteria | null {
  if (value === null) return null;
  const { tokenIds, traits } = readFields(value, ['tokenIds', 'traits'], 'criteria');
  if ((tokenIds === undefined) === (traits === undefined)) {
    throw badRequest({ path: 'criteria', message: 'must have either tokenIds or traits' });
  }
  if (traits === undefined) {
    return { tokenIds: readList(tokenIds, { path: 'criteria.tokenIds', max: SET_TOKENS_MAX }, readText) };
  }
  return {
    traits: readList(traits, { path: 'criteria.traits', max: SET_TRAITS_MAX }, (trait, path) => {
      const { name, value: text } = readFields(trait, ['name', 'value'], path);
      return { name: readText(name, `${path}.name`), value: readText(text, `${path}.value`) };
    }),
  };
}

function readList<T>(
  value: unknown,
  { path, max }: { path: string; max: number },
  read: (item: unknown, path: string) => T,
): T[] {
  if (!Array.isArray(value) || value.length === 0 || value.length > max) {
    throw badRequest({ path, message: `must be a list of 1 to ${max}` });
  }
  return value.map((item: unknown, index) => read(item, `${path}.${index}`));
}

function readText(value: unknown, path: string): string {
  if (typeof value === 'string') return value;
  throw badRequest({ path, message: 'must be a string' });
}

const FIELD_NAME_SHOWN_MAX = 60;

/** Returns the fields of a JSON object. Throws `bad_request` when it has a field that is not in `known`. */
function readFields(value: unknown, known: readonly string[], path = ''): Record<string, unknown> {
  if (typeof value !== 'object' || value === null || Array.isArray(value) || value.constructor !== Object) {
    throw badRequest({ path, message: 'must be a JSON object' });
  }
  const unknown = Object.keys(value).find((name) => !known.includes(name));
  if (unknown === undefined) return value as Record<string, unknown>;
  throw badRequest({
    path: [path, unknown.slice(0, FIELD_NAME_SHOWN_MAX)].filter(Boolean).join('.'),
    message: `is not a known field; the known fields are ${known.join(', ')}`,
  });
}

function badRequest(detail: ErrorDetail): ServiceError {
  return new ServiceError('bad_request', `${detail.path || 'the body'}: ${detail.message}`, { details: [detail] });
}
