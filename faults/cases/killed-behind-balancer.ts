// One of two nodes behind a balancer is killed. The balancer repeats the requests that the node had in progress, except imports, which have
// no Idempotency-Key.

import assert from 'node:assert/strict';
import type { Fault } from '../fault.ts';
import { PATIENT } from '../none-failed.ts';

const REQUESTS_BETWEEN = 100;
const IMPORT_LOST = 'POST /intake/v1/records: no response';

export const fault: Fault = {
  name: 'killed-behind-balancer',
  promise: 'when a node is killed, only imports that it had in progress fail: the balancer repeats all other requests',
  engines: ['postgresql'],
  needs: ['haproxy'],
  mayGet: ['no response'],
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
    const failed = platform.during.failures.map(({ sent, answer }) => `${sent.method} ${sent.path}: ${answer.status}`);
    assert.deepEqual(
      [...new Set(failed)].filter((one) => one !== IMPORT_LOST),
      [],
    );
    // The tally keeps only the first failures.
    assert.equal(platform.during.count('no response'), failed.length);
    return [`${nodes.length} kills, ${failed.length} imports lost`];
  },
};
