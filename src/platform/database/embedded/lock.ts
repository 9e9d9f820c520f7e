// The lock of an embedded database against a second process. It is a file lock of the operating system, taken through SQLite, so it is
// released even if the process crashes. Files of a dead process do not prevent a start.

import { accessSync, constants, existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { OperatorError, describeError } from '../../core/errors.ts';
import { describingPermissions } from './permissions.ts';

const SQLITE_BUSY = 5;

export type Lock = { release(): void };

/** Another process has the database open. */
export class DirectoryInUse extends OperatorError {}

/** Takes the lock of the database directory, or throws an OperatorError that names the process with the lock. */
export function takeLock(dir: string): Lock {
  const file = `${dir}.lock`;
  // Only the owner may access the file. An existing file is not opened here. This process may already have locked it through SQLite, and
  // the operating system would release this lock when a second file descriptor of the process is closed.
  describingPermissions(path.dirname(dir), () => {
    if (!existsSync(file)) writeFileSync(file, '', { mode: 0o600, flag: 'a' });
    accessSync(file, constants.R_OK | constants.W_OK);
  });
  const database = new DatabaseSync(file);
  try {
    // The file stays empty: the exclusive lock needs no content.
    database.exec('pragma busy_timeout = 0; pragma journal_mode = memory; begin exclusive');
  } catch (error) {
    database.close();
    if (isBusy(error)) throw toInUse(dir);
    throw new OperatorError(
      `${file} cannot be locked (${describeError(error)}): if no process uses the database, delete this file`,
    );
  }
  const unmark = markOwner(`${dir}.pid`);
  return {
    release: () => {
      if (!database.isOpen) return;
      unmark();
      database.close();
    },
  };
}

function isBusy(error: unknown): boolean {
  return typeof error === 'object' && error !== null && 'errcode' in error && error.errcode === SQLITE_BUSY;
}

/**
 * Writes the process id to `file`, for the error message of a second process. Returns a function that removes the file. The lock also works
 * if the file cannot be written, for example on a full disk.
 */
function markOwner(file: string): () => void {
  const erase = (): void => rmSync(file, { force: true });
  try {
    writeFileSync(file, `${process.pid}\n`, { mode: 0o600 });
  } catch {
    erase();
  }
  return erase;
}

function toInUse(dir: string): OperatorError {
  const dataDir = path.dirname(dir);
  const pid = readOwner(`${dir}.pid`);
  if (pid === process.pid) return new OperatorError(`the data directory ${dataDir} is already open in this process`);
  const holder = pid === null ? 'another process' : `another process (pid ${pid})`;
  return new DirectoryInUse(
    `the data directory ${dataDir} is in use by ${holder}: stop that process first, or use a command that works beside a running server`,
  );
}

function readOwner(file: string): number | null {
  if (!existsSync(file)) return null;
  const pid = Number(readFileSync(file, 'utf8'));
  return Number.isSafeInteger(pid) && pid > 0 && isAlive(pid) ? pid : null;
}

/** Whether the process exists. EPERM means that it exists and belongs to another user. */
function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM';
  }
}
