// Listens on the configured address.

import type { FastifyInstance } from 'fastify';
import { OperatorError, describeError } from '../core/errors.ts';

export type ListenAddress = { host: string; port: number };

/** Throws OperatorError when the address cannot be listened on. */
export async function listen(app: FastifyInstance, { host, port }: ListenAddress): Promise<void> {
  try {
    await app.listen({ host, port });
  } catch (error) {
    throw toListenError({ host, port }, error);
  }
}

/** Describes why the address cannot be listened on, for example because another program uses the port. */
export function toListenError({ host, port }: ListenAddress, error: unknown): OperatorError {
  const hint = (error as { code?: string }).code === 'EADDRINUSE' ? '; choose another port with --port or PORT' : '';
  return new OperatorError(`cannot listen on ${host}:${port}: ${describeError(error)}${hint}`);
}
