// A process that runs one task whose runs do not end by themselves. It prints `begun` to standard output when a run has begun. A
// test then kills the process, or stops it with SIGTERM. Settings come from the environment. Usage: killed-process.ts LEASE_MS

import { readConfig } from '../../../src/service/config.ts';
import { openDatabases } from '../../../src/platform/database/open.ts';
import { createLog } from '../../../src/platform/core/log.ts';
import { TaskDriver } from '../../../src/platform/tasks/driver.ts';

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
const options = { main, log, random: Math.random, leaseMs: Number(process.argv[2]), pollMs: 100 };
const driver = new TaskDriver([task], options);
driver.start();
const keepAlive = setInterval(() => undefined, 60_000);
process.once('SIGTERM', () => {
  clearInterval(keepAlive);
  void driver.stop().then(close);
});
