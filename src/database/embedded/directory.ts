// The directory of an embedded database. A new one is created completely or not at all. Files that this program did not create are
// never changed or removed.

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
/** Between the name of the database directory and a process id: the name of a cluster that is being created. */
const DRAFT_MARK = '.init-';
/** Three seconds are usual on a slow machine. */
const FIRST_BOOT_MAX_MS = 120_000;
const FIRST_BOOT_MEMORY_MB = 650;

/** With retries: the process that creates a draft may outlive its parent by a second. */
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

/** Creates the cluster unless there is one. The caller must hold the lock. */
export async function ensureCluster(dir: string): Promise<void> {
  removeDrafts(dir);
  if (isCluster(dir)) return;
  const draft = `${dir}${DRAFT_MARK}${process.pid}`;
  try {
    mkdirSync(draft, { mode: DIRECTORY_MODE });
    await makeCluster(draft);
    secureTree(draft);
    moveInPlace(draft, dir);
  } catch (error) {
    rmSync(draft, REMOVE_TREE);
    throw error;
  }
}

/** Removes drafts of processes that did not finish. */
function removeDrafts(dir: string): void {
  const parent = path.dirname(dir);
  const prefix = path.basename(dir) + DRAFT_MARK;
  for (const name of readdirSync(parent)) {
    if (name.startsWith(prefix)) rmSync(path.join(parent, name), REMOVE_TREE);
  }
}

/** False when the directory is missing or empty. Throws when it holds anything but a database that this program can open. */
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

/** Creates a cluster in the empty directory `draft`, in a process of its own (first-boot.ts says why). */
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

/** Restricts a directory tree to its owner and flushes it to disk, files before their directories. */
function secureTree(directory: string): void {
  for (const entry of readdirSync(directory, { withFileTypes: true })) {
    const at = path.join(directory, entry.name);
    if (entry.isDirectory()) {
      secureTree(at);
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
    // rmdir removes an empty directory only.
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

/** Flushes the directories above new ones: a directory whose entry is not on disk is lost in a power failure. */
function fsyncEntries(top: string, bottom: string): void {
  for (let at = bottom; at.length >= top.length; at = path.dirname(at)) fsyncPath(path.dirname(at));
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
