// OpenAPI documents, made from the routes themselves: one for each scope of the server that registers one.

import swagger from '@fastify/swagger';
import type { FastifyInstance } from 'fastify';

/** The version of the interface's description, not of the program. */
const DOCUMENT_VERSION = '1.0.0';

export type OpenApiDocument = {
  openapi: string;
  servers: { url: string }[];
  paths: Record<string, object>;
  components: { schemas: Record<string, object> };
};

export type OpenApiOptions = {
  title: string;
  description: string;
  tags: { name: string; description: string }[];
  /** True: every operation needs an API key as a bearer token. */
  keyed: boolean;
};

/** Has to be registered before the routes that it describes. */
export async function registerOpenApi(app: FastifyInstance, options: OpenApiOptions): Promise<void> {
  const { title, description, tags, keyed } = options;
  await app.register(swagger, {
    openapi: {
      openapi: '3.1.0',
      info: {
        title,
        version: DOCUMENT_VERSION,
        description,
        license: { name: 'Apache-2.0', identifier: 'Apache-2.0' },
        contact: { name: 'The Mercat developers' },
      },
      security: keyed ? [{ apiKey: [] }] : [],
      ...(keyed && {
        components: {
          securitySchemes: { apiKey: { type: 'http', scheme: 'bearer', description: 'An API key of a shop.' } },
        },
      }),
      tags,
    },
    refResolver: { buildLocalReference: (json) => json['$id'] as string },
    exposeHeadRoutes: false,
  });
}

/** The document as it is served: with the address that callers use, and `$id` only where it means something. */
export function toPublishedDocument(app: FastifyInstance, baseUrl: string): OpenApiDocument {
  const document = structuredClone(app.swagger()) as unknown as OpenApiDocument;
  document.servers = [{ url: baseUrl || '/' }];
  return document;
}

/** What a 429 of either interface carries, and nothing else does. */
export const RATE_LIMIT_HEADERS = {
  'X-RateLimit-Limit': { type: 'integer', description: 'Requests a minute that are allowed.' },
  'X-RateLimit-Remaining': { type: 'integer', description: 'Always 0 here.' },
  'X-RateLimit-Reset': { type: 'string', format: 'date-time', description: 'When the window ends.' },
  'Retry-After': { type: 'integer', description: 'Seconds until then.' },
};
