// /api/v1/webhooks: subscriptions, their secrets, their deliveries.

import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import type { TSchema } from 'typebox';
import Type from 'typebox';
import { openCursor, sealCursor } from '../../core/cursor.ts';
import type { DeliveryState } from '../webhooks/delivery.ts';
import { parseDeliveryId } from '../webhooks/delivery.ts';
import { parseNewWebhook, parseRecovery, parseWebhookInput } from '../webhooks/webhook-input.ts';
import { ServiceError } from '../../core/errors.ts';
import type { WebhookWithSecret } from '../webhooks/webhooks.ts';
import {
  INVALID_WEBHOOK,
  changeWebhook,
  createWebhook,
  invalidWebhook,
  readDeliveries,
  readWebhook,
  readWebhooks,
  recoverWebhook,
  redeliver,
  removeWebhook,
  rotateWebhookSecret,
  testWebhook,
} from '../webhooks/webhooks.ts';
import { authorize, callerOf, storeOf } from './authorize.ts';
import { bodyOf } from '../../http/json-body.ts';
import type { StoreContext } from './context.ts';
import type { Effect } from './transactions.ts';
import { sendEffect } from './transactions.ts';
import { matchOf, toEtag } from './etags.ts';
import { changeHeaders, dataOf, idempotencyHeader, matchHeader, ref, storeResponses } from './schemas.ts';
import { WEBHOOK_SCHEMAS, deliveryState, toWireDelivery, toWireWebhook } from './webhook-schemas.ts';

/** What these routes need beside what all routes of the store share. */
export type WebhookRoutesContext = StoreContext & {
  webhooks: {
    /** http and addresses that are not public are allowed. */
    allowPrivate: boolean;
    /** Tells the worker that something is due. */
    nudge: () => void;
  };
};

type DeliveriesQuery = { limit: number; cursor?: string; state?: DeliveryState };
type Work = Parameters<typeof sendEffect>[3];

const PATH = '/api/v1/webhooks';
const ONE_PATH = `${PATH}/:webhookId`;
const tags = ['Webhooks'];
const webhookId = Type.String({ minLength: 1, description: 'Webhook id.' });
const params = Type.Object({ webhookId });

export function registerWebhookRoutes(app: FastifyInstance, context: WebhookRoutesContext): void {
  for (const schema of WEBHOOK_SCHEMAS) app.addSchema(schema);
  registerCollection(app, context);
  registerOne(app, context);
  registerActions(app, context);
  registerDeliveries(app, context);
}

const idOf = (request: FastifyRequest) => (request.params as { webhookId: string }).webhookId;

function registerCollection(app: FastifyInstance, context: WebhookRoutesContext): void {
  app.get(
    PATH,
    {
      onRequest: authorize(context, 'webhooks:read'),
      schema: {
        operationId: 'listWebhooks',
        summary: 'List webhooks',
        description: 'All of them, oldest first; a shop has at most 20. Scope `webhooks:read`.',
        tags,
        response: storeResponses(
          200,
          dataOf(Type.Array(ref('Webhook')), {
            count: Type.Integer({ minimum: 0, description: 'Webhooks in `data`.' }),
          }),
        ),
      },
    },
    async (request) => {
      const webhooks = await readWebhooks(storeOf(request), callerOf(request));
      return { data: webhooks.map(toWireWebhook), count: webhooks.length };
    },
  );

  app.post(
    PATH,
    {
      onRequest: authorize(context, 'webhooks:write'),
      config: { unreadableBody: INVALID_WEBHOOK },
      schema: {
        operationId: 'createWebhook',
        summary: 'Create a webhook',
        description: 'Answers with the secret that verifies deliveries, once. Scope `webhooks:write`.',
        tags,
        headers: idempotencyHeader,
        body: ref('WebhookCreate'),
        response: storeResponses(201, dataOf(ref('WebhookWithSecret')), 409, 422),
      },
    },
    (request, reply) =>
      sendEffect(context, request, reply, async (tx) => {
        const parsed = parseNewWebhook(bodyOf(request).value, context.webhooks);
        if (!parsed.ok) throw invalidWebhook(parsed.details);
        const created = await createWebhook(storeOf(request), tx, callerOf(request), parsed.value);
        const effect = showSecret(created, 201);
        return { ...effect, headers: { ...effect.headers, location: `${PATH}/${created.webhook.id}` } };
      }),
  );
}

