// Asks for confirmation before a command deletes data.

import { createInterface } from 'node:readline/promises';
import { OperatorError } from '../platform/core/errors.ts';
import type { CommandIo } from './command.ts';

/**
 * Asks whether to do `what`. Throws OperatorError unless the reply is `y` or `yes`. Also throws if the standard input is not a terminal, so
 * that a script must give --yes.
 */
export async function requireConfirmation(
  what: string,
  { stdin, stderr, signal }: Pick<CommandIo, 'stdin' | 'stderr' | 'signal'>,
): Promise<void> {
  if (!('isTTY' in stdin) || stdin.isTTY !== true) {
    throw new OperatorError(`to ${what}, add --yes`, { exitCode: 2 });
  }
  const terminal = createInterface({ input: stdin, output: stderr });
  try {
    const reply = await terminal.question(`${what}? [y/N] `, { signal });
    if (!/^y(es)?$/i.test(reply.trim())) throw new OperatorError('nothing was changed');
  } finally {
    terminal.close();
  }
}
