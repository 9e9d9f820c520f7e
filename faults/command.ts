// Runs a command of Mercat to its end.

import assert from 'node:assert/strict';
import type { Program } from './program.ts';

/** The time limit for a backup or a restore, also on a slow machine. */
export const COMMAND_LIMIT_MS = 600_000;

/** Starts the command, and returns its last line when it has ended. Throws if the command fails. */
export async function runCommand(command: Program): Promise<string> {
  command.launch();
  assert.equal(await command.ended(COMMAND_LIMIT_MS), 0, command.lines.slice(-5).join(' '));
  return command.lines.at(-1) ?? '';
}
