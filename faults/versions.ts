// Provides an older and a newer version of Mercat. The older version is the last commit before the newest migration was added. The newer
// version is the newest commit, to which this file adds one migration for each schema.

import { spawnSync } from 'node:child_process';
import { symlinkSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { temporaryDirectory } from '../test/support/temporary-directory.ts';

const REPOSITORY = fileURLToPath(new URL('..', import.meta.url));
const MIGRATIONS = 'src/database/migrations';

export const hasHistory = (): boolean => readGit('rev-parse', '--verify', 'HEAD') !== null && findOldCommit() !== null;

/** `root`: a temporary folder with the files of that commit. Its `node_modules` is a link to `node_modules` of this repository. */
export type Version = { commit: string; root: string };

/** The version before the newest migration. */
export function extractOldVersion(): Version {
  const commit = findOldCommit();
  if (commit === null) throw new Error('the history of the repository is not on this machine');
  return extract(commit);
}

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

/** The parent of the commit that added the newest migration. */
function findOldCommit(): string | null {
  const added = readGit('log', '-1', '--diff-filter=A', '--format=%H', '--', MIGRATIONS);
  return added === null || added === '' ? null : readGit('rev-parse', '--verify', `${added}^`);
}

function readGit(...args: string[]): string | null {
  const { status, stdout } = spawnSync('git', args, { cwd: REPOSITORY, encoding: 'utf8' });
  return status === 0 ? stdout.trim() : null;
}
