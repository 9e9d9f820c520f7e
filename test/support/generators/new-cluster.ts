// Makes the packed cluster: the data directory of a new PostgreSQL server, which the embedded database unpacks when it starts for the first
// time. initdb writes times and random numbers, so two packed clusters are never equal. Therefore the file is made again only if the version
// of PGlite has changed.

import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { NEW_CLUSTER, packCluster, pgliteVersionOf } from '../../../src/platform/database/embedded/cluster-archive.ts';
import { startEngine } from '../../../src/platform/database/embedded/engine.ts';

const PGLITE = new URL('../../../node_modules/@electric-sql/pglite/package.json', import.meta.url);

export function installedPgliteVersion(): string {
  const { version } = JSON.parse(readFileSync(PGLITE, 'utf8')) as { version: string };
  return version;
}

export async function writeNewCluster(): Promise<void> {
  const version = installedPgliteVersion();
  if (existsSync(NEW_CLUSTER) && pgliteVersionOf(readFileSync(NEW_CLUSTER)) === version) return;
  const dir = mkdtempSync(path.join(os.tmpdir(), 'mercat-cluster-'));
  try {
    // In an empty directory the engine runs initdb.
    const engine = await startEngine(dir, (line) => {
      throw new Error(line);
    });
    await engine.exec('checkpoint');
    await engine.close();
    writeFileSync(NEW_CLUSTER, packCluster(dir, version));
  } finally {
    rmSync(dir, { recursive: true, force: true });
  }
}
