// The location of the embedded database within the data directory.

import { existsSync } from 'node:fs';
import path from 'node:path';

export function embeddedDirectoryOf(dataDir: string): string {
  return path.join(dataDir, 'db');
}

/** Whether the database's directory exists. It may still be empty. */
export function hasEmbeddedDatabase(dataDir: string): boolean {
  return existsSync(embeddedDirectoryOf(dataDir));
}
