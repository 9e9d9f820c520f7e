// Calls the operations of a running server over its local socket.

import { once } from 'node:events';
import { request as httpRequest } from 'node:http';
import type { IncomingMessage } from 'node:http';
import { OperatorError, describeError } from '../core/errors.ts';
import type { ServiceConnection } from './service-connection.ts';

type ServerResponse = {
  result?: unknown;
  mistake?: { message: string; exitCode: 1 | 2 };
  error?: { code: string; message: string };
};

export function connectToServer(socketPath: string): ServiceConnection {
  return {
    call: (operation, input) => callServer(socketPath, operation, input),
    import: async (source, options, onEvent) => {
      const { SocketIntake } = await import('../intake/socket-client.ts');
      return new SocketIntake(socketPath).import(source, options, onEvent);
    },
    [Symbol.asyncDispose]: () => Promise.resolve(),
  };
}

/** Runs one operation and returns its result. Throws OperatorError if the operation fails or the server does not respond. */
export async function callServer(socketPath: string, operation: string, input: object): Promise<unknown> {
  const request = httpRequest({
    socketPath,
    path: `/operator/v1/${operation}`,
    method: 'POST',
    headers: { 'content-type': 'application/json' },
  });
  request.end(JSON.stringify(input));
  const response = await readResponse(request).catch((error: unknown) => {
    throw new OperatorError(`the running server did not respond: ${describeError(error)}`);
  });
  if (response.mistake) throw new OperatorError(response.mistake.message, { exitCode: response.mistake.exitCode });
  if (response.error?.code === 'unavailable') throw new OperatorError(response.error.message);
  if (!('result' in response)) throw new OperatorError('the running server failed: see its log');
  return response.result;
}

async function readResponse(request: ReturnType<typeof httpRequest>): Promise<ServerResponse> {
  const [response] = (await once(request, 'response')) as [IncomingMessage];
  const chunks: Buffer[] = [];
  for await (const chunk of response) chunks.push(chunk as Buffer);
  return JSON.parse(Buffer.concat(chunks).toString('utf8')) as ServerResponse;
}
