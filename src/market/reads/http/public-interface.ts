// What the public, read-only interfaces share: component schemas, the validation of queries, the OpenAPI document and the index.

import type { FastifyInstance } from 'fastify';
import type { TSchema } from 'typebox';
import type { Chains } from '../../../platform/core/chains.ts';
import type { OpenApiOptions } from '../../../platform/http/openapi.ts';
import { registerOpenApi } from '../../../platform/http/openapi.ts';
import { createQueryValidator } from '../../../platform/http/query.ts';
import type { MarketplaceContext } from './context.ts';
import { errorSchemaWith } from './envelopes.ts';
import { IndexSchema, registerIndexRoutes } from './service-index.ts';

export type PublicInterface<Context extends MarketplaceContext> = {
  /** All paths begin with this. */
  prefix: string;
  document: OpenApiOptions;
  /** The component schemas, in the order of the OpenAPI document. The schemas of the index and of errors are added after them. */
  schemas: readonly TSchema[];
  routes: readonly ((app: FastifyInstance, context: Context) => void)[];
  /** The error codes of this interface, in addition to the codes that all public interfaces have. */
  errorCodes: readonly string[];
  /** The fields of errors, in addition to code and message. */
  errorFields?: Readonly<Record<string, TSchema>>;
};

/** `app` must be a Fastify scope of its own, because its validator is replaced. */
export async function registerPublicInterface<Context extends MarketplaceContext>(
  app: FastifyInstance,
  { prefix, document, schemas, routes, errorCodes, errorFields }: PublicInterface<Context>,
  { context, chains }: { context: Context; chains: Chains },
): Promise<void> {
  for (const schema of [...schemas, IndexSchema, errorSchemaWith(errorCodes, errorFields)]) app.addSchema(schema);
  const validateQuery = createQueryValidator(chains);
  // Path parameters are parsed by their routes: what is valid depends on the chain.
  app.setValidatorCompiler((route) => (route.httpPart === 'querystring' ? validateQuery(route as never) : () => true));
  await registerOpenApi(app, document);
  registerIndexRoutes(app, context, prefix);
  for (const register of routes) register(app, context);
}