function registerOne(app: FastifyInstance, context: WebhookRoutesContext): void {
  app.get(
    ONE_PATH,
    {
      onRequest: authorize(context, 'webhooks:read'),
      schema: {
        operationId: 'getWebhook',
        summary: 'Read a webhook',
        description: 'With its `ETag`, without its secret. Scope `webhooks:read`.',
        tags,
        params,
        response: storeResponses(200, dataOf(ref('Webhook')), 404),
      },
    },
    async (request, reply) => {
      const webhook = await readWebhook(storeOf(request), callerOf(request), idOf(request));
      return reply.header('etag', toEtag(webhook)).send({ data: toWireWebhook(webhook) });
    },
  );

  app.put(
    ONE_PATH,
    {
      onRequest: authorize(context, 'webhooks:write'),
      config: { unreadableBody: INVALID_WEBHOOK },
      schema: {
        operationId: 'updateWebhook',
        summary: 'Update a webhook',
        description:
          'Omitted fields keep their value. What is still to be delivered waits while it is disabled; what happens then ' +
          'is recovered on request. Scope `webhooks:write`.',
        tags,
        params,
        headers: changeHeaders,
        body: ref('WebhookUpdate'),
        response: storeResponses(200, dataOf(ref('Webhook')), 404, 409, 412, 422),
      },
    },
    (request, reply) =>
      sendDue(context, request, reply, async (tx) => {
        const parsed = parseWebhookInput(bodyOf(request).value, context.webhooks);
        if (!parsed.ok) throw invalidWebhook(parsed.details);
        const update = { id: idOf(request), input: parsed.value, check: matchOf(request) };
        const webhook = await changeWebhook(storeOf(request), tx, callerOf(request), update);
        return { status: 200, headers: { etag: toEtag(webhook) }, body: { data: toWireWebhook(webhook) } };
      }),
  );

  app.delete(
    ONE_PATH,
    {
      onRequest: authorize(context, 'webhooks:write'),
      schema: {
        operationId: 'deleteWebhook',
        summary: 'Delete a webhook',
        description: 'With its deliveries; what was not sent yet is not sent any more. Scope `webhooks:write`.',
        tags,
        params,
        headers: matchHeader,
        response: storeResponses(
          200,
          dataOf(Type.Object({ id: Type.String(), deleted: Type.Literal(true) }, { additionalProperties: false })),
          404,
          412,
        ),
      },
    },
    async (request) => {
      const id = idOf(request);
      const check = matchOf(request);
      await storeOf(request).main.transaction((tx) => removeWebhook(tx, callerOf(request), { id, check }));
      return { data: { id, deleted: true } };
    },
  );
}

function registerActions(app: FastifyInstance, context: WebhookRoutesContext): void {
  const action = (
    name: string,
    documented: { operationId: string; summary: string; description: string; body?: TSchema; answer: TSchema },
    work: (request: FastifyRequest) => Work,
  ) => {
    const { answer, ...words } = documented;
    const response = storeResponses(200, dataOf(answer), 404, 409, 422);
    app.post(
      `${ONE_PATH}/${name}`,
      {
        onRequest: authorize(context, 'webhooks:write'),
        config: { unreadableBody: INVALID_WEBHOOK },
        schema: { ...words, tags, params, headers: idempotencyHeader, response },
      },
      (request, reply) => sendDue(context, request, reply, work(request)),
    );
  };

  action(
    'rotate-secret',
    {
      operationId: 'rotateWebhookSecret',
      summary: 'Rotate the secret',
      description:
        'Answers with the new secret, once. The one before it signs too for 24 hours. Scope `webhooks:write`.',
      answer: ref('WebhookWithSecret'),
    },
    (request) => async (tx) =>
      showSecret(await rotateWebhookSecret(storeOf(request), tx, callerOf(request), idOf(request)), 200),
  );

  action(
    'test',
    {
      operationId: 'testWebhook',
      summary: 'Send a test event',
      description: 'An event of type `webhook.test`, to this webhook alone. Scope `webhooks:write`.',
      answer: ref('Delivery'),
    },
    (request) => async (tx) => {
      const delivery = await testWebhook(storeOf(request), tx, callerOf(request), idOf(request));
      return { status: 200, body: { data: toWireDelivery(delivery) } };
    },
  );

  action(
    'recover',
    {
      operationId: 'recoverWebhook',
      summary: 'Recover since a time',
      description:
        'Sends every event since then that was not delivered, what was missed while the webhook was disabled included. ' +
        'Events are kept for 30 days. Scope `webhooks:write`.',
      body: ref('WebhookRecovery'),
      answer: ref('WebhookRecovered'),
    },
    (request) => async (tx) => {
      const parsed = parseRecovery(bodyOf(request).value);
      if (!parsed.ok) throw invalidWebhook(parsed.details);
      const subject = { id: idOf(request), since: parsed.value };
      return { status: 200, body: { data: await recoverWebhook(storeOf(request), tx, callerOf(request), subject) } };
    },
  );
}

