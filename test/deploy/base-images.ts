// Makes base images for the Containerfile from the programs and libraries of this machine. So the test of the Containerfile needs no image
// registry.

import { spawnSync } from 'node:child_process';
import { copyFileSync, cpSync, globSync, mkdirSync, realpathSync, rmSync, symlinkSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';

/** The programs that the instructions of the build stage run. */
const BUILD_PROGRAMS = ['sh', 'bash', 'mkdir', 'mv', 'rm', 'cp', 'find', 'awk', 'chown', 'ldd', 'env', 'node'];
const BUNDLERS = fileURLToPath(new URL('../../node_modules/@rolldown/binding-*/*.node', import.meta.url));
const AUTHORITIES = '/etc/ssl/certs/ca-certificates.crt';
/** A file in the build image: a copy of the file that NODE_EXTRA_CA_CERTS names on this machine. */
const EXTRA_AUTHORITIES = '/etc/ssl/extra.crt';
const OUTPUT_BYTES_MAX = 64 * 1024 * 1024;

/** Runs a program and returns its standard output. If the program fails, throws an error that contains the end of its output. */
export function run(program: string, args: readonly string[], options: { cwd?: string } = {}): string {
  const { status, stdout, stderr, error } = spawnSync(program, args, {
    encoding: 'utf8',
    maxBuffer: OUTPUT_BYTES_MAX,
    ...options,
  });
  if (error) throw error;
  if (status !== 0) throw new Error(`${program} ${args[0]} failed: ${`${stdout}${stderr}`.trim().slice(-2_000)}`);
  return stdout.trim();
}

/** Makes an image with the C and C++ libraries that Node.js needs. In the test, it replaces the distroless image `cc`. */
export function makeRuntimeImage(tag: string, dir: string): void {
  makeRoot(dir);
  copyLibraries(process.execPath, dir);
  importImage(tag, dir, []);
}

/** Makes an image with a shell, Node.js and npm. In this image, npm uses the same registry and certificates as on this machine. */
export function makeBuildImage(tag: string, dir: string): void {
  makeRoot(dir);
  copyLibraries(process.execPath, dir);
  for (const name of BUILD_PROGRAMS) {
    const program = realpathSync(run('which', [name]));
    copyFileSync(program, path.join(dir, 'usr/bin', name));
    copyLibraries(program, dir);
  }
  // The bundler of the web console is a native library, which needs further shared libraries.
  for (const library of globSync(BUNDLERS)) copyLibraries(library, dir);
  // The package npm is the parent of the folder that contains the program `npm`.
  const npm = path.dirname(path.dirname(realpathSync(run('which', ['npm']))));
  cpSync(npm, path.join(dir, 'usr/lib/node_modules/npm'), { recursive: true, dereference: true });
  symlinkSync('../lib/node_modules/npm/bin/npm-cli.js', path.join(dir, 'usr/bin/npm'));
  const changes = [
    `ENV NPM_CONFIG_REGISTRY=${run('npm', ['config', 'get', 'registry'])}`,
    'ENV NPM_CONFIG_CACHE=/npm-cache',
    'ENV PATH=/usr/bin',
  ];
  const extra = process.env['NODE_EXTRA_CA_CERTS'];
  if (extra) {
    copyFileSync(extra, path.join(dir, EXTRA_AUTHORITIES));
    changes.push(`ENV NODE_EXTRA_CA_CERTS=${EXTRA_AUTHORITIES}`);
  }
  importImage(tag, dir, changes);
}

function makeRoot(dir: string): void {
  for (const name of ['usr/bin', 'usr/lib', 'usr/lib64', 'etc/ssl/certs', 'tmp', 'proc', 'dev'])
    mkdirSync(path.join(dir, name), { recursive: true });
  for (const name of ['bin', 'lib', 'lib64']) symlinkSync(`usr/${name}`, path.join(dir, name));
  copyFileSync(AUTHORITIES, path.join(dir, AUTHORITIES));
}

/** Copies the shared libraries of a program, and the dynamic loader. Does nothing for a script, because a script has no libraries. */
function copyLibraries(program: string, dir: string): void {
  const { status, stdout } = spawnSync('ldd', [program], { encoding: 'utf8' });
  if (status !== 0) return;
  for (const [, library = ''] of stdout.matchAll(/(?:=> )?(\/\S+) \(0x/g)) {
    const target = path.join(dir, library);
    mkdirSync(path.dirname(target), { recursive: true });
    copyFileSync(realpathSync(library), target);
  }
}

function importImage(tag: string, dir: string, changes: readonly string[]): void {
  const archive = `${dir}.tar`;
  run('tar', ['--owner=0', '--group=0', '-cf', archive, '-C', dir, '.']);
  run('podman', ['import', ...changes.flatMap((change) => ['--change', change]), archive, tag]);
  rmSync(archive);
}
