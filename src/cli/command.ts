// How a command is declared, and what it is given to run.

import type { Readable, Writable } from 'node:stream';
import type { Command } from '@commander-js/extra-typings';

/** 0: done. 1: failed, or some of the input was rejected. 2: the arguments are wrong. */
export type ExitCode = 0 | 1 | 2;

export type CommandIo = {
  stdin: Readable;
  /** For results alone. */
  stdout: Writable;
  /** For messages and progress. */
  stderr: Writable;
  /** Aborted by the first SIGINT or SIGTERM: the command ends in good order. */
  signal: AbortSignal;
  /** The exit code of a command that does not throw. It is 0 unless the command sets another. */
  exitCode: ExitCode;
};

/**
 * Declares a command's arguments, options and actions. It runs for help too, so what an action needs beyond the connection to
 * the service is imported by the action.
 */
export type DefineCommand = (command: Command, io: CommandIo) => void;

/** The description of --json, the same in every command. */
export const JSON_OPTION = 'print the result as one JSON value';
