// The dependencies of the routes of the store interface.

import type { Database } from '../../database/port.ts';
import type { ShopContext } from '../context.ts';
import type { KeyAccess } from './authenticate.ts';
import type { StoreShares } from './shares.ts';

export type StoreRoutesContext = KeyAccess & {
  shop: ShopContext & { main: Database };
  shares: StoreShares;
  /** The secret that authenticates paging cursors, the same on every node. */
  cursorSecret: Buffer;
  webhooks: {
    /** Whether webhook URLs may use http and addresses that are not public. */
    allowPrivate: boolean;
    /** Makes the webhook worker of this process, if there is one, check soon for new events and due deliveries. */
    nudge: () => void;
  };
};

/**
 * How long a request may use the database. The time for which it waits for its turn is not included. After this time the response is a
 * 503, and the database connection is released.
 */
export const REQUEST_TIMEOUT_MS = 5_000;
