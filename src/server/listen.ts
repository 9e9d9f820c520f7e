// Listens on the configured address.

import type { FastifyInstance } from 'fastify';
import { OperatorError, describeError } from '../platform/core/errors.ts';

/** `reusePort`: other processes of this service listen on the same address. Default: false. */
export type ListenAddress = { host: string; port: number; reusePort?: boolean };

/** Throws OperatorError if the server cannot listen on the address. */
export async function listen(app: FastifyInstance, { host, port, reusePort = false }: ListenAddress): Promise<void> {
  try {
    await app.listen({ host, port, ...(reusePort && { reusePort }) });
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
  const hint = HINTS[(error as { code?: string }).code ?? '']?.(what, settings) ?? '';
  return new OperatorError(`cannot listen on ${name}: ${describeError(error)}${hint}`);
}

const HINTS: Readonly<Record<string, (what: string, settings: string) => string>> = {
  EADDRINUSE: (what, settings) => `; choose another ${what} with ${settings}`,
  ENOTSUP: () => '; several serving processes need a system on which they can share a port, such as Linux',
};
