// Runs one command of the command line in the process of the test. Returns its output and exit code.

import { Readable, Writable } from 'node:stream';
import type { CommandIo, DefineCommand } from '../../src/cli/command.ts';
import { runProgram } from '../../src/cli/program.ts';
import type { IntakeConnection } from '../../src/intake/connection.ts';

export type CommandResult = { code: number; stdout: string; stderr: string };

export type CommandOptions = {
  /** Environment variables of the command. They are set for the whole process while the command runs. */
  env?: Record<string, string>;
  stdin?: string;
  signal?: AbortSignal;
  /** Called after each write, with the complete standard output so far. */
  onStdout?: (text: string) => void;
  /** Properties of both output streams, such as isTTY. */
  terminal?: { isTTY: boolean; columns?: number; getColorDepth?: () => number };
};

export async function runCommand(
  define: DefineCommand,
  [name = '', ...args]: readonly string[],
  options: CommandOptions = {},
): Promise<CommandResult> {
  const entry = { name, summary: name, load: () => Promise.resolve(define) };
  const saved = { ...process.env };
  Object.assign(process.env, options.env);
  try {
    return await collectOutput((io) => runProgram([name, ...args], io, [entry]), options);
  } finally {
    for (const variable of Object.keys(options.env ?? {})) delete process.env[variable];
    Object.assign(process.env, saved);
  }
}

/** Calls `run`. Returns the text that `run` wrote to its streams, and the exit code that its promise resolved to. */
export async function collectOutput(
  run: (io: CommandIo) => Promise<number>,
  { stdin = '', signal, onStdout, terminal }: CommandOptions = {},
): Promise<CommandResult> {
  const texts = { stdout: '', stderr: '' };
  const toStream = (name: keyof typeof texts) => {
    const stream = new Writable({
      write(chunk, _encoding, done) {
        texts[name] += String(chunk);
        if (name === 'stdout') onStdout?.(texts.stdout);
        done();
      },
    });
    return Object.assign(stream, terminal);
  };
  const code = await run({
    stdin: Readable.from([Buffer.from(stdin)]),
    stdout: toStream('stdout'),
    stderr: toStream('stderr'),
    signal: signal ?? new AbortController().signal,
    exitCode: 0,
  });
  return { code, ...texts };
}

/**
 * Wraps `connection` for `mercat import`, because this command closes its connection at the end. Closing the wrapper calls `onClose` and leaves
 * `connection` open.
 */
export function disposable(
  connection: IntakeConnection,
  onClose: () => void = () => undefined,
): IntakeConnection & AsyncDisposable {
  const close = () => Promise.resolve(onClose());
  return {
    import: (source, options, onEvent) => connection.import(source, options, onEvent),
    [Symbol.asyncDispose]: close,
  };
}
