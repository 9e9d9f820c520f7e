// GET /explore/v1/collections/{id}/tokens.

import type { FastifyInstance } from 'fastify';
import Type from 'typebox';
import { parseAddress } from '../../../platform/core/address.ts';
import type { CollectionLocation } from '../../../platform/core/collection.ts';
import { sealCursor } from '../../../platform/core/cursor.ts';
import { parameterError } from '../../../platform/core/errors.ts';
import { ServiceError } from '../../../platform/core/errors.ts';
import { DECIMAL_PATTERN, toRawLimit } from '../../../platform/core/amount.ts';
import type { ObjectParameter } from '../../../platform/http/query.ts';
import { collectionParams } from '../../reads/http/collection-identity.ts';
import type { PageQuery } from '../../reads/http/envelopes.ts';
import { marketResponses, pageQuery, readCursor } from '../../reads/http/envelopes.ts';
import { cacheTagOf, locationOf, resolveCollection } from '../../reads/resolve-collection.ts';
import type { TokenListQuery, TokenPosition, TokenSort } from '../tokens.ts';
import { TOKEN_SORTS, listTokens } from '../tokens.ts';
import { firstExpiryOf, readTokenPrices, toWireToken } from './token.ts';
import type { ExploreContext } from './context.ts';
import { exploreRoute, exploredPageOf } from './offset-meta.ts';

const CACHE_POLICY = { sharedMaxAgeS: 5, staleWhileRevalidateS: 30 };
const ADDRESS_LENGTH_MAX = 44;

const TRAIT_NAMES_MAX = 10;
const TRAITS_MAX = 50;
/** The name ends at the first colon. */
const TRAIT_PATTERN = '^[^:]+:[\\s\\S]+$';

type Query = PageQuery & {
  sort: TokenSort;
  listed?: boolean;
  owner?: string;
  traits?: ObjectParameter;
  trait?: readonly string[];
  source?: string;
  priceMin?: string;
  priceMax?: string;
  rankMin?: number;
  rankMax?: number;
  q?: string;
};

const priceLimit = (description: string) =>
  Type.Optional(Type.String({ pattern: DECIMAL_PATTERN, examples: ['0.5'], description }));
const rankLimit = (description: string) =>
  Type.Optional(Type.Integer({ minimum: 1, maximum: 2_147_483_647, description }));

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
              'without a rank, by id. `id`: the lowest token id first. `recent`: the newest listing first, then the tokens that are not listed, ' +
              'by id. `lastSale`: the token that was sold last first, then the tokens without a sale, by id.',
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
        source: Type.Optional(
          Type.String({
            maxLength: 64,
            description:
              "Only tokens whose listing is of this marketplace: the `marketplace` of the listing, in any case. The service's own code stands for its own orders.",
            examples: ['opensea'],
          }),
        ),
        priceMin: priceLimit('Only listed tokens with at least this price, in native units of the chain.'),
        priceMax: priceLimit('Only listed tokens with at most this price, in native units of the chain.'),
        rankMin: rankLimit('Only tokens with at least this rarity rank. 1 is the rarest.'),
        rankMax: rankLimit('Only tokens with at most this rarity rank.'),
        q: Type.Optional(
          Type.String({
            minLength: 1,
            maxLength: 100,
            description: 'Only tokens whose name or token id begins with this text, or whose mint is this text.',
            examples: ['24'],
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
              'Only tokens with these traits, for example `traits[Wind]=Gale`. May be given several times: for each name, a token must ' +
              'have one of the given values.',
            examples: [{ Wind: 'Gale' }],
          }),
        ),
        trait: Type.Optional(
          Type.Unsafe<readonly string[]>({
            type: 'array',
            items: { type: 'string', pattern: TRAIT_PATTERN, examples: ['Wind:Gale'] },
            maxItems: TRAITS_MAX,
            style: 'form',
            explode: true,
            description:
              'The same filter in a form that all clients can send: `trait=Wind:Gale&trait=Wind:Storm`. The name is the part before the first ' +
              'colon; a name that has a colon is sent with `traits`.',
            examples: [['Wind:Gale', 'Wind:Storm']],
          }),
        ),
      }),
      response: marketResponses(exploredPageOf('Token'), 400, 404, 502),
    },
    respond: async ({ id = '' }, { cursor, limit, ...query }) => {
      const collection = await resolveCollection(market, id);
      const location = locationOf(market, collection);
      const { owner } = query;
      const traits = toTraits(query);
      const filter = {
        ...toFilter(location, query),
        owner: owner === undefined ? null : parseOwner(location, owner),
        traits,
        traitsParameter: query.trait ? 'trait' : 'traits',
      };
      const { priceMin, priceMax, trait: _trait, ...others } = query;
      const scope = `tokens ${collection.id} ${JSON.stringify([filter.owner, priceMin, priceMax, { ...others, traits: [...traits] }])}`;
      const after = cursor === undefined ? null : readPosition(cursorSecret, scope, cursor);
      const page = location ? await listTokens(market, location, { ...filter, after, limit }) : EMPTY_PAGE;
      const prices = await readTokenPrices(market, page.tokens);
      return {
        cacheTag: cacheTagOf(collection, id),
        policy: CACHE_POLICY,
        degraded: page.degraded || prices.degraded,
        validUntil: firstExpiryOf(page.tokens, prices),
        body: {
          data: page.tokens.map((token) => toWireToken(context, token, prices)),
          pagination: {
            nextCursor: page.next && sealCursor(cursorSecret, scope, toPayload(page.next)),
            hasMore: page.next !== null,
          },
        },
      };
    },
  });
}

