// GET /explore/v1/search.

import type { FastifyInstance } from 'fastify';
import type { Static } from 'typebox';
import Type from 'typebox';
import { ALL_COLLECTIONS } from '../../../platform/core/collection-versions.ts';
import { closed, refOrNull } from '../../../platform/http/schema-builders.ts';
import { chainSchema } from '../../reads/http/asset-identity.ts';
import type { WireSummary } from '../../reads/http/collections.ts';
import { CollectionSummarySchema, SUMMARY_EXAMPLE, toWireSummary } from '../../reads/http/collections.ts';
import { marketResponses } from '../../reads/http/envelopes.ts';
import { EXAMPLE_COLLECTION } from '../../reads/http/example-collection.ts';
import type { SearchResult } from '../search.ts';
import { search } from '../search.ts';
import type { ExploreContext } from './context.ts';
import { exploreRoute, exploredPageOf } from './offset-meta.ts';
import { collectionImageFields, toCollectionImages } from './images.ts';
import type { TokenPrices, WireToken } from './token.ts';
import { firstExpiryOf, readTokenPrices, toWireToken } from './token.ts';

const CACHE_POLICY = { sharedMaxAgeS: 15, staleWhileRevalidateS: 60 };
const QUERY_LENGTH_MAX = 100;

/** The schema of the marketplace interface, with the images of this interface. */
export const ExploredSummarySchema = Type.Object(
  { ...CollectionSummarySchema.properties, ...collectionImageFields },
  {
    $id: 'CollectionSummary',
    title: 'CollectionSummary',
    description: 'A collection in a list.',
    examples: [SUMMARY_EXAMPLE],
    ...closed,
  },
);

export const SearchResultSchema = Type.Object(
  {
    type: Type.Unsafe<'collection' | 'token'>({
      type: 'string',
      enum: ['collection', 'token'],
      description: 'What was found.',
      examples: ['collection'],
    }),
    collection: refOrNull<WireSummary>('CollectionSummary', 'The collection; null if a token was found.'),
    token: { ...refOrNull<WireToken>('Token', 'The token; null if a collection was found.'), examples: [null] },
    score: Type.Number({
      minimum: 0,
      maximum: 1,
      description: 'How well the result fits: 1 is an exact match.',
      examples: [1],
    }),
  },
  { $id: 'SearchResult', title: 'SearchResult', description: 'A collection or a token that was found.', ...closed },
);

type Query = { q: string; chain?: string; limit: number };

export function registerSearchRoute(app: FastifyInstance, context: ExploreContext): void {
  const { market } = context;

  exploreRoute<Query>(app, context, {
    path: '/explore/v1/search',
    bucket: 'list',
    schema: {
      operationId: 'searchMarket',
      summary: 'Search collections and tokens',
      description:
        'Collections and tokens by name, slug, contract address or mint, the best results first. The name of a collection may be misspelt. ' +
        'A name with a number, such as `harbour lights 249`, also finds the token of this id. There is one page.',
      tags: ['Search'],
      querystring: Type.Object({
        q: Type.String({
          minLength: 1,
          maxLength: QUERY_LENGTH_MAX,
          description: 'The text to search for.',
          examples: [EXAMPLE_COLLECTION.slug],
        }),
        chain: Type.Optional(chainSchema),
        limit: Type.Optional(Type.Integer({ minimum: 1, maximum: 50, default: 10, description: 'The most results.' })),
      }),
      response: marketResponses(exploredPageOf('SearchResult'), 400, 502),
    },
    respond: async (_params, { q, chain = null, limit }) => {
      const { results, degraded } = await search(market, { text: q, chain: market.chainOf(chain), limit });
      const found = results.flatMap((one) => ('token' in one ? one.token : []));
      const prices = await readTokenPrices(market, found);
      return {
        cacheTag: ALL_COLLECTIONS,
        policy: CACHE_POLICY,
        degraded: degraded || prices.degraded,
        validUntil: firstExpiryOf(found, prices),
        body: {
          data: results.map((result) => toWireResult(context, result, prices)),
          pagination: { nextCursor: null, hasMore: false },
        },
      };
    },
  });
}

function toWireResult(
  context: ExploreContext,
  result: SearchResult,
  prices: TokenPrices,
): Static<typeof SearchResultSchema> {
  const { score } = result;
  if ('token' in result) {
    return { type: 'token', collection: null, token: toWireToken(context, result.token, prices), score };
  }
  const { summary } = result;
  const chain = context.market.chainOf(summary.collection.chain);
  const collection = {
    ...toWireSummary(summary, chain, prices),
    ...toCollectionImages(context, summary.collection),
  };
  return { type: 'collection', collection, token: null, score };
}
