// The routes below /api/v1/webhooks/{webhookId}/deliveries: they read the delivery log of a webhook and one delivery, and send a delivery again.

import type { FastifyInstance } from 'fastify';
import Type from 'typebox';
import type { DeliveryState } from '../webhooks/delivery.ts';
import { readDeliveries, readDelivery, redeliver } from '../webhooks/webhooks.ts';
import { authorize, callerOf, shopContextOf } from './authorize.ts';
import type { StoreRoutesContext } from './context.ts';
import { openStoreCursor, sealStoreCursor } from './cursors.ts';
import { sendInTransaction } from './transactions.ts';
import { dataOf, ref } from '../../platform/http/schema-builders.ts';
import { idempotencyHeader, storeResponses } from './schemas.ts';
import { deliveryParams, deliveryState, toWireDelivery, webhookParams } from './webhook-schemas.ts';

type DeliveriesQuery = { limit: number; cursor?: string; state?: DeliveryState };

const PATH = '/api/v1/webhooks/:webhookId/deliveries';
const tags = ['Webhooks'];

export function registerDeliveryRoutes(app: FastifyInstance, context: StoreRoutesContext): void {
  app.get(
    PATH,
    {
      onRequest: authorize(context, 'webhooks:read'),
      config: { bucket: 'key' },
      schema: {
        operationId: 'listDeliveries',
        summary: 'Read the delivery log',
        description: 'Lists the deliveries of a webhook, the newest first. Scope `webhooks:read`.',
        tags,
        params: webhookParams,
        querystring: Type.Object({
          limit: Type.Optional(
            Type.Integer({ minimum: 1, maximum: 100, default: 50, description: 'Deliveries per page.' }),
          ),
          cursor: Type.Optional(Type.String({ minLength: 1, description: 'A `nextCursor`, passed back unchanged.' })),
          state: Type.Optional(deliveryState('Only deliveries in this state.')),
        }),
        response: storeResponses(200, dataOf(Type.Array(ref('Delivery')), { pagination: ref('StorePagination') }), 404),
      },
    },
    async (request) => {
      const { limit, cursor, state = null } = request.query as DeliveriesQuery;
      const { webhookId } = request.params as { webhookId: string };
      const scope = `deliveries ${webhookId} ${state ?? '*'}`;
      const before = openStoreCursor(context, scope, cursor);
      const page = await readDeliveries(shopContextOf(request), callerOf(request), webhookId, { state, before, limit });
      return {
        data: page.deliveries.map(toWireDelivery),
        pagination: { hasMore: page.next !== null, nextCursor: sealStoreCursor(context, scope, page.next) },
      };
    },
  );

  app.get(
    `${PATH}/:deliveryId`,
    {
      onRequest: authorize(context, 'webhooks:read'),
      config: { bucket: 'key' },
      schema: {
        operationId: 'getDelivery',
        summary: 'Read a delivery',
        description:
          'Returns a delivery with the body of its request. Of a response, only the status is stored. Scope `webhooks:read`.',
        tags,
        params: deliveryParams,
        response: storeResponses(200, dataOf(ref('DeliveryWithBody')), 404),
      },
    },
    async (request) => {
      const { webhookId, deliveryId } = request.params as { webhookId: string; deliveryId: string };
      const target = { id: webhookId, deliveryId };
      const { delivery, body } = await readDelivery(shopContextOf(request), callerOf(request), target);
      return { data: { ...toWireDelivery(delivery), body } };
    },
  );

  app.post(
    `${PATH}/:deliveryId/redeliver`,
    {
      onRequest: authorize(context, 'webhooks:write'),
      config: { bucket: 'key' },
      schema: {
        operationId: 'redeliver',
        summary: 'Send a delivery again',
        description:
          'Makes the delivery due now, whatever its state. It is sent with the same header `webhook-id` as before, and its retry schedule begins ' +
          'again. The webhook must be enabled. Scope `webhooks:write`.',
        tags,
        params: deliveryParams,
        headers: idempotencyHeader,
        response: storeResponses(200, dataOf(ref('Delivery')), 404, 409, 422),
      },
    },
    (request, reply) =>
      sendInTransaction(request, reply, async (tx) => {
        const { webhookId, deliveryId } = request.params as { webhookId: string; deliveryId: string };
        const target = { id: webhookId, deliveryId };
        const delivery = await redeliver(shopContextOf(request), tx, callerOf(request), target);
        return { status: 200, body: { data: toWireDelivery(delivery) } };
      }),
  );
}