function registerDeliveries(app: FastifyInstance, context: WebhookRoutesContext): void {
  const { cursorSecret } = context;

  app.get(
    `${ONE_PATH}/deliveries`,
    {
      onRequest: authorize(context, 'webhooks:read'),
      schema: {
        operationId: 'listDeliveries',
        summary: 'Read the delivery log',
        description: 'Newest first. Scope `webhooks:read`.',
        tags,
        params,
        querystring: Type.Object({
          limit: Type.Optional(
            Type.Integer({ minimum: 1, maximum: 100, default: 50, description: 'Deliveries a page.' }),
          ),
          cursor: Type.Optional(Type.String({ minLength: 1, description: 'A `nextCursor`, passed back verbatim.' })),
          state: Type.Optional(deliveryState('Only deliveries in this state.')),
        }),
        response: storeResponses(200, dataOf(Type.Array(ref('Delivery')), { pagination: ref('StorePagination') }), 404),
      },
    },
    async (request) => {
      const { limit, cursor, state = null } = request.query as DeliveriesQuery;
      const id = idOf(request);
      const scope = `deliveries ${id} ${state ?? '*'}`;
      const before = cursor === undefined ? null : openCursor(cursorSecret, scope, cursor);
      if (cursor !== undefined && before === null) throw foreignCursor();
      const page = await readDeliveries(storeOf(request), callerOf(request), id, { state, before, limit });
      const nextCursor = page.next && sealCursor(cursorSecret, scope, page.next);
      return {
        data: page.deliveries.map(toWireDelivery),
        pagination: { hasMore: page.next !== null, nextCursor },
      };
    },
  );

  app.post(
    `${ONE_PATH}/deliveries/:deliveryId/redeliver`,
    {
      onRequest: authorize(context, 'webhooks:write'),
      schema: {
        operationId: 'redeliver',
        summary: 'Send a delivery again',
        description: 'With the same `webhook-id` and a fresh schedule, whatever became of it. Scope `webhooks:write`.',
        tags,
        params: Type.Object({ webhookId, deliveryId: Type.String({ minLength: 1, description: 'Delivery id.' }) }),
        headers: idempotencyHeader,
        response: storeResponses(200, dataOf(ref('Delivery')), 404, 409, 422),
      },
    },
    (request, reply) =>
      sendDue(context, request, reply, async (tx) => {
        const { deliveryId } = request.params as { deliveryId: string };
        const subject = { id: idOf(request), deliveryId: parseDeliveryId(deliveryId) };
        const delivery = await redeliver(storeOf(request), tx, callerOf(request), subject);
        return { status: 200, body: { data: toWireDelivery(delivery) } };
      }),
  );
}

/** An effect that may make something due: the worker hears of it once it is committed. */
async function sendDue(
  context: WebhookRoutesContext,
  request: FastifyRequest,
  reply: FastifyReply,
  work: Work,
): Promise<FastifyReply> {
  const sent = await sendEffect(context, request, reply, work);
  context.webhooks.nudge();
  return sent;
}

function showSecret({ webhook, secret }: WebhookWithSecret, status: number): Effect {
  const headers = { etag: toEtag(webhook) };
  return { status, headers, body: { data: { ...toWireWebhook(webhook), secret } } };
}

function foreignCursor(): ServiceError {
  return new ServiceError('bad_request', 'Invalid query parameters', {
    details: [{ path: 'cursor', message: 'is not one that was handed out for this log' }],
  });
}
