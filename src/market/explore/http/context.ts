// The dependencies of the routes of the explore interface.

import type { IncomingMessage } from 'node:http';
import type { MarketplaceContext } from '../../reads/http/context.ts';
import type { Subscriptions } from './stream/subscriptions.ts';

export type ExploreContext = MarketplaceContext & {
  stream: Subscriptions;
  clientAddress: (request: IncomingMessage) => string;
};
