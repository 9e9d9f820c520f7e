// Two nodes and a worker of the version before the newest migration are replaced by this version in turn. The first new node migrates the
// database while the old node serves.

import type { Fault } from '../fault.ts';
import { PATIENT, assertNoneFailed } from '../none-failed.ts';
import { CURRENT } from '../program.ts';
import { extractOldVersion } from '../old-version.ts';
import { Readers } from '../readers.ts';

/** The least number of requests in total, and the number of steps among which they are divided. */
const REQUESTS_MIN = Number(process.env['UPGRADE_REQUESTS'] ?? 100_000);
const STEPS = 5;
const STEP_LIMIT_MS = 900_000;

export const fault: Fault = {
  name: 'rolling-upgrade',
  promise: 'no request fails while nodes of two versions run side by side, before and after the migration',
  engines: ['postgresql'],
  needs: ['haproxy', 'git'],
  limitMs: STEPS * STEP_LIMIT_MS,
  run: async ({ start }) => {
    const old = extractOldVersion();
    const platform = await start({ nodes: 2, settings: PATIENT, root: old.root });
    const { balancer, nodes, worker } = platform;
    const readers = new Readers(platform.url);
    readers.start();
    const proceed = () => readers.progress(REQUESTS_MIN / STEPS, STEP_LIMIT_MS);
    await platform.whileBroken(async () => {
      await proceed();
      for (const [index, node] of nodes.entries()) {
        // An old version may have no grace period, so the balancer first stops sending requests to the node.
        await balancer.drain(index);
        await node.end('SIGTERM');
        node.root = CURRENT;
        node.launch();
        await balancer.resume(index);
        await balancer.chosen(index);
        await proceed();
      }
      await worker?.end('SIGTERM');
      if (worker) worker.root = CURRENT;
      worker?.launch();
      await proceed();
      await proceed();
    });
    await readers.stop();
    assertNoneFailed(platform.during);
    assertNoneFailed(readers.tally);
    return [`from ${old.commit}`, `readers: ${readers.tally.describe()}`];
  },
};
