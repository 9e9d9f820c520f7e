// The program that makes a new cluster in the empty directory it is given, and ends. A process of its own because initdb takes
// some 600 MB for a moment, which only the end of a process gives back. It must never outlive the process that started it by
// more than a moment: its standard input, which nobody writes to, ends with that process.

import { existsSync } from 'node:fs';
import { describeError } from '../../core/errors.ts';
import { startEngine } from './engine.ts';

const [dir = ''] = process.argv.slice(2);
process.stdin.resume().once('end', () => process.exit(1));
try {
  if (!existsSync(dir)) throw new Error(`${dir} is gone`);
  const engine = await startEngine(dir, () => undefined);
  await engine.exec('checkpoint');
  await engine.close();
} catch (error) {
  process.stderr.write(`${describeError(error)}\n`);
  process.exitCode = 1;
}
process.stdin.destroy();
