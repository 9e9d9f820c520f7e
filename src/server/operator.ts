// POST /operator/v1/{operation} on the local socket: what the operator's commands ask a running server to do. Who may ask is
// decided by who may open the socket.

import type { FastifyInstance } from 'fastify';
import { OperatorError } from '../core/errors.ts';

export type OperatorCall = (input: Readonly<Record<string, unknown>>) => Promise<unknown>;

/** The answer is `{result}`, or `{mistake: {message, exitCode}}` for what the operator has to mend. */
export function registerOperatorRoutes(app: FastifyInstance, operations: Readonly<Record<string, OperatorCall>>): void {
  app.post('/operator/v1/:operation', async (request, reply) => {
    const { operation } = request.params as { operation: string };
    const call = Object.hasOwn(operations, operation) ? operations[operation] : undefined;
    try {
      if (!call) throw new OperatorError(`the running server does not know ${operation}: is it an older version?`);
      return { result: (await call((request.body ?? {}) as Record<string, unknown>)) ?? null };
    } catch (error) {
      if (!(error instanceof OperatorError)) throw error;
      return reply.code(400).send({ mistake: { message: error.message, exitCode: error.exitCode } });
    }
  });
}
