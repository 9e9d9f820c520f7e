// An empty embedded database to copy, so that not every test waits seconds for a first boot. Made once for each version of what
// makes it, and kept beside the installed packages; `rm -rf node_modules/.cache` is always safe.

import { createHash } from 'node:crypto';
import { cpSync, existsSync, mkdirSync, mkdtempSync, readFileSync, renameSync, rmSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { openEmbedded } from '../../../src/database/embedded/embedded.ts';
import { temporaryDirectory } from '../temporary-directory.ts';
import { onCleanUp } from './cleanup.ts';

const cache = fileURLToPath(new URL('../../../node_modules/.cache/mercat/', import.meta.url));
const MADE_OF = [
  '../../../package-lock.json',
  '../../../src/database/embedded/engine.ts',
  '../../../src/database/embedded/first-boot.ts',
];

/** A data directory with an empty embedded database in it. */
export async function directoryWithDatabase(): Promise<string> {
  const dir = temporaryDirectory();
  // Removed with the suite: a database takes 40 MB.
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

/** Test files run side by side: each makes its own, and the first complete one is kept. */
async function makeTemplate(template: string): Promise<void> {
  mkdirSync(cache, { recursive: true });
  const place = mkdtempSync(path.join(cache, 'making-'));
  try {
    const { close } = await openEmbedded({ dir: path.join(place, 'db') });
    await close();
    if (!existsSync(template)) renameSync(path.join(place, 'db'), template);
  } catch (error) {
    // Another one was first: a directory that is not empty cannot be replaced.
    if (!existsSync(template)) throw error;
  } finally {
    rmSync(place, { recursive: true, force: true });
  }
}
