// Listens on the configured address.

import type { FastifyInstance } from 'fastify';
import { OperatorError, describeError } from '../core/errors.ts';

export type ListenAddress = { host: string; port: number };

/** Throws OperatorError if the server cannot listen on the address. */
export async function listen(app: FastifyInstance, { host, port }: ListenAddress): Promise<void> {
  try {
    await app.listen({ host, port });
  } catch (error) {
    throw toListenError({ host, port }, error);
  }
}

/**
 * Describes why a server cannot listen on the address or Unix socket, for example because another program uses the port. `settings`: where
 * the operator can choose another address.
 */
export function toListenError(
  address: ListenAddress | { path: string },
  error: unknown,
  settings = '--port or PORT',
): OperatorError {
  const name = 'path' in address ? address.path : `${address.host}:${address.port}`;
  const what = 'path' in address ? 'path' : 'port';
  const hint = (error as { code?: string }).code === 'EADDRINUSE' ? `; choose another ${what} with ${settings}` : '';
  return new OperatorError(`cannot listen on ${name}: ${describeError(error)}${hint}`);
}
