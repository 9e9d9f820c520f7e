// GET /explore/v1/collections/{id}/holders.

import type { FastifyInstance } from 'fastify';
import type { Static } from 'typebox';
import Type from 'typebox';
import { closed, ref, typeOrNull } from '../../../platform/http/schema-builders.ts';
import { collectionParams, countOrNull } from '../../reads/http/collection-identity.ts';
import { marketResponses } from '../../reads/http/envelopes.ts';
import { EXAMPLE_TOKEN } from '../../reads/http/example-collection.ts';
import { cacheTagOf } from '../../reads/resolve-collection.ts';
import { toAccount } from '../../reads/token.ts';
import type { Market } from '../../reads/market.ts';
import type { CollectionHolders } from '../holders.ts';
import { readHolders } from '../holders.ts';
import type { ExploreContext } from './context.ts';
import { exploreRoute, exploredDataOf } from './offset-meta.ts';

const CACHE_POLICY = { sharedMaxAgeS: 30, staleWhileRevalidateS: 300 };

const count = (description: string) => Type.Integer({ minimum: 0, description });

export const HoldersSchema = Type.Object(
  {
    holders: countOrNull('Number of holders.'),
    tokens: countOrNull('Number of tokens.'),
    distribution: Type.Array(
      Type.Object(
        {
          from: count('The fewest tokens of a holder in this range.'),
          to: typeOrNull<number>('integer', 'The most tokens of a holder in this range; null if there is no limit.'),
          holders: count('Number of holders in this range.'),
        },
        { description: 'A range of the distribution.', ...closed },
      ),
      { description: 'How many holders have how many tokens. Empty if unknown.' },
    ),
    largest: Type.Array(
      Type.Object(
        {
          address: typeOrNull<string>('string', 'Address of the holder; null if `kind` is `custody`.'),
          kind: Type.Unsafe<'wallet' | 'custody'>({
            type: 'string',
            enum: ['wallet', 'custody'],
            description: '`custody`: a wallet that holds tokens of many owners.',
          }),
          label: typeOrNull<string>('string', 'Label of the custody wallet.'),
          tokens: count('Number of tokens that the holder has.'),
        },
        { description: 'A holder.', ...closed },
      ),
      { description: 'The holders of the most tokens, at most 100. Empty if unknown.' },
    ),
  },
  {
    $id: 'Holders',
    title: 'Holders',
    description:
      'The holders of a collection. If the holder of any token is not known, the numbers are null and the lists are empty.',
    examples: [
      {
        holders: 137,
        tokens: 420,
        distribution: [
          { from: 1, to: 1, holders: 88 },
          { from: 2, to: 3, holders: 31 },
          { from: 4, to: 10, holders: 14 },
          { from: 11, to: 25, holders: 3 },
          { from: 26, to: 100, holders: 1 },
          { from: 101, to: null, holders: 0 },
        ],
        largest: [{ address: EXAMPLE_TOKEN.seller, kind: 'wallet', label: null, tokens: 41 }],
      },
    ],
    ...closed,
  },
);
type WireHolders = Static<typeof HoldersSchema>;

export function registerHoldersRoute(app: FastifyInstance, context: ExploreContext): void {
  const { market } = context;

  exploreRoute(app, context, {
    path: '/explore/v1/collections/:id/holders',
    bucket: 'single',
    schema: {
      operationId: 'getHolders',
      summary: 'Read the holders of a collection',
      description: 'How many holders have how many tokens, and the holders of the most tokens.',
      tags: ['Collections'],
      params: collectionParams,
      response: marketResponses(exploredDataOf(ref('Holders')), 400, 404, 502),
    },
    respond: async ({ id = '' }) => {
      const holders = await readHolders(market, id);
      return {
        cacheTag: cacheTagOf(holders.collection, id),
        policy: CACHE_POLICY,
        body: { data: toWireHolders(market, holders) },
      };
    },
  });
}

function toWireHolders(market: Market, { known }: CollectionHolders): WireHolders {
  if (!known) return { holders: null, tokens: null, distribution: [], largest: [] };
  const { holders, tokens, distribution, largest } = known;
  return {
    holders,
    tokens,
    distribution,
    largest: largest.map((holder) => ({ ...toAccount(market, holder.owner), tokens: holder.tokens })),
  };
}
