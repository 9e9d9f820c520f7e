// Where the embedded database of a data directory stands.

import { existsSync } from 'node:fs';
import path from 'node:path';

export function embeddedDirectoryOf(dataDir: string): string {
  return path.join(dataDir, 'db');
}

/** Whether the database was created, or its creation at least begun. */
export function hasEmbeddedDatabase(dataDir: string): boolean {
  return existsSync(embeddedDirectoryOf(dataDir));
}
