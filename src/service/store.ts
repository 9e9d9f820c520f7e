// The store of a serving process: its context, and the verifier of API keys, which writes from time to time when keys were used.

import { findOrInsertSecret } from '../platform/database/secrets.ts';
import type { Database } from '../platform/database/port.ts';
import { startPeriodic } from '../platform/tasks/periodic.ts';
import type { ShopContext } from '../shop/context.ts';
import { KEY_USES_PERIOD_MS, KeyVerifier } from '../shop/keys/key-verifier.ts';
import type { ServiceContext } from './context.ts';

export type OpenStore = {
  shop: ShopContext & { main: Database };
  keys: KeyVerifier;
  /** Authenticates page cursors, also those of the marketplace. */
  cursorSecret: Buffer;
  close: () => Promise<void>;
};

/** `database`: the primary, with the connections that are reserved for the store. */
export async function openStore(context: ServiceContext, database: Database): Promise<OpenStore> {
  const { main, clock, log, serviceName, secretKeys } = context;
  const shop = { main: database, clock, log, serviceName, secretKeys };
  const keys = new KeyVerifier(shop);
  const stop = startPeriodic({ name: 'key-uses', periodMs: KEY_USES_PERIOD_MS, run: () => keys.writeUses() }, log);
  return {
    shop,
    keys,
    cursorSecret: await findOrInsertSecret(main, 'cursors', secretKeys),
    close: async () => {
      await stop();
      await keys.close();
    },
  };
}
