// GET /explore/v1/collections/{id}/tokens.

import type { FastifyInstance } from 'fastify';
import Type from 'typebox';
import { parseAddress } from '../../../platform/core/address.ts';
import type { CollectionLocation } from '../../../platform/core/collection.ts';
import { sealCursor } from '../../../platform/core/cursor.ts';
import { parameterError } from '../../../platform/core/errors.ts';
import type { ObjectParameter } from '../../../platform/http/query.ts';
import { collectionParams } from '../../reads/http/collection-identity.ts';
import type { PageQuery } from '../../reads/http/envelopes.ts';
import { marketResponses, pageQuery, readCursor } from '../../reads/http/envelopes.ts';
import { readPriceContext } from '../../reads/http/price.ts';
import { firstExpiry } from '../../reads/listing-window.ts';
import { cacheTagOf, locationOf, resolveCollection } from '../../reads/resolve-collection.ts';
import type { TokenListQuery, TokenPosition, TokenSort } from '../tokens.ts';
import { TOKEN_SORTS, listTokens } from '../tokens.ts';
import { toWireToken } from './token.ts';
import type { ExploreContext } from './context.ts';
import { exploreRoute, exploredPageOf } from './offset-meta.ts';

const CACHE_POLICY = { sharedMaxAgeS: 5, staleWhileRevalidateS: 30 };
const ADDRESS_LENGTH_MAX = 44;

const TRAIT_NAMES_MAX = 10;

type Query = PageQuery & { sort: TokenSort; listed?: boolean; owner?: string; traits?: ObjectParameter };

export function registerTokensRoute(app: FastifyInstance, context: ExploreContext): void {
  const { market, cursorSecret } = context;

  exploreRoute<Query>(app, context, {
    path: '/explore/v1/collections/:id/tokens',
    bucket: 'list',
    schema: {
      operationId: 'listTokens',
      summary: 'List the tokens of a collection',
      description:
        'The tokens of which the service has a record, with owner, listing and last sale. Burned tokens are left out. With the sort `price`, ' +
        'listed tokens come first, and listed tokens without a record are in the list too.',
      tags: ['Tokens'],
      params: collectionParams,
      querystring: Type.Object({
        ...pageQuery,
        sort: Type.Optional(
          Type.Unsafe<TokenSort>({
            type: 'string',
            enum: TOKEN_SORTS,
            default: 'price',
            description:
              '`price`: the cheapest listing first, then the tokens that are not listed, by id. `rank`: the rarest first, then the tokens ' +
              'without a rank, by id. `id`: the lowest token id first.',
          }),
        ),
        listed: Type.Optional(
          Type.Boolean({ description: '`true`: only listed tokens. `false`: only tokens that are not listed.' }),
        ),
        owner: Type.Optional(
          Type.String({
            maxLength: ADDRESS_LENGTH_MAX,
            description: 'Only tokens of this owner. A page may then be short or empty although there is a next page.',
          }),
        ),
        traits: Type.Optional(
          Type.Unsafe<ObjectParameter>({
            type: 'object',
            additionalProperties: { anyOf: [{ type: 'string' }, { type: 'array', items: { type: 'string' } }] },
            maxProperties: TRAIT_NAMES_MAX,
            style: 'deepObject',
            explode: true,
            description:
              'Only tokens with these traits, for example `traits[Weather]=Fog`. May be given several times: for each name, a token must ' +
              'have one of the given values.',
            examples: [{ Weather: 'Fog' }],
          }),
        ),
      }),
      response: marketResponses(exploredPageOf('Token'), 400, 404, 502),
    },
    respond: async ({ id = '' }, { cursor, limit, sort, listed = null, owner, traits = NO_TRAITS }) => {
      const collection = await resolveCollection(market, id);
      const location = locationOf(market, collection);
      const filter = { sort, listed, owner: owner === undefined ? null : parseOwner(location, owner), traits };
      const scope = `tokens ${collection.id} ${sort} ${listed} ${filter.owner} ${JSON.stringify([...traits])}`;
      const after = cursor === undefined ? null : readPosition(cursorSecret, scope, cursor);
      const [page, prices] = await Promise.all([
        location ? listTokens(market, location, { ...filter, after, limit }) : EMPTY_PAGE,
        readPriceContext(market),
      ]);
      return {
        cacheTag: cacheTagOf(collection, id),
        policy: CACHE_POLICY,
        degraded: page.degraded,
        validUntil: firstExpiry(page.tokens.flatMap(({ listing }) => listing ?? [])),
        body: {
          data: page.tokens.map((token) => toWireToken(market, token, prices)),
          pagination: {
            nextCursor: page.next && sealCursor(cursorSecret, scope, toPayload(page.next)),
            hasMore: page.next !== null,
          },
        },
      };
    },
  });
}

const NO_TRAITS: ObjectParameter = new Map();
const EMPTY_PAGE = { tokens: [], next: null, degraded: false };

function parseOwner(location: CollectionLocation | null, text: string): TokenListQuery['owner'] {
  const owner = location && parseAddress(location.chain.family, text);
  if (location && !owner) {
    throw parameterError('owner', `is not an address on ${location.chain.id}`);
  }
  return owner;
}

/**
 * Returns the position as the text that a cursor contains. The position of a listing is not JSON: JSON would write some characters of its id as
 * six characters, and the cursor could be too long. In the other positions a price in base units is a string, because a JSON number would
 * round it.
 */
function toPayload(position: TokenPosition): string {
  if (position.phase === 'priced') return JSON.stringify({ ...position, raw: position.raw.toString() });
  if (position.phase !== 'listed') return JSON.stringify(position);
  return `${position.raw} ${position.key} ${position.orderId}`;
}

type StoredPosition =
  | { phase: 'priced'; raw: string; asset: string }
  | Extract<TokenPosition, { phase: 'ranked' | 'others' }>;

const LISTED_POSITION = /^(\d+) (\S+) (.*)$/s;

function readPosition(secret: Buffer, scope: string, cursor: string): TokenPosition {
  const payload = readCursor(secret, { scope, list: 'this list' }, cursor);
  const [, raw = '', key = '', orderId = ''] = LISTED_POSITION.exec(payload) ?? [];
  if (raw !== '') return { phase: 'listed', raw: BigInt(raw), key, orderId };
  const position = JSON.parse(payload) as StoredPosition;
  return position.phase === 'priced' ? { ...position, raw: BigInt(position.raw) } : position;
}
