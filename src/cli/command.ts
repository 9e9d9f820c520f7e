// The types with which a command is declared, and the streams and signal with which it runs.

import type { Readable, Writable } from 'node:stream';
import type { Command } from '@commander-js/extra-typings';

/** 0: done. 1: failed, or some of the input was rejected. 2: the arguments are wrong. */
export type ExitCode = 0 | 1 | 2;

export type CommandIo = {
  stdin: Readable;
  /** For results only. */
  stdout: Writable;
  /** For messages and progress. */
  stderr: Writable;
  /** Aborted by the first SIGINT or SIGTERM, with an Interruption as reason. The command then stops its work, closes what it opened, and ends. */
  signal: AbortSignal;
  /** The exit code of a command that does not throw. It is 0 unless the command sets another code. */
  exitCode: ExitCode;
};

/**
 * Declares a command's arguments, options and actions. The function is also called when only help is printed. Therefore the file of a
 * command does not import large modules. The action imports them when it runs.
 */
export type DefineCommand = (command: Command, io: CommandIo) => void;

/** The description of --json, the same in every command. */
export const JSON_OPTION = 'print the result as one JSON value';
