// GET /explore/v1/collections/{id}/traits.

import type { FastifyInstance } from 'fastify';
import type { Static } from 'typebox';
import Type from 'typebox';
import { sealCursor } from '../../../platform/core/cursor.ts';
import { closed, refOrNull } from '../../../platform/http/schema-builders.ts';
import { collectionParams, countOrNull } from '../../reads/http/collection-identity.ts';
import type { PageQuery } from '../../reads/http/envelopes.ts';
import { marketResponses, pageQuery, readCursor } from '../../reads/http/envelopes.ts';
import { toExamplePrice } from '../../reads/http/example-collection.ts';
import type { PriceContext, WirePrice } from '../../reads/http/price.ts';
import { toPriceOrNull } from '../../reads/http/price.ts';
import type { Chain } from '../../../platform/core/chains.ts';
import { cacheTagOf, resolveCollection } from '../../reads/resolve-collection.ts';
import type { CollectionTrait } from '../traits.ts';
import { VALUES_MAX, listTraits } from '../traits.ts';
import type { WireTopBid } from './bid.ts';
import { toWireTopBid } from './bid.ts';
import type { ExploreContext } from './context.ts';
import { exploreRoute, exploredPageOf } from './offset-meta.ts';
import { readExplorePrices } from './price.ts';

const CACHE_POLICY = { sharedMaxAgeS: 15, staleWhileRevalidateS: 60 };

export const TraitSchema = Type.Object(
  {
    name: Type.String({ description: 'Name of the trait, as the metadata states it.' }),
    values: Type.Array(
      Type.Object(
        {
          value: Type.String({ description: 'Value of the trait; numbers and dates as text.' }),
          count: countOrNull('Number of tokens that have the value; null if a token may be missing.'),
          listed: countOrNull('How many of these tokens are listed; null if a token or a listing may be missing.'),
          floor: refOrNull<WirePrice>(
            'Price',
            'The price of the cheapest listing of these tokens; null if none of them is listed, or if the traits of a listed token are not known.',
          ),
          topBid: refOrNull<WireTopBid>(
            'TopBid',
            'The best bid for the tokens of this value, or for any token of the collection; null if none is known.',
          ),
        },
        { description: 'A value of the trait.', ...closed },
      ),
      { description: `At most ${VALUES_MAX} values, the most frequent first.` },
    ),
    hasMoreValues: Type.Boolean({ description: 'True when the trait has values that are not in `values`.' }),
  },
  {
    $id: 'Trait',
    title: 'Trait',
    description: 'A trait that tokens of a collection have. All fields are always present.',
    examples: [
      {
        name: 'Wind',
        values: [
          { value: 'Calm', count: 301, listed: 24, floor: toExamplePrice(395n), topBid: null },
          { value: 'Gale', count: 119, listed: 7, floor: toExamplePrice(420n), topBid: null },
        ],
        hasMoreValues: false,
      },
    ],
    ...closed,
  },
);

export function registerTraitsRoute(app: FastifyInstance, context: ExploreContext): void {
  const { market, cursorSecret } = context;

  exploreRoute<PageQuery>(app, context, {
    path: '/explore/v1/collections/:id/traits',
    bucket: 'list',
    schema: {
      operationId: 'listTraits',
      summary: 'List the traits of a collection',
      description:
        'Lists the traits in alphabetical order of their names. Each trait has its values and their figures.',
      tags: ['Collections'],
      params: collectionParams,
      querystring: Type.Object(pageQuery),
      response: marketResponses(exploredPageOf('Trait'), 400, 404, 502),
    },
    respond: async ({ id = '' }, { cursor, limit }) => {
      const collection = await resolveCollection(market, id);
      const scope = `traits ${collection.id}`;
      const after = cursor === undefined ? null : readCursor(cursorSecret, { scope, list: 'this list' }, cursor);
      const [page, prices] = await Promise.all([
        listTraits(market, collection, { after, limit }),
        readExplorePrices(market),
      ]);
      const chain = market.chainOf(collection.chain);
      return {
        cacheTag: cacheTagOf(collection, id),
        policy: CACHE_POLICY,
        degraded: page.degraded,
        validUntil: page.validUntil,
        body: {
          data: page.traits.map((trait) => toWireTrait(trait, chain, prices)),
          pagination: {
            nextCursor: page.next === null ? null : sealCursor(cursorSecret, scope, page.next),
            hasMore: page.next !== null,
          },
        },
      };
    },
  });
}

function toWireTrait(
  { name, values, hasMoreValues }: CollectionTrait,
  chain: Chain | null,
  prices: PriceContext,
): Static<typeof TraitSchema> {
  return {
    name,
    values: values.map(({ floorRaw, topBid, ...figures }) => ({
      ...figures,
      floor: toPriceOrNull(floorRaw, chain, prices),
      topBid: topBid && chain && toWireTopBid(topBid, chain, prices),
    })),
    hasMoreValues,
  };
}
