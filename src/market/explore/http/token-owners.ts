// GET /explore/v1/tokens/{chain}/{address}/{tokenId}/owners.

import type { FastifyInstance } from 'fastify';
import Type from 'typebox';
import { toCollectionId } from '../../../platform/core/collection.ts';
import { sealCursor } from '../../../platform/core/cursor.ts';
import { closed, typeOrNull } from '../../../platform/http/schema-builders.ts';
import type { PageQuery } from '../../reads/http/envelopes.ts';
import { marketResponses, pageQuery, readCursor } from '../../reads/http/envelopes.ts';
import { EXAMPLE_TOKEN } from '../../reads/http/example-collection.ts';
import { parseTokenLocation, tokenNames } from '../../reads/http/token.ts';
import type { TokenOwner } from '../../reads/token.ts';
import { readTokenOwners } from '../token-owners.ts';
import type { ExploreContext } from './context.ts';
import { unitsOrNullField } from './listing.ts';
import { exploreRoute, exploredPageOf } from './offset-meta.ts';

const CACHE_POLICY = { sharedMaxAgeS: 5, staleWhileRevalidateS: 30 };

export const TokenHolderSchema = Type.Object(
  {
    address: typeOrNull<string>('string', 'Address of the owner; null for a custody wallet.'),
    kind: Type.Unsafe<TokenOwner['kind']>({
      type: 'string',
      enum: ['wallet', 'custody'],
      description: '`custody`: a wallet that holds tokens for others.',
    }),
    label: typeOrNull<string>('string', 'Name of the custody wallet; null for any other wallet.'),
    balance: unitsOrNullField('The units that the owner holds; null if they were not read from a chain.'),
  },
  {
    $id: 'TokenHolder',
    title: 'TokenHolder',
    description: 'An owner of a token. All fields are always present.',
    examples: [{ address: EXAMPLE_TOKEN.seller, kind: 'wallet', label: null, balance: '3' }],
    ...closed,
  },
);

export function registerTokenOwnersRoute(app: FastifyInstance, context: ExploreContext): void {
  const { market, cursorSecret } = context;

  exploreRoute<PageQuery>(app, context, {
    path: '/explore/v1/tokens/:chain/:address/:tokenId/owners',
    bucket: 'list',
    schema: {
      operationId: 'listTokenOwners',
      summary: 'List the owners of a token',
      description:
        'The accounts that hold units of the token, by the log of the followed chain, sorted by address. If the collection is not followed on its ' +
        'chain, the list has at most one owner, whose `balance` is null.',
      tags: ['Tokens'],
      params: Type.Object(tokenNames),
      querystring: Type.Object(pageQuery),
      response: marketResponses(exploredPageOf('TokenHolder'), 400, 404),
    },
    respond: async (params, { cursor, limit }) => {
      const location = parseTokenLocation(market, params);
      const collectionId = toCollectionId(location.chain.id, location.contractAddress);
      const scope = `owners ${collectionId} ${location.asset}`;
      const after = cursor === undefined ? null : readCursor(cursorSecret, { scope, list: 'this list' }, cursor);
      const page = await readTokenOwners(market, location, { after, limit });
      return {
        cacheTag: collectionId,
        policy: CACHE_POLICY,
        degraded: page.degraded,
        body: {
          data: page.owners.map((owner) => ({ ...owner, balance: owner.balance?.toString() ?? null })),
          pagination: {
            nextCursor: page.next === null ? null : sealCursor(cursorSecret, scope, page.next),
            hasMore: page.next !== null,
          },
        },
      };
    },
  });
}
