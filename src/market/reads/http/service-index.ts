// The index of an interface and its OpenAPI document: GET /v1 and GET /v1/openapi.json, GET /explore/v1 and GET /explore/v1/openapi.json.

import type { FastifyInstance } from 'fastify';
import type { Static } from 'typebox';
import Type from 'typebox';
import { NO_COLLECTION } from '../../../platform/core/collection-versions.ts';
import { createCachedResponse } from '../../../platform/http/cached-response.ts';
import { cachedRoute } from '../../../platform/http/cached-route.ts';
import { DOCUMENT_CACHE_POLICY, DOCUMENT_PATH, registerDocumentRoute } from '../../../platform/http/document-route.ts';
import { toPublishedDocument } from '../../../platform/http/openapi.ts';
import { closed, dataOf, ref } from '../../../platform/http/schema-builders.ts';
import type { MarketplaceContext } from './context.ts';
import { marketResponses } from './envelopes.ts';

export const IndexSchema = Type.Object(
  {
    name: Type.String({ description: 'Name of the service.' }),
    version: Type.String({ description: 'Version of the service.' }),
    documentation: Type.String({ description: 'URL of the reference page.' }),
    openapi: Type.String({ description: 'URL of the OpenAPI document.' }),
    endpoints: Type.Array(
      Type.Object(
        {
          method: Type.String({ description: 'HTTP method.' }),
          path: Type.String({ description: 'Path template.' }),
          description: Type.String({ description: 'What the endpoint returns.' }),
        },
        closed,
      ),
      { description: 'Every endpoint of the interface.' },
    ),
  },
  {
    $id: 'Index',
    title: 'Index',
    description: 'The endpoints of the interface.',
    examples: [
      {
        name: 'mercat',
        version: '1.0.0',
        documentation: 'https://data.example/docs',
        openapi: 'https://data.example/v1/openapi.json',
        endpoints: [{ method: 'GET', path: '/v1/collections', description: 'List collections' }],
      },
    ],
    ...closed,
  },
);
type WireIndex = Static<typeof IndexSchema>;

/** Registers both routes for one interface. `prefix` is the beginning of its paths, such as `/v1`. */
export function registerIndexRoutes(app: FastifyInstance, context: MarketplaceContext, prefix: string): void {
  cachedRoute(app, context, {
    path: prefix,
    bucket: 'single',
    schema: {
      operationId: 'getIndex',
      summary: 'List the endpoints',
      description: 'Name and version of the service, the URLs of the documentation, and every endpoint.',
      tags: ['Service'],
      response: marketResponses(dataOf(ref('Index'))),
    },
    respond: async () => {
      const data: WireIndex = {
        name: context.market.serviceName,
        version: context.version,
        documentation: `${context.baseUrl()}/docs`,
        openapi: `${context.baseUrl()}${prefix}${DOCUMENT_PATH}`,
        endpoints: listEndpoints(app),
      };
      return createCachedResponse({ cacheTag: NO_COLLECTION, policy: DOCUMENT_CACHE_POLICY, body: { data } });
    },
  });

  registerDocumentRoute(app, context, prefix, {
    operationId: 'getOpenApi',
    summary: 'Read this document',
    description: 'The machine-readable description of this interface, OpenAPI 3.1.',
    tags: ['Service'],
    response: marketResponses({
      type: 'object',
      description: 'An OpenAPI 3.1 document.',
      examples: [{ openapi: '3.1.0', info: { title: 'Mercat marketplace interface', version: '1.0.0' }, paths: {} }],
    }),
  });
}

function listEndpoints(app: FastifyInstance): WireIndex['endpoints'] {
  const { paths } = toPublishedDocument(app, '');
  return Object.entries(paths).flatMap(([path, operations]) =>
    Object.entries(operations as Record<string, { summary?: string }>).map(([method, { summary = '' }]) => ({
      method: method.toUpperCase(),
      path,
      description: summary,
    })),
  );
}
