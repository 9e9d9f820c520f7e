// The marketplace interface: all its routes and component schemas.

import type { FastifyInstance } from 'fastify';
import type { Chains } from '../../core/chains.ts';
import { registerOpenApi } from '../../http/openapi.ts';
import { createQueryValidator } from '../../http/query.ts';
import { CollectionDetailSchema, registerCollectionRoute } from './collection.ts';
import { CollectionSummarySchema, registerCollectionsRoute } from './collections.ts';
import type { MarketplaceContext } from './context.ts';
import { ErrorSchema, PaginationSchema } from './envelopes.ts';
import { FloorSchema, registerFloorRoute } from './floor.ts';
import { registerListingsRoute } from './listings.ts';
import { MarketItemSchema } from './market-item.ts';
import { PriceSchema } from './price.ts';
import { registerSalesRoute } from './sales.ts';
import { IndexSchema, registerIndexRoutes } from './service-index.ts';
import { TokenDetailSchema, registerTokenRoute } from './token.ts';

export const MARKETPLACE_PREFIX = '/v1';

const DOCUMENT = {
  title: 'Mercat marketplace interface',
  description:
    'Public, read-only market data for NFT collections on seven chains. No API key is needed, and browsers may call it from ' +
    'any origin. Amounts are integers of base units in text. Null means unknown, never zero. When a source of data cannot be ' +
    'read, its fields are null or have an earlier value, and its rows are missing. A response that cannot do without the source is a ' +
    '502 or 503.',
  tags: [
    { name: 'Collections', description: 'Collections and their floors.' },
    { name: 'Listings and sales', description: 'What is for sale, and what was sold.' },
    { name: 'Tokens', description: 'Single tokens.' },
    { name: 'Service', description: 'The interface itself.' },
  ],
  keyed: false,
};

const COMPONENT_SCHEMAS = [
  PriceSchema,
  MarketItemSchema,
  CollectionSummarySchema,
  CollectionDetailSchema,
  FloorSchema,
  TokenDetailSchema,
  PaginationSchema,
  IndexSchema,
  ErrorSchema,
];

/** `app` must be a Fastify scope of its own, because its validator is replaced. */
export async function registerMarketplace(
  app: FastifyInstance,
  context: MarketplaceContext,
  chains: Chains,
): Promise<void> {
  for (const schema of COMPONENT_SCHEMAS) app.addSchema(schema);
  const validateQuery = createQueryValidator(chains);
  // Path parameters are parsed by their routes: what is valid depends on the chain.
  app.setValidatorCompiler((route) => (route.httpPart === 'querystring' ? validateQuery(route as never) : () => true));
  await registerOpenApi(app, DOCUMENT);
  registerIndexRoutes(app, context, MARKETPLACE_PREFIX);
  registerCollectionsRoute(app, context);
  registerCollectionRoute(app, context);
  registerFloorRoute(app, context);
  registerListingsRoute(app, context);
  registerSalesRoute(app, context);
  registerTokenRoute(app, context);
}
