// Registers the intake interface, on the public server with API keys and on the local socket without keys.

import type { FastifyInstance } from 'fastify';
import { INTAKE_SCOPES } from '../../shop/keys/scopes.ts';
import type { DocumentContext } from '../../platform/http/document-route.ts';
import { registerDocumentRoute } from '../../platform/http/document-route.ts';
import { registerOpenApi } from '../../platform/http/openapi.ts';
import { readJsonBodies } from '../../platform/http/json-body.ts';
import type { IntakeContext, IntakeAccess } from './access.ts';
import { registerOrderRoutes } from './orders.ts';
import { registerRecordRoutes } from './records.ts';
import { INTAKE_SCHEMAS } from './schemas.ts';

export const INTAKE_PREFIX = '/intake/v1';

const DOCUMENT = {
  title: 'Mercat intake interface',
  description: `Submit signed orders and import records of any kind, with an API key as the bearer token. Scopes: ${INTAKE_SCOPES.map((scope) => `\`${scope}\``).join(', ')}.`,
  tags: [
    { name: 'Orders', description: 'Signed orders of this service.' },
    { name: 'Records', description: 'Records in the formats that `mercat import` reads.' },
  ],
  keyed: true,
};

/**
 * Registers the routes on `app`. `app` must be a Fastify scope of its own, because its compilers and hooks are replaced. If `document` is
 * null, no OpenAPI document is served.
 */
export async function registerIntake(
  app: FastifyInstance,
  context: IntakeContext,
  { access, document }: { access: IntakeAccess; document: DocumentContext | null },
): Promise<void> {
  for (const schema of INTAKE_SCHEMAS) app.addSchema(schema);
  // Fastify validates nothing here: the routes check bodies and queries themselves. A parsed body has the literal text of each number, and
  // a schema validator would reject this text.
  app.setValidatorCompiler(() => () => true);
  app.setSerializerCompiler(() => (data) => JSON.stringify(data));
  readJsonBodies(app);
  app.addHook('onRequest', async (_request, reply) => {
    reply.header('cache-control', 'no-store');
  });
  if (document) await registerOpenApi(app, DOCUMENT);
  registerOrderRoutes(app, context, access);
  registerRecordRoutes(app, context.records, access);
  if (document) registerDocumentRoute(app, document, INTAKE_PREFIX);
}
