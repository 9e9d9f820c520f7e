// The marketplace interface: all its routes.

import type { FastifyInstance } from 'fastify';
import type { MarketplaceContext } from './answer-route.ts';
import { registerCollectionRoutes } from './collections.ts';
import { registerFloorRoute } from './floor.ts';
import { registerIndexRoutes } from './index-page.ts';
import { registerListingRoute } from './listings.ts';
import { registerSaleRoute } from './sales.ts';
import { registerTokenRoute } from './tokens.ts';

export function registerMarketplaceRoutes(app: FastifyInstance, context: MarketplaceContext): void {
  registerIndexRoutes(app, context);
  registerCollectionRoutes(app, context);
  registerFloorRoute(app, context);
  registerListingRoute(app, context);
  registerSaleRoute(app, context);
  registerTokenRoute(app, context);
}
