// Two nodes behind a balancer are stopped and started again in turn, as in a deployment.

import type { Fault } from '../fault.ts';
import { PATIENT, assertNoneFailed } from '../none-failed.ts';

export const fault: Fault = {
  name: 'sigterm-behind-balancer',
  promise: 'no request fails while a node stops and starts again',
  engines: ['postgresql'],
  needs: ['haproxy'],
  run: async ({ start }) => {
    const platform = await start({ nodes: 2, settings: PATIENT });
    const { balancer, load, nodes } = platform;
    const seconds: string[] = [];
    await platform.whileBroken(async () => {
      for (const [index, node] of nodes.entries()) {
        const stoppedAt = performance.now();
        await node.end('SIGTERM');
        seconds.push(((performance.now() - stoppedAt) / 1_000).toFixed(1));
        await load.progress(REQUESTS_BETWEEN);
        node.launch();
        await balancer.chosen(index);
        await load.progress(REQUESTS_BETWEEN);
      }
    });
    assertNoneFailed(platform.during);
    return [`the nodes ended after ${seconds.join(' and ')} s`];
  },
};

const REQUESTS_BETWEEN = 100;
