// Databases for a test that takes long, and therefore runs on one engine only: on the embedded database, or with TEST_CITUS=1 on PostgreSQL
// with the indexer database on a Citus cluster.

import { rmSync } from 'node:fs';
import { temporaryDirectory } from '../temporary-directory.ts';
import { startCitus } from './citus-cluster.ts';
import { RUNS_ON_CITUS } from './citus-node.ts';
import { copyDatabase } from './embedded-template.ts';
import path from 'node:path';

export type OneEngine = {
  /** Settings of a service on new databases that have all migrations. */
  settings: Record<string, string> & { DATA_DIR: string };
  /** Removes the databases. Close the service first. */
  close(): Promise<void>;
};

export async function createOneEngine(): Promise<OneEngine> {
  const dir = temporaryDirectory();
  const removeDirectory = () => rmSync(dir, { recursive: true, force: true });
  if (!RUNS_ON_CITUS) {
    await copyDatabase(path.join(dir, 'db'), 'migrated');
    return { settings: { DATA_DIR: dir }, close: async () => removeDirectory() };
  }
  const cluster = await startCitus();
  return {
    settings: {
      DATA_DIR: dir,
      DATABASE_URL: await cluster.createPrimary('migrated'),
      INDEXER_DATABASE_URL: await cluster.createDatabase('migrated'),
    },
    close: async () => {
      removeDirectory();
      await cluster.discard();
    },
  };
}
