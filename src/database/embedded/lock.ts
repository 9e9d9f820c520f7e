// The lock that keeps a second process away from an embedded database: the operating system holds it through SQLite for as long
// as the process lives, so a crash releases it. It must never be decided by a file that a dead process left behind.

import { existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { OperatorError, describeError } from '../../core/errors.ts';

const SQLITE_BUSY = 5;

export type Lock = { release(): void };

/** Another process has the database open. */
export class DirectoryInUse extends OperatorError {}

/** Takes the lock of the database directory `dir`, or throws an `OperatorError` that says who holds it. */
export function takeLock(dir: string): Lock {
  const file = `${dir}.lock`;
  // Created for the owner alone. An existing file is never opened here: closing it would drop a lock that this process holds.
  if (!existsSync(file)) writeFileSync(file, '', { mode: 0o600, flag: 'a' });
  const database = new DatabaseSync(file);
  try {
    // Nothing is ever written: an empty file cannot be half written, and the exclusive lock needs no content.
    database.exec('pragma busy_timeout = 0; pragma journal_mode = memory; begin exclusive');
  } catch (error) {
    database.close();
    if (isBusy(error)) throw new DirectoryInUse(describeHolder(dir));
    throw new OperatorError(
      `${file} cannot be locked (${describeError(error)}): if nothing uses the database, delete it`,
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

/** Writes who holds the lock, for the message of the next one. The lock holds without it, so a full disk is no reason to stop. */
function markOwner(file: string): () => void {
  const erase = (): void => rmSync(file, { force: true });
  try {
    writeFileSync(file, `${process.pid}\n`, { mode: 0o600 });
  } catch {
    erase();
  }
  return erase;
}

function describeHolder(dir: string): string {
  const place = path.dirname(dir);
  const pid = readOwner(`${dir}.pid`);
  if (pid === process.pid) return `the data directory ${place} is already open in this process`;
  const process_ = pid === null ? 'another process' : `another process (pid ${pid})`;
  return `the data directory ${place} is in use by ${process_}: stop that process first, or use a command that works beside a running server`;
}

function readOwner(file: string): number | null {
  if (!existsSync(file)) return null;
  const pid = Number(readFileSync(file, 'utf8'));
  return Number.isSafeInteger(pid) && pid > 0 && isAlive(pid) ? pid : null;
}

/** A process that belongs to someone else is alive too. */
function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM';
  }
}
