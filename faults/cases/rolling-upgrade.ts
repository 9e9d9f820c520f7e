// Two nodes and a worker first run this version. Then the nodes and the worker are replaced by a newer version, one after another. The first new
// node migrates the database while the other node, of this version, serves.

import type { Fault } from '../fault.ts';
import { PATIENT, assertNoneFailed } from '../none-failed.ts';
import { Readers } from '../readers.ts';
import { replaceNode } from '../replace-node.ts';
import { makeNewerVersion } from '../versions.ts';

/** The least number of requests in all steps together. Each of the STEPS steps waits for an equal part of these requests. */
const REQUESTS_MIN = Number(process.env['UPGRADE_REQUESTS'] ?? 100_000);
const STEPS = 5;
const STEP_LIMIT_MS = 900_000;

export const fault: Fault = {
  name: 'rolling-upgrade',
  promise: 'no request fails while nodes of two versions run side by side, before and after the migration',
  engines: ['postgresql'],
  needs: ['haproxy', 'git'],
  limitMs: STEPS * STEP_LIMIT_MS,
  run: async ({ start, onEnd }) => {
    const newer = makeNewerVersion();
    const platform = await start({ nodes: 2, repeats: true, settings: PATIENT });
    const { nodes, worker } = platform;
    const readers = new Readers(platform.url);
    readers.start();
    onEnd(() => readers.stop());
    const proceed = () => readers.progress(REQUESTS_MIN / STEPS, STEP_LIMIT_MS);
    await platform.whileBroken(async () => {
      await proceed();
      for (const index of nodes.keys()) {
        await replaceNode(platform, index, newer.root);
        await proceed();
      }
      await worker?.end('SIGTERM');
      if (worker) worker.root = newer.root;
      worker?.launch();
      await proceed();
      await proceed();
    });
    await readers.stop();
    assertNoneFailed(platform.during);
    assertNoneFailed(readers.tally);
    return [`to ${newer.commit} with another migration`, `readers: ${readers.tally.describe()}`];
  },
};
