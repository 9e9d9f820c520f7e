// Finds the local socket of a data directory. Checks whether a server listens on it, and whether another user could have created it.
// This file imports only small modules of this program, so that commands start fast.

import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { lstatSync, mkdirSync, readFileSync, rmSync, statSync } from 'node:fs';
import net from 'node:net';
import os from 'node:os';
import path from 'node:path';
import { OperatorError } from '../platform/core/errors.ts';
import { describingPermissions } from '../platform/database/embedded/permissions.ts';

/** The longest path that every system accepts as the address of a Unix socket. */
const SOCKET_PATH_BYTES_MAX = 100;
/** Error codes if no process listens: the socket is missing, a killed server has not removed it, or the file is not a socket. */
const NOT_LISTENING = new Set(['ENOENT', 'ECONNREFUSED', 'ENOTSOCK']);
/** The error code if a server listens, but has not accepted the connections of so many commands that the system accepts no further one. */
const QUEUE_FULL = 'EAGAIN';
const ROOT_UID = 0;
const OWNER_ONLY_MODE = 0o700;
const OTHERS_MODE = 0o077;
const EVERYONE_WRITES_MODE = 0o002;

/**
 * The path of the socket in the data directory. If this path would be too long, the socket is in a subdirectory of the system's temporary
 * directory. The name of the subdirectory contains the user id of the data directory's owner. Every user may write to the temporary
 * directory, so `isServerListening` and `prepareSocketDirectory` check who may use the subdirectory.
 */
export function socketPathOf(dataDir: string): string {
  const inside = path.join(dataDir, 'mercat.sock');
  if (Buffer.byteLength(inside) <= SOCKET_PATH_BYTES_MAX) return inside;
  const digest = createHash('sha256').update(dataDir).digest('hex').slice(0, 16);
  const owner = describingPermissions(dataDir, () => statSync(dataDir, { throwIfNoEntry: false })?.uid ?? ownUid());
  return path.join(os.tmpdir(), `mercat-${owner}`, `${digest}.sock`);
}

/** Creates the directory of the socket if it is missing. Throws OperatorError if another user owns the directory or may write to it. */
export function prepareSocketDirectory(socketPath: string): void {
  mkdirSync(path.dirname(socketPath), { recursive: true, mode: OWNER_ONLY_MODE });
  requirePrivateDirectory(socketPath);
}

/**
 * Whether a server listens on the socket. A server that hangs listens too. Throws OperatorError if this user may not use the socket, or if
 * another user may have created the socket, because commands would send their input to that user.
 */
export async function isServerListening(socketPath: string): Promise<boolean> {
  describingPermissions(path.dirname(socketPath), () => {
    requirePrivateDirectory(socketPath);
    requireTrustedOwner(socketPath);
  });
  const connection = net.connect(socketPath);
  try {
    await once(connection, 'connect');
    return true;
  } catch (error) {
    const { code = '' } = error as { code?: string };
    if (NOT_LISTENING.has(code)) return false;
    if (code === QUEUE_FULL) return true;
    return describingPermissions(path.dirname(socketPath), () => {
      throw error;
    });
  } finally {
    connection.destroy();
  }
}

/**
 * Removes the socket that a killed process left. A file that is not a socket, and a socket on which a server listens, stay, so that listening
 * on the path fails.
 */
export async function removeDeadSocket(socketPath: string): Promise<void> {
  const isSocket = statSync(socketPath, { throwIfNoEntry: false })?.isSocket() ?? false;
  if (isSocket && !(await isServerListening(socketPath))) rmSync(socketPath);
}

/** The file with the id of the process that listens on the socket. */
export function pidFileOf(socketPath: string): string {
  return `${socketPath}.pid`;
}

/** How messages name the server that listens on the socket: with the id of its process, if the id can be read. */
export function describeServer(socketPath: string): string {
  try {
    const pid = Number(readFileSync(pidFileOf(socketPath), 'utf8'));
    return Number.isSafeInteger(pid) && pid > 0 ? `the server (pid ${pid})` : 'the server';
  } catch {
    // A server of an earlier version writes no such file.
    return 'the server';
  }
}

/** The directories for sockets in the temporary directory: `mercat-` and a user id. Other users can predict these names. */
const PREDICTABLE = /^mercat-(\d+)$/;

/** Checks the socket's directory if it is in the temporary directory. A data directory is not checked: the operator sets its permissions. */
function requirePrivateDirectory(socketPath: string): void {
  const directory = path.dirname(socketPath);
  const [, owner] = PREDICTABLE.exec(path.basename(directory)) ?? [];
  if (owner === undefined || path.dirname(directory) !== os.tmpdir() || process.getuid === undefined) return;
  const found = lstatSync(directory, { throwIfNoEntry: false });
  if (!found) return;
  const isTrusted = found.uid === Number(owner) || found.uid === ROOT_UID;
  if (found.isDirectory() && isTrusted && (found.mode & OTHERS_MODE) === 0) return;
  throw new OperatorError(
    `${directory} must be a directory that only its owner (user ${owner}) may use; remove it, or set DATA_DIR to a shorter path`,
  );
}

/** If every user may create files in the directory of the socket, the socket must belong to this user, to root, or to the owner of the directory. */
function requireTrustedOwner(socketPath: string): void {
  const socket = lstatSync(socketPath, { throwIfNoEntry: false });
  if (!socket || process.getuid === undefined) return;
  const directory = statSync(path.dirname(socketPath));
  if ((directory.mode & EVERYONE_WRITES_MODE) === 0) return;
  const trusted = [ownUid(), ROOT_UID, directory.uid];
  if (!trusted.includes(socket.uid)) {
    throw new OperatorError(`${socketPath} belongs to another user (${socket.uid}), so no command is sent to it`);
  }
}

function ownUid(): number {
  return process.getuid?.() ?? ROOT_UID;
}
