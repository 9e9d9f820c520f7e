// The readable API reference at /docs: a page that draws the served OpenAPI document, with all its code served from here.

import reference from '@scalar/fastify-api-reference';
import type { FastifyInstance } from 'fastify';

export async function registerReferencePage(app: FastifyInstance): Promise<void> {
  await app.register(reference, {
    routePrefix: '/docs',
    configuration: {
      title: 'Mercat API reference',
      url: '/v1/openapi.json',
      // Nothing is fetched from, or told to, anybody else.
      withDefaultFonts: false,
      telemetry: false,
      hideClientButton: true,
    },
  });
}
