// GET /explore/v1/activity and GET /explore/v1/wallets/{address}/activity.

import type { FastifyInstance } from 'fastify';
import Type from 'typebox';
import type { ActivityKind } from '../../activity/market-change.ts';
import { ACTIVITY_KINDS } from '../../activity/market-change.ts';
import { parseAnyAddress } from '../../../platform/core/address.ts';
import { ALL_COLLECTIONS } from '../../../platform/core/collection-versions.ts';
import { sealCursor } from '../../../platform/core/cursor.ts';
import { parameterError, ServiceError } from '../../../platform/core/errors.ts';
import { chainSchema } from '../../reads/http/asset-identity.ts';
import type { PageQuery } from '../../reads/http/envelopes.ts';
import { marketResponses, pageQuery, readCursor } from '../../reads/http/envelopes.ts';
import { EXAMPLE_COLLECTION, EXAMPLE_TOKEN } from '../../reads/http/example-collection.ts';
import type { Market } from '../../reads/market.ts';
import { cacheTagOf, locationOf, resolveCollection } from '../../reads/resolve-collection.ts';
import type { ObservedToken } from '../../index/queries/tokens.ts';
import { toTokenKeyText } from '../../index/queries/tokens.ts';
import type { Activity, ActivityPosition } from '../activity.ts';
import { NEWEST, readActivity, readTokensOf } from '../activity.ts';
import type { ActivityFilter } from '../queries/activity.ts';
import type { ActivityContext } from './activity.ts';
import { toWireActivity } from './activity.ts';
import type { ExploreContext } from './context.ts';
import type { ImageLinks } from './images.ts';
import { toExploredImage } from './images.ts';
import type { ExploreContent } from './offset-meta.ts';
import { exploreRoute, exploredPageOf } from './offset-meta.ts';
import { parseTokenParameter, tokenParameter } from './token-parameter.ts';
import { readExplorePrices } from './price.ts';

const CACHE_POLICY = { sharedMaxAgeS: 1, staleWhileRevalidateS: 5 };
const NAME_LENGTH_MAX = 500;

const listQuery = {
  collection: Type.Optional(
    Type.String({
      maxLength: NAME_LENGTH_MAX,
      description: 'Only changes of this collection: its canonical id, slug or address.',
      examples: [EXAMPLE_COLLECTION.slug],
    }),
  ),
  token: tokenParameter('changes'),
  kinds: Type.Optional(
    Type.String({
      maxLength: 200,
      description: `Only these kinds, separated by commas: ${ACTIVITY_KINDS.join(', ')}.`,
    }),
  ),
  include: Type.Optional(
    Type.Unsafe<'token'>({
      type: 'string',
      enum: ['token'],
      description: '`token`: each row has the name and the image of its token.',
    }),
  ),
  ...pageQuery,
};

type Query = PageQuery & {
  collection?: string;
  token?: string;
  wallet?: string;
  kinds?: string;
  chain?: string;
  include?: 'token';
};

export function registerActivityRoutes(app: FastifyInstance, context: ExploreContext): void {
  exploreRoute<Query>(app, context, {
    path: '/explore/v1/activity',
    bucket: 'list',
    schema: {
      operationId: 'listActivity',
      summary: 'List what has changed in the market',
      description:
        'Listings, sales, transfers and floors, newest first. With `collection`, the list also has past sales, which the change stream does ' +
        'not have: sales that the backfill of the collection read, and sales that were reported more than an hour after they happened. ' +
        'A change that was taken back has `voidedBy`.',
      tags: ['Activity'],
      querystring: Type.Object({
        ...listQuery,
        wallet: Type.Optional(
          Type.String({
            maxLength: 44,
            description: 'Only changes in which this account is the seller, sender, buyer or receiver.',
          }),
        ),
      }),
      response: marketResponses(exploredPageOf('Activity'), 400, 404, 502),
    },
    respond: (_params, query) => respond(context, query, query.wallet ?? null),
  });

  exploreRoute<Query>(app, context, {
    path: '/explore/v1/wallets/:address/activity',
    bucket: 'list',
    schema: {
      operationId: 'listWalletActivity',
      summary: 'List the activity of a wallet',
      description:
        'The changes in which the wallet is the seller, sender, buyer or receiver, on all chains or on one, newest first.',
      tags: ['Wallets'],
      params: Type.Object({
        address: Type.String({ description: 'EVM or Solana address of the wallet.', examples: [EXAMPLE_TOKEN.seller] }),
      }),
      querystring: Type.Object({ chain: Type.Optional(chainSchema), ...listQuery }),
      response: marketResponses(exploredPageOf('Activity'), 400, 404, 502),
    },
    respond: ({ address = '' }, query) => respond(context, query, address),
  });
}

