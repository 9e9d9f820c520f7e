// How commands reach the operator's operations: through the server that runs on the data directory, else in this process, with
// workers that run nothing by themselves.

import { once } from 'node:events';
import { request as httpRequest } from 'node:http';
import type { IncomingMessage } from 'node:http';
import { createContext } from '../context.ts';
import { OperatorError, describeError } from '../core/errors.ts';
import { createOperations, startWorkers } from '../service.ts';
import type { Operations } from '../shop/operations.ts';
import { createStatusReader } from '../core/status.ts';
import { createDatabaseStatus } from '../database/status.ts';
import { reachData } from './connect.ts';

export type OperatorConnection = {
  /** Runs an operation and returns its result. Throws OperatorError for what the operator has to correct. */
  call(operation: string, input: Record<string, unknown>): Promise<unknown>;
  /** Ends what this process began; what a server began goes on. */
  close(): Promise<void>;
};

export async function connectOperator(): Promise<OperatorConnection> {
  const reached = await reachData();
  if (reached.server) {
    return {
      call: (operation, input) => callServer(reached.socketPath, operation, input),
      close: () => Promise.resolve(),
    };
  }
  const { config, log, databases } = reached;
  const context = createContext({ config, log, databases });
  const workers = await startWorkers(context, { drive: false });
  const status = createStatusReader([createDatabaseStatus(databases), ...workers.status], context.clock);
  const operations: Operations = { ...createOperations(context, workers), status };
  return {
    call: async (operation, input) => {
      const call = operations[operation];
      if (!call) throw new Error(`there is no operation ${operation}`);
      return call(input);
    },
    close: async () => {
      await workers.stop();
      await context.close();
      await databases.close();
    },
  };
}

/** Runs one operation and returns its result. Throws OperatorError for what the operator has to correct. */
export async function callOperator(operation: string, input: Record<string, unknown>): Promise<unknown> {
  const operator = await connectOperator();
  try {
    return await operator.call(operation, input);
  } finally {
    await operator.close();
  }
}

type ServerResponse = {
  result?: unknown;
  mistake?: { message: string; exitCode: 1 | 2 };
  error?: { code: string; message: string };
};

/** Asks the server behind the socket for an operation. */
export async function callServer(socketPath: string, operation: string, input: object): Promise<unknown> {
  const request = httpRequest({
    socketPath,
    path: `/operator/v1/${operation}`,
    method: 'POST',
    headers: { 'content-type': 'application/json' },
  });
  request.end(JSON.stringify(input));
  const response = await readResponse(request).catch((error: unknown) => {
    throw new OperatorError(`the running server did not answer: ${describeError(error)}`);
  });
  if (response.mistake) throw new OperatorError(response.mistake.message, { exitCode: response.mistake.exitCode });
  if (response.error?.code === 'unavailable') throw new OperatorError(response.error.message);
  if (!('result' in response)) throw new OperatorError('the running server failed; its log says why');
  return response.result;
}

async function readResponse(request: ReturnType<typeof httpRequest>): Promise<ServerResponse> {
  const [response] = (await once(request, 'response')) as [IncomingMessage];
  const chunks: Buffer[] = [];
  for await (const chunk of response) chunks.push(chunk as Buffer);
  return JSON.parse(Buffer.concat(chunks).toString('utf8')) as ServerResponse;
}
