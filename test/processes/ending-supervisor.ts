// A supervisor for tests, which ends while its serving process is paused. It writes the process id of the serving process.

import { fileURLToPath } from 'node:url';
import { createLog } from '../../src/core/log.ts';
import { Supervisor } from '../../src/processes/supervisor.ts';
import { listChildren } from '../support/engines/postgres-server.ts';

const program = fileURLToPath(new URL('./tested-process.ts', import.meta.url));
await Supervisor.start({
  processes: 1,
  tasks: true,
  overrides: {},
  compileCache: null,
  program: [program, 'serves'],
  log: createLog('silent'),
  random: () => 0,
  signal: new AbortController().signal,
});
// The first child is the serving process. The list may also contain the program `ps`, which made the list.
const [child = 0] = listChildren(process.pid);
process.kill(child, 'SIGSTOP');
process.stdout.write(String(child), () => process.exit(0));
