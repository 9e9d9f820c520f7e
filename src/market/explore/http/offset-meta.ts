// `meta.offset`: the offset in the stream that a response reflects. A client that follows the stream from this offset misses nothing.

import type { FastifyInstance, FastifySchema } from 'fastify';
import type { TSchema } from 'typebox';
import Type from 'typebox';
import type { CachedResponse, ResponseContent } from '../../../platform/http/cached-response.ts';
import { createCachedResponse } from '../../../platform/http/cached-response.ts';
import { cachedRoute } from '../../../platform/http/cached-route.ts';
import type { RateLimitBucket } from '../../../platform/http/rate-limit.ts';
import { closed, dataOf, typeOrNull } from '../../../platform/http/schema-builders.ts';
import { pageOf } from '../../reads/http/envelopes.ts';
import { toExampleOffset } from '../stream/offset.ts';
import type { ExploreContext } from './context.ts';

export type OffsetMeta = { offset: string | null };

type OffsetSource = { stream: { feed: Pick<ExploreContext['stream']['feed'], 'offset'> } };

/**
 * Reads data, and returns it with an offset. The data includes every change up to the offset, and may include newer changes, because the
 * offset is determined first.
 */
export async function withMeta<T>(
  { stream }: OffsetSource,
  read: () => Promise<T>,
): Promise<{ content: T; meta: OffsetMeta }> {
  const { offset } = stream.feed;
  return { content: await read(), meta: { offset } };
}

const members = {
  meta: Type.Object(
    {
      offset: typeOrNull<string>(
        'string',
        'The offset in the stream that the response reflects; null while the activity log cannot be read. Follow the stream from this offset to learn what changes afterwards.',
        { examples: [toExampleOffset(42)] },
      ),
    },
    { description: 'About the response.', ...closed },
  ),
};

/** The envelope of a single resource: `{data, meta}`. */
export const exploredDataOf = (schema: TSchema) => dataOf(schema, members);

/** The envelope of a list: `{data, pagination, meta}`. */
export const exploredPageOf = (
  schemaId: string,
  { members: more = {}, ...options }: { rows?: readonly object[]; members?: Record<string, TSchema> } = {},
) => pageOf(schemaId, { ...options, members: { ...more, ...members } });

/** A response without `meta`. */
export type ExploreContent = Omit<ResponseContent, 'body'> & { body: Record<string, unknown> };

export type ExploreRoute<Query extends object> = {
  path: string;
  bucket: RateLimitBucket;
  schema: FastifySchema;
  /** Computes the response without `meta`. */
  respond: (params: Record<string, string>, query: Query) => Promise<ExploreContent>;
};

/** Registers a GET route with cached responses. A cached response keeps the offset that was determined when its data was read. */
export function exploreRoute<Query extends object>(
  app: FastifyInstance,
  context: ExploreContext,
  { path, bucket, schema, respond }: ExploreRoute<Query>,
): void {
  cachedRoute<Query>(app, context, {
    path,
    bucket,
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
