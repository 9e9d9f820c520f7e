// An empty embedded database that tests copy, because the first boot of a new one takes seconds. It is kept in node_modules/.cache
// and made again when a file of MADE_OF changes. Deleting node_modules/.cache is always safe.

import { createHash } from 'node:crypto';
import { cpSync, existsSync, mkdirSync, mkdtempSync, readFileSync, renameSync, rmSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { openEmbedded } from '../../../src/database/embedded/embedded.ts';
import { temporaryDirectory } from '../temporary-directory.ts';
import { onCleanUp } from './cleanup.ts';

const cache = fileURLToPath(new URL('../../../node_modules/.cache/mercat/', import.meta.url));
/** The files that determine what is in a new database. */
const MADE_OF = [
  '../../../package-lock.json',
  '../../../src/database/embedded/engine.ts',
  '../../../src/database/embedded/first-boot.ts',
];

/** A data directory with an empty embedded database in it. */
export async function directoryWithDatabase(): Promise<string> {
  const dir = temporaryDirectory();
  // Removed when the suite ends, and not only when the process ends: a database takes 40 MB.
  onCleanUp(() => rmSync(dir, { recursive: true, force: true }));
  await copyEmptyDatabase(path.join(dir, 'db'));
  return dir;
}

/** Puts an empty database into `dir`, which must not exist yet. */
export async function copyEmptyDatabase(dir: string): Promise<void> {
  const digest = createHash('sha256');
  for (const file of MADE_OF) digest.update(readFileSync(new URL(file, import.meta.url)));
  const template = path.join(cache, `database-${digest.digest('hex').slice(0, 16)}`);
  if (!existsSync(template)) await makeTemplate(template);
  mkdirSync(path.dirname(dir), { recursive: true, mode: 0o700 });
  cpSync(template, dir, { recursive: true });
}

/** Test files that run at the same time may each make a template. The first one that is complete is kept. */
async function makeTemplate(template: string): Promise<void> {
  mkdirSync(cache, { recursive: true });
  const directory = mkdtempSync(path.join(cache, 'making-'));
  try {
    const { close } = await openEmbedded({ dir: path.join(directory, 'db') });
    await close();
    if (!existsSync(template)) renameSync(path.join(directory, 'db'), template);
  } catch (error) {
    // Another test file was first: renaming cannot replace a directory that is not empty.
    if (!existsSync(template)) throw error;
  } finally {
    rmSync(directory, { recursive: true, force: true });
  }
}
