// A process that runs one task which never ends, and says on standard output when a run has begun: to be killed there, or to be
// told to stop. Settings come from the environment. Usage: victim.ts LEASE_MS

import { readConfig } from '../../src/config.ts';
import { openDatabases } from '../../src/database/open.ts';
import { createLog } from '../../src/core/log.ts';
import { startDriver } from '../../src/tasks/driver.ts';

const log = createLog('silent');
const { main, close } = await openDatabases(readConfig(), log);
const task = {
  name: 'endless',
  periodMs: 50,
  deadlineMs: 600_000,
  run: async (signal: AbortSignal) => {
    process.stdout.write('begun\n');
    await new Promise((_, reject) => signal.addEventListener('abort', () => reject(signal.reason as Error)));
    return { read: 0, changed: 0, refused: 0 };
  },
};
const driver = startDriver([task], { main, log, leaseMs: Number(process.argv[2]), pollMs: 100 });
const alive = setInterval(() => undefined, 60_000);
process.once('SIGTERM', () => {
  clearInterval(alive);
  void driver.stop().then(close);
});
