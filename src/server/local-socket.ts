// Where the local socket of a data directory is, and whether a server listens on it. This file imports no other file of the service,
// so that a command which uses a running server starts fast.

import { createHash } from 'node:crypto';
import { once } from 'node:events';
import net from 'node:net';
import os from 'node:os';
import path from 'node:path';

/** The longest path that every system accepts as the address of a Unix socket. */
const SOCKET_PATH_BYTES_MAX = 100;
/** Error codes when no process listens: the socket is missing, a server that was killed left it behind, or the file is not a socket. */
const NOT_LISTENING = new Set(['ENOENT', 'ECONNREFUSED', 'ENOTSOCK']);

/** The path of the socket: in the data directory or, when that path would be too long, in the system's temporary directory. */
export function socketPathOf(dataDir: string): string {
  const inside = path.join(dataDir, 'mercat.sock');
  if (Buffer.byteLength(inside) <= SOCKET_PATH_BYTES_MAX) return inside;
  const digest = createHash('sha256').update(dataDir).digest('hex').slice(0, 16);
  return path.join(os.tmpdir(), `mercat-${digest}.sock`);
}

/** Whether a server listens on the socket. Throws when this cannot be found out, for example without permission to open the socket. */
export async function isServerListening(socketPath: string): Promise<boolean> {
  const connection = net.connect(socketPath);
  try {
    await once(connection, 'connect');
    return true;
  } catch (error) {
    if (NOT_LISTENING.has((error as { code?: string }).code ?? '')) return false;
    throw error;
  } finally {
    connection.destroy();
  }
}
