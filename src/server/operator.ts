// POST /operator/v1/{operation} on the local socket: the operations for the operator's commands. The file mode of the socket decides who
// may call them.

import type { FastifyInstance } from 'fastify';
import { OperatorError } from '../platform/core/errors.ts';

/** The paths of the operations begin with this text. */
export const OPERATOR_PREFIX = '/operator/v1';

export type OperatorCall = (input: Readonly<Record<string, unknown>>) => Promise<unknown>;

/** The response is `{result}`, or 400 with `{mistake: {message, exitCode}}` for an OperatorError. */
export function registerOperatorRoutes(app: FastifyInstance, operations: Readonly<Record<string, OperatorCall>>): void {
  app.post<{ Params: { operation: string } }>(`${OPERATOR_PREFIX}/:operation`, async (request, reply) => {
    const { operation } = request.params;
    const call = Object.hasOwn(operations, operation) ? operations[operation] : undefined;
    try {
      if (!call)
        throw new OperatorError(`the running server has no operation ${operation}: is the server an older version?`);
      return { result: (await call((request.body ?? {}) as Record<string, unknown>)) ?? null };
    } catch (error) {
      if (!(error instanceof OperatorError)) throw error;
      return reply.code(400).send({ mistake: { message: error.message, exitCode: error.exitCode } });
    }
  });
}
