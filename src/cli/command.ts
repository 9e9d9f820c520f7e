// What every command is given and gives back: arguments in, text or JSON out, an exit code.

import type { Writable } from 'node:stream';
import { OperatorError } from '../core/errors.ts';

export type CommandIo = {
  stdout: Writable;
  stderr: Writable;
  /** Aborted by the first SIGINT or SIGTERM: the command ends what it does in good order. */
  signal: AbortSignal;
};

/** 0 good, 1 failed, 2 bad usage. */
export type ExitCode = 0 | 1 | 2;

export type Command = {
  name: string;
  /** One line for the list of commands. */
  summary: string;
  help: string;
  run(args: string[], io: CommandIo): Promise<ExitCode>;
};

/** Turns what `parseArgs` throws into bad usage. */
export function parseUsage<T>(command: Pick<Command, 'name'>, parse: () => T): T {
  try {
    return parse();
  } catch (error) {
    const reason = error instanceof Error ? error.message.split('. ', 1)[0] : String(error);
    throw new OperatorError(`${reason}; see mercat ${command.name} --help`, { exitCode: 2, cause: undefined });
  }
}
