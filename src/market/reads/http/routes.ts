// The marketplace interface: all its routes and component schemas.

import type { FastifyInstance } from 'fastify';
import type { Chains } from '../../../platform/core/chains.ts';
import { CollectionDetailSchema, registerCollectionRoute } from './collection.ts';
import { CollectionSummarySchema, registerCollectionsRoute } from './collections.ts';
import type { MarketplaceContext } from './context.ts';
import { PaginationSchema } from './envelopes.ts';
import { FloorSchema, registerFloorRoute } from './floor.ts';
import { registerListingsRoute } from './listings.ts';
import { MarketItemSchema } from './market-item.ts';
import { PriceSchema } from './price.ts';
import type { PublicInterface } from './public-interface.ts';
import { registerPublicInterface } from './public-interface.ts';
import { registerSalesRoute } from './sales.ts';
import { TokenDetailSchema, registerTokenRoute } from './token.ts';

export const MARKETPLACE_PREFIX = '/v1';

const DOCUMENT = {
  title: 'Mercat marketplace interface',
  description:
    'Public, read-only market data for NFT collections on seven chains. No API key is needed, and browsers may call the interface from ' +
    'any origin. Amounts are integers of base units in text. Null means unknown, never zero. When a source of data cannot be ' +
    'read, its fields are null or have an earlier value, and its rows are missing. A response that cannot be made without the source ' +
    'has the status 502 or 503.',
  tags: [
    { name: 'Collections', description: 'Collections and their floors.' },
    { name: 'Listings and sales', description: 'What is for sale, and what was sold.' },
    { name: 'Tokens', description: 'Single tokens.' },
    { name: 'Service', description: 'The interface itself.' },
  ],
  keyed: false,
};

/** The routes are in the order of the OpenAPI document. */
const MARKETPLACE: PublicInterface<MarketplaceContext> = {
  prefix: MARKETPLACE_PREFIX,
  document: DOCUMENT,
  schemas: [
    PriceSchema,
    MarketItemSchema,
    CollectionSummarySchema,
    CollectionDetailSchema,
    FloorSchema,
    TokenDetailSchema,
    PaginationSchema,
  ],
  routes: [
    registerCollectionsRoute,
    registerCollectionRoute,
    registerFloorRoute,
    registerListingsRoute,
    registerSalesRoute,
    registerTokenRoute,
  ],
  errorCodes: [],
};

/** `app` must be a Fastify scope of its own, because its validator is replaced. */
export function registerMarketplace(app: FastifyInstance, context: MarketplaceContext, chains: Chains): Promise<void> {
  return registerPublicInterface(app, MARKETPLACE, { context, chains });
}
