// The local interface on a Unix socket that only its owner may open. It serves the intake and the operations for the operator's commands.

import { chmodSync, rmSync, writeFileSync } from 'node:fs';
import type { FastifyInstance } from 'fastify';
import Fastify from 'fastify';
import type { Log } from '../core/log.ts';
import { isUnexpected, toErrorResponse, toKnownError } from '../http/error-response.ts';
import { pathOf } from '../http/request-target.ts';
import { OutageLog } from '../http/outage-log.ts';
import { describeDatabaseFailure } from '../database/port.ts';
import type { IntakeContext } from '../intake/http/access.ts';
import { LOCAL_ACCESS } from '../intake/http/access.ts';
import { registerIntake } from '../intake/http/routes.ts';
import { isServerListening, pidFileOf, prepareSocketDirectory } from './local-socket.ts';
import type { OperatorCall } from './operator.ts';
import { registerOperatorRoutes } from './operator.ts';

const OWNER_ONLY_UMASK = 0o177;

/**
 * Listens on the socket. Replaces a socket file that a killed process left. Several servers on PostgreSQL may share a data directory. If
 * another server already listens on the socket, returns null, and commands use that server.
 */
export async function startLocalServer(
  { intake, operations }: { intake: IntakeContext; operations: Readonly<Record<string, OperatorCall>> },
  socketPath: string,
  log: Log,
): Promise<FastifyInstance | null> {
  if (await isServerListening(socketPath)) {
    log.warn('another server listens on the local socket of this data directory, so commands use the other server');
    return null;
  }
  prepareSocketDirectory(socketPath);
  const app = Fastify({ logger: false, forceCloseConnections: true });
  const outages = new OutageLog(log);
  app.addHook('onClose', async () => rmSync(pidFileOf(socketPath), { force: true }));
  app.addHook('onResponse', (_request, reply, done) => {
    if (reply.statusCode < 300) outages.noteSuccess();
    done();
  });
  app.setErrorHandler((thrown, request, reply) => {
    const error = toKnownError(outages, thrown);
    if (isUnexpected(error)) log.error('a local request failed', { path: pathOf(request.url), error });
    const { status, headers, envelope } = toErrorResponse(error, { details: true });
    // Only the operator reads this response, so it may say what the database reported.
    const reason = describeDatabaseFailure(thrown);
    const body = reason === null ? envelope : { error: { ...envelope.error, message: reason } };
    void reply.code(status).headers(headers).send(body);
  });
  await app.register((scope) => registerIntake(scope, intake, { access: LOCAL_ACCESS, document: null }));
  registerOperatorRoutes(app, { ...operations, ping: async () => null });
  rmSync(socketPath, { force: true });
  const umask = process.umask(OWNER_ONLY_UMASK);
  try {
    await app.listen({ path: socketPath });
  } finally {
    process.umask(umask);
  }
  chmodSync(socketPath, 0o600);
  writeFileSync(pidFileOf(socketPath), `${process.pid}\n`, { mode: 0o600 });
  return app;
}