async function respond(context: ExploreContext, query: Query, wallet: string | null): Promise<ExploreContent> {
  const { market, cursorSecret } = context;
  const { filter, cacheTag, isEmpty } = await toFilter(market, query, wallet);
  const scope = `activity ${JSON.stringify(filter)}`;
  const after = query.cursor === undefined ? NEWEST : readPosition(cursorSecret, scope, query.cursor);
  const isHidden = filter.account !== null && new Set<string>(market.custodyWallets.keys()).has(filter.account);
  const isRead = !isHidden && !isEmpty;
  const [page, prices] = await Promise.all([
    isRead ? readActivity(market, filter, { after, limit: query.limit }) : { rows: [], next: null },
    readExplorePrices(market),
  ]);
  const tokens = query.include === undefined ? new Map<string, never>() : await readTokensOf(market, page.rows);
  return {
    cacheTag,
    policy: CACHE_POLICY,
    degraded: tokens === null,
    body: {
      data: page.rows.map((change) =>
        toWireActivity(market, change, { prices, token: tokens && toNamedToken(context, change, tokens) }),
      ),
      pagination: {
        nextCursor: page.next && sealCursor(cursorSecret, scope, JSON.stringify(page.next)),
        hasMore: page.next !== null,
      },
    },
  };
}

function toNamedToken(
  links: ImageLinks,
  { collectionId, asset }: Activity,
  tokens: ReadonlyMap<string, Pick<ObservedToken, 'name' | 'image'>>,
): ActivityContext['token'] {
  if (collectionId === null || asset === null) return null;
  const token = tokens.get(toTokenKeyText({ collectionId, asset }));
  return token ? { name: token.name, image: toExploredImage(links, token.image, { collectionId, name: asset }) } : null;
}

/** `isEmpty`: no change can match, because the collection is not on the requested chain, or the token is not of the collection. */
type TaggedFilter = { filter: ActivityFilter; cacheTag: string; isEmpty: boolean };

async function toFilter(market: Market, query: Query, wallet: string | null): Promise<TaggedFilter> {
  const account = wallet === null ? null : parseAnyAddress(wallet);
  if (wallet !== null && account === null)
    throw new ServiceError('bad_request', 'The wallet is not an EVM or Solana address', {
      param: query.wallet === undefined ? 'address' : 'wallet',
    });
  const kinds = toKinds(query.kinds);
  const { chain = null } = query;
  const collection = query.collection === undefined ? undefined : await resolveCollection(market, query.collection);
  const location = collection && locationOf(market, collection);
  const token = query.token === undefined ? null : parseTokenParameter(market, query.token, location);
  const ofCollection = location?.collectionId ?? collection?.id ?? null;
  const collectionId = token?.collectionId ?? ofCollection;
  const isOther = ofCollection !== null && collectionId !== ofCollection;
  const isElsewhere = chain !== null && collectionId !== null && (token ?? collection)?.chain !== chain;
  return {
    filter: {
      chain: collectionId === null ? chain : null,
      collectionId,
      asset: token?.asset ?? null,
      account,
      kinds,
    },
    cacheTag:
      collection && query.collection !== undefined
        ? cacheTagOf(collection, query.collection)
        : (collectionId ?? ALL_COLLECTIONS),
    isEmpty: isOther || isElsewhere,
  };
}

function toKinds(text: string | undefined): readonly ActivityKind[] {
  if (text === undefined) return ACTIVITY_KINDS;
  const names = text.split(',');
  const kinds = ACTIVITY_KINDS.filter((kind) => names.includes(kind));
  if (kinds.length !== new Set(names).size) {
    throw parameterError('kinds', `must be kinds of activity, separated by commas: ${ACTIVITY_KINDS.join(', ')}`);
  }
  return kinds;
}

function readPosition(secret: Buffer, scope: string, cursor: string): ActivityPosition {
  return JSON.parse(readCursor(secret, { scope, list: 'this list' }, cursor)) as ActivityPosition;
}
