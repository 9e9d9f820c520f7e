// The version of Mercat before the newest migration, from the history of the repository.

import { spawnSync } from 'node:child_process';
import { symlinkSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { temporaryDirectory } from '../test/support/temporary-directory.ts';

const REPOSITORY = fileURLToPath(new URL('..', import.meta.url));
const MIGRATIONS = 'src/database/migrations';

export const hasHistory = (): boolean => readGit('rev-parse', '--verify', 'HEAD') !== null && findOldCommit() !== null;

export type OldVersion = { commit: string; root: string };

/** Extracts the version before the newest migration into a temporary folder, with the packages of this version. */
export function extractOldVersion(): OldVersion {
  const commit = findOldCommit();
  if (commit === null) throw new Error('the history of the repository is not on this machine');
  const root = temporaryDirectory();
  const script = `git archive ${commit} | tar -x -C "${root}"`;
  const { status, stderr } = spawnSync('sh', ['-c', script], { cwd: REPOSITORY, encoding: 'utf8' });
  if (status !== 0) throw new Error(`${script}: ${stderr}`);
  symlinkSync(path.join(REPOSITORY, 'node_modules'), path.join(root, 'node_modules'));
  return { commit: commit.slice(0, 7), root };
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
