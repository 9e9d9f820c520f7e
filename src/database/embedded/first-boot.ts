// The program that creates a cluster in an empty directory and exits. It is a process of its own because initdb takes about 600 MB of
// memory, which is returned only when the process ends. When its parent ends, its standard input ends, and this process exits.

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
