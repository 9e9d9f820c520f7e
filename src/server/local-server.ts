// The local interface on a Unix socket that only its owner may open. It serves the intake and the operations for the operator's commands.

import { once } from 'node:events';
import { chmodSync, rmSync, writeFileSync } from 'node:fs';
import type { RequestListener } from 'node:http';
import { createServer } from 'node:http';
import Fastify from 'fastify';
import { OperatorError, ServiceError } from '../platform/core/errors.ts';
import type { Log } from '../platform/core/log.ts';
import { describeDatabaseFailure } from '../platform/database/port.ts';
import { prepareParent } from '../platform/database/embedded/directory.ts';
import { isUnexpected, sendErrorResponse, toErrorResponse, toKnownError } from '../platform/http/error-response.ts';
import { OutageLog } from '../platform/http/outage-log.ts';
import { pathOf } from '../platform/http/request-target.ts';
import type { IntakeContext } from '../intake/http/access.ts';
import { LOCAL_ACCESS } from '../intake/http/access.ts';
import { registerIntake } from '../intake/http/routes.ts';
import { isDoneWithin } from '../platform/resilience/deadline.ts';
import { toListenError } from './listen.ts';
import { isServerListening, pidFileOf, prepareSocketDirectory, removeDeadSocket } from './local-socket.ts';
import type { OperatorCall } from './operator.ts';
import { OPERATOR_PREFIX, registerOperatorRoutes } from './operator.ts';

const OWNER_ONLY_UMASK = 0o177;
/** While the service starts, a command waits this long for its end. */
const START_PATIENCE_MS = 20_000;
const STARTING = toErrorResponse(new ServiceError('unavailable', 'the server is starting: try again soon'));

type LocalInterface = { intake: IntakeContext; operations: Readonly<Record<string, OperatorCall>> };

export type LocalServer = {
  /** Serves the interface from now on. Requests that arrived earlier wait for this call, and get a 503 after START_PATIENCE_MS. */
  serve(served: LocalInterface): Promise<void>;
  /** Destroys all connections and removes the socket. Does nothing if it is closed already. */
  close(): Promise<void>;
};

/**
 * Listens on the socket, whose directory is created if it is missing. Must be called before the process begins its work, so that a start that
 * cannot listen has no effect. Replaces a socket file that a killed process left. Several servers on PostgreSQL may share a data directory. If
 * another server already listens on the socket, returns null, and commands use that server. Throws OperatorError if the server cannot listen.
 */
export async function startLocalServer(socketPath: string, log: Log): Promise<LocalServer | null> {
  const started = Promise.withResolvers<RequestListener>();
  // An import may last for hours.
  const server = createServer({ requestTimeout: 0 }, (request, response) => {
    // Shows a command that the server does not hang.
    if (request.url === `${OPERATOR_PREFIX}/ping`) return void response.writeHead(200).end('{"result":null}');
    void isDoneWithin(started.promise, START_PATIENCE_MS).then(async (isStarted) =>
      isStarted ? (await started.promise)(request, response) : sendErrorResponse(request, response, STARTING),
    );
  });
  try {
    if (await isServerListening(socketPath)) return null;
    prepareParent(socketPath);
    prepareSocketDirectory(socketPath);
    await removeDeadSocket(socketPath);
    const umask = process.umask(OWNER_ONLY_UMASK);
    try {
      await once(server.listen(socketPath), 'listening');
    } finally {
      process.umask(umask);
    }
    chmodSync(socketPath, 0o600);
    writeFileSync(pidFileOf(socketPath), `${process.pid}\n`, { mode: 0o600 });
  } catch (error) {
    // The file of the process id could not be written, for example. A process whose server listens would not end.
    server.close();
    if (error instanceof OperatorError) throw error;
    throw toListenError({ path: socketPath }, error, 'DATA_DIR');
  }
  return {
    serve: async (served) => started.resolve(await createRoutes(served, log)),
    close: async () => {
      if (!server.listening) return;
      const closed = once(server, 'close');
      server.close();
      server.closeAllConnections();
      await closed;
      rmSync(pidFileOf(socketPath), { force: true });
    },
  };
}

async function createRoutes({ intake, operations }: LocalInterface, log: Log): Promise<RequestListener> {
  const app = Fastify({ logger: false });
  const outages = new OutageLog(log);
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
  registerOperatorRoutes(app, operations);
  await app.ready();
  return (request, response) => app.routing(request, response);
}
