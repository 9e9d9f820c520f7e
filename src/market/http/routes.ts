// The marketplace interface: all its routes.

import type { FastifyInstance } from 'fastify';
import type { Chains } from '../../core/chains.ts';
import { registerOpenApi } from '../../http/openapi.ts';
import { createQueryValidator } from '../../http/query.ts';
import type { MarketplaceContext } from './cached-route.ts';
import { registerCollectionRoutes } from './collections.ts';
import { registerFloorRoute } from './floor.ts';
import { registerIndexRoutes } from './service-index.ts';
import { registerListingRoute } from './listings.ts';
import { registerSaleRoute } from './sales.ts';
import { COMPONENT_SCHEMAS } from './schemas.ts';
import { registerTokenRoute } from './token.ts';

const DOCUMENT = {
  title: 'Mercat marketplace interface',
  description:
    'Public, read-only market data for NFT collections on seven chains. No key, open to browsers. ' +
    'Amounts are integers of base units in text; unknown is null, never zero; when a source is down the answer says so.',
  tags: [
    { name: 'Collections', description: 'Collections and their floors.' },
    { name: 'Listings and sales', description: 'What is for sale, and what was sold.' },
    { name: 'Tokens', description: 'Single tokens.' },
    { name: 'Service', description: 'The interface itself.' },
  ],
  keyed: false,
};

/** Registers the interface in a scope of its own. */
export async function registerMarketplace(
  app: FastifyInstance,
  context: MarketplaceContext,
  chains: Chains,
): Promise<void> {
  for (const schema of COMPONENT_SCHEMAS) app.addSchema(schema);
  const readQuery = createQueryValidator(chains);
  // Path parameters are parsed by their routes, which know more than a schema can say.
  app.setValidatorCompiler((route) => (route.httpPart === 'querystring' ? readQuery(route as never) : () => true));
  await registerOpenApi(app, DOCUMENT);
  registerIndexRoutes(app, context);
  registerCollectionRoutes(app, context);
  registerFloorRoute(app, context);
  registerListingRoute(app, context);
  registerSaleRoute(app, context);
  registerTokenRoute(app, context);
}
