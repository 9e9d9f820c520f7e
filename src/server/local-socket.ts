// Where the local socket of a data directory is, and whether a server listens on it. Commands import this file before anything else.

import { createHash } from 'node:crypto';
import { once } from 'node:events';
import net from 'node:net';
import os from 'node:os';
import path from 'node:path';

/** What fits into the address of a Unix socket on every system. */
const SOCKET_PATH_BYTES_MAX = 100;
/** Error codes of a socket on which no process listens: it is missing, or a server that was killed left it behind. */
const NOT_LISTENING = new Set(['ENOENT', 'ECONNREFUSED', 'ENOTSOCK']);

/** In the data directory, or in the system's temporary directory where its path would be too long. */
export function socketPathOf(dataDir: string): string {
  const inside = path.join(dataDir, 'mercat.sock');
  if (Buffer.byteLength(inside) <= SOCKET_PATH_BYTES_MAX) return inside;
  const digest = createHash('sha256').update(dataDir).digest('hex').slice(0, 16);
  return path.join(os.tmpdir(), `mercat-${digest}.sock`);
}

/** Throws where that is unknown, for example for want of permission. */
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
