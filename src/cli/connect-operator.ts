// How commands reach the operator's operations: through the server that runs on the data directory, else in this process.

import { once } from 'node:events';
import { request as httpRequest } from 'node:http';
import type { IncomingMessage } from 'node:http';
import { systemClock } from '../core/clock.ts';
import { OperatorError, describeError } from '../core/errors.ts';
import { createOperations } from '../service.ts';
import { reachData } from './connect.ts';

/** Runs one operation and returns its result. What the operator has to mend is thrown as an OperatorError. */
export async function callOperator(operation: string, input: Record<string, unknown>): Promise<unknown> {
  const reached = await reachData();
  if (reached.server) return callServer(reached.socketPath, operation, input);
  const { config, log, databases } = reached;
  try {
    const store = { main: databases.main, clock: systemClock, log, serviceName: config.serviceName };
    const call = createOperations(store)[operation];
    if (!call) throw new Error(`there is no operation ${operation}`);
    return await call(input);
  } finally {
    await databases.close();
  }
}

type Answer = {
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
  const answer = await readAnswer(request).catch((error: unknown) => {
    throw new OperatorError(`the running server did not answer: ${describeError(error)}`);
  });
  if (answer.mistake) throw new OperatorError(answer.mistake.message, { exitCode: answer.mistake.exitCode });
  if (answer.error?.code === 'unavailable') throw new OperatorError(answer.error.message);
  if (!('result' in answer)) throw new OperatorError('the running server failed; its log says why');
  return answer.result;
}

async function readAnswer(request: ReturnType<typeof httpRequest>): Promise<Answer> {
  const [response] = (await once(request, 'response')) as [IncomingMessage];
  const chunks: Buffer[] = [];
  for await (const chunk of response) chunks.push(chunk as Buffer);
  return JSON.parse(Buffer.concat(chunks).toString('utf8')) as Answer;
}
