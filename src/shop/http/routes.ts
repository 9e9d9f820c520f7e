// The store interface: all its routes, with their own rules for reading bodies and query parameters.

import type { FastifyInstance, FastifyRequest } from 'fastify';
import type { Chains } from '../../platform/core/chains.ts';
import { ServiceError } from '../../platform/core/errors.ts';
import type { DocumentContext } from '../../platform/http/document-route.ts';
import { registerDocumentRoute } from '../../platform/http/document-route.ts';
import { registerOpenApi } from '../../platform/http/openapi.ts';
import { createQueryValidator, findUnknownParameters } from '../../platform/http/query.ts';
import { readJsonBodies } from '../../platform/http/json-body.ts';
import { CHANGE_SCHEMAS, registerChangeRoutes } from './changes.ts';
import type { StoreRoutesContext } from './context.ts';
import { registerDeliveryRoutes } from './deliveries.ts';
import { EVENT_SCHEMAS, EVENT_WEBHOOKS } from './event-schemas.ts';
import { registerInventoryRoutes } from './inventory.ts';
import { INVENTORY_SCHEMAS } from './inventory-schemas.ts';
import { registerProductRoutes } from './products.ts';
import { PRODUCT_SCHEMAS } from './product-schemas.ts';
import { registerReservationRoutes } from './reservations.ts';
import { INVALID_QUERY } from './query-errors.ts';
import { RESERVATION_SCHEMAS } from './reservation-schemas.ts';
import { SCOPE_LIST, STORE_SCHEMAS } from './schemas.ts';
import { registerWebhookRoutes } from './webhooks.ts';

export const STORE_PREFIX = '/api/v1';

const DOCUMENT = {
  title: 'Mercat store interface',
  description: `Products, stock and webhooks of a shop, with an API key as a bearer token. Scopes: ${SCOPE_LIST}.`,
  tags: [
    { name: 'Products', description: 'The products of a shop.' },
    { name: 'Inventory', description: 'Stock levels, changes of stock, and the adjustment log.' },
    { name: 'Reservations', description: 'Stock that is held for checkouts.' },
    { name: 'Changes', description: 'The feed of all changes of a shop.' },
    { name: 'Webhooks', description: 'HTTP requests that report events of the shop.' },
  ],
  keyed: true,
  webhooks: EVENT_WEBHOOKS,
};

export async function registerStoreRoutes(
  app: FastifyInstance,
  context: StoreRoutesContext,
  options: { chains: Chains; document: DocumentContext },
): Promise<void> {
  const schemas = [
    ...PRODUCT_SCHEMAS,
    ...INVENTORY_SCHEMAS,
    ...RESERVATION_SCHEMAS,
    ...CHANGE_SCHEMAS,
    ...STORE_SCHEMAS,
    ...EVENT_SCHEMAS,
  ];
  for (const schema of schemas) app.addSchema(schema);
  const readQuery = createQueryValidator(options.chains);
  // Routes parse bodies themselves, because a schema validator would convert numbers and lose digits.
  app.setValidatorCompiler((route) => {
    if (route.httpPart !== 'querystring') return () => true;
    const read = readQuery(route as never);
    return (raw: unknown) => withStoreMessage(read(raw) as QueryResult);
  });
  readJsonBodies(app);
  // Responses depend on the key, so no cache may store them.
  app.addHook('onRequest', async (_request, reply) => {
    reply.header('cache-control', 'no-store');
  });
  // A successful change may have recorded an event, so the webhook worker checks for new events soon.
  app.addHook('onResponse', async (request, reply) => {
    if (request.method !== 'GET' && reply.statusCode < 300) context.webhooks.nudge();
  });
  app.addHook('preValidation', (request, _reply, done) => done(rejectUnknownParameters(request)));
  await registerOpenApi(app, DOCUMENT);
  registerProductRoutes(app, context);
  registerInventoryRoutes(app, context);
  registerReservationRoutes(app, context);
  registerChangeRoutes(app, context);
  registerWebhookRoutes(app, context);
  registerDeliveryRoutes(app, context);
  registerDocumentRoute(app, options.document, STORE_PREFIX);
}

/** Returns an error for parameters that the operation does not have. */
function rejectUnknownParameters(request: FastifyRequest): ServiceError | undefined {
  const unknown = findUnknownParameters(request).filter((name) => !PAGING.has(name));
  if (unknown.length === 0) return undefined;
  const details = unknown.map((path) => ({ path, message: 'is not a parameter of this operation' }));
  return new ServiceError('bad_request', INVALID_QUERY, { details });
}

/** Operations without paging ignore these parameters, because clients may send them with every request. */
const PAGING: ReadonlySet<string> = new Set(['limit', 'cursor']);

type QueryResult = { value: unknown } | { error: ServiceError };

function withStoreMessage(result: QueryResult): QueryResult {
  if (!('error' in result)) return result;
  const { details } = result.error;
  return { error: new ServiceError('bad_request', INVALID_QUERY, { details }) };
}
