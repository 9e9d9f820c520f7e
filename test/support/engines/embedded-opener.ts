// A program that opens the embedded database in DIR, prints "open", and closes the database when standard input ends.
// Usage: embedded-opener.ts DIR

import { once } from 'node:events';
import { openEmbedded } from '../../../src/platform/database/embedded/embedded.ts';
import { describeError } from '../../../src/platform/core/errors.ts';

try {
  const { close } = await openEmbedded({ dir: process.argv[2] ?? '' });
  process.stdout.write('open\n');
  await once(process.stdin.resume(), 'end');
  await close();
} catch (error) {
  process.stderr.write(`${describeError(error)}\n`);
  process.exitCode = 1;
}
