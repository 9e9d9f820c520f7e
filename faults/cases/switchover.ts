// The operator replaces the primary: the old primary becomes read-only, its replica is promoted, and new connections to the same address reach
// the replica. Connections to the old primary stay open.

import type { Fault } from '../fault.ts';
import { promote, startReplicated } from '../failover.ts';
import { withClient } from '../../test/support/engines/postgres-locks.ts';

export const fault: Fault = {
  name: 'switchover',
  promise:
    'no acknowledged write is lost; a connection to a read-only server is replaced, and nothing has to be restarted',
  engines: ['postgresql'],
  run: async (context) => {
    const { platform, primary, replica, proxy } = await startReplicated(context, true);
    await platform.whileBroken(async () => {
      await withClient(primary.url, async (client) => {
        await client.query('alter system set default_transaction_read_only = on');
        await client.query('select pg_reload_conf()');
      });
      await promote(replica);
      proxy.retarget(replica.url);
    });
    return ['the old primary runs on and is read-only'];
  },
};
