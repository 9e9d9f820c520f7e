// One of two nodes behind a balancer is killed. The balancer repeats the requests that the node had in progress.

import type { Fault } from '../fault.ts';
import { PATIENT, assertNoneFailed } from '../none-failed.ts';

const REQUESTS_BETWEEN = 100;

export const fault: Fault = {
  name: 'killed-behind-balancer',
  promise: 'no request fails when a node is killed, if the balancer may repeat it',
  engines: ['postgresql'],
  needs: ['haproxy'],
  run: async ({ start }) => {
    const platform = await start({ nodes: 2, repeats: true, settings: PATIENT });
    const { balancer, load, nodes } = platform;
    await platform.whileBroken(async () => {
      for (const [index, node] of nodes.entries()) {
        await node.end('SIGKILL');
        await load.progress(REQUESTS_BETWEEN);
        node.launch();
        await balancer.chosen(index);
        await load.progress(REQUESTS_BETWEEN);
      }
    });
    assertNoneFailed(platform.during);
    return [`${nodes.length} kills`];
  },
};
