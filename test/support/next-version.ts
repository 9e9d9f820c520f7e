// Makes a later version of the program, which has migrations that this version does not have.

import { cpSync, mkdirSync, readdirSync, symlinkSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import type { Schema } from '../../src/platform/database/migrate.ts';
import { temporaryDirectory } from './temporary-directory.ts';

const ROOT = fileURLToPath(new URL('../../', import.meta.url));

/**
 * Returns the root of the later version, a temporary directory with a copy of `src`. The other files are links to the files of this version.
 * `migrations`: the texts of its migrations, by schema and name.
 */
export function makeNextVersion(migrations: Partial<Record<Schema, Readonly<Record<string, string>>>>): string {
  const root = path.join(temporaryDirectory(), 'next');
  mkdirSync(root);
  for (const name of readdirSync(ROOT)) {
    if (name !== 'src' && name !== '.git') symlinkSync(path.join(ROOT, name), path.join(root, name));
  }
  cpSync(path.join(ROOT, 'src'), path.join(root, 'src'), { recursive: true });
  for (const [schema, files] of Object.entries(migrations)) {
    for (const [name, sql] of Object.entries(files)) {
      writeFileSync(path.join(root, 'src/platform/database/migrations', schema, name), sql);
    }
  }
  return root;
}
