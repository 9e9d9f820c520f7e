// The location of the embedded database within the data directory.

import { existsSync } from 'node:fs';
import path from 'node:path';

export function embeddedDirectoryOf(dataDir: string): string {
  return path.join(dataDir, 'db');
}

/** Whether the directory of the database exists. The directory may be empty. */
export function hasEmbeddedDatabase(dataDir: string): boolean {
  return existsSync(embeddedDirectoryOf(dataDir));
}
