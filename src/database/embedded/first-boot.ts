// The program that creates a cluster in an empty directory. It is a separate process because initdb takes about 600 MB of memory, which is
// freed only when a process ends. If its parent ends, its standard input ends, and this process exits.

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
