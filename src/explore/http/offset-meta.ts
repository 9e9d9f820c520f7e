// `meta.offset`: the offset in the stream that a response reflects. A client that follows the stream from this offset misses nothing.

import type { FastifyInstance, FastifySchema } from 'fastify';
import type { TSchema } from 'typebox';
import Type from 'typebox';
import { readNotBefore, readsCoveredUntil } from '../../database/replicas/read-scope.ts';
import type { CachedResponse, ResponseContent } from '../../http/cached-response.ts';
import { createCachedResponse } from '../../http/cached-response.ts';
import { cachedRoute } from '../../http/cached-route.ts';
import { closed, dataOf, typeOrNull } from '../../http/schema-builders.ts';
import { pageOf } from '../../market/http/envelopes.ts';
import { toOffset } from '../stream/offset.ts';
import type { ExploreContext } from './context.ts';

export type OffsetMeta = { offset: string | null };

type OffsetSource = {
  stream: { feed: Pick<ExploreContext['stream']['feed'], 'offsetAt'> };
  market: Pick<ExploreContext['market'], 'hasReplicas'>;
};

/**
 * If the service reads from replicas, a response has the newest offset that the feed had read this long ago. Replicas usually have every
 * change up to this offset. With a newer offset, the service would have to read the primary after each change.
 */
const REPLICATED_OFFSET_AGE_MS = 500;

/**
 * Reads data, and returns it with an offset. The data includes every change up to the offset, and may include newer changes: the offset is
 * determined first, and the data is then read from the primary or from replicas that have everything up to the offset. The offset is null
 * if the replica that was read did not have every change up to the offset. This is possible after the loss of the primary.
 */
export async function withMeta<T>(
  { stream, market }: OffsetSource,
  read: () => Promise<T>,
): Promise<{ content: T; meta: OffsetMeta }> {
  const ageMs = market.hasReplicas ? REPLICATED_OFFSET_AGE_MS : 0;
  const { offset, readAt } = stream.feed.offsetAt(performance.now() - ageMs);
  const content = await readNotBefore(readAt, read);
  return { content, meta: { offset: readsCoveredUntil() > readAt ? offset : null } };
}

const members = {
  meta: Type.Object(
    {
      offset: typeOrNull<string>(
        'string',
        'The offset in the stream that the response reflects; null while the activity log cannot be read, or when the data may lack events before the offset. Follow the stream from this offset to learn what changes afterwards.',
        { examples: [toOffset(42)] },
      ),
    },
    { description: 'About the response.', ...closed },
  ),
};

/** The envelope of a single resource: `{data, meta}`. */
export const exploredDataOf = (schema: TSchema) => dataOf(schema, members);

/** The envelope of a list: `{data, pagination, meta}`. */
export const exploredPageOf = (schemaId: string, options: { rows?: readonly object[] } = {}) =>
  pageOf(schemaId, { ...options, members });

/** A response without `meta`. */
export type ExploreContent = Omit<ResponseContent, 'body'> & { body: Record<string, unknown> };

export type ExploreRoute<Query extends object> = {
  path: string;
  schema: FastifySchema;
  /** Computes the response without `meta`. */
  respond: (params: Record<string, string>, query: Query) => Promise<ExploreContent>;
};

/** Registers a GET route with cached responses. A cached response keeps the offset that was determined when its data was read. */
export function exploreRoute<Query extends object>(
  app: FastifyInstance,
  context: ExploreContext,
  { path, schema, respond }: ExploreRoute<Query>,
): void {
  cachedRoute<Query>(app, context, {
    path,
    schema,
    respond: async (params, query): Promise<CachedResponse> => {
      const {
        content: { body, ...content },
        meta,
      } = await withMeta(context, () => respond(params, query));
      return createCachedResponse({ ...content, body: { ...body, meta } });
    },
  });
}
