// Two nodes behind a balancer are stopped and started again in turn, as in a deployment.

import type { Fault } from '../fault.ts';
import { endInTime } from '../measured-end.ts';
import { PATIENT, assertNoneFailed } from '../none-failed.ts';

export const fault: Fault = {
  name: 'sigterm-behind-balancer',
  promise: 'no request fails while a node stops and starts again, and a node ends within 5 s',
  engines: ['postgresql'],
  needs: ['haproxy'],
  run: async ({ start }) => {
    const platform = await start({ nodes: 2, settings: PATIENT });
    const { balancer, load, nodes } = platform;
    const ends: string[] = [];
    await platform.whileBroken(async () => {
      for (const [index, node] of nodes.entries()) {
        ends.push(await endInTime(node));
        await load.progress(REQUESTS_BETWEEN);
        node.launch();
        await balancer.chosen(index);
        await load.progress(REQUESTS_BETWEEN);
      }
    });
    assertNoneFailed(platform.during);
    return [`the nodes ended after ${ends.join(' and ')}`];
  },
};

const REQUESTS_BETWEEN = 100;
