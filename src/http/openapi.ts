// The OpenAPI document of the marketplace interface, made from the routes themselves.

import swagger from '@fastify/swagger';
import type { FastifyInstance } from 'fastify';
import { MARKETPLACE_PREFIX } from './marketplace/paths.ts';

/** The version of the interface's description, not of the program. */
const DOCUMENT_VERSION = '1.0.0';

export type OpenApiDocument = {
  openapi: string;
  servers: { url: string }[];
  paths: Record<string, object>;
  components: { schemas: Record<string, object> };
};

/** Has to be registered before the routes that it describes. */
export async function registerOpenApi(app: FastifyInstance): Promise<void> {
  await app.register(swagger, {
    openapi: {
      openapi: '3.1.0',
      info: {
        title: 'Mercat marketplace interface',
        version: DOCUMENT_VERSION,
        description:
          'Public, read-only market data for NFT collections on seven chains. No key, open to browsers. ' +
          'Amounts are integers of base units in text; unknown is null, never zero; when a source is down the answer says so.',
        license: { name: 'Apache-2.0', identifier: 'Apache-2.0' },
        contact: { name: 'The Mercat developers' },
      },
      // No key is needed anywhere in this interface.
      security: [],
      tags: [
        { name: 'Collections', description: 'Collections and their floors.' },
        { name: 'Listings and sales', description: 'What is for sale, and what was sold.' },
        { name: 'Tokens', description: 'Single tokens.' },
        { name: 'Service', description: 'The interface itself.' },
      ],
    },
    refResolver: { buildLocalReference: (json) => json['$id'] as string },
    exposeHeadRoutes: false,
    transform: ({ schema, url }) => ({ schema: { ...schema, hide: !url.startsWith(MARKETPLACE_PREFIX) }, url }),
  });
}

/** The document as it is served: with the address that callers use, and `$id` only where it means something. */
export function toPublishedDocument(app: FastifyInstance, baseUrl: string): OpenApiDocument {
  const document = structuredClone(app.swagger()) as unknown as OpenApiDocument;
  document.servers = [{ url: baseUrl || '/' }];
  return document;
}
