// Registers all routes and component schemas of the explore interface, which has what front ends need in addition to `/v1`.

import type { FastifyInstance, FastifyRequest } from 'fastify';
import Type from 'typebox';
import type { Chains } from '../../../platform/core/chains.ts';
import type { ServiceError } from '../../../platform/core/errors.ts';
import { parameterError } from '../../../platform/core/errors.ts';
import { readJsonBodies } from '../../../platform/http/json-body.ts';
import { findUnknownParameters } from '../../../platform/http/query.ts';
import { PaginationSchema } from '../../reads/http/envelopes.ts';
import type { PublicInterface } from '../../reads/http/public-interface.ts';
import { registerPublicInterface } from '../../reads/http/public-interface.ts';
import { registerActivityRoutes } from './activity-list.ts';
import { ActivitySchema } from './activity.ts';
import { MarketCollectionSchema, registerCollectionRoutes } from './collections.ts';
import type { ExploreContext } from './context.ts';
import { BuyerPriceSchema, FulfilmentSchema, OrderSchema, registerOrderRoute } from './order.ts';
import { ListedOrderSchema, registerOrdersRoute } from './orders.ts';
import { HistoryPointSchema, registerHistoryRoute } from './history.ts';
import { ListingSchema } from './listing.ts';
import { registerImageRoute } from './images.ts';
import { HoldersSchema, registerHoldersRoute } from './holders.ts';
import { DetailedPriceSchema, withDecimalsInExamples } from './price.ts';
import { ProvenanceSchema, registerProvenanceRoute } from './provenance.ts';
import { ExploredSummarySchema, SearchResultSchema, registerSearchRoute } from './search.ts';
import { registerStreamPagesRoute } from './stream/pages.ts';
import { registerStreamRoute } from './stream/route.ts';
import { registerSingleTokenRoute } from './single-token.ts';
import { TokenHolderSchema, registerTokenOwnersRoute } from './token-owners.ts';
import { TokenBatchSchema, registerTokenBatchRoute } from './token-batch.ts';
import { LastSaleSchema, OwnerSchema, TokenSchema } from './token.ts';
import { TopBidSchema } from './bid.ts';
import { registerTokensRoute } from './tokens.ts';
import { TraitSchema, registerTraitsRoute } from './traits.ts';
import { WalletCollectionSchema, registerWalletCollectionsRoute } from './wallet-collections.ts';
import { OfferSchema, registerWalletOffersRoute } from './wallet-offers.ts';
import { registerWalletRoutes } from './wallets.ts';

export const EXPLORE_PREFIX = '/explore/v1';

const DOCUMENT = {
  title: 'Mercat explore interface',
  description:
    'Public, read-only data for pages about collections, tokens and wallets, on the same chains as the marketplace interface. No API key ' +
    'is needed, and browsers may call the interface from any origin. A key with the scope `market:read` raises the rate limits. Prices, listings, errors, cursors and rate limits are those of the marketplace ' +
    'interface. Null means unknown, never zero. Fields may be added to responses.',
  tags: [
    { name: 'Collections', description: 'What is known about a collection.' },
    { name: 'Tokens', description: 'Tokens with owner, listing and last sale.' },
    { name: 'Wallets', description: 'What a wallet owns and sells, and what is offered for its tokens.' },
    { name: 'Search', description: 'Collections and tokens by name or address.' },
    { name: 'Orders', description: 'Orders, why they have their status, and how to fill them.' },
    { name: 'Activity', description: 'What happens in the market, as it happens.' },
    { name: 'Service', description: 'The interface itself.' },
  ],
  keyed: false,
};

/** The routes are in the order of the OpenAPI document. */
const EXPLORE: PublicInterface<ExploreContext> = {
  prefix: EXPLORE_PREFIX,
  document: DOCUMENT,
  schemas: [
    DetailedPriceSchema,
    ListingSchema,
    OwnerSchema,
    LastSaleSchema,
    TopBidSchema,
    TokenSchema,
    ExploredSummarySchema,
    SearchResultSchema,
    TokenBatchSchema,
    BuyerPriceSchema,
    FulfilmentSchema,
    TokenHolderSchema,
    OrderSchema,
    ListedOrderSchema,
    ProvenanceSchema,
    MarketCollectionSchema,
    HistoryPointSchema,
    HoldersSchema,
    TraitSchema,
    WalletCollectionSchema,
    OfferSchema,
    ActivitySchema,
    PaginationSchema,
  ].map(withDecimalsInExamples),
  routes: [
    registerCollectionRoutes,
    registerTokensRoute,
    registerTokenBatchRoute,
    registerSingleTokenRoute,
    registerTokenOwnersRoute,
    registerImageRoute,
    registerWalletRoutes,
    registerWalletCollectionsRoute,
    registerWalletOffersRoute,
    registerOrdersRoute,
    registerOrderRoute,
    registerProvenanceRoute,
    registerHistoryRoute,
    registerHoldersRoute,
    registerTraitsRoute,
    registerActivityRoutes,
    registerSearchRoute,
    registerStreamRoute,
    registerStreamPagesRoute,
  ],
  errorCodes: ['gone'],
  errorFields: {
    param: Type.Optional(
      Type.String({
        description:
          'The parameter that is wrong, by its name in the query or the path, or the field of the body, such as `tokens[0].chain`. Absent if the error is not about one.',
      }),
    ),
    docs: Type.Optional(
      Type.String({
        description:
          'URL of the page about errors, with the section of this code. Absent if the service was too busy to read the request.',
      }),
    ),
  },
};

/** `app` must be a Fastify scope of its own, because this function replaces the validator and the body parsers of `app`. */
export function registerExplore(app: FastifyInstance, context: ExploreContext, chains: Chains): Promise<void> {
  readJsonBodies(app);
  app.addHook('preValidation', (request, _reply, done) => done(rejectUnknownParameters(request)));
  return registerPublicInterface(app, EXPLORE, { context, chains });
}

/** The index and the OpenAPI document, which have no response 400, ignore all parameters. */
function rejectUnknownParameters(request: FastifyRequest): ServiceError | undefined {
  const { querystring = {}, response = {} } = request.routeOptions.schema ?? {};
  const [unknown] = findUnknownParameters(request);
  if (unknown === undefined || !Object.hasOwn(response as object, 400)) return undefined;
  const { properties = {} } = querystring as { properties?: object };
  const known = Object.keys(properties);
  const hint = known.length === 0 ? 'this operation has none' : `use ${known.join(', ')}`;
  return parameterError(unknown, `is unknown: ${hint}`);
}
