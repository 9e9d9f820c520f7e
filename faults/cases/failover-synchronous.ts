// The primary is killed. Its synchronous replica is promoted, and the service reaches the promoted replica at the address of the killed
// primary.

import type { Fault } from '../fault.ts';
import { replacePrimary, startReplicated } from '../failover.ts';

export const fault: Fault = {
  name: 'failover-synchronous',
  promise: 'no acknowledged write is lost; writes are 503 with Retry-After until the replica is promoted',
  engines: ['postgresql'],
  run: async (context) => {
    const replicated = await startReplicated(context, true);
    let seen = '';
    await replicated.platform.whileBroken(async () => {
      await replicated.primary.kill();
      seen = await replacePrimary(replicated);
    });
    return [seen];
  },
};
