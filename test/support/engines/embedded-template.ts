// Embedded databases that tests copy, because the first start of a new database takes seconds. One is empty, and one has all
// migrations. Both are kept in node_modules/.cache. They are made again when a file that determines their content changes. Deleting
// node_modules/.cache is always safe.

import { createHash } from 'node:crypto';
import { cpSync, existsSync, mkdirSync, mkdtempSync, readFileSync, readdirSync, renameSync, rmSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { openEmbedded } from '../../../src/database/embedded/embedded.ts';
import { SCHEMAS, migrate } from '../../../src/database/migrate.ts';
import { createDatabase } from '../../../src/database/port.ts';
import { temporaryDirectory } from '../temporary-directory.ts';
import { onCleanUp } from './cleanup.ts';

const cache = fileURLToPath(new URL('../../../node_modules/.cache/mercat/', import.meta.url));
/** The files that determine the content of a new database beside its migrations. */
const MADE_OF = [
  '../../../package-lock.json',
  '../../../src/database/embedded/engine.ts',
  '../../../src/database/embedded/new-cluster.zst',
  '../../../src/database/migrate.ts',
];
const MIGRATIONS = '../../../src/database/migrations/';

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
  const original = path.join(cache, `${template}-${digestOf(template)}`);
  if (!existsSync(original)) await (template === 'empty' ? makeEmpty(original) : makeMigrated(original));
  mkdirSync(path.dirname(dir), { recursive: true, mode: 0o700 });
  cpSync(original, dir, { recursive: true });
}

function digestOf(template: Template): string {
  const digest = createHash('sha256');
  const migrations = SCHEMAS.flatMap((schema) =>
    readdirSync(new URL(`${MIGRATIONS}${schema}/`, import.meta.url)).map((name) => `${MIGRATIONS}${schema}/${name}`),
  );
  for (const file of [...MADE_OF, ...(template === 'migrated' ? migrations.sort() : [])]) {
    digest.update(`${file}\n`).update(readFileSync(new URL(file, import.meta.url)));
  }
  return digest.digest('hex').slice(0, 16);
}

const makeEmpty = (original: string) =>
  make(original, async (dir) => {
    const { close } = await openEmbedded({ dir });
    await close();
  });

const makeMigrated = (original: string) =>
  make(original, async (dir) => {
    await copyDatabase(dir, 'empty');
    const { pool, close } = await openEmbedded({ dir });
    const database = createDatabase(pool, { engine: 'embedded', name: 'main', onClose: close });
    for (const schema of SCHEMAS) await migrate(database, schema);
    await database.close();
  });

/** Test files that run at the same time may each make a template. The first complete template is kept. */
async function make(original: string, work: (dir: string) => Promise<void>): Promise<void> {
  mkdirSync(cache, { recursive: true });
  const directory = mkdtempSync(path.join(cache, 'making-'));
  try {
    await work(path.join(directory, 'db'));
    if (!existsSync(original)) renameSync(path.join(directory, 'db'), original);
  } catch (error) {
    // Another test file was first. Renaming cannot replace a directory that is not empty.
    if (!existsSync(original)) throw error;
  } finally {
    rmSync(directory, { recursive: true, force: true });
  }
}
