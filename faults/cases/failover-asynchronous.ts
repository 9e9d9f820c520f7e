// The primary is lost while its asynchronous replica is behind. The replica is promoted, and the service reaches it at the address of the lost primary.

import type { Fault } from '../fault.ts';
import { replacePrimary, startReplicated } from '../failover.ts';

/** The number of requests that are acknowledged while the replica receives nothing, before the primary is lost. */
const REQUESTS_WITHOUT_REPLICA = 60;

export const fault: Fault = {
  name: 'failover-asynchronous',
  promise:
    'the writes that the replica did not receive are lost, and the result of the fault states their number; what is stored is consistent',
  engines: ['postgresql'],
  mayLoseWrites: true,
  run: async (context) => {
    const replicated = await startReplicated(context, false);
    const { platform, primary, replica } = replicated;
    let seen = '';
    await platform.whileBroken(async () => {
      await replica.kill();
      await platform.load.progress(REQUESTS_WITHOUT_REPLICA);
      await primary.kill();
      await replica.start();
      seen = await replacePrimary(replicated);
    });
    return [seen];
  },
};
