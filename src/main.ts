// The entry point: runs the command that the arguments name, and sets the exit code. The first SIGINT or SIGTERM stops the command. A
// second signal ends the process immediately. If a command fails because of a signal, the exit code is the code of that signal.

import { setFlagsFromString } from 'node:v8';
import type { StopSignal } from './cli/interruption.ts';
import { Interruption } from './cli/interruption.ts';
import { runProgram } from './cli/program.ts';

// By default, V8 lets the garbage of large responses and imports grow to several times the memory in use before it collects it.
setFlagsFromString('--heap-growing-percent=30');

const EXIT_BY_SIGNAL: Record<StopSignal, number> = { SIGINT: 130, SIGTERM: 143 };

const stopping = new AbortController();
/** The exit code for the first signal. Null if there was no signal. */
let interruptCode: number | null = null;
for (const signal of ['SIGINT', 'SIGTERM'] as const) {
  const exitCode = EXIT_BY_SIGNAL[signal];
  process.on(signal, () => {
    if (stopping.signal.aborted) process.exit(exitCode);
    interruptCode = exitCode;
    stopping.abort(new Interruption(signal));
  });
}

const exitCode = await runProgram(process.argv.slice(2), {
  // A getter, because Node opens standard input when `process.stdin` is first read.
  get stdin() {
    return process.stdin;
  },
  stdout: process.stdout,
  stderr: process.stderr,
  signal: stopping.signal,
  exitCode: 0,
});
process.exitCode = exitCode === 1 && interruptCode !== null ? interruptCode : exitCode;
