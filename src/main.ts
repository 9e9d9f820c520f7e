// The program: arguments in, an exit code out. The first SIGINT or SIGTERM lets the command end in good order, the second ends
// the process at once.

import { runProgram } from './cli/program.ts';

const EXIT_BY_SIGNAL = { SIGINT: 130, SIGTERM: 143 } as const;

const stopping = new AbortController();
for (const [signal, exitCode] of Object.entries(EXIT_BY_SIGNAL)) {
  process.on(signal, () => {
    if (stopping.signal.aborted) process.exit(exitCode);
    stopping.abort();
  });
}

process.exitCode = await runProgram(process.argv.slice(2), {
  // Node opens standard input when it is first asked for.
  get stdin() {
    return process.stdin;
  },
  stdout: process.stdout,
  stderr: process.stderr,
  signal: stopping.signal,
  exitCode: 0,
});
