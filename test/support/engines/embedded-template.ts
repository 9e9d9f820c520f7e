// Makes the embedded databases that tests copy: an empty one, and one with all migrations.

import { cpSync, mkdirSync, rmSync } from 'node:fs';
import path from 'node:path';
import { openEmbedded } from '../../../src/platform/database/embedded/embedded.ts';
import { SCHEMAS, migrate } from '../../../src/platform/database/migrate.ts';
import { createDatabase } from '../../../src/platform/database/port.ts';
import { temporaryDirectory } from '../temporary-directory.ts';
import { onCleanUp } from './cleanup.ts';
import { findTemplate, listMigrationFiles } from './template-cache.ts';

/** The files that determine the content of a new database, in addition to its migrations. */
const MADE_OF = [
  'package-lock.json',
  'src/platform/database/embedded/engine.ts',
  'src/platform/database/embedded/new-cluster.zst',
  'src/platform/database/migrate.ts',
];

export type Template = 'empty' | 'migrated';

/** Makes a temporary data directory with a copy of the template as its embedded database. Returns its path. */
export async function directoryWithDatabase(template: Template = 'migrated'): Promise<string> {
  const dir = temporaryDirectory();
  // The directory is removed when the suite ends, before the process ends, because a database takes 40 MB.
  onCleanUp(() => rmSync(dir, { recursive: true, force: true }));
  await copyDatabase(path.join(dir, 'db'), template);
  return dir;
}

/** Puts a database into `dir`, which must not exist yet. */
export async function copyDatabase(dir: string, template: Template): Promise<void> {
  const original = await (template === 'empty'
    ? findTemplate(template, { madeOf: MADE_OF }, makeEmpty)
    : findTemplate(template, { madeOf: [...MADE_OF, ...listMigrationFiles()] }, makeMigrated));
  mkdirSync(path.dirname(dir), { recursive: true, mode: 0o700 });
  cpSync(original, dir, { recursive: true });
}

async function makeEmpty(dir: string): Promise<void> {
  const { close } = await openEmbedded({ dir });
  await close();
}

async function makeMigrated(dir: string): Promise<void> {
  await copyDatabase(dir, 'empty');
  const { pool, close } = await openEmbedded({ dir });
  const database = createDatabase(pool, { engine: 'embedded', name: 'main', onClose: close });
  for (const schema of SCHEMAS) await migrate(database, schema);
  await database.close();
}
