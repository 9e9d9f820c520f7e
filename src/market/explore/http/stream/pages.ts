// GET /explore/v1/stream/pages/{offset}.

import type { FastifyInstance } from 'fastify';
import Type from 'typebox';
import { NO_COLLECTION } from '../../../../platform/core/collection-versions.ts';
import { parameterError } from '../../../../platform/core/errors.ts';
import { SHORT_POLICY, createCachedResponse } from '../../../../platform/http/cached-response.ts';
import { cachedRoute } from '../../../../platform/http/cached-route.ts';
import { closed, ref, typeOrNull } from '../../../../platform/http/schema-builders.ts';
import { marketResponses } from '../../../reads/http/envelopes.ts';
import { PAGE_SIZE } from '../../stream/activity-feed.ts';
import { OLDEST_OFFSET, parseOffset, toExampleOffset, toOffset } from '../../stream/offset.ts';
import { EXAMPLE_ACTIVITY } from '../activity.ts';
import type { ExploreContext } from '../context.ts';

export function registerStreamPagesRoute(app: FastifyInstance, context: ExploreContext): void {
  const { feed } = context.stream;
  cachedRoute(app, context, {
    path: '/explore/v1/stream/pages/:offset',
    bucket: 'single',
    schema: {
      operationId: 'listActivityAfter',
      summary: 'Read the past of the stream',
      description:
        `The events after an offset, up to ${PAGE_SIZE}, in the order of the stream. A page with a \`next\` changes only when a collection is removed: ` +
        'then the page loses the events of this collection. Caches may therefore keep such a page. A page of another epoch is a 410. ' +
        'The page of the offset `0` also changes when its oldest events are no longer kept. ' +
        'The last page has no `next`: follow the stream from the `offset` of its last event, or from the offset of the page if the page is empty.',
      tags: ['Activity'],
      params: Type.Object({
        offset: Type.String({
          minLength: 1,
          description:
            'An offset, such as `next` of the previous page. `0`: the page begins with the oldest kept event.',
          examples: [OLDEST_OFFSET],
        }),
      }),
      response: marketResponses(
        Type.Object(
          {
            data: Type.Array(ref('Activity'), { description: 'The events.', examples: [[EXAMPLE_ACTIVITY]] }),
            next: typeOrNull<string>('string', 'The offset of the next page; null for the last page.', {
              examples: [toExampleOffset(PAGE_SIZE)],
            }),
          },
          { description: 'A page of the stream.', ...closed },
        ),
        400,
        410,
      ),
    },
    respond: async ({ offset = '' }) => {
      const start = offset === OLDEST_OFFSET ? feed.start : parseOffset(offset);
      if (start === null) throw parameterError('offset', 'is not an offset of the stream', 'Path');
      await feed.requireKept(start);
      const { epoch, entries, end, isFull } = await feed.readPage(start);
      return createCachedResponse({
        cacheTag: NO_COLLECTION,
        // The page for OLDEST_OFFSET changes, because the oldest kept event changes. The removal of a collection also changes pages, because
        // it deletes the events of the collection. Cached pages still have these events: removals are too rare to justify short lifetimes.
        policy: isFull && offset !== OLDEST_OFFSET ? 'immutable' : SHORT_POLICY,
        body: {
          data: entries.map(({ json }): unknown => JSON.parse(json)),
          next: isFull ? toOffset(epoch, end) : null,
        },
      });
    },
  });
}
