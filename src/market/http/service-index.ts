// GET /v1 and GET /v1/openapi.json.

import type { FastifyInstance } from 'fastify';
import { NO_COLLECTION } from '../../core/changes.ts';
import { createCachedResponse } from '../../http/cached-response.ts';
import { toPublishedDocument } from '../../http/openapi.ts';
import { responses } from './documented.ts';
import type { MarketplaceContext } from './cached-route.ts';
import { cachedRoute } from './cached-route.ts';
import type { WireIndex } from './schemas.ts';
import { wrapped } from './schemas.ts';

const INDEX_POLICY = { sharedMaxAgeS: 300, staleWhileRevalidateS: 3_600 };

export function registerIndexRoutes(app: FastifyInstance, context: MarketplaceContext): void {
  cachedRoute(app, context, {
    path: '/v1',
    schema: {
      operationId: 'getIndex',
      summary: 'What the interface offers',
      description: 'Name, version, where the documentation is, and every endpoint.',
      tags: ['Service'],
      response: responses(wrapped('Index')),
    },
    make: () => {
      const data: WireIndex = {
        name: context.market.serviceName,
        version: context.version,
        documentation: `${context.baseUrl()}/docs`,
        openapi: `${context.baseUrl()}/v1/openapi.json`,
        endpoints: listEndpoints(app),
      };
      return Promise.resolve(createCachedResponse({ subject: NO_COLLECTION, policy: INDEX_POLICY, body: { data } }));
    },
  });

  cachedRoute(app, context, {
    path: '/v1/openapi.json',
    schema: {
      operationId: 'getOpenApi',
      summary: 'This document',
      description: 'The machine-readable description of this interface, OpenAPI 3.1.',
      tags: ['Service'],
      response: responses({ type: 'object', description: 'An OpenAPI 3.1 document.' }),
    },
    make: () =>
      Promise.resolve(
        createCachedResponse({
          subject: NO_COLLECTION,
          policy: INDEX_POLICY,
          body: toPublishedDocument(app, context.baseUrl()),
        }),
      ),
  });
}

function listEndpoints(app: FastifyInstance): WireIndex['endpoints'] {
  const { paths } = toPublishedDocument(app, '');
  return Object.entries(paths).map(([path, item]) => ({
    method: 'GET',
    path,
    description: (item as { get?: { summary?: string } }).get?.summary ?? '',
  }));
}
