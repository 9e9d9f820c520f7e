// Finds libfaketime, a library that changes the clock of one process.

import { existsSync, readdirSync } from 'node:fs';
import path from 'node:path';

const ROOT = '/usr/lib';

/** The path of the library, or null if it is not installed. */
export function findFaketime(): string | null {
  const folders = existsSync(ROOT) ? readdirSync(ROOT).map((name) => path.join(ROOT, name, 'faketime')) : [];
  return folders.map((folder) => path.join(folder, 'libfaketime.so.1')).find((file) => existsSync(file)) ?? null;
}
