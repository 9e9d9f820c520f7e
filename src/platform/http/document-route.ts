// Serves the OpenAPI document of an interface from the response cache, so that it is made and compressed once for many requests.

import type { FastifyInstance, FastifySchema } from 'fastify';
import { NO_COLLECTION } from '../core/collection-versions.ts';
import type { Clock } from '../core/clock.ts';
import { createCachedResponse } from './cached-response.ts';
import { cachedRoute } from './cached-route.ts';
import { toPublishedDocument } from './openapi.ts';
import type { ResponseCache } from './response-cache.ts';

/** The path of the document below the prefix of its interface. The document is served without a database and without a key. */
export const DOCUMENT_PATH = '/openapi.json';

/** How long shared caches may keep content that changes only with the version of the program. */
export const DOCUMENT_CACHE_POLICY = { sharedMaxAgeS: 300, staleWhileRevalidateS: 3_600 };

/** What serving the document needs. `baseUrl`: the URL that callers use. */
export type DocumentContext = { responses: ResponseCache; clock: Clock; baseUrl: () => string };

/** `schema`: describes the route in the document. By default the document leaves this route out. */
export function registerDocumentRoute(
  app: FastifyInstance,
  context: DocumentContext,
  prefix: string,
  schema: FastifySchema = { hide: true },
): void {
  cachedRoute(app, context, {
    path: prefix + DOCUMENT_PATH,
    bucket: 'single',
    schema,
    respond: async () =>
      createCachedResponse({
        cacheTag: NO_COLLECTION,
        policy: DOCUMENT_CACHE_POLICY,
        body: toPublishedDocument(app, context.baseUrl()),
      }),
  });
}
