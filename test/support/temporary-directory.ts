// Makes temporary directories for tests, and removes them when the test process ends.

import { mkdtempSync, rmSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';

const directories: string[] = [];

process.once('exit', () => {
  for (const dir of directories) rmSync(dir, { recursive: true, force: true, maxRetries: 5 });
});

export function temporaryDirectory(): string {
  const dir = mkdtempSync(path.join(os.tmpdir(), 'mercat-test-'));
  directories.push(dir);
  return dir;
}
