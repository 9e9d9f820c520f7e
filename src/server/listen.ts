// Listens on the configured address. `requireFreePort` does so only for a moment, to find out whether the address is free.

import { once } from 'node:events';
import net from 'node:net';
import type { FastifyInstance } from 'fastify';
import { OperatorError, describeError } from '../core/errors.ts';

export type ListenAddress = { host: string; port: number };

/**
 * Throws OperatorError when the address cannot be listened on, for example because another program uses the port. Called before
 * databases are created, so that a start that must fail leaves nothing behind. Port 0 is always free.
 */
export async function requireFreePort(address: ListenAddress): Promise<void> {
  const server = net.createServer();
  try {
    await once(server.listen(address), 'listening');
  } catch (error) {
    throw toListenError(address, error);
  }
  server.close();
  await once(server, 'close');
}

/** Throws OperatorError when the address cannot be listened on. */
export async function listen(app: FastifyInstance, { host, port }: ListenAddress): Promise<void> {
  try {
    await app.listen({ host, port });
  } catch (error) {
    throw toListenError({ host, port }, error);
  }
}

function toListenError({ host, port }: ListenAddress, error: unknown): OperatorError {
  const hint = (error as { code?: string }).code === 'EADDRINUSE' ? '; choose another port with --port or PORT' : '';
  return new OperatorError(`cannot listen on ${host}:${port}: ${describeError(error)}${hint}`);
}
