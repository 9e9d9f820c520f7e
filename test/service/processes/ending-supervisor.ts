// Runs a supervisor for a test: starts a serving process, suspends it, writes its process id to standard output, and then ends.

import type { ChildProcess } from 'node:child_process';
import diagnostics from 'node:diagnostics_channel';
import { fileURLToPath } from 'node:url';
import { createLog } from '../../../src/platform/core/log.ts';
import { Supervisor } from '../../../src/service/processes/supervisor.ts';

const program = fileURLToPath(new URL('./tested-process.ts', import.meta.url));
let child: ChildProcess | null = null;
diagnostics.subscribe('child_process', (message) => {
  child ??= (message as { process: ChildProcess }).process;
});
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
const { pid = 0 } = (child as ChildProcess | null) ?? {};
process.kill(pid, 'SIGSTOP');
process.stdout.write(String(pid), () => process.exit(0));
