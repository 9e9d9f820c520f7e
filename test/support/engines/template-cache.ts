// Stores data directories of databases. Tests copy a stored directory, because making a new one takes seconds. The stored directories are in
// node_modules/.cache, under a digest of the files that determine their content. Deleting node_modules/.cache is always safe.

import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, mkdtempSync, readFileSync, readdirSync, renameSync, rmSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { SCHEMAS } from '../../../src/platform/database/migrate.ts';

const ROOT = new URL('../../../', import.meta.url);
const CACHE = fileURLToPath(new URL('node_modules/.cache/mercat/', ROOT));
const MIGRATIONS = 'src/platform/database/migrations/';

/** The files of all migrations, relative to the root of the repository. */
export function listMigrationFiles(): string[] {
  const folders = SCHEMAS.map((schema) => `${MIGRATIONS}${schema}/`);
  return folders.flatMap((folder) =>
    readdirSync(new URL(folder, ROOT))
      .toSorted()
      .map((name) => `${folder}${name}`),
  );
}

/**
 * The path of a stored directory. `madeOf`: the files that determine its content, relative to the root of the repository. `versions`: what
 * else determines its content. If there is no such directory, `make` receives a path and makes the directory there.
 */
export async function findTemplate(
  name: string,
  { madeOf, versions = [] }: { madeOf: readonly string[]; versions?: readonly string[] },
  make: (directory: string) => Promise<void>,
): Promise<string> {
  const digest = createHash('sha256');
  for (const file of madeOf) digest.update(`${file}\n`).update(readFileSync(new URL(file, ROOT)));
  for (const version of versions) digest.update(`${version}\n`);
  const template = path.join(CACHE, `${name}-${digest.digest('hex').slice(0, 16)}`);
  await storeTemplate(template, make);
  return template;
}

/**
 * Stores what `make` makes as the directory `template`, unless there is such a directory. Test files that run at the same time may each make a
 * template. The first complete template is kept.
 */
export async function storeTemplate(template: string, make: (directory: string) => Promise<void>): Promise<void> {
  if (existsSync(template)) return;
  mkdirSync(path.dirname(template), { recursive: true });
  const directory = mkdtempSync(path.join(path.dirname(template), 'making-'));
  try {
    await make(path.join(directory, 'template'));
    if (!existsSync(template)) renameSync(path.join(directory, 'template'), template);
  } catch (error) {
    // Another test file was first. Renaming cannot replace a directory that is not empty.
    if (!existsSync(template)) throw error;
  } finally {
    rmSync(directory, { recursive: true, force: true });
  }
}
