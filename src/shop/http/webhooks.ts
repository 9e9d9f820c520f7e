// Registers the routes below /api/v1/webhooks. They manage webhooks, rotate their secrets, send test events and recover deliveries.

import type { FastifyInstance, FastifyRequest } from 'fastify';
import type { TSchema } from 'typebox';
import Type from 'typebox';
import { parseNewWebhook, parseRecovery, parseWebhookInput } from '../webhooks/webhook-input.ts';
import type { WebhookWithSecret } from '../webhooks/webhooks.ts';
import {
  INVALID_WEBHOOK,
  createWebhook,
  invalidWebhook,
  readWebhook,
  readWebhooks,
  recoverWebhook,
  removeWebhook,
  rotateWebhookSecret,
  testWebhook,
  changeWebhook,
} from '../webhooks/webhooks.ts';
import { authorize, callerOf, shopContextOf } from './authorize.ts';
import { bodyOf } from '../../platform/http/json-body.ts';
import type { StoreRoutesContext } from './context.ts';
import { repeatAborted } from '../../platform/database/port.ts';
import type { Write, WriteResponse } from './transactions.ts';
import { sendInTransaction } from './transactions.ts';
import { ifMatchCheck, toEtag } from './etags.ts';
import { EXAMPLE_IDS } from './example-shop.ts';
import { dataOf, ref } from '../../platform/http/schema-builders.ts';
import { changeHeaders, idempotencyHeader, matchHeader, storeResponses } from './schemas.ts';
import { WEBHOOK_SCHEMAS, toWireDelivery, toWireWebhook, webhookParams } from './webhook-schemas.ts';

const PATH = '/api/v1/webhooks';
const ONE_PATH = `${PATH}/:webhookId`;
const tags = ['Webhooks'];

export function registerWebhookRoutes(app: FastifyInstance, context: StoreRoutesContext): void {
  for (const schema of WEBHOOK_SCHEMAS) app.addSchema(schema);
  registerCollection(app, context);
  registerOne(app, context);
  registerActions(app, context);
}

const webhookIdOf = (request: FastifyRequest) => (request.params as { webhookId: string }).webhookId;

function registerCollection(app: FastifyInstance, context: StoreRoutesContext): void {
  app.get(
    PATH,
    {
      onRequest: authorize(context, 'webhooks:read'),
      config: { bucket: 'key' },
      schema: {
        operationId: 'listWebhooks',
        summary: 'List webhooks',
        description: 'All webhooks of the shop, oldest first. A shop has at most 20. Scope `webhooks:read`.',
        tags,
        response: storeResponses(
          200,
          dataOf(Type.Array(ref('Webhook')), {
            count: Type.Integer({ minimum: 0, description: 'Number of webhooks in `data`.', examples: [1] }),
          }),
        ),
      },
    },
    async (request) => {
      const webhooks = await readWebhooks(shopContextOf(request), callerOf(request));
      return { data: webhooks.map(toWireWebhook), count: webhooks.length };
    },
  );

  app.post(
    PATH,
    {
      onRequest: authorize(context, 'webhooks:write'),
      config: { bucket: 'key', unreadableBody: INVALID_WEBHOOK },
      schema: {
        operationId: 'createWebhook',
        summary: 'Create a webhook',
        description:
          'The response contains the secret that verifies deliveries. The secret is not shown again. Scope `webhooks:write`.',
        tags,
        headers: idempotencyHeader,
        body: ref('WebhookCreate'),
        response: storeResponses(201, dataOf(ref('WebhookWithSecret')), 409, 422),
      },
    },
    (request, reply) =>
      sendInTransaction(request, reply, async (tx) => {
        const parsed = parseNewWebhook(bodyOf(request).value, context.webhooks);
        if (!parsed.ok) throw invalidWebhook(parsed.details);
        const created = await createWebhook(shopContextOf(request), tx, callerOf(request), parsed.value);
        const response = toSecretResponse(created, 201);
        return { ...response, headers: { ...response.headers, location: `${PATH}/${created.webhook.id}` } };
      }),
  );
}

