// Runs a command of Mercat until the command ends.

import assert from 'node:assert/strict';
import type { Program } from './program.ts';

/** The time limit of a command. It is long enough for a backup or a restore on a slow machine. */
export const COMMAND_LIMIT_MS = 600_000;

/** Starts the command, waits until it has ended, and returns the last line of its output. Throws if the command fails. */
export async function runCommand(command: Program): Promise<string> {
  command.launch();
  assert.equal(await command.ended(COMMAND_LIMIT_MS), 0, command.lines.slice(-5).join(' '));
  return command.lines.at(-1) ?? '';
}
