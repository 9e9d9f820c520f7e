// The entry point: runs the command that the arguments name, and sets the exit code. At the first SIGINT or SIGTERM the command begins
// to stop. A second signal ends the process immediately.

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
  // A getter, because Node opens standard input when `process.stdin` is first read.
  get stdin() {
    return process.stdin;
  },
  stdout: process.stdout,
  stderr: process.stderr,
  signal: stopping.signal,
  exitCode: 0,
});