function registerOne(app: FastifyInstance, context: StoreRoutesContext): void {
  app.get(
    ONE_PATH,
    {
      onRequest: authorize(context, 'webhooks:read'),
      config: { bucket: 'key' },
      schema: {
        operationId: 'getWebhook',
        summary: 'Read a webhook',
        description:
          'The response has the `ETag` of the webhook, and does not contain the secret. Scope `webhooks:read`.',
        tags,
        params: webhookParams,
        response: storeResponses(200, dataOf(ref('Webhook')), 404),
      },
    },
    async (request, reply) => {
      const webhook = await readWebhook(shopContextOf(request), callerOf(request), webhookIdOf(request));
      return reply.header('etag', toEtag(webhook)).send({ data: toWireWebhook(webhook) });
    },
  );

  app.put(
    ONE_PATH,
    {
      onRequest: authorize(context, 'webhooks:write'),
      config: { bucket: 'key', unreadableBody: INVALID_WEBHOOK },
      schema: {
        operationId: 'updateWebhook',
        summary: 'Update a webhook',
        description:
          'Omitted fields keep their value. While the webhook is disabled, its pending deliveries wait until it is enabled, and ' +
          'new events create no deliveries. `recover` creates deliveries for these events later. Scope `webhooks:write`.',
        tags,
        params: webhookParams,
        headers: changeHeaders,
        body: ref('WebhookUpdate'),
        response: storeResponses(200, dataOf(ref('Webhook')), 404, 409, 412, 422),
      },
    },
    (request, reply) =>
      sendInTransaction(request, reply, async (tx) => {
        const parsed = parseWebhookInput(bodyOf(request).value, context.webhooks);
        if (!parsed.ok) throw invalidWebhook(parsed.details);
        const update = { id: webhookIdOf(request), input: parsed.value, check: ifMatchCheck(request) };
        const webhook = await changeWebhook(shopContextOf(request), tx, callerOf(request), update);
        return { status: 200, headers: { etag: toEtag(webhook) }, body: { data: toWireWebhook(webhook) } };
      }),
  );

  app.delete(
    ONE_PATH,
    {
      onRequest: authorize(context, 'webhooks:write'),
      config: { bucket: 'key' },
      schema: {
        operationId: 'deleteWebhook',
        summary: 'Delete a webhook',
        description:
          'The deliveries of the webhook are deleted too: pending deliveries are not sent. Scope `webhooks:write`.',
        tags,
        params: webhookParams,
        headers: matchHeader,
        response: storeResponses(
          200,
          dataOf(
            Type.Object(
              { id: Type.String({ examples: [EXAMPLE_IDS.webhook] }), deleted: Type.Literal(true) },
              { additionalProperties: false },
            ),
          ),
          404,
          412,
        ),
      },
    },
    async (request) => {
      const id = webhookIdOf(request);
      const check = ifMatchCheck(request);
      const { main } = shopContextOf(request);
      await repeatAborted(() => main.transaction((tx) => removeWebhook(tx, callerOf(request), { id, check })));
      return { data: { id, deleted: true } };
    },
  );
}

/** The routes `POST /api/v1/webhooks/{webhookId}/{name}`. */
function registerActions(app: FastifyInstance, context: StoreRoutesContext): void {
  const registerAction = (
    name: string,
    action: {
      operationId: string;
      summary: string;
      description: string;
      body?: TSchema;
      data: TSchema;
      write: (request: FastifyRequest) => Write;
    },
  ) => {
    const { data, write, ...documentation } = action;
    app.post(
      `${ONE_PATH}/${name}`,
      {
        onRequest: authorize(context, 'webhooks:write'),
        config: { bucket: 'key', unreadableBody: INVALID_WEBHOOK },
        schema: {
          ...documentation,
          tags,
          params: webhookParams,
          headers: idempotencyHeader,
          response: storeResponses(200, dataOf(data), 404, 409, 422),
        },
      },
      (request, reply) => sendInTransaction(request, reply, write(request)),
    );
  };

  registerAction('rotate-secret', {
    operationId: 'rotateWebhookSecret',
    summary: 'Rotate the secret',
    description:
      'The response contains the new secret, which is not shown again. For 24 hours deliveries are signed with both the ' +
      'new and the replaced secret. After several rotations each replaced secret has its own 24 hours; a delivery has at most ten signatures. Scope `webhooks:write`.',
    data: ref('WebhookWithSecret'),
    write: (request) => async (tx) =>
      toSecretResponse(
        await rotateWebhookSecret(shopContextOf(request), tx, callerOf(request), webhookIdOf(request)),
        200,
      ),
  });

  registerAction('test', {
    operationId: 'testWebhook',
    summary: 'Send a test event',
    description: 'Sends an event of type `webhook.test` to this webhook only. Scope `webhooks:write`.',
    data: ref('Delivery'),
    write: (request) => async (tx) => {
      const delivery = await testWebhook(shopContextOf(request), tx, callerOf(request), webhookIdOf(request));
      return { status: 200, body: { data: toWireDelivery(delivery) } };
    },
  });

  registerAction('recover', {
    operationId: 'recoverWebhook',
    summary: 'Recover events since a time',
    description:
      'For events since the given time: makes failed deliveries due now, and creates deliveries for events without a delivery, for ' +
      'example because the webhook was disabled. The webhook must be enabled. Call again while `hasMore` is true. Events are kept ' +
      'for 30 days. Scope `webhooks:write`.',
    body: ref('WebhookRecovery'),
    data: ref('WebhookRecovered'),
    write: (request) => async (tx) => {
      const parsed = parseRecovery(bodyOf(request).value);
      if (!parsed.ok) throw invalidWebhook(parsed.details);
      const recovery = { id: webhookIdOf(request), since: parsed.value };
      const data = await recoverWebhook(shopContextOf(request), tx, callerOf(request), recovery);
      return { status: 200, body: { data } };
    },
  });
}

function toSecretResponse({ webhook, secret }: WebhookWithSecret, status: number): WriteResponse {
  const headers = { etag: toEtag(webhook) };
  return { status, headers, body: { data: { ...toWireWebhook(webhook), secret } }, hasSecret: true };
}
