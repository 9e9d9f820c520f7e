// The directory of an embedded database on disk: whether it is one, and how a new one comes to be, all at once or not at all.
// It must never change or remove what it did not make.

import { execFile } from 'node:child_process';
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
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { OperatorError } from '../../core/errors.ts';

const POSTGRES_MAJOR = '18';
const DIRECTORY_MODE = 0o700;
const FILE_MODE = 0o600;
/** Between the name of the database directory and a process id: a cluster that is still being made. */
const DRAFT_MARK = '.init-';
/** It takes three seconds on a slow machine. */
const FIRST_BOOT_MAX_MS = 120_000;
const FIRST_BOOT_MEMORY_MB = 650;

/** With retries: the process that made a draft may outlive the one that asked for it by a second. */
const REMOVE_TREE = { recursive: true, force: true, maxRetries: 10, retryDelay: 100 };

const execFileAsync = promisify(execFile);

/** The absolute path of the database directory, links resolved so that it has one lock. Its parent exists afterwards. */
export function prepareParent(dir: string): string {
  const full = path.resolve(dir);
  if (existsSync(full)) return realpathSync(full);
  const parent = path.dirname(full);
  const made = mkdirSync(parent, { recursive: true, mode: DIRECTORY_MODE });
  if (made !== undefined) fsyncEntries(made, parent);
  return path.join(realpathSync(parent), path.basename(full));
}

/** Makes the cluster unless there is one. Only for the holder of the lock. */
export async function ensureCluster(dir: string): Promise<void> {
  removeDrafts(dir);
  if (isCluster(dir)) return;
  const draft = `${dir}${DRAFT_MARK}${process.pid}`;
  try {
    mkdirSync(draft, { mode: DIRECTORY_MODE });
    await makeCluster(draft);
    settleTree(draft);
    moveInPlace(draft, dir);
  } catch (error) {
    rmSync(draft, REMOVE_TREE);
    throw error;
  }
}

/** What an earlier process began and did not finish: nothing in it was ever used. */
function removeDrafts(dir: string): void {
  const parent = path.dirname(dir);
  const prefix = path.basename(dir) + DRAFT_MARK;
  for (const name of readdirSync(parent)) {
    if (name.startsWith(prefix)) rmSync(path.join(parent, name), REMOVE_TREE);
  }
}

/** False when there is nothing yet; throws when there is something else than a database that this program can open. */
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

/** Makes a cluster in the empty directory `draft`, in a process of its own (see there). */
async function makeCluster(draft: string): Promise<void> {
  const program = fileURLToPath(new URL('./first-boot.ts', import.meta.url));
  try {
    await execFileAsync(process.execPath, [program, draft], { timeout: FIRST_BOOT_MAX_MS });
  } catch (error) {
    const { signal, stderr } = error as { signal?: string | null; stderr?: string };
    const reason = signal
      ? `it was ended by ${signal}; it needs about ${FIRST_BOOT_MEMORY_MB} MB of memory for a moment`
      : (stderr ?? '').trim().split('\n').at(-1);
    throw new OperatorError(`a new database could not be made: ${reason}`, { cause: error });
  }
}

/** Gives a finished tree to its owner alone and puts it on disk, the leaves first. */
function settleTree(directory: string): void {
  for (const entry of readdirSync(directory, { withFileTypes: true })) {
    const at = path.join(directory, entry.name);
    if (entry.isDirectory()) {
      settleTree(at);
    } else {
      chmodSync(at, FILE_MODE);
      fsyncPath(at);
    }
  }
  chmodSync(directory, DIRECTORY_MODE);
  fsyncPath(directory);
}

function moveInPlace(draft: string, dir: string): void {
  try {
    // Only ever an empty directory: rmdir refuses any other.
    if (existsSync(dir)) rmdirSync(dir);
    renameSync(draft, dir);
  } catch (error) {
    throw new OperatorError(
      `${dir} cannot be put in place: it must not be a mount point itself, mount the directory above it`,
      { cause: error },
    );
  }
  fsyncPath(path.dirname(dir));
}

/** A new directory is an entry in the one above it: unless that is on disk, a power cut takes the whole database away. */
function fsyncEntries(top: string, bottom: string): void {
  for (let at = bottom; at.length >= top.length; at = path.dirname(at)) fsyncPath(path.dirname(at));
}

function fsyncPath(target: string): void {
  const isDirectory = statSync(target).isDirectory();
  // Windows can flush files opened for writing only, and keeps directories safe by itself.
  if (isDirectory && process.platform === 'win32') return;
  const fd = openSync(target, isDirectory ? 'r' : 'r+');
  try {
    fsyncSync(fd);
  } finally {
    closeSync(fd);
  }
}
