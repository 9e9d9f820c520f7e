// The first of two nodes is replaced by a node of a newer version. The newer node migrates the database. Then the second node is restarted on
// the migrated schema, and the newer node is replaced by a node of this version.

import type { Fault } from '../fault.ts';
import { PATIENT, assertNoneFailed } from '../none-failed.ts';
import { CURRENT } from '../program.ts';
import { replaceNode } from '../replace-node.ts';
import { makeNewerVersion } from '../versions.ts';

/** The number of requests between two steps. */
const REQUESTS_BETWEEN = 150;

export const fault: Fault = {
  name: 'rolling-back',
  promise:
    'no request fails while an upgrade is taken back; this version starts on a schema that a newer version has only expanded',
  engines: ['postgresql'],
  needs: ['haproxy', 'git'],
  run: async ({ start }) => {
    const newer = makeNewerVersion();
    const platform = await start({ nodes: 2, repeats: true, settings: PATIENT });
    const steps = [
      { index: 0, root: newer.root },
      { index: 1, root: CURRENT },
      { index: 0, root: CURRENT },
    ];
    await platform.whileBroken(async () => {
      for (const { index, root } of steps) {
        await replaceNode(platform, index, root);
        await platform.load.progress(REQUESTS_BETWEEN);
      }
    });
    assertNoneFailed(platform.during);
    return [`${steps.length} replacements`];
  },
};
