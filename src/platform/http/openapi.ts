// Generates OpenAPI documents from the registered routes. Each interface of the server has its own document.

import swagger from '@fastify/swagger';
import type { FastifyInstance } from 'fastify';
import { addExamples } from './examples.ts';

/** The version of the interface, not of the program. */
const DOCUMENT_VERSION = '1.0.0';

export type OpenApiDocument = {
  openapi: string;
  servers: { url: string }[];
  paths: Record<string, object>;
  webhooks?: Record<string, object>;
  components: { schemas: Record<string, object> };
};

export type OpenApiOptions = {
  title: string;
  description: string;
  tags: { name: string; description: string }[];
  /** Whether every operation needs an API key as a bearer token. */
  keyed: boolean;
  /** The requests that the service itself sends, by name, as Path Item Objects of OpenAPI. */
  webhooks?: Record<string, object>;
};

/** Must be called before the routes of `app` are registered, because the document has only routes that are registered later. */
export async function registerOpenApi(app: FastifyInstance, options: OpenApiOptions): Promise<void> {
  const { title, description, tags, keyed, webhooks } = options;
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
      ...(webhooks && { webhooks }),
    },
    refResolver: { buildLocalReference: (json) => json['$id'] as string },
    exposeHeadRoutes: false,
  });
}

/** Returns the document to serve. Its server is `baseUrl`, the URL that callers use. */
export function toPublishedDocument(app: FastifyInstance, baseUrl: string): OpenApiDocument {
  const document = structuredClone(app.swagger()) as unknown as OpenApiDocument;
  document.servers = [{ url: baseUrl || '/' }];
  addExamples(document);
  moveParameterStyles(document);
  return document;
}

type Parameter = { schema?: { style?: string; explode?: boolean }; style?: string; explode?: boolean };

/** Moves `style` and `explode` from the schema to the parameter. @fastify/swagger leaves them in the schema, where OpenAPI forbids them. */
function moveParameterStyles({ paths }: OpenApiDocument): void {
  const operations = Object.values(paths).flatMap((path) => Object.values(path) as { parameters?: Parameter[] }[]);
  for (const parameter of operations.flatMap(({ parameters = [] }) => parameters)) {
    const { style, explode, ...schema } = parameter.schema ?? {};
    if (style === undefined) continue;
    Object.assign(parameter, { schema, style, explode });
  }
}

/** The headers of a 429, in every interface. */
export const RATE_LIMIT_HEADERS = {
  'X-RateLimit-Limit': { type: 'integer', description: 'Requests allowed per minute.' },
  'X-RateLimit-Remaining': { type: 'integer', description: 'Always 0 in a 429 response.' },
  'X-RateLimit-Reset': { type: 'string', format: 'date-time', description: 'When the window ends.' },
  'Retry-After': { type: 'integer', description: 'Seconds until the window ends.' },
};