/** The traits of both parameters, sorted. */
function toTraits({ traits = new Map(), trait = [] }: Pick<Query, 'traits' | 'trait'>): ObjectParameter {
  const named = trait.map((text): [string, readonly string[]] => {
    const colon = text.indexOf(':');
    return [text.slice(0, colon), [text.slice(colon + 1)]];
  });
  const all = Map.groupBy([...traits, ...named], ([name]) => name);
  if (all.size > TRAIT_NAMES_MAX) throw parameterError('trait', `has more than ${TRAIT_NAMES_MAX} names`);
  const toValues = (name: string) => [...new Set(all.get(name)?.flatMap(([, values]) => values))].sort();
  return new Map([...all.keys()].sort().map((name) => [name, toValues(name)]));
}

function toFilter(
  location: CollectionLocation | null,
  { sort, q, source, priceMin, priceMax, rankMin, rankMax, ...query }: Omit<Query, 'cursor' | 'limit'>,
): Omit<TokenListQuery, 'owner' | 'traits' | 'traitsParameter' | 'after' | 'limit'> {
  const { listed = null } = query;
  const isOfListing = source !== undefined || priceMin !== undefined || priceMax !== undefined;
  if (isOfListing && listed === false) {
    throw new ServiceError(
      'bad_request',
      'Query parameter listed must not be false with source, priceMin or priceMax',
      {
        param: 'listed',
      },
    );
  }
  const toRaw = (text: string | undefined, side: 'min' | 'max') =>
    text === undefined ? null : toRawLimit(text, location?.chain.decimals ?? 0, side);
  const [min, max] = [toRaw(priceMin, 'min'), toRaw(priceMax, 'max')];
  return {
    sort,
    listed: isOfListing ? true : listed,
    text: q?.trim() ?? null,
    source: source?.toLowerCase() ?? null,
    price: min === null && max === null ? null : { min, max },
    rank: rankMin === undefined && rankMax === undefined ? null : { min: rankMin ?? null, max: rankMax ?? null },
  };
}
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
  | Extract<TokenPosition, { phase: 'ranked' | 'others' | 'recent' | 'sold' }>;

const LISTED_POSITION = /^(\d+) (\S+) (.*)$/s;

function readPosition(secret: Buffer, scope: string, cursor: string): TokenPosition {
  const payload = readCursor(secret, { scope, list: 'this list' }, cursor);
  const [, raw = '', key = '', orderId = ''] = LISTED_POSITION.exec(payload) ?? [];
  if (raw !== '') return { phase: 'listed', raw: BigInt(raw), key, orderId };
  const position = JSON.parse(payload) as StoredPosition;
  return position.phase === 'priced' ? { ...position, raw: BigInt(position.raw) } : position;
}
