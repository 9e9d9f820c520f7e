// The dependencies of the routes of the store interface.

import type { Database } from '../../platform/database/port.ts';
import type { ShopContext } from '../context.ts';
import type { KeyAccess } from './authenticate.ts';
import type { StoreShares } from './shares.ts';

export type StoreRoutesContext = KeyAccess & {
  shop: ShopContext & { main: Database };
  shares: StoreShares;
  /** The secret that authenticates paging cursors. All nodes have the same secret. */
  cursorSecret: Buffer;
  webhooks: {
    /** Whether webhook URLs may use http and addresses that are not public. */
    allowPrivate: boolean;
    /** If a process of this node has a webhook worker, makes this worker check for new events and due deliveries soon. */
    nudge: () => void;
  };
};
