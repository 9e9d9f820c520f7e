// The directory of an embedded database. A new directory is created completely or not at all. Files that this program did not
// create are never changed or removed.

import {
  chmodSync,
  closeSync,
  existsSync,
  fsyncSync,
  mkdirSync,
  openSync,
  readFileSync,
  readdirSync,
  realpathSync,
  renameSync,
  rmSync,
  rmdirSync,
  statSync,
} from 'node:fs';
import { open } from 'node:fs/promises';
import path from 'node:path';
import { OperatorError } from '../../core/errors.ts';
import { NEW_CLUSTER, unpackCluster } from './cluster-archive.ts';

const POSTGRES_MAJOR = '18';
const DIRECTORY_MODE = 0o700;
const FILE_MODE = 0o600;
/** A cluster is created in a draft: the directory `<name of the database directory>.init-<process id>`. */
const DRAFT_MARK = '.init-';
const REMOVE_TREE = { recursive: true, force: true };

/**
 * Returns the absolute path of the database directory, and creates its parent if necessary. Symbolic links are resolved, so that a database
 * directory has one lock, whatever path leads to it.
 */
export function prepareParent(dir: string): string {
  const full = path.resolve(dir);
  if (existsSync(full)) return realpathSync(full);
  const parent = path.dirname(full);
  const firstCreated = mkdirSync(parent, { recursive: true, mode: DIRECTORY_MODE });
  if (firstCreated !== undefined) fsyncEntries(firstCreated, parent);
  return path.join(realpathSync(parent), path.basename(full));
}

/** Creates a cluster in `dir`, unless `dir` contains a cluster. The caller must hold the lock of the directory. */
export async function ensureCluster(dir: string): Promise<void> {
  removeDrafts(dir);
  if (isCluster(dir)) return;
  const draft = `${dir}${DRAFT_MARK}${process.pid}`;
  try {
    mkdirSync(draft, { mode: DIRECTORY_MODE });
    unpackCluster(readFileSync(NEW_CLUSTER), draft);
    await secureTree(draft);
    moveInPlace(draft, dir);
  } catch (error) {
    rmSync(draft, REMOVE_TREE);
    throw error;
  }
}

/** Removes the drafts of earlier processes. */
function removeDrafts(dir: string): void {
  const parent = path.dirname(dir);
  const prefix = path.basename(dir) + DRAFT_MARK;
  for (const name of readdirSync(parent)) {
    if (name.startsWith(prefix)) rmSync(path.join(parent, name), REMOVE_TREE);
  }
}

/** False if the directory is missing or empty. Throws if it holds anything but a database that this program can open. */
function isCluster(dir: string): boolean {
  const found = statSync(dir, { throwIfNoEntry: false });
  if (found === undefined) return false;
  if (!found.isDirectory()) throw new OperatorError(`${dir} is a file: the database needs a directory of that name`);
  if (readdirSync(dir).length === 0) return false;
  const versionFile = path.join(dir, 'PG_VERSION');
  if (!existsSync(versionFile) || !existsSync(path.join(dir, 'global', 'pg_control'))) {
    throw new OperatorError(
      `${dir} is neither empty nor a database and was left as it is: move its content away, or choose another data directory`,
    );
  }
  const version = readFileSync(versionFile, 'utf8').trim();
  if (version !== POSTGRES_MAJOR) {
    throw new OperatorError(
      `${dir} was made by PostgreSQL ${version} and this program runs PostgreSQL ${POSTGRES_MAJOR}: use the program version that made it`,
    );
  }
  return true;
}

/**
 * The number of files of a new cluster that are flushed concurrently. A cluster has about 1,250 files. One after the other, their flushes
 * would take most of the time of a first start.
 */
const FLUSHES_MAX = 16;

/** Restricts a directory tree to its owner and flushes it to disk, files before directories. */
async function secureTree(top: string): Promise<void> {
  const entries = readdirSync(top, { recursive: true, withFileTypes: true });
  const pathsOf = (isDirectory: boolean) =>
    entries
      .filter((entry) => entry.isDirectory() === isDirectory)
      .map((entry) => path.join(entry.parentPath, entry.name));
  const files = pathsOf(false).values();
  const flush = async () => {
    // All loops take their files from one iterator, so that each file is flushed once.
    for (const file of files) await secureFile(file);
  };
  await Promise.all(Array.from({ length: FLUSHES_MAX }, flush));
  for (const directory of [...pathsOf(true), top]) {
    chmodSync(directory, DIRECTORY_MODE);
    fsyncPath(directory);
  }
}

async function secureFile(file: string): Promise<void> {
  await using handle = await open(file, 'r+');
  await handle.chmod(FILE_MODE);
  await handle.sync();
}

function moveInPlace(draft: string, dir: string): void {
  try {
    // If `dir` exists, `isCluster` has found it empty. rmdir fails if a file was added meanwhile.
    if (existsSync(dir)) rmdirSync(dir);
    renameSync(draft, dir);
  } catch (error) {
    throw new OperatorError(
      `the new database cannot be moved to ${dir}: if ${dir} is a mount point, mount the directory above it instead`,
      { cause: error },
    );
  }
  fsyncPath(path.dirname(dir));
}

/**
 * Flushes the parents of the new directories from `bottom` up to `top`. A directory whose entry in its parent is not on disk is lost
 * in a power failure.
 */
function fsyncEntries(top: string, bottom: string): void {
  for (let directory = bottom; directory.length >= top.length; directory = path.dirname(directory)) {
    fsyncPath(path.dirname(directory));
  }
}

function fsyncPath(target: string): void {
  const isDirectory = statSync(target).isDirectory();
  // Windows flushes only files that are open for writing, and needs no flush of directories.
  if (isDirectory && process.platform === 'win32') return;
  const fd = openSync(target, isDirectory ? 'r' : 'r+');
  try {
    fsyncSync(fd);
  } finally {
    closeSync(fd);
  }
}
