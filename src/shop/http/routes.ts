// The store interface: all its routes, in a scope with its own way of reading bodies and queries.

import type { FastifyInstance } from 'fastify';
import type { Chains } from '../../core/chains.ts';
import { ServiceError } from '../../core/errors.ts';
import { registerOpenApi, toPublishedDocument } from '../../http/openapi.ts';
import { createQueryValidator } from '../../http/query.ts';
import { readJsonBodies } from '../../http/json-body.ts';
import { registerInventoryRoutes } from './inventory.ts';
import { registerProductRoutes } from './products.ts';
import { SCOPES_IN_WORDS, STORE_SCHEMAS } from './schemas.ts';
import type { WebhookRoutesContext } from './webhooks.ts';
import { registerWebhookRoutes } from './webhooks.ts';

export const STORE_PREFIX = '/api/v1';

const DOCUMENT = {
  title: 'Mercat store interface',
  description: `Products and stock of a shop, with an API key as a bearer token. Scopes: ${SCOPES_IN_WORDS}.`,
  tags: [
    { name: 'Products', description: 'What a shop sells.' },
    { name: 'Inventory', description: 'Stock, its changes and their log.' },
    { name: 'Webhooks', description: 'Who is told of what happens in the shop.' },
  ],
  keyed: true,
};

/** Registers the interface in a scope of its own. */
export async function registerStore(
  app: FastifyInstance,
  context: WebhookRoutesContext,
  options: { chains: Chains; baseUrl: () => string },
): Promise<void> {
  for (const schema of STORE_SCHEMAS) app.addSchema(schema);
  const readQuery = createQueryValidator(options.chains);
  // Bodies are parsed by their routes: schemas cannot read numbers as text.
  app.setValidatorCompiler((route) => {
    if (route.httpPart !== 'querystring') return () => true;
    const read = readQuery(route as never);
    return (raw: unknown) => inStoreWords(read(raw) as QueryResult);
  });
  readJsonBodies(app);
  // A key decides what is answered: nothing may be kept on the way.
  app.addHook('onRequest', async (_request, reply) => {
    reply.header('cache-control', 'no-store');
  });
  // What was changed may be an event: the worker looks soon instead of at its next turn.
  app.addHook('onResponse', async (request, reply) => {
    if (request.method !== 'GET' && reply.statusCode < 300) context.webhooks.nudge();
  });
  await registerOpenApi(app, DOCUMENT);
  registerProductRoutes(app, context);
  registerInventoryRoutes(app, context);
  registerWebhookRoutes(app, context);
  app.get(`${STORE_PREFIX}/openapi.json`, { schema: { hide: true } }, () =>
    toPublishedDocument(app, options.baseUrl()),
  );
}

type QueryResult = { value: unknown } | { error: ServiceError };

function inStoreWords(result: QueryResult): QueryResult {
  if (!('error' in result)) return result;
  const { details } = result.error;
  return { error: new ServiceError('bad_request', 'Invalid query parameters', { details }) };
}
