// The types for declaring and running a command.

import type { Readable, Writable } from 'node:stream';
import type { Command } from '@commander-js/extra-typings';

/** 0: done. 1: failed, or a part of the input was rejected. 2: the arguments are wrong. */
export type ExitCode = 0 | 1 | 2;

export type CommandIo = {
  stdin: Readable;
  /** For results only. */
  stdout: Writable;
  /** For messages and progress. */
  stderr: Writable;
  /** Aborted by the first SIGINT or SIGTERM, with an Interruption as reason. The command then closes what it opened, and ends. */
  signal: AbortSignal;
  /** The exit code of a command that does not throw. Default: 0. */
  exitCode: ExitCode;
};

/**
 * Declares the arguments, options and actions of a command. The function is also called to print help, so its file must not import large
 * modules. The action imports them when it runs.
 */
export type DefineCommand = (command: Command, io: CommandIo) => void;

export const JSON_OPTION = 'print the result as one JSON value';
