// The door for commands on the same machine: a Unix socket that only its owner may open. Records come in through it, and the
// operator's commands.

import { createHash } from 'node:crypto';
import { chmodSync, mkdirSync, rmSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import type { FastifyInstance } from 'fastify';
import Fastify from 'fastify';
import { isServerListening } from '../intake/socket-client.ts';
import type { Log } from '../core/log.ts';
import { isUnexpected, toErrorResponse, toKnownError } from '../http/error-response.ts';
import type { IntakeContext } from '../intake/http/access.ts';
import { LOCAL_ACCESS } from '../intake/http/access.ts';
import { registerIntake } from '../intake/http/routes.ts';
import type { OperatorCall } from './operator.ts';
import { registerOperatorRoutes } from './operator.ts';

/** What fits into the address of a Unix socket on every system. */
const SOCKET_PATH_BYTES_MAX = 100;
const OWNER_ONLY_UMASK = 0o177;

/** Where the socket of a data directory is: in it, or in the system's temporary directory when its path is too long. */
export function socketPathOf(dataDir: string): string {
  const inside = path.join(dataDir, 'mercat.sock');
  if (Buffer.byteLength(inside) <= SOCKET_PATH_BYTES_MAX) return inside;
  const digest = createHash('sha256').update(dataDir).digest('hex').slice(0, 16);
  return path.join(os.tmpdir(), `mercat-${digest}.sock`);
}

/**
 * Listens on the socket. A socket file that a killed process left behind is replaced; where another server listens already
 * (on PostgreSQL several may share a data directory), commands go on using that one, and the result is null.
 */
export async function startLocalServer(
  doors: { intake: IntakeContext; operations: Readonly<Record<string, OperatorCall>> },
  socketPath: string,
  log: Log,
): Promise<FastifyInstance | null> {
  if (await isServerListening(socketPath)) {
    log.warn('another server has the local socket of this data directory, commands will use that one');
    return null;
  }
  mkdirSync(path.dirname(socketPath), { recursive: true, mode: 0o700 });
  const app = Fastify({ logger: false, forceCloseConnections: true });
  app.setErrorHandler((thrown, request, reply) => {
    const error = toKnownError(log, thrown);
    if (isUnexpected(error)) log.error('a local request failed', { url: request.url, error });
    const { status, headers, envelope } = toErrorResponse(error, { details: true });
    void reply.code(status).headers(headers).send(envelope);
  });
  await app.register((scope) => registerIntake(scope, doors.intake, { access: LOCAL_ACCESS, baseUrl: null }));
  registerOperatorRoutes(app, doors.operations);
  rmSync(socketPath, { force: true });
  const umask = process.umask(OWNER_ONLY_UMASK);
  try {
    await app.listen({ path: socketPath });
  } finally {
    process.umask(umask);
  }
  chmodSync(socketPath, 0o600);
  return app;
}
