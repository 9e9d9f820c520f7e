// Builds the npm package of the client, and installs the package in a separate project, as a user of the client does.

import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { globSync, mkdirSync, renameSync, symlinkSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { temporaryDirectory } from '../support/temporary-directory.ts';

const ROOT = fileURLToPath(new URL('../../', import.meta.url));
const RUN_MS_MAX = 300_000;

export type Project = {
  directory: string;
  write(file: string, text: string): void;
  /** Runs a program in the project, and returns its exit status and its output. */
  run(program: string, ...args: string[]): { status: number | null; output: string };
};

/** Creates a project that has the client and the types of Node, and no other package of this repository. */
export function createProjectWithClient(): Project {
  const directory = temporaryDirectory();
  const run = (program: string, ...args: string[]) => {
    const { status, stdout, stderr } = spawnSync(program, args, {
      cwd: directory,
      encoding: 'utf8',
      timeout: RUN_MS_MAX,
    });
    return { status, output: stdout + stderr };
  };
  const succeed = (program: string, ...args: string[]) => {
    const { status, output } = run(program, ...args);
    assert.equal(status, 0, output);
  };
  succeed(process.execPath, path.join(ROOT, 'client/build.ts'), directory);
  mkdirSync(path.join(directory, 'node_modules/@types'), { recursive: true });
  const [archive = ''] = globSync('mercat-client-*.tgz', { cwd: directory });
  succeed('tar', '-xzf', archive);
  renameSync(path.join(directory, 'package'), path.join(directory, 'node_modules/mercat-client'));
  for (const name of ['@types/node', 'undici-types'])
    symlinkSync(path.join(ROOT, 'node_modules', name), path.join(directory, 'node_modules', name));
  const write = (file: string, text: string) => writeFileSync(path.join(directory, file), text);
  write('package.json', JSON.stringify({ type: 'module' }));
  return { directory, write, run };
}
