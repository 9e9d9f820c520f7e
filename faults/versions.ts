// Makes a newer version of Mercat: the newest commit, to which this file adds one migration for each schema.

import { spawnSync } from 'node:child_process';
import { symlinkSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { temporaryDirectory } from '../test/support/temporary-directory.ts';

const REPOSITORY = fileURLToPath(new URL('..', import.meta.url));
const MIGRATIONS = 'src/platform/database/migrations';

export const hasHistory = (): boolean => readGit('rev-parse', '--verify', 'HEAD') !== null;

/** `root`: a temporary folder with the files of that commit. Its `node_modules` is a link to `node_modules` of this repository. */
export type Version = { commit: string; root: string };

/** The newest commit, with one additional migration for each schema. These migrations only add tables, columns and indexes. */
export function makeNewerVersion(): Version {
  const version = extract('HEAD');
  for (const [schema, sql] of Object.entries(EXPANSIONS)) {
    writeFileSync(path.join(version.root, MIGRATIONS, schema, '9999-newer.sql'), sql);
  }
  return version;
}

const EXPANSIONS = {
  main: `create table main.newer (id int); alter table main.product add column newer text not null default 'new';`,
  indexer: `alter table indexer.listing add column newer text; create index on indexer.listing (newer);`,
};

function extract(commit: string): Version {
  const root = temporaryDirectory();
  const script = `git archive ${commit} | tar -x -C "${root}"`;
  const { status, stderr } = spawnSync('sh', ['-c', script], { cwd: REPOSITORY, encoding: 'utf8' });
  if (status !== 0) throw new Error(`${script}: ${stderr}`);
  symlinkSync(path.join(REPOSITORY, 'node_modules'), path.join(root, 'node_modules'));
  return { commit: readGit('rev-parse', '--short', commit) ?? commit, root };
}

function readGit(...args: string[]): string | null {
  const { status, stdout } = spawnSync('git', args, { cwd: REPOSITORY, encoding: 'utf8' });
  return status === 0 ? stdout.trim() : null;
}
